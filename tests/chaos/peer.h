/*  peer.h - one scripted peer as a process

    It keeps its two ports for the whole run, so that it can be killed and come
    back empty where it was.
*/
#ifndef CHAOS_PEER_H_INCLUDED
#define CHAOS_PEER_H_INCLUDED

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "rng.h"

#define PEERS_MAX     3
#define PEER_URL_MAX  64
#define INSTANCES_MAX 512
#define STATUS_LIMIT  600

//  What is known of an instance at one peer. Times are ms since the start of the
//  run, 0: never.
typedef struct {
    int64_t rejected_at;  //  By the last outcome
    int64_t conflict_at;
    int64_t dropped_at;
    bool refused;  //  The peer was told to refuse it
    bool touched;  //  Another writer has registered it there
    bool guarded;  //  After our Cancel: that registration must stay
} mark_t;

typedef enum { PEER_RUNS, PEER_FROZEN, PEER_DEAD } peer_state_t;

typedef struct {
    unsigned number;
    int port;
    int control;
    char url[PEER_URL_MAX];
    pid_t pid;
    peer_state_t state;
    unsigned kills;      //  How often it came back empty
    int64_t emptied_at;  //  zclock_mono of the last time

    //  What befalls it (fault.h)
    rng_t rng;
    unsigned fault;               //  Kind that is on, or FAULT_NONE
    int64_t due_at;               //  When that ends, or the next begins
    int64_t fault_at;             //  When it began
    int64_t fault_requests;       //  Number of the first request since
    uint64_t had;                 //  Kinds that have been, as bits
    bool refusals[STATUS_LIMIT];  //  What it may have refused anything with
    unsigned walks;               //  Resyncs and verifies that have ended
    unsigned walks_due;           //  So many must have in the end
    mark_t marks[INSTANCES_MAX];
} peer_t;

//  Starts it; on ports of its own choice, or on those it had. False: it does not.
bool peer_start (peer_t *self, const char *program, const char *log);

//  Kills it: what it knew is gone
void peer_kill (peer_t *self);

//  SIGSTOP, SIGCONT
void peer_freeze (peer_t *self);
void peer_thaw (peer_t *self);

//  Has it run a script (script.h of the scripted peer). Returns NULL, or what is
//  wrong, the caller's to free.
char *peer_script (peer_t *self, const char *json);

//  One of its counters, -1 if it does not say
int64_t peer_counter (peer_t *self, const char *name);

//  The bodies of requests, from this number on, one after the other; the caller's
char *peer_bodies (peer_t *self, int64_t from);

//  Its registry, {"APP\tid": InstanceInfo}; a new reference, NULL if it does not
//  say
json_t *peer_registry (peer_t *self);

#endif
