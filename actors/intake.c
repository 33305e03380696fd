#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "intake.h"
#include "item.h"
#include "reply.h"
#include "socket.h"
#include "view.h"
#include "banned.h"

//  Requests that wait per feeder, and replies it has not read: more than a
//  feeder's window, and with the largest frames not all of the memory
#define REQUESTS_MAX 256

//  A frame that is too large is answered with a rejection; one that is larger
//  than so many times the limit costs the feeder its connection (ipc, tcp)
#define OVERSIZE_MAX 2

//  Longest name libzmq gives a connection, or takes from it
#define FEEDER_MAX 255

//  A msgpack map without members: no event, but a question for the mark
#define QUESTION '\x80'

//  Events between frame and view: the one that is being read, one for each step of
//  fetching what it needs, and the one that is given out
#define AHEAD (ZPEER_VIEW_STEPS + 2)

//  An event that was read and not given out yet
typedef struct {
    zpeer_parser_t *parser;  //  Owned; what event refers to is its
    zpeer_parsed_t event;
    int rc;                         //  How reading it ended; ZPEER_E_AGAIN: it
                                    //  is a question
    char reason[ZPEER_REASON_MAX];  //  If not well
} ahead_t;

struct zpeer_intake {
    zpeer_intake_options_t options;
    zpeer_inlet_t router;      //  Of an owned socket; NULL when not listening
    zpeer_ipc_t files;         //  Owned; of the router
    zpeer_doorman_t *doorman;  //  Owned, with the router
    zpeer_intake_stats_t stats;

    //  The request that is being read
    bool busy;              //  There is one
    bool delimiter;         //  Its reply needs an empty frame, too
    zpeer_frames_t frames;  //  Identity, delimiter, payload
    zpeer_slice_t payload;  //  In frames
    size_t offset;          //  Of the next event to be read
    ahead_t ahead[AHEAD];   //  A ring
    unsigned first, count;  //  Of it
    uint32_t index;         //  Of the next event to be given out
    uint32_t accepted;      //  Events so far
    zpeer_reply_writer_t reply;

    //  What zpeer_intake_read has read
    uint32_t events;
    uint32_t pipelined;
    char last[FEEDER_MAX];  //  The name of the feeder it read from last
    size_t last_size;       //  0: none
};

void
zpeer_intake_destroy (zpeer_intake_t **self_p)
{
    zpeer_intake_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    zpeer_frames_close (&self->frames);
    for (unsigned i = 0; i < AHEAD; i++)
        zpeer_parser_destroy (&self->ahead[i].parser);
    zpeer_doorman_destroy (&self->doorman);
    zpeer_socket_close (&self->router.socket, &self->files);
    free (self);
}

zpeer_intake_t *
zpeer_intake_new (const zpeer_intake_options_t *options)
{
    zpeer_intake_t *self = (zpeer_intake_t *) calloc (1, sizeof *self);
    assert (self);
    self->options = *options;
    for (unsigned i = 0; i < AHEAD; i++)
        self->ahead[i].parser = zpeer_parser_new ();
    return self;
}

size_t
zpeer_intake_largest (const zpeer_intake_t *self)
{
    return self->options.max_bytes * OVERSIZE_MAX;
}

//  The router and its doorman, or neither
static int
s_open (zpeer_intake_t *self)
{
    zsock_t *router = zpeer_socket_new (ZPEER_ROLE_FEEDERS, REQUESTS_MAX,
                                        (int64_t) zpeer_intake_largest (self));
    if (router)
        self->doorman =
            zpeer_doorman_new (router, self->options.max_connections);
    if (!self->doorman)
        zsock_destroy (&router);
    zpeer_inlet_open (&self->router, router);
    return router ? ZPEER_OK : ZPEER_E_RESOURCES;
}

int
zpeer_intake_bind (zpeer_intake_t *self, const char *endpoint, char *actual)
{
    int rc = self->router.socket ? ZPEER_OK : s_open (self);
    return rc ? rc
              : zpeer_socket_bind (self->router.socket, endpoint, actual,
                                   &self->files);
}

void
zpeer_intake_close (zpeer_intake_t *self)
{
    zpeer_doorman_destroy (&self->doorman);
    zpeer_socket_close (&self->router.socket, &self->files);
    zpeer_inlet_open (&self->router, NULL);
    zpeer_frames_close (&self->frames);
    self->busy = false;
    self->count = 0;
}

zpeer_inlet_t *
zpeer_intake_inlet (zpeer_intake_t *self)
{
    return &self->router;
}

zpeer_doorman_t *
zpeer_intake_doorman (zpeer_intake_t *self)
{
    return self->doorman;
}

uint32_t
zpeer_intake_events (const zpeer_intake_t *self)
{
    return self->events;
}

uint32_t
zpeer_intake_pipelined (const zpeer_intake_t *self)
{
    return self->pipelined;
}

const zpeer_intake_stats_t *
zpeer_intake_stats (const zpeer_intake_t *self)
{
    return &self->stats;
}

static void
s_reject (zpeer_intake_t *self, const char *reason)
{
    zpeer_reply_reject (&self->reply, self->index, reason);
    self->stats.rejected++;
    self->options.reject (self->options.arg, reason);
}

//  What is wrong with a request as a whole, in reason; false: nothing
static bool
s_unfit (const zpeer_intake_t *self, bool extra, char reason[ZPEER_REASON_MAX])
{
    if (extra)
        snprintf (reason, ZPEER_REASON_MAX,
                  "a request is one frame, after an optional empty one");
    else if (!self->payload.size)
        snprintf (reason, ZPEER_REASON_MAX, "the frame is empty");
    else if (self->payload.size > self->options.max_bytes)
        snprintf (
            reason, ZPEER_REASON_MAX,
            "the frame has %zu bytes, zpeer.events.max-frame-bytes is %zu",
            self->payload.size, self->options.max_bytes);
    else
        return false;
    return true;
}

//  Whether the request before was the same feeder's
static bool
s_is_pipelined (zpeer_intake_t *self)
{
    zpeer_slice_t feeder = zpeer_frames_at (&self->frames, 0);
    zpeer_slice_t last = {self->last, self->last_size};
    if (zpeer_slice_eq (feeder, last))
        return true;
    self->last_size = feeder.size < FEEDER_MAX ? feeder.size : FEEDER_MAX;
    memcpy (self->last, feeder.data, self->last_size);
    return false;
}

//  Takes the next request. Returns false when there is none.
static bool
s_receive (zpeer_intake_t *self)
{
    if (zpeer_inlet_recv (&self->router, &self->frames))
        return false;
    self->stats.requests++;
    self->pipelined += s_is_pipelined (self);
    self->busy = true;
    self->delimiter =
        self->frames.count > 2 && zpeer_frames_at (&self->frames, 1).size == 0;
    size_t at = self->delimiter ? 2 : 1;
    self->payload = zpeer_frames_at (&self->frames, at);
    self->offset = 0;
    self->count = 0;
    self->index = 0;
    self->accepted = 0;
    zpeer_reply_begin (&self->reply);

    char reason[ZPEER_REASON_MAX];
    if (s_unfit (self, self->frames.count > at + 1, reason)) {
        s_reject (self, reason);
        self->payload.size = 0;
    }
    return true;
}

//  What no batch to a peer could hold, in reason; false: it fits. An
//  AsgStatusUpdate always does, and a Forget is not sent.
static bool
s_too_large (const zpeer_intake_t *self, const zpeer_parsed_t *event,
             char reason[ZPEER_REASON_MAX])
{
    size_t bytes =
        zpeer_item_batch_bound (event->app, event->id, event->info.size);
    if (bytes <= self->options.max_batch_bytes || event->action == ZPEER_FORGET)
        return false;
    snprintf (reason, ZPEER_REASON_MAX,
              "the %s may take %zu bytes of a batch, zpeer.batch.max-bytes is "
              "%zu",
              zpeer_action_name (event->action), bytes,
              self->options.max_batch_bytes);
    return true;
}

static ahead_t *
s_ahead (zpeer_intake_t *self, unsigned number)
{
    return &self->ahead[(self->first + number) % AHEAD];
}

static void
s_read_event (zpeer_intake_t *self, ahead_t *ahead)
{
    if (self->payload.data[self->offset] == QUESTION) {
        ahead->rc = ZPEER_E_AGAIN;
        self->offset++;
        return;
    }
    ahead->rc = zpeer_parser_next (ahead->parser, self->payload.data,
                                   self->payload.size, &self->offset,
                                   &ahead->event, ahead->reason);
    if (ahead->rc == ZPEER_OK &&
        s_too_large (self, &ahead->event, ahead->reason))
        ahead->rc = ZPEER_E_REJECTED;
    if (ahead->rc == ZPEER_OK)
        self->options.expect (self->options.arg, &ahead->event);
    //  Where the next event begins is not known
    if (ahead->rc == ZPEER_E_PARSE)
        self->offset = self->payload.size;
}

//  Reads events until there are enough. With each, those before it get a step
//  further.
static void
s_read_ahead (zpeer_intake_t *self)
{
    while (self->count < AHEAD && self->offset < self->payload.size) {
        s_read_event (self, s_ahead (self, self->count));
        for (unsigned step = 0; step < ZPEER_VIEW_STEPS; step++) {
            if (step >= self->count)
                break;
            const ahead_t *ahead = s_ahead (self, self->count - step - 1);
            if (ahead->rc == ZPEER_OK)
                self->options.fetch (self->options.arg, &ahead->event, step);
        }
        self->count++;
    }
}

static void
s_give_out (zpeer_intake_t *self, uint64_t now)
{
    const ahead_t *first = s_ahead (self, 0);
    if (first->rc == ZPEER_OK) {
        self->accepted++;
        self->stats.accepted[first->event.action]++;
        self->options.event (self->options.arg, &first->event);
    }
    else if (first->rc == ZPEER_E_AGAIN)
        zpeer_reply_mark (&self->reply, now);
    else
        s_reject (self, first->reason);
    self->index++;
    self->first = (self->first + 1) % AHEAD;
    self->count--;
}

static void
s_answer (zpeer_intake_t *self)
{
    zpeer_slice_t frames[3] = {zpeer_frames_at (&self->frames, 0)};
    size_t count = self->delimiter ? 2 : 1;
    frames[count++] = zpeer_reply_end (&self->reply, self->accepted);
    if (zpeer_socket_send (self->router.socket, frames, count))
        self->stats.replies_dropped++;
    self->router.used = true;
    self->busy = false;
}

bool
zpeer_intake_read (zpeer_intake_t *self, uint64_t now, uint32_t limit)
{
    self->events = self->pipelined = 0;
    self->last_size = 0;
    for (; limit; limit--, self->events++) {
        if (!self->busy && !s_receive (self))
            return false;
        s_read_ahead (self);
        if (self->count)
            s_give_out (self, now);
        if (!self->count && self->offset >= self->payload.size)
            s_answer (self);
    }
    return true;
}
