#include <assert.h>
#include <stdlib.h>
#include <zpeer/watch.h>
#include "buffer.h"
#include "dump.h"
#include "socket.h"
#include "banned.h"

//  Outcomes kept for a caller that does not read
#define WATCH_HWM 16384

//  Largest outcome that is read: a conflict with a peer's copy, or a dropped
//  with 100 names; both are far smaller
#define OUTCOME_MAX 16777216

//  Longest topic, NUL included
#define TOPIC_MAX 32

struct zpeer_watch {
    zsock_t *sub;           //  Owned
    zpeer_frames_t frames;  //  Owned; the outcome the caller looks at
    char topic[TOPIC_MAX];  //  Its topic, terminated
};

void
zpeer_watch_destroy (zpeer_watch_t **self_p)
{
    assert (self_p);
    zpeer_watch_t *self = *self_p;
    if (!self)
        return;
    zpeer_frames_close (&self->frames);
    zsock_destroy (&self->sub);
    free (self);
    *self_p = NULL;
}

//  Subscribes to each name of a comma-separated list; an empty list is: to all
static void
s_subscribe (zsock_t *sub, const char *topics)
{
    bool any = false;
    while (*topics) {
        topics += strspn (topics, ", ");
        size_t size = strcspn (topics, ", ");
        if (size) {
            char topic[TOPIC_MAX];
            snprintf (topic, sizeof topic, "%.*s", (int) size, topics);
            zpeer_socket_subscribe (sub, topic);
            any = true;
        }
        topics += size;
    }
    if (!any)
        zpeer_socket_subscribe (sub, "");
}

zpeer_watch_t *
zpeer_watch_new (const char *endpoint, const char *topics)
{
    zsock_t *sub = zpeer_socket_new (ZPEER_ROLE_SUB, WATCH_HWM, OUTCOME_MAX);
    if (!sub)
        return NULL;
    s_subscribe (sub, topics ? topics : "");
    if (zpeer_socket_connect (sub, endpoint)) {
        zsock_destroy (&sub);
        return NULL;
    }
    zpeer_watch_t *self = (zpeer_watch_t *) calloc (1, sizeof *self);
    assert (self);
    self->sub = sub;
    return self;
}

//  Takes an outcome off the socket. Returns ZPEER_OK, ZPEER_E_AGAIN when none
//  is there. What is not an outcome is passed over.
static int
s_take (zpeer_watch_t *self)
{
    while (true) {
        int rc = zpeer_socket_recv (self->sub, &self->frames);
        if (rc)
            return rc;
        if (self->frames.count == 2 &&
            zpeer_frames_at (&self->frames, 0).size < TOPIC_MAX)
            return ZPEER_OK;
    }
}

int
zpeer_watch_recv (zpeer_watch_t *self, int timeout_ms, const char **topic,
                  const void **data, size_t *size)
{
    int64_t deadline = zpeer_socket_deadline (timeout_ms);
    while (s_take (self))
        if (zpeer_socket_wait_until (self->sub, ZMQ_POLLIN, deadline))
            return ZPEER_E_TIMEOUT;

    zpeer_slice_t name = zpeer_frames_at (&self->frames, 0);
    snprintf (self->topic, sizeof self->topic, "%.*s", (int) name.size,
              name.size ? name.data : "");
    zpeer_slice_t map = zpeer_frames_at (&self->frames, 1);
    *topic = self->topic;
    *data = map.data;
    *size = map.size;
    return ZPEER_OK;
}

char *
zpeer_watch_json (const void *data, size_t size)
{
    zpeer_buffer_t text = {0};
    if (zpeer_dump_json (&text, data, size)) {
        zpeer_buffer_free (&text);
        return NULL;
    }
    zpeer_buffer_add (&text, "", 1);
    return zpeer_buffer_take (&text);
}
