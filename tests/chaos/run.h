/*  run.h - one run: everything that plays in it, from one seed

    The seed decides how many of what there are, which events are sent and which
    faults strike, and when. How these meet is decided by real time: a seed that
    fails may pass the next time, its history tells why it failed.
*/
#ifndef CHAOS_RUN_H_INCLUDED
#define CHAOS_RUN_H_INCLUDED

#include <zpeer/watch.h>
#include "feeder.h"
#include "history.h"
#include "peer.h"
#include "service.h"

#define FEEDERS_MAX 3

//  What the seed may switch on. Some exclude each other: what a peer refuses and
//  what another server tells it cannot both be predicted.
typedef enum {
    FEATURE_REMOTE,      //  Dispatchers are processes
    FEATURE_SINGLE,      //  One request per change
    FEATURE_REPLICATED,  //  Events come from other servers
    FEATURE_REFUSE,      //  Peers refuse single instances
    FEATURE_OTHERS,      //  Another writer at a peer
    FEATURE_KILLS,       //  Peers are killed and come back empty
    FEATURE_FORGET,
    FEATURE_JOIN,    //  A peer is added while the engine runs
    FEATURE_WALKS,   //  Peers are resynced, verified, tried at once
    FEATURE_VISITS,  //  Feeders go away without waiting for replies
    FEATURES
} feature_t;

//  What was sent of an instance; what became of it the source knows
typedef struct {
    char app[16];
    char id[24];
    uint64_t timestamp;  //  The newest
    uint32_t version;
    uint32_t feeder;
    bool present;
    bool forgotten;   //  Not registered since
    bool retired;     //  Nothing is sent of it any more
    int64_t said_at;  //  Last Register, Cancel or Forget
} instance_t;

typedef struct {
    const char *program;  //  This one
    const char *zpeerd;
    const char *scripted_peer;
} programs_t;

//  Counts of the newest stats of a peer
typedef struct {
    int64_t at;  //  When they came; 0: not yet
    int64_t waiting;
    int64_t in_flight;
    int64_t owed;
    int64_t renew;
} figures_t;

typedef struct plan plan_t;

typedef struct {
    uint64_t seed;
    const programs_t *programs;
    history_t history;
    char fault[128];  //  What is wrong, the first; "": nothing

    bool features[FEATURES];
    unsigned read_timeout_ms;
    unsigned latest_ms;  //  A request is applied no later than that
    unsigned threads;
    unsigned stop_deadline_ms;
    int64_t calm_at;  //  When the faults end; ms since the start

    peer_t peers[PEERS_MAX];
    unsigned peer_count;
    unsigned joined;  //  Those the engine knows
    instance_t instances[INSTANCES_MAX];
    unsigned base_count;      //  Instances that faults may choose
    unsigned instance_count;  //  With those of visitors
    service_t service;
    source_t *source;  //  Owned
    feeder_t feeders[FEEDERS_MAX];
    unsigned feeder_count;
    zpeer_watch_t *watch;  //  Owned
    plan_t *plan;          //  Owned
    rng_t operator;        //  What the operator does
    int64_t operator_at;
    figures_t figures[PEERS_MAX];
    uint64_t acceptor_stats;  //  Messages of the acceptor's figures so far
    uint64_t outcomes;
    uint64_t faults;  //  That struck
} run_t;

//  Plays it. Returns whether it was as it must be.
bool run_play (uint64_t seed, const programs_t *programs, bool verbose);

//  Notes what is wrong; kind is one word or two, the rest is for the history
void run_fail (run_t *self, const char *kind, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

//  The same for a function that returns what is wrong, or NULL
void run_check (run_t *self, const char *kind, const char *wrong);

static inline int64_t
run_now (const run_t *self)
{
    return history_now (&self->history);
}

#endif
