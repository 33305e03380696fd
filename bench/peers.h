/*  peers.h - counting Eureka peers as processes of their own

    Started from the program zpeer-scripted-peer, whose path is in the variable
    ZPEER_SCRIPTED_PEER, or beside the benchmarks where the build puts it. They
    end when the benchmark does, however it ends.
*/
#ifndef PEERS_H_INCLUDED
#define PEERS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int pid;  //  0: somebody else started it
    char url[64];
    char control[64];
    void *curl;  //  Owned; the connection to its control page
} peer_t;

//  Starts one; self_path is argv[0]. Returns 0, or -1 with a line on stderr.
int peer_start (peer_t *self, const char *self_path);

//  One that somebody else started: "URL,CONTROL", as it printed them. Returns as
//  peer_start.
int peer_adopt (peer_t *self, const char *urls);

//  Ends it if it was started here; fine for one that never started
void peer_stop (peer_t *self);

//  One of the counters of its control page. Ends the program, with a line on
//  stderr, when it does not answer.
uint64_t peer_counter (const peer_t *self, const char *name);

//  Tells it how to behave: the document of script.h in tests/support
void peer_script (const peer_t *self, const char *json);

//  Receipts it has noted and not told yet: appends, for each, how many ms after
//  its lastDirtyTimestamp (µs, CLOCK_MONOTONIC) the item came. Those with one
//  before since_ns, or after their receipt, are left out: they are no such times.
//  Returns how many ms has then, at most max.
size_t peer_samples (const peer_t *self, int64_t since_ns, double *ms,
                     size_t count, size_t max);

#endif
