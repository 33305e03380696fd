/*  feeder.c - many events into an engine, several in each request
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "feeder.h"
#include "banned.h"

//  Unanswered requests; enough to keep an engine busy over a network
#define WINDOW 64

//  Bytes of a request, below zpeer.events.max-frame-bytes (1 MiB)
#define FRAME_MAX ((size_t) 512 * 1024)

//  With a rate, events may go so much too early: they share requests then
#define EARLY_MS 5

//  A request on its way
typedef struct {
    uint64_t number;  //  As the feed gave it
    uint32_t count;   //  Events in it
    feeder_place_t places[FEEDER_BATCH_MAX];
} request_t;

struct feeder {
    feeder_options_t options;
    zpeer_feed_t *feed;          //  Owned
    char *frame;                 //  Owned; FRAME_MAX bytes
    size_t frame_size;           //  Bytes gathered
    request_t requests[WINDOW];  //  A ring: requests on their way, and behind
                                 //  them the one that is gathered
    uint64_t first;              //  The oldest on its way
    uint64_t next;               //  The one that is gathered
    int64_t started_at;          //  When the first event was added, ms
    bool lost;                   //  A request went with its connection
    uint64_t answered;           //  Number of the newest reply
    uint64_t mark;  //  What it had of the engine's time; 0: nothing
    feeder_counts_t counts;
};

void
feeder_destroy (feeder_t **self_p)
{
    assert (self_p);
    feeder_t *self = *self_p;
    if (!self)
        return;
    zpeer_feed_destroy (&self->feed);
    free (self->frame);
    free (self);
    *self_p = NULL;
}

feeder_t *
feeder_new (const feeder_options_t *options)
{
    assert (options && options->rejected);
    assert (options->batch > 0 && options->batch <= FEEDER_BATCH_MAX);
    feeder_t *self = calloc (1, sizeof *self);
    assert (self);
    self->options = *options;
    self->frame = malloc (FRAME_MAX);
    assert (self->frame);
    self->feed = zpeer_feed_new (options->endpoint, WINDOW);
    if (!self->feed)
        feeder_destroy (&self);
    return self;
}

static request_t *
s_request (feeder_t *self, uint64_t index)
{
    return &self->requests[index % WINDOW];
}

//  Takes one reply. Returns ZPEER_OK, also when it was lost, ZPEER_E_TIMEOUT,
//  ZPEER_E_PARSE, or ZPEER_E_AGAIN when nothing is unanswered.
static int
s_take_reply (feeder_t *self, int timeout_ms)
{
    zpeer_reply_t reply;
    int rc = zpeer_feed_recv (self->feed, &reply, timeout_ms);
    if (rc != ZPEER_OK && rc != ZPEER_E_IO)
        return rc;
    self->lost |= rc == ZPEER_E_IO;  //  And the rest of it is empty
    self->answered = reply.request;
    self->mark = reply.mark;
    request_t *request = s_request (self, self->first);
    while (self->first < self->next && request->number < reply.request)
        request = s_request (self, ++self->first);
    if (self->first == self->next || request->number != reply.request)
        return ZPEER_OK;
    self->first++;
    self->counts.accepted += reply.accepted;
    self->counts.rejected += reply.rejected;
    for (uint32_t i = 0; i < reply.listed; i++)
        if (reply.indexes[i] < request->count)
            self->options.rejected (self->options.arg,
                                    request->places[reply.indexes[i]],
                                    reply.reasons[i]);
    return ZPEER_OK;
}

static int
s_send (feeder_t *self, request_t *request)
{
    int rc =
        zpeer_feed_send_frame (self->feed, self->frame, self->frame_size,
                               self->options.patience_ms, &request->number);
    if (rc != ZPEER_OK)
        return rc;
    self->counts.sent += request->count;
    self->frame_size = 0;
    self->next++;
    while (self->next - self->first == WINDOW) {
        rc = s_take_reply (self, self->options.patience_ms);
        if (rc != ZPEER_OK)
            return rc;
    }
    s_request (self, self->next)->count = 0;
    return ZPEER_OK;
}

int
feeder_flush (feeder_t *self)
{
    assert (self);
    request_t *request = s_request (self, self->next);
    int rc = request->count > 0 ? s_send (self, request) : ZPEER_OK;
    if (rc != ZPEER_OK)
        return rc;
    do
        rc = s_take_reply (self, 0);
    while (rc == ZPEER_OK);
    return rc == ZPEER_E_PARSE ? rc : ZPEER_OK;
}

//  Waits for a moment, and takes replies meanwhile
static void
s_wait (feeder_t *self, int64_t until)
{
    int64_t left = until - clock_now ();
    while (left > 0) {
        if (s_take_reply (self, (int) left) == ZPEER_E_AGAIN)
            clock_pause (left);
        left = until - clock_now ();
    }
}

//  With a rate: waits until the next event is due
static int
s_hold_rate (feeder_t *self)
{
    int64_t now = clock_now ();
    uint64_t added = self->counts.sent + s_request (self, self->next)->count;
    if (added == 0)
        self->started_at = now;
    if (self->options.rate == 0)
        return ZPEER_OK;
    int64_t due =
        self->started_at + (int64_t) (added * 1000 / self->options.rate);
    if (due - now <= EARLY_MS)
        return ZPEER_OK;
    int rc = feeder_flush (self);
    if (rc == ZPEER_OK)
        s_wait (self, due);
    return rc;
}

int
feeder_add (feeder_t *self, feeder_place_t place, const void *data, size_t size)
{
    assert (self);
    if (size > FRAME_MAX)
        return ZPEER_E_TOO_LARGE;
    int rc = s_hold_rate (self);
    if (rc == ZPEER_OK && self->frame_size + size > FRAME_MAX)
        rc = feeder_flush (self);
    if (rc != ZPEER_OK)
        return rc;

    request_t *request = s_request (self, self->next);
    memcpy (self->frame + self->frame_size, data, size);
    self->frame_size += size;
    request->places[request->count++] = place;
    return request->count < self->options.batch ? ZPEER_OK
                                                : feeder_flush (self);
}

int
feeder_ask (feeder_t *self, uint64_t *mark)
{
    uint64_t number = 0;
    int rc = feeder_flush (self);
    if (rc == ZPEER_OK)
        rc = zpeer_feed_ask (self->feed, self->options.patience_ms, &number);
    while (rc == ZPEER_OK && self->answered < number)
        rc = s_take_reply (self, self->options.patience_ms);
    if (rc != ZPEER_OK)
        return ZPEER_E_TIMEOUT;
    *mark = self->mark;
    return ZPEER_OK;
}

int
feeder_finish (feeder_t *self)
{
    assert (self);
    int rc = feeder_flush (self);
    while (rc == ZPEER_OK)
        rc = s_take_reply (self, self->options.patience_ms);
    if (rc != ZPEER_E_AGAIN)
        return rc;
    return self->lost ? ZPEER_E_IO : ZPEER_OK;
}

const feeder_counts_t *
feeder_counts (const feeder_t *self)
{
    assert (self);
    return &self->counts;
}
