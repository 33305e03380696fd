#include <assert.h>
#include <stdlib.h>
#include <zpeer/feed.h>
#include "buffer.h"
#include "reply.h"
#include "socket.h"
#include "banned.h"

#define WINDOW_DEFAULT 64
#define WINDOW_MAX     65536

//  Largest reply that is read: 100 reasons of 255 bytes, and what is around
#define REPLY_MAX 65536

//  Over inproc nothing tells of a lost connection: it is looked at this often
//  while somebody waits
#define INPROC_LOOK_MS 100

//  How one request ended
typedef struct {
    uint64_t request;
    bool lost;        //  The connection went first: there is no reply
    zmq_msg_t frame;  //  Owned; the reply, or empty
} s_end_t;

struct zpeer_feed {
    char endpoint[ZPEER_ENDPOINT_MAX];
    zsock_t *dealer;   //  Owned; NULL when it could not be opened again
    zsock_t *monitor;  //  Owned; tells of lost connections
    bool inproc;       //  But not over inproc
    unsigned window;
    size_t max_bytes;  //  Largest request
    uint64_t sent;     //  Requests; the number of the last one
    uint64_t ended;    //  Requests whose end is known; number of the last one
    s_end_t *ends;     //  Owned ring; those the caller has not asked about
    size_t capacity, first, count;
    zpeer_buffer_t event;        //  Owned; zpeer_feed_send's request
    zpeer_frames_t frames;       //  Owned; what was received last
    zpeer_reply_reader_t reply;  //  Owned; what zpeer_feed_recv gave out last
};

static void
s_close (zpeer_feed_t *self)
{
    zpeer_socket_unmonitor (self->dealer, &self->monitor);
    zsock_destroy (&self->dealer);
}

static s_end_t *
s_take_end (zpeer_feed_t *self)
{
    s_end_t *end = &self->ends[self->first];
    self->first = (self->first + 1) % self->capacity;
    self->count--;
    return end;
}

void
zpeer_feed_destroy (zpeer_feed_t **self_p)
{
    assert (self_p);
    zpeer_feed_t *self = *self_p;
    if (!self)
        return;
    s_close (self);
    while (self->count)
        zmq_msg_close (&s_take_end (self)->frame);
    free (self->ends);
    zpeer_frames_close (&self->frames);
    zpeer_buffer_free (&self->event);
    free (self);
    *self_p = NULL;
}

//  Opens and connects both sockets, or neither
static int
s_open (zpeer_feed_t *self)
{
    //  Never full with a window in it, see s_connection_lost: over inproc libzmq
    //  hears only once in half of the room what the other end has read
    self->dealer = zpeer_socket_new (ZPEER_ROLE_FEED,
                                     2 * (int) self->window + 2, REPLY_MAX);
    if (self->dealer)
        self->monitor =
            zpeer_socket_monitor (self->dealer, ZMQ_EVENT_DISCONNECTED);
    int rc = ZPEER_E_RESOURCES;
    if (self->monitor)
        rc = zpeer_socket_connect (self->dealer, self->endpoint);
    if (rc)
        s_close (self);
    return rc;
}

zpeer_feed_t *
zpeer_feed_new (const char *endpoint, unsigned window)
{
    if (strlen (endpoint) >= ZPEER_ENDPOINT_MAX)
        return NULL;
    zpeer_feed_t *self = (zpeer_feed_t *) calloc (1, sizeof *self);
    assert (self);
    snprintf (self->endpoint, sizeof self->endpoint, "%s", endpoint);
    self->inproc = strncmp (endpoint, "inproc:", 7) == 0;
    self->window = window ? window : WINDOW_DEFAULT;
    if (self->window > WINDOW_MAX)
        self->window = WINDOW_MAX;
    self->max_bytes = ZPEER_FEED_REQUEST_MAX;
    self->capacity = self->window + ZPEER_FEED_KEPT_MAX;
    self->ends = (s_end_t *) calloc (self->capacity, sizeof *self->ends);
    assert (self->ends);
    if (s_open (self))
        zpeer_feed_destroy (&self);
    return self;
}

void
zpeer_feed_set_max_bytes (zpeer_feed_t *self, size_t max_bytes)
{
    self->max_bytes = max_bytes;
}

//  Notes how the oldest unanswered request has ended. frame: taken, or NULL
//  when there is no reply.
static void
s_note_end (zpeer_feed_t *self, zmq_msg_t *frame)
{
    if (self->count == self->capacity)
        zmq_msg_close (&s_take_end (self)->frame);
    size_t last = (self->first + self->count++) % self->capacity;
    s_end_t *end = &self->ends[last];
    end->request = ++self->ended;
    end->lost = !frame;
    zmq_msg_init (&end->frame);
    if (frame)
        zmq_msg_move (&end->frame, frame);
}

//  Takes the replies that are there: the engine answers in order
static void
s_take_replies (zpeer_feed_t *self)
{
    while (zpeer_socket_recv (self->dealer, &self->frames) == ZPEER_OK)
        if (self->ended < self->sent)
            s_note_end (self, &self->frames.frames[self->frames.count - 1]);
}

//  events: what the connection can do
static bool
s_connection_lost (zpeer_feed_t *self, int events)
{
    //  The queue is never full: what is not writable is not connected
    if (self->inproc)
        return !(events & ZMQ_POLLOUT);
    bool lost = false;
    while (zpeer_socket_recv (self->monitor, &self->frames) == ZPEER_OK)
        lost = true;
    return lost;
}

//  Takes in whatever has happened, asking libzmq as seldom as can be: each
//  question is two system calls. When a connection goes, the engine's replies
//  to what was sent over it never come. A reply that was under way still might,
//  and would be taken for that of a later request: so the socket goes too. (If
//  nothing is unanswered libzmq connects again by itself, but not over inproc.)
static int
s_catch_up (zpeer_feed_t *self)
{
    if (!self->dealer)
        return s_open (self);
    int events = zpeer_socket_events (self->dealer);
    bool lost = s_connection_lost (self, events);
    if (lost || events & ZMQ_POLLIN)
        s_take_replies (self);
    if (!lost || (self->ended == self->sent && !self->inproc))
        return ZPEER_OK;
    while (self->ended < self->sent)
        s_note_end (self, NULL);
    zsock_set_linger (self->dealer, 0);
    s_close (self);
    return s_open (self);
}

//  Waits for events on the connection, or for its loss
static int
s_wait (zpeer_feed_t *self, short events, int64_t deadline)
{
    zmq_pollitem_t items[] = {
        {zsock_resolve (self->dealer), 0, events, 0},
        {zsock_resolve (self->monitor), 0, ZMQ_POLLIN, 0}};
    int64_t look = deadline;
    if (self->inproc && zclock_mono () + INPROC_LOOK_MS < deadline)
        look = zclock_mono () + INPROC_LOOK_MS;
    int rc = zpeer_socket_poll (items, 2, look);
    return rc == ZPEER_OK || (rc == ZPEER_E_TIMEOUT && look < deadline)
               ? ZPEER_OK
               : ZPEER_E_TIMEOUT;
}

int
zpeer_feed_send_frame (zpeer_feed_t *self, const void *data, size_t size,
                       int timeout_ms, uint64_t *request)
{
    if (size > self->max_bytes)
        return ZPEER_E_TOO_LARGE;
    int64_t deadline = zpeer_socket_deadline (timeout_ms);
    zpeer_slice_t frame = {(const char *) data, size};
    int rc = s_catch_up (self);
    while (rc == ZPEER_OK) {
        bool room = self->sent - self->ended < self->window;
        if (room && zpeer_socket_send (self->dealer, &frame, 1) == ZPEER_OK) {
            self->sent++;
            if (request)
                *request = self->sent;
            break;
        }
        rc = s_wait (self, room ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN,
                     deadline);
        if (rc == ZPEER_OK)
            rc = s_catch_up (self);
    }
    return rc;
}

int
zpeer_feed_send (zpeer_feed_t *self, const zpeer_event_t *event, int timeout_ms,
                 uint64_t *request)
{
    zpeer_buffer_reset (&self->event);
    zpeer_buffer_reserve (&self->event, zpeer_event_size (event));
    int rc = zpeer_event_encode (event, self->event.data, self->event.capacity,
                                 &self->event.size);
    return rc ? rc
              : zpeer_feed_send_frame (self, self->event.data, self->event.size,
                                       timeout_ms, request);
}

int
zpeer_feed_ask (zpeer_feed_t *self, int timeout_ms, uint64_t *request)
{
    //  A map without members
    return zpeer_feed_send_frame (self, "\x80", 1, timeout_ms, request);
}

//  Hands the oldest end out
static int
s_deliver (zpeer_feed_t *self, zpeer_reply_t *reply)
{
    s_end_t *end = s_take_end (self);
    *reply = (zpeer_reply_t){.request = end->request};
    int rc = ZPEER_E_IO;
    if (!end->lost)
        rc = zpeer_reply_read (&self->reply, zmq_msg_data (&end->frame),
                               zmq_msg_size (&end->frame));
    zmq_msg_close (&end->frame);
    if (rc == ZPEER_OK) {
        reply->mark = self->reply.mark;
        reply->accepted = self->reply.accepted;
        reply->rejected = self->reply.rejected;
        reply->listed = self->reply.listed;
        reply->indexes = self->reply.indexes;
        reply->reasons = self->reply.reasons;
    }
    return rc;
}

int
zpeer_feed_recv (zpeer_feed_t *self, zpeer_reply_t *reply, int timeout_ms)
{
    int64_t deadline = zpeer_socket_deadline (timeout_ms);
    int rc = ZPEER_OK;
    while (rc == ZPEER_OK && !self->count) {
        if (self->ended == self->sent)
            return ZPEER_E_AGAIN;
        rc = s_catch_up (self);
        if (rc == ZPEER_OK && !self->count)
            rc = timeout_ms ? s_wait (self, ZMQ_POLLIN, deadline)
                            : ZPEER_E_TIMEOUT;
    }
    return self->count ? s_deliver (self, reply) : rc;
}

unsigned
zpeer_feed_unanswered (const zpeer_feed_t *self)
{
    return (unsigned) (self->sent - self->ended + self->count);
}
