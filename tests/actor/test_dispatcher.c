#include "dispatcher_fixture.h"
#include "banned.h"

Test (dispatcher, grants_its_credit_at_start)
{
    fixture_t *self = s_setup (&(setup_t){0});
    uint32_t credit;
    bool remote;
    s_expect (self, ZPEER_WIRE_READY);
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 2);
    cr_assert_eq (
        zpeer_wire_get_ready (fixed.data, fixed.size, &credit, &remote),
        ZPEER_OK);
    cr_assert_eq (credit, 6);
    cr_assert_not (remote, "it is in the process");
    s_teardown (self);
}

Test (dispatcher, does_not_start_without_the_ca_file_it_is_told_of)
{
    char batcher[ZPEER_ENDPOINT_MAX];
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    zpeer_options_t *options = zpeer_options_new ();
    zpeer_actor_args_t args = {.options = options};
    zpeer_options_set (options, "zpeer.tls.ca-file", "/nonexistent/ca.pem");
    zactor_t *self = zpeer_command_actor (zpeer_dispatcher, &args);
    zpeer_socket_unique (batcher, "batcher");
    COMMAND (self, NULL, "PEER", PEER_ID, "https://127.0.0.1:9/");
    COMMAND (self, NULL, "CONNECT", batcher);
    COMMAND (self, NULL, "HEALTH", batcher);
    cr_assert_eq (
        zpeer_command_call (self, LIMIT_MS, answer, "START", (char *) NULL),
        ZPEER_E_INVALID);
    cr_assert_str_eq (answer, "zpeer.tls.ca-file /nonexistent/ca.pem: No such "
                              "file or directory");
    zactor_destroy (&self);
    zpeer_options_destroy (&options);
}

Test (dispatcher, posts_a_batch_and_reports_what_the_peer_said_of_each_item)
{
    fixture_t *self = s_setup (&(setup_t){0});
    speer_record_t record;
    speer_set (self->peer, SPEER_SET_COUNT, 0);
    speer_item_rule (self->peer, &(speer_item_rule_t){.nth = 2, .status = 500});
    s_expect (self, ZPEER_WIRE_READY);
    s_send_batch (self, 1, ZPEER_MODE_BATCH, 2);
    s_expect_done (self);
    cr_assert_eq (self->done.verdict, ZPEER_SUCCESS);
    cr_assert_eq (self->done.items, 2);
    cr_assert_eq (self->code_count, 2);
    cr_assert_eq (self->codes[0], 404, "the peer does not know it");
    cr_assert_eq (self->codes[1], 500);

    cr_assert (speer_request (self->peer, 0, &record));
    cr_assert_str_eq (record.method, "POST");
    cr_assert_str_eq (record.path, "/eureka/peerreplication/batch/");
    cr_assert_eq (record.items, 2);
    speer_record_free (&record);
    s_teardown (self);
}

Test (dispatcher, makes_single_requests_one_after_the_other)
{
    fixture_t *self = s_setup (&(setup_t){0});
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer,
                &(speer_rule_t){.skip = 1, .count = 1, .status = 409});
    s_send_batch (self, 1, ZPEER_MODE_SINGLE, 3);
    s_expect_done (self);
    cr_assert_eq (self->done.end, ZPEER_END_ITEM);
    cr_assert_eq (self->done.verdict, ZPEER_SUCCESS);
    cr_assert_eq (self->code_count, 3);
    cr_assert_eq (self->codes[0], 200);
    cr_assert_eq (self->codes[1], 409);
    cr_assert_eq (self->codes[2], 200);
    cr_assert_eq (speer_get (self->peer, SPEER_REQUESTS), 3);
    cr_assert_eq (speer_get (self->peer, SPEER_MAX_IN_FLIGHT), 1);
    cr_assert_eq (speer_get (self->peer, SPEER_UNMARKED), 0,
                  "each says that it is replication");
    s_teardown (self);
}

Test (dispatcher, item_statuses_of_single_requests_leave_the_counter_alone)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "2"});
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.status = 404});
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq (s_attempt (self, ZPEER_MODE_SINGLE), ZPEER_SUCCESS);
    speer_rule (self->peer, &(speer_rule_t){.status = 503});
    s_attempt (self, ZPEER_MODE_SINGLE);
    cr_assert_eq (self->done.count, 1);
    s_teardown (self);
}

//  Normal life in HTTP: it closed the connection just when it was used
Test (dispatcher, a_kept_connection_that_is_dead_is_no_failure)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "1"});
    s_expect (self, ZPEER_WIRE_READY);
    for (int mode = ZPEER_MODE_BATCH; mode <= ZPEER_MODE_SINGLE; mode++) {
        cr_assert_eq (s_attempt (self, (zpeer_mode_t) mode), ZPEER_SUCCESS);
        cr_assert_not (self->done.repeated);
        speer_rule (self->peer,
                    &(speer_rule_t){.answer = SPEER_RESET, .count = 1});
        cr_assert_eq (s_attempt (self, (zpeer_mode_t) mode), ZPEER_SUCCESS);
        cr_assert (self->done.repeated, "the peer may have had the first");
    }
    cr_assert_str_empty (self->log);
    cr_assert_eq (speer_get (self->peer, SPEER_FAULTS), 2);
    s_teardown (self);
}

Test (dispatcher, has_as_many_requests_in_flight_as_it_has_credit)
{
    fixture_t *self = s_setup (&(setup_t){0});
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.delay_ms = SPEER_HELD});
    for (uint64_t id = 1; id <= 8; id++)
        s_send_batch (self, id, ZPEER_MODE_BATCH, 1);
    cr_assert (speer_wait (self->peer, SPEER_PENDING, 6, LIMIT_MS));
    speer_clear (self->peer);
    cr_assert_eq (speer_release (self->peer), 6);
    for (unsigned i = 0; i < 8; i++)
        s_expect_done (self);
    cr_assert_eq (speer_get (self->peer, SPEER_MAX_IN_FLIGHT), 6);
    s_teardown (self);
}

Test (dispatcher, messages_that_make_no_sense_are_ignored)
{
    fixture_t *self = s_setup (&(setup_t){0});
    uint8_t fixed[ZPEER_WIRE_MAX];
    zpeer_wire_batch_t batch = {1, ZPEER_MODE_BATCH, 1};
    size_t size = zpeer_wire_put_batch (fixed, &batch);
    zpeer_slice_t frames[] = {
        ZPEER_SLICE ("BATCH"),
        {(const char *) fixed, size},
        ZPEER_SLICE ("{}"),
        ZPEER_SLICE ("more"),
    };
    s_expect (self, ZPEER_WIRE_READY);
    s_send (self, frames, 1);
    s_send (self, frames, 2);
    s_send (self, frames, 4);
    frames[0] = ZPEER_SLICE ("batch");
    s_send (self, frames, 3);
    frames[0] = ZPEER_SLICE ("BATCH");
    frames[1].size--;
    s_send (self, frames, 3);
    frames[0] = ZPEER_SLICE ("ACK");
    s_send (self, frames, 2);
    s_send_batch (self, 77, ZPEER_MODE_BATCH, 1);
    s_expect_done (self);
    cr_assert_eq (self->done.id, 77);
    cr_assert_eq (speer_get (self->peer, SPEER_REQUESTS), 1);
    s_teardown (self);
}

Test (dispatcher, a_body_that_is_not_what_was_said_is_an_internal_failure)
{
    fixture_t *self = s_setup (&(setup_t){0});
    uint8_t fixed[ZPEER_WIRE_MAX];
    zpeer_wire_batch_t batch = {1, ZPEER_MODE_SINGLE, 1};
    size_t size = zpeer_wire_put_batch (fixed, &batch);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("BATCH"),
                              {(const char *) fixed, size},
                              ZPEER_SLICE ("no requests")};
    s_expect (self, ZPEER_WIRE_READY);
    s_send (self, frames, 3);
    s_expect_done (self);
    cr_assert_eq (self->done.end, ZPEER_END_INTERNAL);
    cr_assert_eq (self->done.verdict, ZPEER_PERMANENT_ERROR);
    cr_assert_str_eq (self->log, "ZPR038 ");
    s_teardown (self);
}

Test (dispatcher, without_health_the_tasks_are_kept)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "1", .deaf = true});
    s_expect (self, ZPEER_WIRE_READY);
    speer_mode (self->peer, SPEER_REFUSE);
    cr_assert_eq (s_attempt (self, ZPEER_MODE_BATCH), ZPEER_CONGESTION);
    cr_assert_eq (self->done.end, ZPEER_END_UNSENT);
    cr_assert_str_eq (self->log, "ZPR052 ZPR031 ");
    s_teardown (self);
}

Test (dispatcher, ends_at_once_with_requests_in_flight)
{
    fixture_t *self = s_setup (&(setup_t){0});
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    for (uint64_t id = 1; id <= 8; id++)
        s_send_batch (self, id, ZPEER_MODE_BATCH, 1);
    cr_assert (speer_wait (self->peer, SPEER_IN_FLIGHT, 6, LIMIT_MS));
    int64_t before = zclock_mono ();
    zactor_destroy (&self->dispatcher);
    cr_assert_lt (zclock_mono () - before, 1000);
    cr_assert (speer_wait (self->peer, SPEER_ABANDONED, 6, LIMIT_MS));
    s_teardown (self);
}

Test (dispatcher, commands_before_start_only_and_all_of_them)
{
    zactor_t *actor = zpeer_command_actor (zpeer_dispatcher, NULL);
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "START", NULL),
                  ZPEER_E_STATE);
    cr_assert_str_eq (answer, "PEER is missing");
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "AUTH", "user",
                                      "secret", NULL),
                  ZPEER_E_STATE);
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "PEER", "1024",
                                      "http://peer/", NULL),
                  ZPEER_E_RANGE);
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "PEER", "0",
                                      "ftp://peer/", NULL),
                  ZPEER_E_PARSE);
    COMMAND (actor, NULL, "PEER", "0", "http://peer/");
    COMMAND (actor, NULL, "AUTH", "user", "secret");
    COMMAND (actor, NULL, "CONNECT", "inproc://nobody");
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "CONNECT",
                                      "inproc://nobody", NULL),
                  ZPEER_E_EXISTS);
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "START", NULL),
                  ZPEER_E_STATE);
    cr_assert_str_eq (answer, "HEALTH is missing");
    COMMAND (actor, NULL, "HEALTH", "inproc://nobody");
    COMMAND (actor, NULL, "START");
    cr_assert_eq (zpeer_command_call (actor, LIMIT_MS, answer, "PEER", "0",
                                      "http://peer/", NULL),
                  ZPEER_E_STATE);
    zactor_destroy (&actor);
}

//  Whether the stats outcome in frames has this key with a value of one byte
static bool
s_has (zpeer_frames_t *frames, const char *key, char value)
{
    zpeer_slice_t map = zpeer_frames_at (frames, 1);
    const char *at =
        (const char *) memmem (map.data, map.size, key, strlen (key));
    return at && at[strlen (key)] == value;
}

Test (dispatcher, reports_its_figures)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_frames_t frames = {0};
    zsock_t *reporter = zpeer_socket_new (ZPEER_ROLE_PULL, 1000, -1);
    zpeer_socket_unique (endpoint, "reporter");
    cr_assert_eq (zpeer_socket_bind (reporter, endpoint, NULL, NULL), ZPEER_OK);
    fixture_t *self = s_setup (&(setup_t){.report = endpoint});
    s_expect (self, ZPEER_WIRE_READY);
    s_attempt (self, ZPEER_MODE_BATCH);
    int64_t deadline = zpeer_socket_deadline (LIMIT_MS);
    do {
        cr_assert_eq (zpeer_socket_wait_until (reporter, ZMQ_POLLIN, deadline),
                      ZPEER_OK);
        cr_assert_eq (zpeer_socket_recv (reporter, &frames), ZPEER_OK);
        cr_assert (zpeer_slice_eq (zpeer_frames_at (&frames, 0),
                                   ZPEER_SLICE ("stats")));
    } while (!s_has (&frames, "end-2xx", 1));
    cr_assert (s_has (&frames, "requests", 1));
    cr_assert (s_has (&frames, "in-flight", 0));
    zpeer_frames_close (&frames);
    s_teardown (self);
    zsock_destroy (&reporter);
}
