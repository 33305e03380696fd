#include <criterion/criterion.h>
#include <stdlib.h>
#include "buffer.h"
#include "socket.h"
#include "stage.h"
#include "banned.h"

//  Room for the id of an instance
#define ID_MAX 16

zpeer_engine_t *
stage_engine_new (const char *const *set)
{
    zpeer_engine_t *engine = zpeer_engine_new ();
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "events");
    zpeer_engine_set (engine, "zpeer.events.endpoint", endpoint);
    zpeer_socket_unique (endpoint, "outcomes");
    zpeer_engine_set (engine, "zpeer.outcomes.endpoint", endpoint);
    for (; set && *set; set++) {
        const char *value = strchr (*set, '=') + 1;
        char *key = strndup (*set, (size_t) (value - *set - 1));
        cr_assert_eq (zpeer_engine_set (engine, key, value), ZPEER_OK, "%s",
                      zpeer_engine_error (engine));
        free (key);
    }
    return engine;
}

zpeer_engine_t *
stage_engine (const char *const *set)
{
    zpeer_engine_t *engine = stage_engine_new (set);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK, "%s",
                  zpeer_engine_error (engine));
    return engine;
}

zpeer_feed_t *
stage_feed (zpeer_engine_t *engine)
{
    zpeer_feed_t *feed = zpeer_feed_new (zpeer_engine_events (engine), 0);
    cr_assert (feed);
    return feed;
}

void
stage_accepted (zpeer_feed_t *feed, unsigned count)
{
    zpeer_reply_t reply;
    cr_assert_eq (zpeer_feed_recv (feed, &reply, STAGE_WAIT_MS), ZPEER_OK);
    cr_assert_eq (reply.rejected, 0, "%s", reply.reasons[0]);
    cr_assert_eq (reply.accepted, count);
}

void
stage_send (zpeer_feed_t *feed, const zpeer_event_t *event)
{
    cr_assert_eq (zpeer_feed_send (feed, event, STAGE_WAIT_MS, NULL), ZPEER_OK);
    stage_accepted (feed, 1);
}

static zpeer_event_t *
s_event (zpeer_action_t action, const char *id)
{
    zpeer_event_t *event = zpeer_event_new (action);
    zpeer_event_set_app (event, STAGE_APP);
    zpeer_event_set_id (event, id);
    zpeer_event_set_timestamp (event, STAGE_AT);
    return event;
}

static zpeer_event_t *
s_register (const char *id)
{
    zpeer_event_t *event = s_event (ZPEER_REGISTER, id);
    zpeer_event_put_str (event, "hostName", "shop02.example.net");
    zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    return event;
}

void
stage_change (zpeer_feed_t *feed, zpeer_action_t action, const char *id,
              zpeer_status_t status)
{
    zpeer_event_t *event = s_event (action, id);
    if (status != ZPEER_UNKNOWN)
        zpeer_event_set_status (event, status);
    stage_send (feed, event);
    zpeer_event_destroy (&event);
}

void
stage_register (zpeer_feed_t *feed, const char *id)
{
    zpeer_event_t *event = s_register (id);
    stage_send (feed, event);
    zpeer_event_destroy (&event);
}

//  Sends what is in the frame, and frees it
static void
s_send_frame (zpeer_feed_t *feed, zpeer_buffer_t *frame)
{
    cr_assert_eq (zpeer_feed_send_frame (feed, frame->data, frame->size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    zpeer_buffer_free (frame);
}

void
stage_post_registers (zpeer_feed_t *feed, unsigned first, unsigned count)
{
    zpeer_buffer_t frame = {0};
    for (unsigned i = 0; i < count; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", first + i);
        zpeer_event_t *event = s_register (id);
        zpeer_buffer_reserve (&frame, zpeer_event_size (event));
        zpeer_event_encode (event, frame.data, frame.capacity, &frame.size);
        zpeer_event_destroy (&event);
    }
    s_send_frame (feed, &frame);
}

void
stage_registers_from (zpeer_feed_t *feed, unsigned first, unsigned count)
{
    stage_post_registers (feed, first, count);
    stage_accepted (feed, count);
}

void
stage_registers (zpeer_feed_t *feed, unsigned count)
{
    stage_registers_from (feed, 0, count);
}

void
stage_heartbeats (zpeer_feed_t *feed, unsigned count)
{
    zpeer_buffer_t frame = {0};
    for (unsigned i = 0; i < count; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", i);
        zpeer_buffer_reserve (&frame, 256);
        zpeer_event_encode_simple (frame.data, frame.capacity, &frame.size,
                                   ZPEER_HEARTBEAT, STAGE_APP, id, STAGE_AT);
    }
    s_send_frame (feed, &frame);
    stage_accepted (feed, count);
}
