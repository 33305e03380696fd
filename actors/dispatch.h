/*  dispatch.h - what a dispatcher decides

    Takes batches, the ends of HTTP requests, answers of health and the time;
    says what to do next: requests to start, messages to send. A core: no
    socket, thread, clock or log.

        zpeer_dispatch_batch (core, now, ...);      //  Something came in
        while (zpeer_dispatch_next (core, now, &action))
            ...                                     //  Do it

    One batch on its way:

      1. BATCH comes. Its request starts; a ZPEER_MODE_SINGLE body is several,
         one after the other.
      2. The request ends. A failure that counts is told to health (FAIL), which
         answers whether the maximum is reached; one that does not count asks
         only that (HASREACHEDMAX). Success is told and needs no answer.
      3. End, answer and the table of verdict.h give the result: DONE. Without
         an answer in time the tasks are kept: Congestion.
      4. A remote dispatcher repeats DONE until ACK.

    The lease. A batcher that hears nothing for 6 s takes its batches back: of
    them nothing may go to the peer any more. So a remote dispatcher works only
    while a HEARTBEAT that it sent in the last 3 s has been answered. What else
    comes from the batcher does not count: it may be old, held up somewhere.

    Threads: one at a time. Units: now is monotonic, ms; it never goes back.
*/
#ifndef ZPEER_DISPATCH_H_INCLUDED
#define ZPEER_DISPATCH_H_INCLUDED

#include "attempt.h"

//  How often HEARTBEAT goes, and DONE until it is acknowledged
#define ZPEER_DISPATCH_BEAT_MS 1000

//  So many beats after the newest HEARTBEAT that it has answered, the batcher
//  counts as gone
#define ZPEER_DISPATCH_BEATS_GONE 3

//  How long health may take to answer
#define ZPEER_DISPATCH_HEALTH_MS 1000

typedef struct {
    uint32_t peer;          //  Its number at health
    uint32_t credit;        //  Batches it can hold
    uint32_t beat_ms;       //  0: ZPEER_DISPATCH_BEAT_MS
    bool remote;            //  Speaks HEARTBEAT and ACK
    zpeer_statuses_t busy;  //  Statuses that mean Congestion
} zpeer_dispatch_options_t;

typedef enum {
    ZPEER_DISPATCH_REQUEST,  //  Start request of batch id
    ZPEER_DISPATCH_ABORT,    //  Stop the request of batch id
    ZPEER_DISPATCH_RELEASE,  //  Nothing reads the body of batch id any more
    ZPEER_DISPATCH_BATCHER,  //  Send frames to the batcher
    ZPEER_DISPATCH_HEALTH,   //  Send frames to health
    ZPEER_DISPATCH_FAILED,   //  For the log: an attempt failed, see result
    ZPEER_DISPATCH_UNHEARD,  //  For the log: health did not answer for result
    ZPEER_DISPATCH_GONE      //  For the log: no batcher; aborted requests
} zpeer_dispatch_kind_t;

//  Pointers are valid until the core is called again
typedef struct {
    zpeer_dispatch_kind_t kind;
    uint64_t id;
    void *owner;  //  Of the batch, as it was given
    zpeer_wire_request_t request;
    bool single;              //  The request is none for the batch endpoint
    zpeer_slice_t frames[5];  //  All of a message
    size_t frame_count;
    const zpeer_result_t *result;
    uint32_t aborted;
} zpeer_dispatch_action_t;

//  Figures, beside the attempts by end. kind (figures.h), field, key, sentence
#define ZPEER_DISPATCH_COUNTERS(X)                                             \
    X (TOTAL, batches, "batches", "Batches taken.")                            \
    X (TOTAL, requests, "requests", "HTTP requests begun.")                    \
    X (NOW, in_flight, "in-flight", "Batches whose request is on its way.")    \
    X (TOTAL, body_bytes, "body-bytes", "Bytes of bodies sent.")               \
    X (TOTAL, reply_bytes, "reply-bytes", "Bytes of answers, decoded.")        \
    X (TOTAL, reconnects, "reconnects",                                        \
       "Requests sent a second time, because the peer had just closed the "    \
       "connection they went out on; it is no failure.")                       \
    X (TOTAL, repeats, "repeats",                                              \
       "Reports sent again because the batcher did not acknowledge them.")     \
    X (TOTAL, ignored, "ignored",                                              \
       "Messages that were malformed, of unknown batches or too late.")        \
    X (TOTAL, unheard, "unheard",                                              \
       "Failures that health did not judge in time; their tasks are kept.")    \
    X (TOTAL, gone, "gone",                                                    \
       "Times the batcher was silent for 3 s and its requests were aborted.")

typedef struct {
#define X(kind, name, key, sentence) uint64_t name;
    ZPEER_DISPATCH_COUNTERS (X)
#undef X
    uint64_t ends[ZPEER_END_COUNT];  //  Attempts, by end
} zpeer_dispatch_stats_t;

typedef struct zpeer_dispatch zpeer_dispatch_t;

//  It begins at once: the first action is READY
zpeer_dispatch_t *
zpeer_dispatch_new (uint64_t now, const zpeer_dispatch_options_t *options);

//  Does not look at what is still running: see zpeer_dispatch_close
void zpeer_dispatch_destroy (zpeer_dispatch_t **self_p);

//  BATCH. body stays readable until RELEASE of that id; owner is the caller's.
//  Beyond the credit it waits its turn, without eating its timeouts.
//  Returns ZPEER_OK, ZPEER_E_EXISTS (it has that batch), ZPEER_E_TOO_LARGE
//  (more than any credit allows) or ZPEER_E_STATE (the batcher is gone, and may
//  have taken it back); then body and owner are not kept.
int zpeer_dispatch_batch (zpeer_dispatch_t *self, uint64_t now,
                          const zpeer_wire_batch_t *batch, zpeer_slice_t body,
                          void *owner);

//  The end of the running request of batch id; unknown ids are ignored
void zpeer_dispatch_reply (zpeer_dispatch_t *self, uint64_t now, uint64_t id,
                           const zpeer_reply_t *reply);

//  FAILED of health; late and unknown ones are ignored
void zpeer_dispatch_failed (zpeer_dispatch_t *self,
                            const zpeer_wire_failed_t *failed);

//  ACK of the batcher
void zpeer_dispatch_ack (zpeer_dispatch_t *self, uint64_t id);

//  HEARTBEAT of the batcher, which answers the one sent at sent
void zpeer_dispatch_heartbeat (zpeer_dispatch_t *self, uint64_t now,
                               uint64_t last, uint64_t sent);

//  A message came that makes no sense: it is counted
void zpeer_dispatch_ignore (zpeer_dispatch_t *self);

//  Stops: no request starts any more, those that run are aborted, all bodies
//  released, a remote one says GOODBYE. zpeer_dispatch_next gives all that.
void zpeer_dispatch_close (zpeer_dispatch_t *self);

//  The next thing to do; false: nothing until something comes in, or until
//  zpeer_dispatch_wake
bool zpeer_dispatch_next (zpeer_dispatch_t *self, uint64_t now,
                          zpeer_dispatch_action_t *action);

//  When zpeer_dispatch_next has something though nothing came in; UINT64_MAX:
//  never
uint64_t zpeer_dispatch_wake (const zpeer_dispatch_t *self);

void zpeer_dispatch_stats (const zpeer_dispatch_t *self,
                           zpeer_dispatch_stats_t *stats);

#endif
