#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "client.h"
#include "forwarder.h"
#include "http.h"
#include "banned.h"

//  Connections at a time; more are closed
#define LINKS_MAX 16

//  Bytes moved at once
#define CHUNK 65536

//  The poller's: wake and listener, and both ends of every link
#define ITEMS_MAX (2 + 2 * LINKS_MAX)

//  What a firewall says
#define DENIED                                                                 \
    "HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\n"                    \
    "Content-Length: 19\r\n\r\n<html>Denied</html>"

typedef struct {
    int ends[2];  //  Who connected, and the target; -1: no link
    char *in;     //  Owned; of HTTP: what came of requests that are not whole
    size_t in_size;
    size_t need;  //  Bytes before it is worth to look again
} link_t;

struct speer_forwarder {
    pthread_t thread;
    pthread_mutex_t mutex;  //  Guards what is below but wake and listener
    int wake[2];            //  A byte: something has changed
    int listener;
    int port;
    int target;
    bool ended;
    bool http;
    char *denied;   //  Owned; NULL: nothing
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
    free (link->in);
    *link = (link_t){.ends = {-1, -1}};
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
        *link = (link_t){.ends = {fd, target}};
}

static void
s_send (int fd, const char *data, size_t size)
{
    ssize_t sent = 1;
    for (size_t done = 0; done < size && sent > 0; done += (size_t) sent)
        sent = send (fd, data + done, size - done, MSG_NOSIGNAL);
}

static bool
s_is_denied (const speer_forwarder_t *self, const speer_http_t *request)
{
    const char *text = self->denied;
    if (!text || !*text)
        return text;
    return request->body_size &&
           memmem (request->body, request->body_size, text, strlen (text));
}

//  Passes on, or answers, the first request if it is whole. Returns its size, or 0.
//  What is no request is passed on; and all as it came, while reading joins chunks.
static size_t
s_pass_request (speer_forwarder_t *self, link_t *link)
{
    speer_http_t request;
    char *copy = (char *) malloc (link->in_size);
    assert (copy);
    memcpy (copy, link->in, link->in_size);
    size_t size = speer_http_parse (&request, copy, link->in_size, &link->need);
    bool bad = size == SPEER_BAD_REQUEST;
    if (bad)
        size = link->in_size;
    if (size && !bad && s_is_denied (self, &request))
        s_send (link->ends[0], DENIED, strlen (DENIED));
    else
        s_send (link->ends[1], link->in, size);
    free (copy);
    return size;
}

static void
s_read_requests (speer_forwarder_t *self, link_t *link, const char *data,
                 size_t size)
{
    link->in = (char *) realloc (link->in, link->in_size + size);
    assert (link->in);
    memcpy (link->in + link->in_size, data, size);
    link->in_size += size;
    while (link->in_size && link->in_size >= link->need) {
        size_t done = s_pass_request (self, link);
        if (!done)
            break;
        link->need = 0;
        link->in_size -= done;
        memmove (link->in, link->in + done, link->in_size);
    }
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
    if (size == 0)
        s_close (link);
    else if (self->http && !from)
        s_read_requests (self, link, data, (size_t) size);
    else
        s_send (link->ends[!from], data, (size_t) size);
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

static speer_forwarder_t *
s_new (int target, bool http)
{
    speer_forwarder_t *self = (speer_forwarder_t *) calloc (1, sizeof *self);
    assert (self);
    self->target = target;
    self->http = http;
    for (int i = 0; i < LINKS_MAX; i++)
        self->links[i] = (link_t){.ends = {-1, -1}};
    s_listen (self);
    int rc = pipe (self->wake);
    assert (rc == 0);
    pthread_mutex_init (&self->mutex, NULL);
    rc = pthread_create (&self->thread, NULL, s_run, self);
    assert (rc == 0);
    return self;
}

speer_forwarder_t *
speer_forwarder_new (int target)
{
    return s_new (target, false);
}

speer_forwarder_t *
speer_forwarder_new_http (int target)
{
    return s_new (target, true);
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
    free (self->denied);
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

void
speer_forwarder_deny (speer_forwarder_t *self, const char *text)
{
    char *denied = text ? strdup (text) : NULL;
    assert (denied || !text);
    pthread_mutex_lock (&self->mutex);
    free (self->denied);
    self->denied = denied;
    pthread_mutex_unlock (&self->mutex);
}
