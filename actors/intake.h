/*  intake.h - reads feeders' requests, answers each once

    The acceptor's front: a ROUTER, the event parser, the replies. It reads as
    many events as it is allowed and stops anywhere, even in the middle of a
    request, which it takes up again at the next call.

    Threads: one, the acceptor's. Blocking: never; a reply is dropped when its
    feeder does not read or has gone.
*/
#ifndef ZPEER_INTAKE_H_INCLUDED
#define ZPEER_INTAKE_H_INCLUDED

#include <czmq.h>
#include "doorman.h"
#include "event.h"

typedef void (zpeer_intake_event_fn) (void *arg, const zpeer_parsed_t *event);

typedef void (zpeer_intake_reject_fn) (void *arg, const char *reason);

//  Hints about an event that will come, see zpeer_view_expect
typedef void (zpeer_intake_expect_fn) (void *arg, zpeer_parsed_t *event);
typedef void (zpeer_intake_fetch_fn) (void *arg, const zpeer_parsed_t *event,
                                      unsigned step);

typedef struct {
    size_t max_bytes;                //  Of a request's payload
    size_t max_batch_bytes;          //  What an event takes to be sent to peers
    uint32_t max_connections;        //  Of feeders
    zpeer_intake_event_fn *event;    //  Called with each good event
    zpeer_intake_expect_fn *expect;  //  Called with it some time before
    zpeer_intake_fetch_fn *fetch;    //  Called in between, step 0, 1, …
    zpeer_intake_reject_fn *reject;  //  Called with each that is not
    void *arg;
} zpeer_intake_options_t;

typedef struct {
    uint64_t requests;
    uint64_t accepted[ZPEER_ACTIONS];  //  Events
    uint64_t rejected;                 //  Events
    uint64_t replies_dropped;
} zpeer_intake_stats_t;

typedef struct zpeer_intake zpeer_intake_t;

//  Not listening yet. Never NULL.
zpeer_intake_t *zpeer_intake_new (const zpeer_intake_options_t *options);

void zpeer_intake_destroy (zpeer_intake_t **self_p);

//  Listens, on one more endpoint; returns as zpeer_socket_bind
int
zpeer_intake_bind (zpeer_intake_t *self, const char *endpoint, char *actual);

//  Stops listening, for good. Requests that were not read get no reply.
void zpeer_intake_close (zpeer_intake_t *self);

//  The feeders, to wait for; borrowed. Never ready when it does not listen.
zpeer_inlet_t *zpeer_intake_inlet (zpeer_intake_t *self);

//  Bytes of a frame from which on its feeder is cut off
size_t zpeer_intake_largest (const zpeer_intake_t *self);

//  Who bounds its connections; borrowed. NULL when it does not listen.
zpeer_doorman_t *zpeer_intake_doorman (zpeer_intake_t *self);

//  Reads up to limit events, as far as there are requests. now: the mark of those
//  who ask for it. Returns false when none is left, true when it stopped at the
//  limit.
bool zpeer_intake_read (zpeer_intake_t *self, uint64_t now, uint32_t limit);

//  What the last call of it read: events, and requests that their feeder sent
//  without waiting for the reply to the one before
uint32_t zpeer_intake_events (const zpeer_intake_t *self);
uint32_t zpeer_intake_pipelined (const zpeer_intake_t *self);

const zpeer_intake_stats_t *zpeer_intake_stats (const zpeer_intake_t *self);

#endif
