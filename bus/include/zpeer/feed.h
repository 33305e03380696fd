/*  feed.h - puts registry events into an engine

    The client of protocol ZPEER/1 (proto/PROTOCOL.md). Requests are answered in
    order; a feed keeps a window of unanswered ones, so that sending does not
    wait for answers and a slow engine is felt.

    When the engine goes away, a feed connects again by itself. What was
    unanswered then is lost: zpeer_feed_recv says so for each request, and the
    host sends them again. The engine may have taken them the first time; events
    bear repeating. Over ipc and tcp nothing is sent while no engine is there;
    over inproc requests wait for it, a window of them.

    Threads: one at a time per feed. Blocking: only where a timeout is given;
    0 does not wait, -1 waits for ever. A signal ends a wait early, as if the
    time were over.
*/
#ifndef ZPEER_FEED_H_INCLUDED
#define ZPEER_FEED_H_INCLUDED

#include <zpeer/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zpeer_feed zpeer_feed_t;

//  Largest request in bytes, unless zpeer_feed_set_max_bytes says otherwise: the
//  default of zpeer.events.max-frame-bytes. An engine hangs up on larger ones.
#define ZPEER_FEED_REQUEST_MAX 1048576

//  Replies kept beyond the window for a caller that only sends; after that the
//  oldest is thrown away
#define ZPEER_FEED_KEPT_MAX 1024

//  What the engine said to one request
typedef struct {
    uint64_t request;            //  Its number, as zpeer_feed_send gave it
    uint32_t accepted;           //  Events
    uint32_t rejected;           //  Events; at most 100 are listed
    uint32_t listed;             //  Entries of the two arrays below
    const uint32_t *indexes;     //  Of the rejected events in the request
    const char *const *reasons;  //  Why; both valid until the next call
    uint64_t mark;  //  The engine's time, ms, if that was asked for; else 0
} zpeer_reply_t;

//  A feed connected to endpoint; NULL if that is no endpoint, or if sockets or
//  descriptors ran out. window: most unanswered requests, 0 for the default
//  (64), at most 65,536.
ZPEER_EXPORT zpeer_feed_t *
zpeer_feed_new (const char *endpoint, unsigned window);

ZPEER_EXPORT void zpeer_feed_destroy (zpeer_feed_t **self_p);

//  For an engine with another zpeer.events.max-frame-bytes
ZPEER_EXPORT void
zpeer_feed_set_max_bytes (zpeer_feed_t *self, size_t max_bytes);

//  Sends one event as a request of its own. The event stays the caller's.
//  Returns ZPEER_OK and the request's number, from 1 (may be NULL);
//  ZPEER_E_TIMEOUT if the window stayed full or the engine away;
//  ZPEER_E_TOO_LARGE; ZPEER_E_RESOURCES if it cannot connect again for want of
//  sockets or descriptors. Replies that come meanwhile are kept for
//  zpeer_feed_recv.
ZPEER_EXPORT int
zpeer_feed_send (zpeer_feed_t *self, const zpeer_event_t *event, int timeout_ms,
                 uint64_t *request);

//  The same for a ready frame: one or more encoded events, one after the other
ZPEER_EXPORT int
zpeer_feed_send_frame (zpeer_feed_t *self, const void *data, size_t size,
                       int timeout_ms, uint64_t *request);

//  The same for a question: its reply has the engine's time (mark), from which
//  that of a snapshot is reckoned (zpeer_event_set_as_of). Ask before you fetch what
//  the snapshots are made of.
ZPEER_EXPORT int
zpeer_feed_ask (zpeer_feed_t *self, int timeout_ms, uint64_t *request);

//  The next reply, in the order of the requests. Returns ZPEER_OK;
//  ZPEER_E_TIMEOUT; ZPEER_E_AGAIN when no request is unanswered. With ZPEER_E_IO
//  the request was lost with its connection, with ZPEER_E_PARSE its reply made
//  no sense: reply->request says which, the rest of it is empty.
ZPEER_EXPORT int
zpeer_feed_recv (zpeer_feed_t *self, zpeer_reply_t *reply, int timeout_ms);

//  How many requests zpeer_feed_recv has not told about yet, whether their
//  replies are here already or not
ZPEER_EXPORT unsigned zpeer_feed_unanswered (const zpeer_feed_t *self);

#ifdef __cplusplus
}
#endif

#endif
