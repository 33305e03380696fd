/*  feed.h - puts registry events into an engine

    The client of protocol ZPEER/1 (proto/PROTOCOL.md). Requests are answered in
    order; a feed keeps a window of unanswered ones, so that sending does not
    wait for answers and a slow engine is felt.

    Threads: one at a time per feed. Blocking: only where a timeout is given;
    0 does not wait, -1 waits for ever.
*/
#ifndef ZPEER_FEED_H_INCLUDED
#define ZPEER_FEED_H_INCLUDED

#include <zpeer/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zpeer_feed zpeer_feed_t;

//  What the engine said to one request
typedef struct {
    uint64_t request;            //  Its number, as zpeer_feed_send gave it
    uint32_t accepted;           //  Events
    uint32_t rejected;           //  Events; at most 100 are listed
    uint32_t listed;             //  Entries of the two arrays below
    const uint32_t *indexes;     //  Of the rejected events in the request
    const char *const *reasons;  //  Why; both valid until the next call
} zpeer_reply_t;

//  A feed connected to endpoint; NULL if that is no endpoint. window: most
//  unanswered requests, 0 for the default (64).
ZPEER_EXPORT zpeer_feed_t *
zpeer_feed_new (const char *endpoint, unsigned window);

ZPEER_EXPORT void zpeer_feed_destroy (zpeer_feed_t **self_p);

//  Sends one event as a request of its own. The event stays the caller's.
//  Returns ZPEER_OK and the request's number (may be NULL); ZPEER_E_TIMEOUT if
//  the window stayed full or the engine away; ZPEER_E_TOO_LARGE.
ZPEER_EXPORT int
zpeer_feed_send (zpeer_feed_t *self, const zpeer_event_t *event, int timeout_ms,
                 uint64_t *request);

//  The same for a ready frame: one or more encoded events, one after the other
ZPEER_EXPORT int
zpeer_feed_send_frame (zpeer_feed_t *self, const void *data, size_t size,
                       int timeout_ms, uint64_t *request);

//  The next reply. Returns ZPEER_OK, ZPEER_E_TIMEOUT, or ZPEER_E_AGAIN when no
//  request is unanswered.
ZPEER_EXPORT int
zpeer_feed_recv (zpeer_feed_t *self, zpeer_reply_t *reply, int timeout_ms);

//  How many requests are unanswered
ZPEER_EXPORT unsigned zpeer_feed_unanswered (const zpeer_feed_t *self);

#ifdef __cplusplus
}
#endif

#endif
