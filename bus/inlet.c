#include <assert.h>
#include <errno.h>
#include <poll.h>
#include "inlet.h"
#include "banned.h"

void
zpeer_inlet_open (zpeer_inlet_t *self, zsock_t *socket)
{
    *self = (zpeer_inlet_t){.socket = socket, .ready = socket != NULL};
    if (socket)
        self->fd = (int) zsock_fd (socket);
}

int
zpeer_inlet_recv (zpeer_inlet_t *self, zpeer_frames_t *frames)
{
    if (!self->ready)
        return ZPEER_E_AGAIN;
    int rc = zpeer_socket_recv (self->socket, frames);
    //  After a signal nobody knows
    if (rc == ZPEER_E_AGAIN && errno != EINTR)
        self->ready = self->used = false;
    return rc;
}

void
zpeer_inlet_doubt (zpeer_inlet_t *self)
{
    self->ready = self->socket != NULL;
}

bool
zpeer_inlet_ready (zpeer_inlet_t *self)
{
    if (self->used && !self->ready)
        self->ready = zpeer_socket_events (self->socket) & ZMQ_POLLIN;
    self->used = false;
    return self->ready;
}

//  Returns whether one can be written to. For the others libzmq has taken note
//  of all that has happened: their descriptors tell of the rest.
static bool
s_watch_full (zsock_t *const *full, size_t count, struct pollfd *fds)
{
    bool writable = false;
    for (size_t i = 0; i < count; i++) {
        writable |= (zpeer_socket_events (full[i]) & ZMQ_POLLOUT) != 0;
        fds[i] = (struct pollfd){(int) zsock_fd (full[i]), POLLIN, 0};
    }
    return writable;
}

void
zpeer_inlet_wait (zpeer_inlet_t *const *inlets, size_t count,
                  zsock_t *const *full, size_t full_count, int64_t timeout_us)
{
    struct pollfd fds[ZPEER_INLETS_MAX];
    assert (count + full_count <= ZPEER_INLETS_MAX);
    bool ready = s_watch_full (full, full_count, fds + count);
    for (size_t i = 0; i < count; i++) {
        ready |= zpeer_inlet_ready (inlets[i]);
        int fd = inlets[i]->socket ? inlets[i]->fd : -1;
        fds[i] = (struct pollfd){fd, POLLIN, 0};
    }
    if (ready)
        timeout_us = 0;
    struct timespec timeout = {timeout_us / 1000000,
                               timeout_us % 1000000 * 1000};
    if (ppoll (fds, count + full_count, timeout_us < 0 ? NULL : &timeout,
               NULL) > 0)
        for (size_t i = 0; i < count; i++)
            inlets[i]->ready |= fds[i].revents != 0;
}
