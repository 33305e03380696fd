#include <criterion/criterion.h>
#include <zpeer/batcher.h>
#include "batcher_fixture.h"
#include "banned.h"

fixture_t fixture;

static zsock_t *
s_bound (int hwm, char endpoint[ZPEER_ENDPOINT_MAX])
{
    zsock_t *socket = zpeer_socket_new (ZPEER_ROLE_PULL, hwm, -1);
    zpeer_socket_unique (endpoint, "test");
    cr_assert_eq (zpeer_socket_bind (socket, endpoint, NULL, NULL), ZPEER_OK);
    return socket;
}

void
fixture_call (const char *command, const char *one, const char *two)
{
    int rc = zpeer_command_call (fixture.batcher, LIMIT_MS, fixture.answer,
                                 command, one, two, NULL);
    cr_assert_eq (rc, ZPEER_OK, "%s: %s", command, fixture.answer);
}

void
fixture_start (bool remote)
{
    char inbox[ZPEER_ENDPOINT_MAX], uplink[ZPEER_ENDPOINT_MAX];
    char reports[ZPEER_ENDPOINT_MAX];
    zpeer_socket_init ();
    zpeer_actor_args_t args = {.options = fixture.options};
    fixture.batcher = zactor_new (zpeer_batcher, &args);
    fixture.uplink = s_bound (1, uplink);
    fixture.reports = s_bound (1000, reports);
    zpeer_socket_unique (inbox, "inbox");
    fixture_call ("PEER", "3", "http://peer/eureka/");
    fixture_call ("INBOX", inbox, NULL);
    fixture_call ("UPLINK", uplink, NULL);
    fixture_call ("REPORT", reports, NULL);
    fixture_call ("BIND",
                  remote ? "tcp://127.0.0.1:*" : "inproc://test-batcher", NULL);
    snprintf (fixture.server, sizeof fixture.server, "%s", fixture.answer);
    fixture.dispatcher = zpeer_socket_new (ZPEER_ROLE_CLIENT, 1000, -1);
    zpeer_socket_identify (fixture.dispatcher, ZPEER_SLICE ("fake"));
    cr_assert_eq (zpeer_socket_connect (fixture.dispatcher, fixture.answer),
                  ZPEER_OK);
    fixture_call ("START", NULL, NULL);
    fixture.acceptor = zpeer_socket_new (ZPEER_ROLE_PUSH, 1000, -1);
    cr_assert_eq (zpeer_socket_connect (fixture.acceptor, inbox), ZPEER_OK);
}

void
fixture_setup (void)
{
    fixture = (fixture_t){.options = zpeer_options_new ()};
}

void
fixture_teardown (void)
{
    zactor_destroy (&fixture.batcher);
    zsock_destroy (&fixture.acceptor);
    zsock_destroy (&fixture.uplink);
    zsock_destroy (&fixture.reports);
    zsock_destroy (&fixture.dispatcher);
    zpeer_frames_close (&fixture.frames);
    zpeer_options_destroy (&fixture.options);
}

void
fixture_set (const char *key, const char *value)
{
    cr_assert_eq (zpeer_options_set (fixture.options, key, value), ZPEER_OK);
}

static zpeer_state_t *
s_state (uint32_t handle, uint64_t timestamp, bool present)
{
    char id[16];
    snprintf (id, sizeof id, "i%u", handle);
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("APP"), zpeer_slice_str (id));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    state->handle = handle;
    state->seq = ++fixture.seq;
    state->timestamp = state->top = timestamp;
    state->status = ZPEER_UP;
    state->renewal_ms = 30000;
    if (present)
        state->info = zpeer_text_new ("{\"app\":\"APP\"", 12);
    return state;
}

void
fixture_add (zpeer_chunk_t *chunk, zpeer_action_t action, uint32_t from,
             uint32_t count, unsigned flags)
{
    for (uint32_t handle = from; handle < from + count; handle++)
        chunk->changes[chunk->count++] = (zpeer_change_t){
            .state = s_state (handle, 5, action != ZPEER_CANCEL),
            .handle = handle,
            .action = (uint8_t) action,
            .flags = (uint16_t) flags,
        };
}

void
fixture_add_asg (zpeer_chunk_t *chunk)
{
    zpeer_name_t *name =
        zpeer_name_new ((zpeer_slice_t){"", 0}, ZPEER_SLICE ("asg-1"));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    state->seq = ++fixture.seq;
    state->status = ZPEER_OUT_OF_SERVICE;
    chunk->changes[chunk->count++] =
        (zpeer_change_t){.state = state, .action = ZPEER_ASG_STATUS_UPDATE};
}

void
fixture_send (zpeer_chunk_t *chunk)
{
    zmq_msg_t message;
    zmq_msg_init_data (&message, chunk, sizeof *chunk, zpeer_chunk_free, NULL);
    cr_assert_eq (zpeer_socket_send_msg (fixture.acceptor, NULL, 0, &message),
                  ZPEER_OK);
}

void
fixture_tell (zpeer_action_t action, uint32_t count, unsigned flags)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    fixture_add (chunk, action, 0, count, flags);
    fixture_send (chunk);
}

void
fixture_say (const char *command, const void *fields, size_t size)
{
    zpeer_slice_t frames[] = {zpeer_slice_str (command),
                              {(const char *) fields, size},
                              {NULL, 0},
                              {NULL, 0},
                              ZPEER_SLICE ("no\xfftext \x1b[2J")};
    cr_assert_eq (zpeer_socket_send (fixture.dispatcher, frames, 5), ZPEER_OK);
}

void
fixture_ready (uint32_t credit, bool remote)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    fixture_say ("READY", fields,
                 zpeer_wire_put_ready (fields, credit, remote));
}

bool
fixture_receive (zsock_t *socket, int timeout_ms)
{
    return zpeer_socket_wait (socket, ZMQ_POLLIN, timeout_ms) == ZPEER_OK &&
           zpeer_socket_recv (socket, &fixture.frames) == ZPEER_OK;
}

zpeer_wire_batch_t
fixture_batch (void)
{
    zpeer_wire_batch_t batch = {0};
    cr_assert (fixture_receive (fixture.dispatcher, LIMIT_MS), "no batch");
    cr_assert (zpeer_slice_eq (zpeer_frames_at (&fixture.frames, 0),
                               ZPEER_SLICE ("BATCH")));
    zpeer_slice_t fields = zpeer_frames_at (&fixture.frames, 1);
    cr_assert_eq (zpeer_wire_get_batch (fields.data, fields.size, &batch),
                  ZPEER_OK);
    return batch;
}

void
fixture_done (zpeer_result_t result)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    fixture_say ("DONE", fields, zpeer_wire_put_done (fields, &result));
}

void
fixture_expect_outcome (const char *topic, const char *text)
{
    int64_t until = zclock_mono () + LIMIT_MS;
    while (zclock_mono () < until) {
        if (!fixture_receive (fixture.reports, 100))
            continue;
        zpeer_slice_t map = zpeer_frames_at (&fixture.frames, 1);
        if (zpeer_slice_eq (zpeer_frames_at (&fixture.frames, 0),
                            zpeer_slice_str (topic)) &&
            memmem (map.data, map.size, text, strlen (text)))
            return;
    }
    cr_assert_fail ("no outcome %s with %s", topic, text);
}
