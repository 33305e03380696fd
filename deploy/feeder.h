/*  feeder.h - many events into an engine, several in each request

    Gathers encoded events into requests, keeps the feed's window of unanswered
    requests full, holds a rate, and tells which events were rejected and why.

    Threads: one at a time per feeder. Blocking: feeder_add waits for the rate
    and for room in the window, feeder_finish for the last reply; both give up
    when the engine has answered nothing for the time given.
*/
#ifndef FEEDER_H_INCLUDED
#define FEEDER_H_INCLUDED

#include <zpeer/feed.h>

//  Most events in one request: as many rejections as a reply lists
#define FEEDER_BATCH_MAX 100

typedef struct feeder feeder_t;

//  Where an event came from
typedef struct {
    uint64_t line;  //  Of the input, from 1
    uint64_t item;  //  In that line, from 1; 0: it is the only one
} feeder_place_t;

typedef struct {
    const char *endpoint;
    uint32_t batch;   //  Events in a request, 1 to FEEDER_BATCH_MAX
    uint32_t rate;    //  Events per second; 0: as fast as the engine takes them
    int patience_ms;  //  How long the engine may stay silent
    void *arg;        //  For rejected
    void (*rejected) (void *arg, feeder_place_t place, const char *reason);
} feeder_options_t;

typedef struct {
    uint64_t sent;      //  Events
    uint64_t accepted;  //  Events
    uint64_t rejected;  //  Events
} feeder_counts_t;

//  A feeder for an endpoint; NULL if that is none
feeder_t *feeder_new (const feeder_options_t *options);

void feeder_destroy (feeder_t **self_p);

//  Adds one encoded event. Returns ZPEER_OK, ZPEER_E_TOO_LARGE, ZPEER_E_TIMEOUT:
//  the engine is silent, or ZPEER_E_PARSE: what answers is no engine.
int feeder_add (feeder_t *self, feeder_place_t place, const void *data,
                size_t size);

//  Sends what is gathered, without waiting for replies. Results as feeder_add.
int feeder_flush (feeder_t *self);

//  Asks for the engine's time, and waits for it; 0: it does not tell. Sends what is
//  gathered first. Results as feeder_add.
int feeder_ask (feeder_t *self, uint64_t *mark);

//  Sends what is gathered and waits for all replies. Results as feeder_add; or
//  ZPEER_E_IO: a connection broke since the beginning, and with it went requests,
//  which the engine may have taken.
int feeder_finish (feeder_t *self);

const feeder_counts_t *feeder_counts (const feeder_t *self);

#endif
