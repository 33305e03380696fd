#include <criterion/criterion.h>
#include <pthread.h>
#include <zpeer/acceptor.h>
#include <zpeer/event.h>
#include <zpeer/watch.h>
#include "command.h"
#include "gate.h"
#include "wire.h"
#include "banned.h"

#define LANES_MAX   4
#define FEEDERS_MAX 4

zactor_t *gate_acceptor;
char gate_events[ZPEER_ENDPOINT_MAX];
zpeer_buffer_t gate_frame;

static char s_uplink[ZPEER_ENDPOINT_MAX];
static zsock_t *s_answers;
static zsock_t *s_outcomes;
static gate_lane_t s_lanes[LANES_MAX];
static zsock_t *s_feeders[FEEDERS_MAX];
static unsigned s_feeder_count;
static char *s_json;

//  What was logged; the acceptor's thread writes
static pthread_mutex_t s_log_lock = PTHREAD_MUTEX_INITIALIZER;
static char s_log[1024];

static void
s_on_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) arg;
    (void) level;
    (void) text;
    pthread_mutex_lock (&s_log_lock);
    size_t used = strlen (s_log);
    snprintf (s_log + used, sizeof s_log - used, "%s ", id);
    pthread_mutex_unlock (&s_log_lock);
}

unsigned
gate_logged (const char *id)
{
    unsigned count = 0;
    pthread_mutex_lock (&s_log_lock);
    for (const char *at = s_log; (at = strstr (at, id)); at++)
        count++;
    pthread_mutex_unlock (&s_log_lock);
    return count;
}

static zpeer_options_t *
s_options (const char *set)
{
    zpeer_options_t *options = zpeer_options_new ();
    if (set) {
        char key[128];
        const char *value = strchr (set, '=') + 1;
        snprintf (key, sizeof key, "%.*s", (int) (value - set - 1), set);
        cr_assert_eq (zpeer_options_set (options, key, value), ZPEER_OK);
    }
    return options;
}

void
gate_begin (const char *set)
{
    zpeer_options_t *options = s_options (set);
    zpeer_actor_args_t args = {.options = options, .log = s_on_log};
    cr_assert_eq (zpeer_socket_init (), ZPEER_OK);
    gate_acceptor = zpeer_command_actor (zpeer_acceptor, &args);
    zpeer_options_destroy (&options);
    cr_assert (gate_acceptor);
    zpeer_socket_unique (gate_events, "events");
    zpeer_socket_unique (s_uplink, "uplink");
    gate_is (gate_call ("BIND", gate_events, NULL), gate_events);
    gate_is (gate_call ("UPLINK", s_uplink, NULL), "");
    s_outcomes = zpeer_socket_new (ZPEER_ROLE_PULL, 1000, -1);
    char report[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (report, "report");
    cr_assert_eq (zpeer_socket_bind (s_outcomes, report, NULL, NULL), ZPEER_OK);
    gate_is (gate_call ("REPORT", report, NULL), "");
    gate_is (gate_call ("START", NULL, NULL), "");
    s_answers = zpeer_socket_new (ZPEER_ROLE_PUSH, 10, -1);
    cr_assert_eq (zpeer_socket_connect (s_answers, s_uplink), ZPEER_OK);
}

void
gate_end (void)
{
    for (unsigned i = 0; i < LANES_MAX; i++)
        gate_lane_close (&s_lanes[i]);
    while (s_feeder_count)
        zsock_destroy (&s_feeders[--s_feeder_count]);
    zsock_destroy (&s_answers);
    zsock_destroy (&s_outcomes);
    zactor_destroy (&gate_acceptor);
    zpeer_buffer_free (&gate_frame);
    free (s_json);
    s_json = NULL;
}

const char *
gate_call (const char *command, const char *a, const char *b)
{
    static char answer[ZPEER_COMMAND_ANSWER_MAX];
    zpeer_command_call (gate_acceptor, GATE_WAIT_MS, answer, command, a,
                        a ? b : NULL, NULL);
    return answer;
}

void
gate_sync (void)
{
    //  A turn hands over before the next one reads a command
    gate_is (gate_call ("SYNC", NULL, NULL), "unknown command");
}

void
gate_is (const char *text, const char *expected)
{
    cr_assert_str_eq (text, expected, "\"%s\", not \"%s\"", text, expected);
}

//  Feeders ----------------------------------------------------------------------

zsock_t *
gate_feeder (void)
{
    return gate_feeder_of (10000);
}

zsock_t *
gate_feeder_of (int hwm)
{
    cr_assert_lt (s_feeder_count, FEEDERS_MAX);
    zsock_t *feeder = zpeer_socket_new (ZPEER_ROLE_FEED, hwm, -1);
    cr_assert_eq (zpeer_socket_connect (feeder, gate_events), ZPEER_OK);
    return s_feeders[s_feeder_count++] = feeder;
}

void
gate_raw (const void *data, size_t size)
{
    zpeer_buffer_add (&gate_frame, data, size);
}

void
gate_add (zpeer_event_t **event)
{
    size_t size = zpeer_event_size (*event);
    zpeer_buffer_reserve (&gate_frame, size);
    cr_assert_eq (zpeer_event_encode (*event, gate_frame.data,
                                      gate_frame.capacity, &gate_frame.size),
                  ZPEER_OK);
    zpeer_event_destroy (event);
}

void
gate_event (zpeer_action_t action, const char *app, const char *id,
            uint64_t timestamp)
{
    zpeer_event_t *event = zpeer_event_new (action);
    zpeer_event_set_app (event, app);
    zpeer_event_set_id (event, id);
    zpeer_event_set_timestamp (event, timestamp);
    if (action == ZPEER_STATUS_UPDATE)
        zpeer_event_set_status (event, ZPEER_OUT_OF_SERVICE);
    gate_add (&event);
}

void
gate_register (const char *app, const char *id, uint64_t timestamp)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_app (event, app);
    zpeer_event_set_id (event, id);
    zpeer_event_set_timestamp (event, timestamp);
    zpeer_event_put_str (event, "hostName", "shop02.example.net");
    zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    gate_add (&event);
}

void
gate_send (zsock_t *feeder)
{
    zpeer_slice_t frame = {gate_frame.data, gate_frame.size};
    cr_assert_eq (zpeer_socket_send (feeder, &frame, 1), ZPEER_OK);
    zpeer_buffer_reset (&gate_frame);
}

bool
gate_replies (zsock_t *feeder, int ms)
{
    return zpeer_socket_wait (feeder, ZMQ_POLLIN, ms) == ZPEER_OK;
}

const char *
gate_reply (zsock_t *feeder)
{
    zpeer_frames_t frames = {0};
    cr_assert (gate_replies (feeder, GATE_WAIT_MS), "no reply");
    cr_assert_eq (zpeer_socket_recv (feeder, &frames), ZPEER_OK);
    cr_assert_eq (frames.count, 1);
    zpeer_slice_t map = zpeer_frames_at (&frames, 0);
    free (s_json);
    s_json = zpeer_watch_json (map.data, map.size);
    zpeer_frames_close (&frames);
    return s_json;
}

const char *
gate_outcome (const char *topic)
{
    zpeer_frames_t frames = {0};
    int64_t deadline = zclock_mono () + GATE_WAIT_MS;
    bool found = false;
    while (!found && zclock_mono () < deadline) {
        zpeer_socket_wait (s_outcomes, ZMQ_POLLIN, GATE_WAIT_MS);
        zpeer_socket_recv (s_outcomes, &frames);
        found = zpeer_slice_eq (zpeer_frames_at (&frames, 0),
                                zpeer_slice_str (topic));
    }
    cr_assert (found, "no %s", topic);
    zpeer_slice_t map = zpeer_frames_at (&frames, 1);
    free (s_json);
    s_json = zpeer_watch_json (map.data, map.size);
    zpeer_frames_close (&frames);
    return s_json;
}

void
gate_feed (zsock_t *feeder, unsigned accepted)
{
    char expected[64];
    snprintf (expected, sizeof expected,
              "{\"accepted\":%u,\"rejectedCount\":0,\"rejected\":[]}",
              accepted);
    gate_send (feeder);
    gate_is (gate_reply (feeder), expected);
}

//  Lanes ------------------------------------------------------------------------

gate_lane_t *
gate_lane (unsigned lane)
{
    cr_assert_lt (lane, LANES_MAX);
    gate_lane_t *self = &s_lanes[lane];
    char inbox[ZPEER_ENDPOINT_MAX];
    char number[12];
    zpeer_socket_unique (inbox, "inbox");
    snprintf (number, sizeof number, "%u", lane);
    self->pull = zpeer_socket_new (ZPEER_ROLE_PULL, GATE_LANE_HWM, -1);
    cr_assert_eq (zpeer_socket_bind (self->pull, inbox, NULL, NULL), ZPEER_OK);
    gate_is (gate_call ("ADDLANE", number, inbox), "");
    return self;
}

void
gate_lane_close (gate_lane_t *self)
{
    zpeer_frames_close (&self->frames);
    zsock_destroy (&self->pull);
    self->next = 0;
}

static const zpeer_chunk_t *
s_chunk (const gate_lane_t *lane)
{
    zpeer_slice_t frame = zpeer_frames_at ((zpeer_frames_t *) &lane->frames, 0);
    return (const zpeer_chunk_t *) (const void *) frame.data;
}

static bool
s_receive (gate_lane_t *lane, int ms)
{
    lane->next = 0;
    return zpeer_socket_wait (lane->pull, ZMQ_POLLIN, ms) == ZPEER_OK &&
           zpeer_socket_recv (lane->pull, &lane->frames) == ZPEER_OK;
}

//  Goes on to the next change, within ms
static bool
s_next (gate_lane_t *lane, int ms)
{
    const zpeer_chunk_t *chunk = s_chunk (lane);
    if (chunk && ++lane->next < chunk->count)
        return true;
    return s_receive (lane, ms) && s_chunk (lane)->count > 0;
}

const zpeer_chunk_t *
gate_chunk (gate_lane_t *lane)
{
    cr_assert (s_receive (lane, GATE_WAIT_MS), "no chunk");
    return s_chunk (lane);
}

bool
gate_lane_idle (gate_lane_t *lane)
{
    gate_sync ();
    return !s_next (lane, 0);
}

const zpeer_change_t *
gate_last (const gate_lane_t *lane)
{
    return &s_chunk (lane)->changes[lane->next];
}

const char *
gate_change (gate_lane_t *lane)
{
    static char text[1024];
    *text = 0;
    if (!s_next (lane, GATE_WAIT_MS))
        return text;
    const zpeer_change_t *change = gate_last (lane);
    const zpeer_state_t *state = change->state;
    const char *what =
        change->flags & ZPEER_CHANGE_OWE      ? "OWE"
        : change->flags & ZPEER_CHANGE_VERIFY ? "VERIFY"
        : change->flags & ZPEER_CHANGE_RELEASE
            ? "RELEASE"
            : zpeer_action_name ((zpeer_action_t) change->action);
    if (!state)
        snprintf (text, sizeof text, "%s #%u", what, change->handle);
    else
        snprintf (text, sizeof text, "%s %s/%s %s", what,
                  zpeer_name_app (state->name).data,
                  zpeer_name_id (state->name).data,
                  zpeer_state_present (state)
                      ? zpeer_status_name ((zpeer_status_t) state->status)
                      : "absent");
    return text;
}

static void
s_answer (zpeer_wire_command_t command, const void *data, size_t size)
{
    const char *name = zpeer_wire_command_text (command);
    zpeer_slice_t frames[] = {zpeer_slice_str (name),
                              {(const char *) data, size}};
    cr_assert_eq (zpeer_socket_send (s_answers, frames, 2), ZPEER_OK);
}

void
gate_released (unsigned lane, uint32_t handle, uint64_t seq)
{
    zpeer_buffer_t list = {0};
    zpeer_wire_put_released (&list, lane, handle, seq);
    s_answer (ZPEER_WIRE_RELEASED, list.data, list.size);
    zpeer_buffer_free (&list);
}

void
gate_walked (unsigned lane, uint64_t number)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_walked (fields, lane, number);
    s_answer (ZPEER_WIRE_WALKED, fields, size);
}
