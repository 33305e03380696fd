#include <assert.h>
#include <stdlib.h>
#include "feeder.h"
#include "banned.h"

//  The engine may wait a second for a lane that does not keep up
#define WAIT_MS 10000

const char *
feeder_open (feeder_t *self, const char *endpoint, source_t *source)
{
    *self = (feeder_t){.feed = zpeer_feed_new (endpoint, 0), .source = source};
    return self->feed ? NULL : "a feed cannot be opened";
}

void
feeder_close (feeder_t *self)
{
    zpeer_feed_destroy (&self->feed);
    for (; self->head != self->tail; self->head++)
        free (self->sent[self->head % FEEDER_FRAMES]);
}

//  One reply. Returns what is wrong; *rc is ZPEER_OK when there was one.
static const char *
s_read_one (feeder_t *self, int timeout_ms, int *rc)
{
    zpeer_reply_t reply = {0};
    *rc = zpeer_feed_recv (self->feed, &reply, timeout_ms);
    if (*rc == ZPEER_E_TIMEOUT || *rc == ZPEER_E_AGAIN)
        return NULL;
    if (*rc != ZPEER_OK)
        return "a request was lost";
    frame_t *frame = self->sent[self->head++ % FEEDER_FRAMES];
    bool same = source_apply (self->source, frame->data, frame->size,
                              reply.indexes, reply.listed) &&
                reply.accepted + reply.rejected == frame->events;
    self->accepted += reply.accepted;
    self->rejected += reply.rejected;
    free (frame);
    return same ? NULL : "a reply rejects what is good, or the reverse";
}

const char *
feeder_read (feeder_t *self)
{
    int rc = ZPEER_OK;
    const char *wrong = NULL;
    while (rc == ZPEER_OK && !wrong)
        wrong = s_read_one (self, 0, &rc);
    return wrong;
}

const char *
feeder_flush (feeder_t *self)
{
    const char *wrong = NULL;
    while (self->head != self->tail && !wrong) {
        int rc;
        wrong = s_read_one (self, WAIT_MS, &rc);
        if (rc != ZPEER_OK && !wrong)
            wrong = "no reply";
    }
    return wrong;
}

const char *
feeder_send (feeder_t *self, const frame_t *frame)
{
    frame_t *copy = (frame_t *) malloc (sizeof *copy);
    const char *wrong =
        self->tail - self->head == FEEDER_FRAMES ? feeder_flush (self) : NULL;
    assert (copy);
    *copy = *frame;
    if (!wrong && zpeer_feed_send_frame (self->feed, frame->data, frame->size,
                                         WAIT_MS, NULL) != ZPEER_OK)
        wrong = "a frame cannot be sent";
    if (wrong)
        free (copy);
    else
        self->sent[self->tail++ % FEEDER_FRAMES] = copy;
    return wrong;
}
