//  The batcher between a fake acceptor and a fake dispatcher
#include <criterion/criterion.h>
#include <zpeer/batcher.h>
#include "chunk.h"
#include "command.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

//  How long anything may take, ms
#define LIMIT_MS 5000

typedef struct {
    zactor_t *batcher;
    zsock_t *acceptor;  //  Chunks to it
    zsock_t *uplink;    //  What it tells the acceptor
    zsock_t *reports;   //  Outcomes
    zsock_t *dispatcher;
    zpeer_options_t *options;
    zpeer_frames_t frames;
    uint64_t seq;
    char answer[ZPEER_COMMAND_ANSWER_MAX];
} fixture_t;

static fixture_t s;

static zsock_t *
s_bound (zpeer_role_t role, char endpoint[ZPEER_ENDPOINT_MAX])
{
    zsock_t *socket = zpeer_socket_new (role, 1000, -1);
    zpeer_socket_unique (endpoint, "test");
    cr_assert_eq (zpeer_socket_bind (socket, endpoint, NULL), ZPEER_OK);
    return socket;
}

static void
s_call (const char *command, const char *one, const char *two)
{
    int rc = zpeer_command_call (s.batcher, LIMIT_MS, s.answer, command, one,
                                 two, NULL);
    cr_assert_eq (rc, ZPEER_OK, "%s: %s", command, s.answer);
}

static void
s_start (bool remote)
{
    char inbox[ZPEER_ENDPOINT_MAX], uplink[ZPEER_ENDPOINT_MAX];
    char reports[ZPEER_ENDPOINT_MAX];
    zpeer_socket_init ();
    zpeer_actor_args_t args = {.options = s.options};
    s.batcher = zactor_new (zpeer_batcher, &args);
    s.uplink = s_bound (ZPEER_ROLE_PULL, uplink);
    s.reports = s_bound (ZPEER_ROLE_PULL, reports);
    zpeer_socket_unique (inbox, "inbox");
    s_call ("PEER", "3", "http://peer/eureka/");
    s_call ("INBOX", inbox, NULL);
    s_call ("UPLINK", uplink, NULL);
    s_call ("REPORT", reports, NULL);
    s_call ("BIND", remote ? "tcp://127.0.0.1:*" : "inproc://test-batcher",
            NULL);
    s.dispatcher = zpeer_socket_new (ZPEER_ROLE_CLIENT, 1000, -1);
    zpeer_socket_identify (s.dispatcher, ZPEER_SLICE ("fake"));
    cr_assert_eq (zpeer_socket_connect (s.dispatcher, s.answer), ZPEER_OK);
    s_call ("START", NULL, NULL);
    s.acceptor = zpeer_socket_new (ZPEER_ROLE_PUSH, 1000, -1);
    cr_assert_eq (zpeer_socket_connect (s.acceptor, inbox), ZPEER_OK);
}

static void
s_setup (void)
{
    s = (fixture_t){.options = zpeer_options_new ()};
}

static void
s_teardown (void)
{
    zactor_destroy (&s.batcher);
    zsock_destroy (&s.acceptor);
    zsock_destroy (&s.uplink);
    zsock_destroy (&s.reports);
    zsock_destroy (&s.dispatcher);
    zpeer_frames_close (&s.frames);
    zpeer_options_destroy (&s.options);
}

TestSuite (batcher, .init = s_setup, .fini = s_teardown, .timeout = 60);

static void
s_set (const char *key, const char *value)
{
    cr_assert_eq (zpeer_options_set (s.options, key, value), ZPEER_OK);
}

//  The fake acceptor

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
    state->seq = ++s.seq;
    state->timestamp = state->top = timestamp;
    state->status = ZPEER_UP;
    state->renewal_ms = 30000;
    if (present)
        state->info = zpeer_text_new ("{\"app\":\"APP\"", 12);
    return state;
}

//  Tells the batcher of count instances from handle 0
static void
s_tell (zpeer_action_t action, uint32_t count, unsigned flags)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    for (uint32_t i = 0; i < count; i++)
        chunk->changes[chunk->count++] = (zpeer_change_t){
            .state = s_state (i, 5, action != ZPEER_CANCEL),
            .handle = i,
            .action = (uint8_t) action,
            .flags = (uint8_t) flags,
        };
    zmq_msg_t message;
    zmq_msg_init_data (&message, chunk, sizeof *chunk, zpeer_chunk_free, NULL);
    cr_assert_eq (zpeer_socket_send_msg (s.acceptor, NULL, 0, &message),
                  ZPEER_OK);
}

//  The fake dispatcher

static void
s_say (const char *command, const void *fields, size_t size)
{
    zpeer_slice_t frames[] = {zpeer_slice_str (command),
                              {(const char *) fields, size},
                              {NULL, 0},
                              {NULL, 0},
                              ZPEER_SLICE ("no\xfftext \x1b[2J")};
    cr_assert_eq (zpeer_socket_send (s.dispatcher, frames, 5), ZPEER_OK);
}

static void
s_ready (uint32_t credit, bool remote)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    s_say ("READY", fields, zpeer_wire_put_ready (fields, credit, remote));
}

static bool
s_receive (zsock_t *socket, int timeout_ms)
{
    return zpeer_socket_wait (socket, ZMQ_POLLIN, timeout_ms) == ZPEER_OK &&
           zpeer_socket_recv (socket, &s.frames) == ZPEER_OK;
}

//  The next message of the batcher must be a BATCH
static zpeer_wire_batch_t
s_batch (void)
{
    zpeer_wire_batch_t batch = {0};
    cr_assert (s_receive (s.dispatcher, LIMIT_MS), "no batch");
    cr_assert (
        zpeer_slice_eq (zpeer_frames_at (&s.frames, 0), ZPEER_SLICE ("BATCH")));
    zpeer_slice_t fields = zpeer_frames_at (&s.frames, 1);
    cr_assert_eq (zpeer_wire_get_batch (fields.data, fields.size, &batch),
                  ZPEER_OK);
    return batch;
}

static void
s_done (zpeer_result_t result)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    s_say ("DONE", fields, zpeer_wire_put_done (fields, &result));
}

//  Waits for an outcome of a topic whose map holds text
static void
s_expect_outcome (const char *topic, const char *text)
{
    int64_t until = zclock_mono () + LIMIT_MS;
    while (zclock_mono () < until) {
        if (!s_receive (s.reports, 100))
            continue;
        zpeer_slice_t map = zpeer_frames_at (&s.frames, 1);
        if (zpeer_slice_eq (zpeer_frames_at (&s.frames, 0),
                            zpeer_slice_str (topic)) &&
            memmem (map.data, map.size, text, strlen (text)))
            return;
    }
    cr_assert_fail ("no outcome %s with %s", topic, text);
}

Test (batcher, sends_nothing_without_credit_and_a_batch_with_it)
{
    s_start (false);
    s_tell (ZPEER_REGISTER, 3, 0);
    cr_expect_not (s_receive (s.dispatcher, 50));
    s_ready (6, false);
    zpeer_wire_batch_t batch = s_batch ();
    cr_expect_eq (batch.items, 3);
    cr_expect_eq (batch.mode, ZPEER_MODE_BATCH);
    zpeer_slice_t body = zpeer_frames_at (&s.frames, 2);
    cr_expect (memmem (body.data, body.size, "{\"replicationList\":[{", 21) ==
               body.data);
    cr_expect_eq (body.data[body.size - 2], ']');
}

Test (batcher, two_hundred_and_fifty_waiting_items_go_at_once)
{
    s_set ("zpeer.batch.linger-ms", "60000");
    s_start (false);
    s_ready (6, false);
    s_tell (ZPEER_REGISTER, 260, 0);
    cr_expect_eq (s_batch ().items, 250);
    cr_expect_not (s_receive (s.dispatcher, 50), "the rest waits");
}

Test (batcher, without_batching_every_instance_is_a_request_of_its_own)
{
    s_set ("zpeer.batch.enabled", "false");
    s_start (false);
    s_ready (2, false);
    s_tell (ZPEER_REGISTER, 3, 0);
    for (int i = 0; i < 2; i++) {
        zpeer_wire_batch_t batch = s_batch ();
        cr_expect_eq (batch.mode, ZPEER_MODE_SINGLE);
        cr_expect_eq (batch.items, 1);
    }
    cr_expect_not (s_receive (s.dispatcher, 50), "no more than the credit");
}

Test (batcher, an_asg_update_goes_alone_beside_the_others)
{
    s_start (false);
    s_ready (6, false);
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    zpeer_name_t *name =
        zpeer_name_new ((zpeer_slice_t){"", 0}, ZPEER_SLICE ("asg-1"));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    state->seq = 1;
    state->status = ZPEER_OUT_OF_SERVICE;
    chunk->changes[chunk->count++] =
        (zpeer_change_t){.state = state, .action = ZPEER_ASG_STATUS_UPDATE};
    zmq_msg_t message;
    zmq_msg_init_data (&message, chunk, sizeof *chunk, zpeer_chunk_free, NULL);
    zpeer_socket_send_msg (s.acceptor, NULL, 0, &message);
    cr_expect_eq (s_batch ().mode, ZPEER_MODE_SINGLE);
    zpeer_slice_t body = zpeer_frames_at (&s.frames, 2);
    cr_expect_not_null (
        memmem (body.data, body.size, "asg/asg-1/status?value=DISABLED", 31));
}

Test (batcher, what_congestion_brought_back_goes_again)
{
    s_start (false);
    s_ready (6, false);
    s_tell (ZPEER_REGISTER, 2, 0);
    uint64_t first = s_batch ().id;
    s_done ((zpeer_result_t){.id = first,
                             .end = ZPEER_END_BUSY,
                             .verdict = ZPEER_CONGESTION,
                             .status = 503});
    s_expect_outcome ("peer", "congested");
    zpeer_slice_t map = zpeer_frames_at (&s.frames, 1);
    cr_expect_not_null (memmem (map.data, map.size, "no?text ?[2J", 12));
    zpeer_wire_batch_t again = s_batch ();
    cr_expect_neq (again.id, first, "ids are never used again");
    cr_expect_eq (again.items, 2);
}

Test (batcher, a_done_nobody_knows_is_ignored)
{
    s_start (false);
    s_ready (6, false);
    s_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = s_batch ().id;
    s_done ((zpeer_result_t){.id = id + 77});
    s_done ((zpeer_result_t){.id = id});
    s_expect_outcome ("peer", "healthy");
}

Test (batcher, too_few_codes_are_not_believed)
{
    s_start (false);
    s_ready (6, false);
    s_tell (ZPEER_REGISTER, 3, 0);
    uint8_t fields[ZPEER_WIRE_MAX];
    zpeer_result_t result = {.id = s_batch ().id};
    size_t size = zpeer_wire_put_done (fields, &result);
    uint8_t codes[2] = {0, 200};
    zpeer_slice_t frames[] = {ZPEER_SLICE ("DONE"),
                              {(const char *) fields, size},
                              {(const char *) codes, sizeof codes}};
    zpeer_socket_send (s.dispatcher, frames, 3);
    cr_expect_eq (s_batch ().items, 3, "it goes again");
}

Test (batcher, a_remote_dispatcher_gets_ack_and_heartbeat)
{
    s_start (true);
    s_ready (6, true);
    s_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = s_batch ().id, got = 0;
    s_done ((zpeer_result_t){.id = id});
    cr_assert (s_receive (s.dispatcher, LIMIT_MS));
    cr_expect (
        zpeer_slice_eq (zpeer_frames_at (&s.frames, 0), ZPEER_SLICE ("ACK")));
    zpeer_buffer_t held = {0};
    zpeer_wire_put_held (&held, 6, 0, NULL, 0);
    s_say ("HEARTBEAT", held.data, held.size);
    zpeer_buffer_free (&held);
    cr_assert (s_receive (s.dispatcher, LIMIT_MS));
    cr_expect (zpeer_slice_eq (zpeer_frames_at (&s.frames, 0),
                               ZPEER_SLICE ("HEARTBEAT")));
    zpeer_slice_t last = zpeer_frames_at (&s.frames, 1);
    cr_assert_eq (zpeer_wire_get_id (last.data, last.size, &got), ZPEER_OK);
    cr_expect_eq (got, id);
}

Test (batcher, what_a_dispatcher_lost_is_sent_again)
{
    s_start (true);
    s_ready (6, true);
    s_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = s_batch ().id;
    zpeer_buffer_t held = {0};
    zpeer_wire_put_held (&held, 6, id, NULL, 0);
    s_say ("HEARTBEAT", held.data, held.size);
    zpeer_buffer_free (&held);
    cr_assert (s_receive (s.dispatcher, LIMIT_MS));  //  HEARTBEAT
    cr_expect_neq (s_batch ().id, id);
}

Test (batcher, goodbye_brings_batches_back_for_another_dispatcher)
{
    s_start (true);
    s_ready (6, true);
    s_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = s_batch ().id;
    s_say ("GOODBYE", NULL, 0);
    s_ready (6, true);
    cr_expect_neq (s_batch ().id, id);
}

Test (batcher, a_released_instance_is_told_to_the_acceptor)
{
    s_start (false);
    s_tell (ZPEER_REGISTER, 1, ZPEER_CHANGE_RELEASE);
    cr_assert (s_receive (s.uplink, LIMIT_MS));
    zpeer_slice_t fields = zpeer_frames_at (&s.frames, 1);
    size_t offset = 0;
    uint32_t lane = 0, handle = 9;
    uint64_t seq = 0;
    cr_assert_eq (zpeer_wire_get_released (fields.data, fields.size, &offset,
                                           &lane, &handle, &seq),
                  ZPEER_OK);
    cr_expect_eq (lane, 3);
    cr_expect_eq (handle, 0);
    cr_expect_eq (seq, s.seq);
}

Test (batcher, drain_sends_at_once_and_answers_when_all_is_delivered)
{
    s_set ("zpeer.batch.linger-ms", "60000");
    s_start (false);
    s_ready (6, false);
    s_tell (ZPEER_REGISTER, 2, 0);
    zpeer_command_send (s.batcher, "DRAIN", "5000", "shutdown", NULL);
    uint64_t id = s_batch ().id;
    s_done ((zpeer_result_t){.id = id});
    cr_assert_eq (zpeer_command_await (s.batcher, LIMIT_MS, s.answer),
                  ZPEER_OK);
    cr_expect_str_eq (s.answer, "0");
}

Test (batcher, drain_gives_up_in_time_and_says_what_is_left)
{
    s_start (false);
    s_ready (6, false);
    s_tell (ZPEER_REGISTER, 2, 0);
    s_batch ();
    s_call ("DRAIN", "50", "peer-removed");
    cr_expect_str_eq (s.answer, "2");
}

Test (batcher, start_needs_its_sockets)
{
    s.batcher = zactor_new (zpeer_batcher, NULL);
    cr_expect_eq (
        zpeer_command_call (s.batcher, LIMIT_MS, s.answer, "START", NULL),
        ZPEER_E_STATE);
    cr_expect_not_null (strstr (s.answer, "PEER"));
}
