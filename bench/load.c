#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <zpeer/feed.h>
#include "load.h"
#include "banned.h"

#define FRAME_BYTES_MAX ((size_t) 1024 * 1024)

//  Requests on their way
#define WINDOW 64

//  How long the engine may be silent, ms
#define PATIENCE_MS 60000

//  Registers have 20 members with these; the value makes it 1 kB
#define METADATA 6

//  Everybody's lastDirtyTimestamp
#define TIMESTAMP UINT64_C (1700000000000)

//  A prime: its multiples hit every instance once, far from each other
#define STRIDE 1000003

//  Of the next load
static size_t s_frame_events = LOAD_FRAME_EVENTS;

void
load_set_frame (size_t events)
{
    assert (events && events <= LOAD_FRAME_EVENTS_MAX);
    s_frame_events = events;
}

static void
s_name (size_t index, char app[32], char id[64])
{
    snprintf (app, 32, "SERVICE-%02zu", index % 50);
    snprintf (id, 64, "host%05zu.example.net:service-%02zu:8080", index,
              index % 50);
}

//  What a load is made of
typedef struct {
    zpeer_action_t action;
    zpeer_status_t status;
    unsigned renewal_secs;  //  Of a Register
    unsigned duration_secs;
    size_t first;   //  Instance
    size_t stride;  //  From one instance to the next
} kind_t;

static zpeer_event_t *
s_event (size_t index, const kind_t *kind)
{
    char app[32], id[64];
    s_name (index, app, id);
    zpeer_event_t *event = zpeer_event_new (kind->action);
    zpeer_event_set_app (event, app);
    zpeer_event_set_id (event, id);
    zpeer_event_set_timestamp (event, TIMESTAMP);
    zpeer_event_set_status (event, kind->status);
    return event;
}

void
load_put_info (zpeer_event_t *event, size_t index)
{
    char app[32], id[64], text[256];
    s_name (index, app, id);
    snprintf (text, sizeof text, "host%05zu.example.net", index);
    zpeer_event_put_str (event, "hostName", text);
    zpeer_event_put_str (event, "ipAddr", "192.0.2.41");
    zpeer_event_put_str (event, "vipAddress", app);
    zpeer_event_put_str (event, "secureVipAddress", app);
    zpeer_event_put_port (event, 8080, true);
    zpeer_event_put_secure_port (event, 8443, false);
    snprintf (text, sizeof text, "http://host%05zu.example.net:8080/", index);
    zpeer_event_put_str (event, "homePageUrl", text);
    snprintf (text, sizeof text,
              "http://host%05zu.example.net:8080/actuator/info", index);
    zpeer_event_put_str (event, "statusPageUrl", text);
    snprintf (text, sizeof text,
              "http://host%05zu.example.net:8080/actuator/health", index);
    zpeer_event_put_str (event, "healthCheckUrl", text);
    for (int i = 0; i < METADATA; i++) {
        char key[32];
        snprintf (key, sizeof key, "apiml.route.%d.url", i);
        zpeer_event_put_metadata (event, key, "/api/v1/service/route");
    }
}

static int
s_encode (char *data, size_t *used, size_t index, const kind_t *kind)
{
    char app[32], id[64];
    s_name (index, app, id);
    if (kind->action == ZPEER_HEARTBEAT)
        return zpeer_event_encode_simple (data, FRAME_BYTES_MAX, used,
                                          ZPEER_HEARTBEAT, app, id, TIMESTAMP);
    zpeer_event_t *event = s_event (index, kind);
    if (kind->action == ZPEER_REGISTER) {
        load_put_info (event, index);
        zpeer_event_put_lease (event, kind->renewal_secs, kind->duration_secs);
    }
    int rc = zpeer_event_encode (event, data, FRAME_BYTES_MAX, used);
    zpeer_event_destroy (&event);
    return rc;
}

static size_t
s_load (load_t *self, size_t instances, kind_t kind)
{
    size_t count = (instances + s_frame_events - 1) / s_frame_events;
    size_t events = count * s_frame_events;
    load_frame_t *frames = (load_frame_t *) calloc (count, sizeof *frames);
    assert (frames);
    for (size_t i = 0; i < events;) {
        size_t used = 0;
        load_frame_t *frame = &frames[i / s_frame_events];
        frame->data = (char *) malloc (FRAME_BYTES_MAX);
        assert (frame->data);
        do {
            size_t index = kind.first + i * kind.stride % events;
            int rc = s_encode (frame->data, &used, index, &kind);
            assert (rc == ZPEER_OK);
        } while (++i % s_frame_events);
        frame->data = (char *) realloc (frame->data, used);
        frame->size = used;
    }
    *self = (load_t){frames, count, s_frame_events};
    return events;
}

size_t
load_registers (load_t *self, size_t instances)
{
    return load_registers_from (self, 0, instances);
}

size_t
load_registers_from (load_t *self, size_t first, size_t instances)
{
    return s_load (self, instances,
                   (kind_t){ZPEER_REGISTER, ZPEER_UP, 30, 90, first, 1});
}

size_t
load_leases (load_t *self, size_t instances, unsigned seconds)
{
    return s_load (self, instances,
                   (kind_t){ZPEER_REGISTER, ZPEER_UP, seconds, seconds, 0, 1});
}

size_t
load_heartbeats (load_t *self, size_t instances)
{
    return s_load (self, instances,
                   (kind_t){.action = ZPEER_HEARTBEAT, .stride = 1});
}

size_t
load_scattered (load_t *self, size_t instances)
{
    return s_load (self, instances,
                   (kind_t){.action = ZPEER_HEARTBEAT, .stride = STRIDE});
}

size_t
load_statuses (load_t *self, size_t instances, zpeer_status_t status)
{
    return s_load (
        self, instances,
        (kind_t){.action = ZPEER_STATUS_UPDATE, .status = status, .stride = 1});
}

void
load_free (load_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        free (self->frames[i].data);
    free (self->frames);
    *self = (load_t){0};
}

uint64_t
load_events (const load_t *self)
{
    return (uint64_t) self->count * self->frame_events;
}

static uint64_t
s_replies (zpeer_feed_t *feed, unsigned leave)
{
    uint64_t accepted = 0;
    zpeer_reply_t reply;
    while (zpeer_feed_unanswered (feed) > leave) {
        int rc = zpeer_feed_recv (feed, &reply, PATIENCE_MS);
        assert (rc == ZPEER_OK);
        accepted += reply.accepted;
    }
    return accepted;
}

uint64_t
load_feed (const load_t *self, const char *endpoint, unsigned rounds,
           load_pace_fn *pace, void *arg)
{
    size_t next = 0;
    return load_feed_from (self, endpoint, &next, rounds * load_events (self),
                           pace, arg);
}

uint64_t
load_feed_from (const load_t *self, const char *endpoint, size_t *next,
                uint64_t events, load_pace_fn *pace, void *arg)
{
    uint64_t accepted = 0;
    zpeer_feed_t *feed = zpeer_feed_new (endpoint, WINDOW);
    assert (feed);
    for (uint64_t sent = 0; sent < events; sent += self->frame_events) {
        const load_frame_t *frame = &self->frames[*next];
        if (pace)
            pace (arg, sent);
        accepted += s_replies (feed, WINDOW - 1);
        int rc = zpeer_feed_send_frame (feed, frame->data, frame->size,
                                        PATIENCE_MS, NULL);
        assert (rc == ZPEER_OK);
        *next = (*next + 1) % self->count;
    }
    accepted += s_replies (feed, 0);
    zpeer_feed_destroy (&feed);
    return accepted;
}
