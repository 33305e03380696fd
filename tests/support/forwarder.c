#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "client.h"
#include "forwarder.h"
#include "banned.h"

//  Connections at a time; more are closed
#define LINKS_MAX 16

//  Bytes moved at once
#define CHUNK 65536

//  The poller's: wake and listener, and both ends of every link
#define ITEMS_MAX (2 + 2 * LINKS_MAX)

typedef struct {
    int ends[2];  //  Who connected, and the target; -1: no link
} link_t;

struct speer_forwarder {
    pthread_t thread;
    pthread_mutex_t mutex;  //  Guards what is below but wake and listener
    int wake[2];            //  A byte: something has changed
    int listener;
    int port;
    int target;
    bool ended;
    uint64_t back;  //  Bytes from the target
    speer_passage_t passage;
    link_t links[LINKS_MAX];
};

static void
s_close (link_t *link)
{
    for (int i = 0; i < 2; i++) {
        if (link->ends[i] >= 0)
            close (link->ends[i]);
        link->ends[i] = -1;
    }
}

static void
s_close_all (speer_forwarder_t *self)
{
    for (int i = 0; i < LINKS_MAX; i++)
        s_close (&self->links[i]);
}

static void
s_accept (speer_forwarder_t *self)
{
    link_t *link = self->links;
    while (link < self->links + LINKS_MAX && link->ends[0] >= 0)
        link++;
    int fd = accept (self->listener, NULL, NULL);
    if (fd < 0)
        return;
    int target = -1;
    if (self->passage != SPEER_CUT && link < self->links + LINKS_MAX)
        target = speer_client_connect (self->target);
    if (target < 0)
        close (fd);
    else
        *link = (link_t){{fd, target}};
}

//  Moves what has come in at one end; the link is closed with either
static void
s_move (speer_forwarder_t *self, link_t *link, int from)
{
    char data[CHUNK];
    ssize_t size = recv (link->ends[from], data, sizeof data, MSG_DONTWAIT);
    if (size < 0)
        return;
    self->back += from ? (uint64_t) size : 0;
    for (ssize_t done = 0, sent = 1; done < size && sent > 0; done += sent)
        sent = send (link->ends[!from], data + done, (size_t) (size - done),
                     MSG_NOSIGNAL);
    if (size == 0)
        s_close (link);
}

static nfds_t
s_items (speer_forwarder_t *self, struct pollfd items[ITEMS_MAX])
{
    nfds_t count = 0;
    items[count++] = (struct pollfd){.fd = self->wake[0], .events = POLLIN};
    items[count++] = (struct pollfd){.fd = self->listener, .events = POLLIN};
    for (int i = 0; i < LINKS_MAX && self->passage == SPEER_PASS; i++)
        for (int end = 0; end < 2; end++)
            items[count++] = (struct pollfd){.fd = self->links[i].ends[end],
                                             .events = POLLIN};
    return count;
}

//  A wake-up says that the items are not what they were
static void
s_handle (speer_forwarder_t *self, const struct pollfd *items, nfds_t count)
{
    char byte;
    if (items[0].revents) {
        ssize_t size = read (self->wake[0], &byte, 1);
        assert (size == 1);
        return;
    }
    for (nfds_t i = 2; i < count; i++) {
        link_t *link = &self->links[(i - 2) / 2];
        if (items[i].revents && link->ends[i % 2] == items[i].fd)
            s_move (self, link, (int) (i % 2));
    }
    if (items[1].revents)
        s_accept (self);
}

static void *
s_run (void *arg)
{
    speer_forwarder_t *self = (speer_forwarder_t *) arg;
    struct pollfd items[ITEMS_MAX];
    pthread_mutex_lock (&self->mutex);
    while (!self->ended) {
        nfds_t count = s_items (self, items);
        pthread_mutex_unlock (&self->mutex);
        poll (items, count, -1);
        pthread_mutex_lock (&self->mutex);
        s_handle (self, items, count);
    }
    s_close_all (self);
    pthread_mutex_unlock (&self->mutex);
    return NULL;
}

static void
s_listen (speer_forwarder_t *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    self->listener = socket (AF_INET, SOCK_STREAM, 0);
    int rc = bind (self->listener, (struct sockaddr *) &address, size);
    assert (rc == 0);
    rc = listen (self->listener, LINKS_MAX);
    assert (rc == 0);
    getsockname (self->listener, (struct sockaddr *) &address, &size);
    self->port = ntohs (address.sin_port);
}

speer_forwarder_t *
speer_forwarder_new (int target)
{
    speer_forwarder_t *self = (speer_forwarder_t *) calloc (1, sizeof *self);
    assert (self);
    self->target = target;
    for (int i = 0; i < LINKS_MAX; i++)
        self->links[i] = (link_t){{-1, -1}};
    s_listen (self);
    int rc = pipe (self->wake);
    assert (rc == 0);
    pthread_mutex_init (&self->mutex, NULL);
    rc = pthread_create (&self->thread, NULL, s_run, self);
    assert (rc == 0);
    return self;
}

//  Under the mutex
static void
s_wake (speer_forwarder_t *self)
{
    ssize_t size = write (self->wake[1], "", 1);
    assert (size == 1);
}

void
speer_forwarder_destroy (speer_forwarder_t **self_p)
{
    speer_forwarder_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    pthread_mutex_lock (&self->mutex);
    self->ended = true;
    s_wake (self);
    pthread_mutex_unlock (&self->mutex);
    pthread_join (self->thread, NULL);
    pthread_mutex_destroy (&self->mutex);
    close (self->listener);
    close (self->wake[0]);
    close (self->wake[1]);
    free (self);
}

int
speer_forwarder_port (const speer_forwarder_t *self)
{
    return self->port;
}

uint64_t
speer_forwarder_bytes (speer_forwarder_t *self)
{
    pthread_mutex_lock (&self->mutex);
    uint64_t back = self->back;
    pthread_mutex_unlock (&self->mutex);
    return back;
}

void
speer_forwarder_set (speer_forwarder_t *self, speer_passage_t passage)
{
    pthread_mutex_lock (&self->mutex);
    self->passage = passage;
    if (passage == SPEER_CUT)
        s_close_all (self);
    s_wake (self);
    pthread_mutex_unlock (&self->mutex);
}
