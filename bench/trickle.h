/*  trickle.h - changes that come evenly, one a frame

    Each is a Register whose lastDirtyTimestamp is the time of sending, in ns of
    CLOCK_MONOTONIC: a peer that notes when it came (peers.h) knows how long it
    took. They go round TRICKLE_INSTANCES instances, which no other trickle of
    another generation and no load (load.h) has.
*/
#ifndef TRICKLE_H_INCLUDED
#define TRICKLE_H_INCLUDED

#include <pthread.h>
#include <stdatomic.h>
#include <zpeer/feed.h>

#define TRICKLE_INSTANCES 10000

typedef struct {
    zpeer_feed_t *feed;                        //  Owned
    zpeer_event_t *events[TRICKLE_INSTANCES];  //  Owned
    double per_second;
    int64_t begun_ns;  //  When the first was sent
    uint64_t sent;
    uint64_t total;  //  How many to send at most
    atomic_bool stop;
    pthread_t thread;
} trickle_t;

//  Gets ready to send to an acceptor
void trickle_open (trickle_t *self, const char *endpoint, double per_second,
                   unsigned generation);

//  Gives its Registers all that those of a load have; without, they are short
void trickle_fill (trickle_t *self);

void trickle_close (trickle_t *self);

//  Sends so many, and waits until all were accepted
void trickle_run (trickle_t *self, uint64_t total);

//  The same in a thread of its own, until it is told to stop
void trickle_start (trickle_t *self);
void trickle_stop (trickle_t *self);

#endif
