#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conn.h"
#include "banned.h"

#define IN_BYTES (64 << 10)  //  Room of a new connection
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define BAD                                                                    \
    "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: "            \
    "close\r\n\r\n"

struct speer_conns {
    speer_core_t *core;  //  Borrowed
    speer_conn_events_t events;
    int epoll;  //  Borrowed
    speer_mode_t mode;
    speer_conn_t **conns;  //  Owned; by descriptor
    size_t max;
    uint32_t serial;
    size_t dripping;
};

//  ---- Opening and closing

//  Nothing is read from it
static bool
s_blind (const speer_conns_t *self, const speer_conn_t *conn)
{
    return !conn->control &&
           (self->mode == SPEER_BLACK_HOLE || self->mode == SPEER_DEAF);
}

static void
s_watch (speer_conns_t *self, const speer_conn_t *conn, int op)
{
    bool blind = s_blind (self, conn);
    struct epoll_event event = {
        .events =
            EPOLLRDHUP | (blind ? 0u : (unsigned) EPOLLIN) |
            (conn->out_sent < conn->out_allowed ? (unsigned) EPOLLOUT : 0u),
        .data.u64 = (uint64_t) conn->serial << 32 | (uint32_t) conn->fd};
    epoll_ctl (self->epoll, op, conn->fd, &event);
}

void
speer_conn_set_reset (int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt (fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

//  Closes it. left: the client went first.
static void
s_close (speer_conns_t *self, speer_conn_t *conn, bool left)
{
    self->conns[conn->fd] = NULL;
    if (conn->drip_ms)
        self->dripping--;
    close (conn->fd);
    if (!conn->control)
        self->core->counters[SPEER_OPEN]--;
    if (conn->busy)
        self->events.gone (self->events.arg, conn, left);
    else if (left && s_blind (self, conn))
        self->core->counters[SPEER_ABANDONED]++;
    free (conn->in);
    free (conn->out);
    free (conn);
}

//  Closes it now, or when the requests in its buffer are through
static void
s_doom (speer_conns_t *self, speer_conn_t *conn)
{
    conn->doomed = true;
    if (!conn->serving)
        s_close (self, conn, false);
}

void
speer_conns_open (speer_conns_t *self, int fd, bool control)
{
    int on = 1;
    setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if ((size_t) fd >= self->max) {
        size_t max = (size_t) fd * 2 + 16;
        self->conns = (speer_conn_t **) realloc (self->conns,
                                                 max * sizeof (speer_conn_t *));
        assert (self->conns);
        while (self->max < max)
            self->conns[self->max++] = NULL;
    }
    speer_conn_t *conn = (speer_conn_t *) calloc (1, sizeof *conn);
    assert (conn);
    conn->fd = fd;
    conn->serial = ++self->serial;
    conn->control = control;
    self->conns[fd] = conn;
    if (!control) {
        self->core->counters[SPEER_CONNECTIONS]++;
        self->core->counters[SPEER_OPEN]++;
    }
    s_watch (self, conn, EPOLL_CTL_ADD);
}

//  ---- Sending

static void s_serve_buffer (speer_conns_t *self, speer_conn_t *conn);

//  What follows when all bytes are out
static void
s_sent (speer_conns_t *self, speer_conn_t *conn)
{
    free (conn->out);
    conn->out = NULL;
    conn->out_size = conn->out_sent = conn->out_allowed = 0;
    if (conn->drip_ms)
        self->dripping--;
    conn->drip_ms = 0;
    if (conn->whole) {
        conn->busy = false;
        self->events.sent (self->events.arg, conn);
    }
    if (conn->then == SPEER_THEN_RESET)
        speer_conn_set_reset (conn->fd);
    if (conn->then == SPEER_THEN_RESET || conn->then == SPEER_THEN_CLOSE)
        s_doom (self, conn);
    else if (!conn->busy && !conn->serving && conn->in_size)
        s_serve_buffer (self, conn);  //  The next request is there already
}

//  Sends what may go. The connection may be gone afterwards.
static void
s_flush (speer_conns_t *self, speer_conn_t *conn)
{
    ssize_t sent = send (conn->fd, conn->out + conn->out_sent,
                         conn->out_allowed - conn->out_sent, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
        s_close (self, conn, true);
        return;
    }
    conn->out_sent += sent > 0 ? (size_t) sent : 0;
    s_watch (self, conn, EPOLL_CTL_MOD);
    if (conn->out_sent == conn->out_size)
        s_sent (self, conn);
}

void
speer_conn_answer (speer_conns_t *self, speer_conn_t *conn,
                   const speer_output_t *output, int drip_ms)
{
    size_t allowed = drip_ms ? output->head_size : output->size;
    ssize_t sent = 0;
    conn->then = output->then;
    conn->whole = output->whole;
    if (allowed)
        sent = send (conn->fd, output->data, allowed, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
        s_doom (self, conn);
        return;
    }
    conn->out_sent = sent > 0 ? (size_t) sent : 0;
    if (conn->out_sent == output->size) {
        s_sent (self, conn);
        return;
    }
    conn->out = (char *) malloc (output->size);
    assert (conn->out);
    memcpy (conn->out, output->data, output->size);
    conn->out_size = output->size;
    conn->out_allowed = allowed;
    conn->drip_ms = drip_ms;
    conn->drip_at = speer_now_ms () + drip_ms;
    self->dripping += drip_ms > 0;
    s_watch (self, conn, EPOLL_CTL_MOD);
}

//  One more byte for each connection that drips and is due
void
speer_conns_drip (speer_conns_t *self)
{
    int64_t now = speer_now_ms ();
    for (size_t i = 0; self->dripping && i < self->max; i++) {
        speer_conn_t *conn = self->conns[i];
        if (!conn || !conn->drip_ms || now < conn->drip_at)
            continue;
        conn->drip_at = now + conn->drip_ms;
        if (conn->out_allowed < conn->out_size)
            conn->out_allowed++;
        s_flush (self, conn);
    }
}

int64_t
speer_conns_wake_at (const speer_conns_t *self)
{
    int64_t wake_at = INT64_MAX;
    for (size_t i = 0; self->dripping && i < self->max; i++) {
        const speer_conn_t *conn = self->conns[i];
        if (conn && conn->drip_ms && conn->drip_at < wake_at)
            wake_at = conn->drip_at;
    }
    return wake_at;
}

//  ---- Receiving

static void
s_refuse_request (speer_conns_t *self, speer_conn_t *conn)
{
    speer_output_t output = {
        .data = (char *) BAD, .size = sizeof BAD - 1, .then = SPEER_THEN_CLOSE};
    speer_conn_answer (self, conn, &output, 0);
}

//  Hands out the requests in the buffer, one after the other
static void
s_serve_buffer (speer_conns_t *self, speer_conn_t *conn)
{
    size_t used = 0;
    conn->serving = true;
    while (!conn->busy && !conn->doomed && conn->in_size > used &&
           conn->in_size - used >= conn->need) {
        speer_http_t request;
        size_t size = speer_http_parse (&request, conn->in + used,
                                        conn->in_size - used, &conn->need);
        if (size == SPEER_BAD_REQUEST) {
            s_refuse_request (self, conn);
            break;
        }
        if (size == 0) {
            if (request.expects && !conn->continued)
                (void) !send (conn->fd, CONTINUE, sizeof CONTINUE - 1,
                              MSG_NOSIGNAL);
            conn->continued = request.expects;
            break;
        }
        used += size;
        conn->need = 0;
        conn->continued = false;
        conn->busy = true;
        self->events.request (self->events.arg, conn, &request);
    }
    conn->serving = false;
    if (used)
        memmove (conn->in, conn->in + used, conn->in_size - used);
    conn->in_size -= used;
    if (conn->doomed)
        s_close (self, conn, false);
}

static void
s_make_room (speer_conn_t *conn)
{
    size_t wanted = conn->need > conn->in_size ? conn->need : conn->in_size + 1;
    if (wanted <= conn->in_capacity)
        return;
    conn->in_capacity = wanted < IN_BYTES ? IN_BYTES : wanted * 2;
    conn->in = (char *) realloc (conn->in, conn->in_capacity);
    assert (conn->in);
}

static void
s_receive (speer_conns_t *self, speer_conn_t *conn)
{
    if (self->mode == SPEER_RESET_ALL && !conn->control) {
        speer_conn_set_reset (conn->fd);
        s_close (self, conn, false);
        return;
    }
    s_make_room (conn);
    ssize_t got = recv (conn->fd, conn->in + conn->in_size,
                        conn->in_capacity - conn->in_size, 0);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0 || conn->in_size > SPEER_REQUEST_MAX) {
        s_close (self, conn, true);
        return;
    }
    conn->in_size += (size_t) got;
    if (!conn->busy)
        s_serve_buffer (self, conn);
}

void
speer_conns_serve (speer_conns_t *self, uint64_t tag, uint32_t events)
{
    size_t fd = (uint32_t) tag;
    speer_conn_t *conn = fd < self->max ? self->conns[fd] : NULL;
    if (!conn || conn->serial != tag >> 32)
        return;
    bool blind = s_blind (self, conn);
    if (blind && events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        s_close (self, conn, true);
    else if (blind)
        return;
    else if (events & EPOLLOUT)
        s_flush (self, conn);
    else
        s_receive (self, conn);
}

void
speer_conns_drop (speer_conns_t *self, bool control)
{
    for (size_t i = 0; i < self->max; i++)
        if (self->conns[i] && (control || !self->conns[i]->control))
            s_close (self, self->conns[i], false);
}

void
speer_conns_mode (speer_conns_t *self, speer_mode_t mode)
{
    self->mode = mode;
    for (size_t i = 0; i < self->max; i++)
        if (self->conns[i])
            s_watch (self, self->conns[i], EPOLL_CTL_MOD);
}

speer_conns_t *
speer_conns_new (speer_core_t *core, int epoll,
                 const speer_conn_events_t *events)
{
    speer_conns_t *self = (speer_conns_t *) calloc (1, sizeof *self);
    assert (self);
    self->core = core;
    self->epoll = epoll;
    self->events = *events;
    return self;
}

void
speer_conns_destroy (speer_conns_t **self_p)
{
    speer_conns_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    speer_conns_drop (self, true);
    free (self->conns);
    free (self);
}
