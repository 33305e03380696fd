#include <assert.h>
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

struct zpeer_doorman {
    zsock_t *sock;          //  Borrowed; the one that is watched
    zpeer_inlet_t monitor;  //  Of an owned socket
    uint32_t max;
    uint32_t connected;
    zpeer_frames_t frames;  //  The event that is being read
};

//  The address a connection came to
typedef union {
    struct sockaddr any;
    struct sockaddr_un path;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
} address_t;

void
zpeer_doorman_destroy (zpeer_doorman_t **self_p)
{
    zpeer_doorman_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    zpeer_frames_close (&self->frames);
    zpeer_socket_unmonitor (self->sock, &self->monitor.socket);
    free (self);
}

//  Half of the descriptors are for everything else, and for those who come in
//  before they are refused
static uint32_t
s_bound (uint32_t max)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 >= max)
        return max;
    return (uint32_t) (limit.rlim_cur / 2);
}

zpeer_doorman_t *
zpeer_doorman_new (zsock_t *sock, uint32_t max)
{
    zsock_t *monitor = zpeer_socket_monitor (sock, ZMQ_EVENT_ACCEPTED |
                                                       ZMQ_EVENT_DISCONNECTED);
    if (!monitor)
        return NULL;
    zpeer_doorman_t *self = (zpeer_doorman_t *) calloc (1, sizeof *self);
    assert (self);
    self->sock = sock;
    zpeer_inlet_open (&self->monitor, monitor);
    self->max = s_bound (max);
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

//  Ends the connection; libzmq closes it when it sees that. By now it may have
//  done so, and the number be somebody else's: a duplicate stays what it is
//  while it is looked at.
static void
s_hang_up (int number, const char *endpoint)
{
    int fd = fcntl (number, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (s_came_in_at (fd, endpoint))
        shutdown (fd, SHUT_RDWR);
    close (fd);
}

//  Reads an event. Returns whether a connection was refused.
static bool
s_handle (zpeer_doorman_t *self)
{
    int number;
    char endpoint[ZPEER_ENDPOINT_MAX];
    if (zpeer_socket_event (&self->frames, &number, endpoint) !=
        ZMQ_EVENT_ACCEPTED) {
        self->connected -= self->connected > 0;
        return false;
    }
    if (++self->connected <= self->max)
        return false;
    s_hang_up (number, endpoint);
    return true;
}

uint32_t
zpeer_doorman_work (zpeer_doorman_t *self)
{
    uint32_t refused = 0;
    for (int i = 0; i < EVENTS_TURN &&
                    zpeer_inlet_recv (&self->monitor, &self->frames) == 0;
         i++)
        refused += s_handle (self);
    return refused;
}
