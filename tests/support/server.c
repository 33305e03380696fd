#include <assert.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server.h"
#include "banned.h"

#define EVENTS_MAX 64  //  Handled in one turn
#define BACKLOG    1024
#define PLUGS_MAX  8
#define PAUSE_MS   10

struct speer_server {
    speer_core_t *core;    //  Borrowed
    speer_conns_t *conns;  //  Owned
    int epoll;
    int wake;              //  eventfd
    int listeners[2];      //  Main, control; -1: closed
    int ports[2];          //  -1: none
    int plugs[PLUGS_MAX];  //  While deaf: own connections in the queue
    size_t plug_count;
    bool paused[2];     //  Out of descriptors: nobody is accepted
    int64_t resume_at;  //  Until then; INT64_MAX: not paused
    speer_mode_t mode;
    struct epoll_event ready[EVENTS_MAX];
    int ready_count;
};

//  Watches the queue of a port, or not
static void
s_watch_queue (speer_server_t *self, bool control, bool on)
{
    int fd = self->listeners[control];
    struct epoll_event event = {.events = on ? EPOLLIN : 0,
                                .data.u64 = (uint32_t) fd};
    epoll_ctl (self->epoll, EPOLL_CTL_MOD, fd, &event);
}

//  Without descriptors left the queue would wake us over and over: it is left
//  alone for a moment
static void
s_pause (speer_server_t *self, bool control)
{
    self->paused[control] = true;
    self->resume_at = speer_now_ms () + PAUSE_MS;
    s_watch_queue (self, control, false);
}

static void
s_resume (speer_server_t *self)
{
    if (self->resume_at > speer_now_ms ())
        return;
    for (int control = 0; control < 2; control++)
        if (self->paused[control] && (control || self->mode != SPEER_DEAF))
            s_watch_queue (self, control, true);
    self->paused[0] = self->paused[1] = false;
    self->resume_at = INT64_MAX;
}

static void
s_accept (speer_server_t *self, bool control)
{
    int fd;
    while ((fd = accept4 (self->listeners[control], NULL, NULL,
                          SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        if (!control && self->mode == SPEER_RESET_ALL) {
            self->core->counters[SPEER_CONNECTIONS]++;
            speer_conn_set_reset (fd);
            close (fd);
        }
        else
            speer_conns_open (self->conns, fd, control);
    if (errno == EMFILE || errno == ENFILE)
        s_pause (self, control);
}

void
speer_server_serve (speer_server_t *self)
{
    for (int i = 0; i < self->ready_count; i++) {
        uint64_t tag = self->ready[i].data.u64;
        uint64_t drained;
        int fd = tag <= INT_MAX ? (int) tag : -1;
        if (fd < 0)
            speer_conns_serve (self->conns, tag, self->ready[i].events);
        else if (fd == self->wake)
            (void) !read (fd, &drained, sizeof drained);
        else if (fd == self->listeners[0] || fd == self->listeners[1])
            s_accept (self, fd == self->listeners[1]);
    }
    self->ready_count = 0;
    speer_conns_drip (self->conns);
    s_resume (self);
}

void
speer_server_poll (speer_server_t *self, int64_t wake_at)
{
    int64_t now = speer_now_ms ();
    int64_t wait = wake_at <= now ? 0 : wake_at - now;
    int timeout = wake_at == INT64_MAX ? -1 : wait < 60000 ? (int) wait : 60000;
    int count = epoll_wait (self->epoll, self->ready, EVENTS_MAX, timeout);
    self->ready_count = count < 0 ? 0 : count;
}

void
speer_server_wake (speer_server_t *self)
{
    uint64_t one = 1;
    (void) !write (self->wake, &one, sizeof one);
}

int64_t
speer_server_wake_at (const speer_server_t *self)
{
    int64_t drip_at = speer_conns_wake_at (self->conns);
    return drip_at < self->resume_at ? drip_at : self->resume_at;
}

//  ---- Listening

static bool
s_listen (speer_server_t *self, bool control)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port =
                                      htons ((uint16_t) self->ports[control]),
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int on = 1;
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint32_t) fd};
    if (bind (fd, (struct sockaddr *) &address, size) || listen (fd, BACKLOG) ||
        getsockname (fd, (struct sockaddr *) &address, &size) ||
        epoll_ctl (self->epoll, EPOLL_CTL_ADD, fd, &event)) {
        close (fd);
        return false;
    }
    self->listeners[control] = fd;
    self->ports[control] = ntohs (address.sin_port);
    return true;
}

void
speer_server_drop (speer_server_t *self)
{
    speer_conns_drop (self->conns, false);
}

//  Fills the queue with connections of our own until one is not let in: from
//  then on the kernel drops whoever knocks
static void
s_plug (speer_server_t *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons ((uint16_t) self->ports[0]),
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    bool full = false;
    s_watch_queue (self, false, false);
    listen (self->listeners[0], 0);
    while (!full && self->plug_count < PLUGS_MAX) {
        int fd =
            socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return;
        struct pollfd connected = {.fd = fd, .events = POLLOUT};
        self->plugs[self->plug_count++] = fd;
        full = connect (fd, (struct sockaddr *) &address, sizeof address) &&
               poll (&connected, 1, 0) == 0;
    }
}

//  Takes them out again, and opens the queue
static void
s_unplug (speer_server_t *self)
{
    int fd;
    while (self->plug_count)
        close (self->plugs[--self->plug_count]);
    if (self->listeners[0] < 0)
        return;
    while ((fd = accept (self->listeners[0], NULL, NULL)) >= 0)
        close (fd);
    listen (self->listeners[0], BACKLOG);
    s_watch_queue (self, false, true);
}

bool
speer_server_mode (speer_server_t *self, speer_mode_t mode)
{
    bool listening = self->listeners[0] >= 0;
    if (self->mode == SPEER_DEAF && mode != SPEER_DEAF)
        s_unplug (self);
    if (mode == SPEER_REFUSE && listening) {
        close (self->listeners[0]);
        self->listeners[0] = -1;
        speer_server_drop (self);
    }
    if (mode != SPEER_REFUSE && !listening && !s_listen (self, false))
        return false;
    if (mode == SPEER_DEAF && self->mode != SPEER_DEAF)
        s_plug (self);
    self->mode = mode;
    speer_conns_mode (self->conns, mode);
    return true;
}

int
speer_server_port (const speer_server_t *self, bool control)
{
    return self->ports[control];
}

speer_server_t *
speer_server_new (speer_core_t *core, int port, int control,
                  const speer_conn_events_t *events)
{
    speer_server_t *self = (speer_server_t *) calloc (1, sizeof *self);
    assert (self);
    self->core = core;
    self->resume_at = INT64_MAX;
    self->ports[0] = port;
    self->ports[1] = control;
    self->listeners[0] = self->listeners[1] = -1;
    self->epoll = epoll_create1 (EPOLL_CLOEXEC);
    self->conns = speer_conns_new (core, self->epoll, events);
    self->wake = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = (uint32_t) self->wake};
    if (self->epoll < 0 || self->wake < 0 ||
        epoll_ctl (self->epoll, EPOLL_CTL_ADD, self->wake, &event) ||
        !s_listen (self, false) || (control >= 0 && !s_listen (self, true)))
        speer_server_destroy (&self);
    return self;
}

void
speer_server_destroy (speer_server_t **self_p)
{
    speer_server_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    speer_conns_destroy (&self->conns);
    s_unplug (self);
    for (int i = 0; i < 2; i++)
        if (self->listeners[i] >= 0)
            close (self->listeners[i]);
    if (self->wake >= 0)
        close (self->wake);
    if (self->epoll >= 0)
        close (self->epoll);
    free (self);
}

speer_conns_t *
speer_server_conns (const speer_server_t *self)
{
    return self->conns;
}
