#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include <unistd.h>
#include "doorman.h"
#include "socket.h"
#include "banned.h"

//  What is looked at in one call
#define EVENTS_TURN 1000

//  Connections of which it holds a descriptor, and the part of all descriptors they
//  may be
#define WATCHED_MAX  1024
#define WATCHED_PART 16

//  What is heard of
#define EVENTS                                                                 \
    (ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |                             \
     ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)

//  A connection that is watched
typedef struct {
    bool used;
    int number;     //  libzmq's descriptor
    int fd;         //  Owned; another one of the same connection; -1: none,
                    //  libzmq had closed it
    uint64_t call;  //  In which it was accepted
} watched_t;

struct zpeer_doorman {
    zsock_t *sock;          //  Borrowed; the one that is watched
    zpeer_inlet_t monitor;  //  Of an owned socket
    uint32_t max;
    uint32_t connected;
    watched_t watched[WATCHED_MAX];  //  The first watched_max; a ring
    unsigned watched_max;
    unsigned next;          //  Of the ring: to be used next
    uint64_t call;          //  Of zpeer_doorman_work
    bool ungreeted;         //  The next that ends does so without a greeting
    zpeer_frames_t frames;  //  The event that is being read
};

//  The address a connection came to
typedef union {
    struct sockaddr any;
    struct sockaddr_un path;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
} address_t;

static void
s_forget (watched_t *watched)
{
    if (watched->used && watched->fd >= 0)
        close (watched->fd);
    watched->used = false;
}

void
zpeer_doorman_destroy (zpeer_doorman_t **self_p)
{
    zpeer_doorman_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (unsigned i = 0; i < WATCHED_MAX; i++)
        s_forget (&self->watched[i]);
    zpeer_frames_close (&self->frames);
    zpeer_socket_unmonitor (self->sock, &self->monitor.socket);
    free (self);
}

//  No more than this part of the descriptors the process may open
static uint32_t
s_bound (uint32_t max, unsigned part)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) || limit.rlim_cur / part >= max)
        return max;
    return (uint32_t) (limit.rlim_cur / part);
}

zpeer_doorman_t *
zpeer_doorman_new (zsock_t *sock, uint32_t max)
{
    zsock_t *monitor = zpeer_socket_monitor (sock, EVENTS);
    if (!monitor)
        return NULL;
    zpeer_doorman_t *self = (zpeer_doorman_t *) calloc (1, sizeof *self);
    assert (self);
    self->sock = sock;
    zpeer_inlet_open (&self->monitor, monitor);
    //  Half is for everything else, and for those who come in before they are
    //  refused
    self->max = max == ZPEER_DOORMAN_ANY ? max : s_bound (max, 2);
    self->watched_max = s_bound (WATCHED_MAX, WATCHED_PART);
    return self;
}

zpeer_inlet_t *
zpeer_doorman_inlet (zpeer_doorman_t *self)
{
    return &self->monitor;
}

uint32_t
zpeer_doorman_max (const zpeer_doorman_t *self)
{
    return self->max;
}

uint32_t
zpeer_doorman_connected (const zpeer_doorman_t *self)
{
    return self->connected;
}

//  Writes the endpoint as libzmq does for ipc
static void
s_write_path (const address_t *address, socklen_t size,
              char endpoint[ZPEER_ENDPOINT_MAX])
{
    const char *path = address->path.sun_path;
    int length = (int) (size - offsetof (struct sockaddr_un, sun_path));
    bool abstract = length > 0 && !*path;
    snprintf (endpoint, ZPEER_ENDPOINT_MAX, "ipc://%s%.*s", abstract ? "@" : "",
              length - abstract, path + abstract);
}

//  Whether fd is a connection that came in at endpoint
static bool
s_came_in_at (int fd, const char *endpoint)
{
    address_t address = {0};
    socklen_t size = sizeof address;
    if (getsockname (fd, &address.any, &size))
        return false;
    char own[ZPEER_ENDPOINT_MAX];
    if (address.any.sa_family == AF_UNIX) {
        s_write_path (&address, size, own);
        return streq (own, endpoint);
    }
    const char *colon = strrchr (endpoint, ':');
    in_port_t port = address.any.sa_family == AF_INET6 ? address.ipv6.sin6_port
                                                       : address.ipv4.sin_port;
    snprintf (own, sizeof own, ":%u", ntohs (port));
    return colon && streq (own, colon);
}

//  Another descriptor of the connection, or -1. By now libzmq may have closed its
//  own, and the number be somebody else's: a duplicate stays what it is while it
//  is looked at.
static int
s_duplicate (int number, const char *endpoint)
{
    int fd = fcntl (number, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && !s_came_in_at (fd, endpoint)) {
        close (fd);
        return -1;
    }
    return fd;
}

//  Ends the connection; libzmq closes it when it sees that
static void
s_hang_up (int number, const char *endpoint)
{
    int fd = s_duplicate (number, endpoint);
    if (fd < 0)
        return;
    shutdown (fd, SHUT_RDWR);
    close (fd);
}

//  In the place of the one that has been watched for longest
static void
s_watch (zpeer_doorman_t *self, int number, const char *endpoint)
{
    if (!self->watched_max)
        return;
    watched_t *watched = &self->watched[self->next];
    self->next = (self->next + 1) % self->watched_max;
    s_forget (watched);
    *watched = (watched_t){.used = true,
                           .number = number,
                           .fd = s_duplicate (number, endpoint),
                           .call = self->call};
}

//  The newest one with this number
static watched_t *
s_find (zpeer_doorman_t *self, int number)
{
    for (unsigned i = 1; i <= self->watched_max; i++) {
        unsigned at = (self->next + self->watched_max - i) % self->watched_max;
        if (self->watched[at].used && self->watched[at].number == number)
            return &self->watched[at];
    }
    return NULL;
}

//  Whether the client is there, or has left something unread: who left by itself,
//  in order, has not
static bool
s_is_there (int fd)
{
    char byte;
    ssize_t got = recv (fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && errno == EAGAIN);
}

//  libzmq has closed the connection. Who closed it first is not there any more; who
//  was cut off is. If it was accepted in the same call, there is no duplicate, or it
//  may be that of a later connection: then all that is known is whether it ended in
//  its greeting, which is what a port that is probed looks like.
static void
s_look_back (zpeer_doorman_t *self, int number, const char *endpoint,
             zpeer_doorman_news_t *news)
{
    watched_t *watched = s_find (self, number);
    if (!watched)
        return;
    bool seen = watched->fd >= 0 && watched->call != self->call;
    bool cut = seen && s_is_there (watched->fd);
    bool unseen = !seen && !self->ungreeted;
    news->cut += cut;
    news->unseen += unseen;
    if (cut || unseen)
        snprintf (news->endpoint, sizeof news->endpoint, "%s", endpoint);
    s_forget (watched);
}

static void
s_accepted (zpeer_doorman_t *self, int number, const char *endpoint,
            zpeer_doorman_news_t *news)
{
    if (++self->connected <= self->max) {
        s_watch (self, number, endpoint);
        return;
    }
    s_hang_up (number, endpoint);
    news->refused++;
}

//  Reads an event. libzmq says that a greeting has failed right before it says that
//  the connection has ended.
static void
s_handle (zpeer_doorman_t *self, zpeer_doorman_news_t *news)
{
    int number;
    char endpoint[ZPEER_ENDPOINT_MAX];
    int event = zpeer_socket_event (&self->frames, &number, endpoint);
    if (event == ZMQ_EVENT_ACCEPTED)
        s_accepted (self, number, endpoint, news);
    else if (event == ZMQ_EVENT_DISCONNECTED) {
        self->connected -= self->connected > 0;
        s_look_back (self, number, endpoint, news);
    }
    self->ungreeted = event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
}

void
zpeer_doorman_work (zpeer_doorman_t *self, zpeer_doorman_news_t *news)
{
    *news = (zpeer_doorman_news_t){0};
    self->call++;
    for (int i = 0; i < EVENTS_TURN &&
                    zpeer_inlet_recv (&self->monitor, &self->frames) == 0;
         i++)
        s_handle (self, news);
}
