#include "dispatcher_fixture.h"
#include "banned.h"

//  A beat is 200 ms here, not a second: three without a word are the end

static const setup_t s_remote = {
    .batcher = "tcp://127.0.0.1:*",
    .beat_ms = "200",
};

//  Reads until the next HEARTBEAT
static size_t
s_expect_heartbeat (fixture_t *self, zpeer_wire_beat_t *beat, uint64_t ids[4])
{
    size_t count;
    s_expect (self, ZPEER_WIRE_HEARTBEAT);
    zpeer_slice_t held = zpeer_frames_at (&self->frames, 2);
    cr_assert_eq (
        zpeer_wire_get_held (held.data, held.size, beat, ids, 4, &count),
        ZPEER_OK);
    cr_assert_eq (beat->credit, 6);
    return count;
}

//  Answers every HEARTBEAT, as a batcher does, until condition holds
#define s_beat_until(self, condition)                                          \
    do {                                                                       \
        zpeer_wire_beat_t beat_;                                               \
        uint64_t ids_[4];                                                      \
        s_expect_heartbeat (self, &beat_, ids_);                               \
        s_send_last (self, 9, beat_.sent);                                     \
    } while (!(condition))

Test (dispatcher_remote, done_is_repeated_until_it_is_acknowledged)
{
    fixture_t *self = s_setup (&s_remote);
    zpeer_wire_beat_t beat;
    uint64_t ids[4];
    s_expect (self, ZPEER_WIRE_READY);
    s_send_batch (self, 9, ZPEER_MODE_BATCH, 1);
    for (unsigned i = 0; i < 3; i++) {
        s_expect_done (self);
        cr_assert_eq (self->done.id, 9);
        cr_assert_eq (s_expect_heartbeat (self, &beat, ids), 1);
        cr_assert_eq (ids[0], 9, "held until it is acknowledged");
        s_send_last (self, 9, beat.sent);
    }
    s_send_id (self, "ACK", 9);
    s_beat_until (self, speer_get (self->peer, SPEER_REQUESTS) == 1);
    cr_assert_eq (s_expect_heartbeat (self, &beat, ids), 0);
    cr_assert_eq (beat.echo, 9);
    s_teardown (self);
}

Test (dispatcher_remote, is_remote_over_ipc_too)
{
    fixture_t *self =
        s_setup (&(setup_t){.batcher = "ipc://*", .beat_ms = "200"});
    uint32_t credit;
    bool remote;
    s_expect (self, ZPEER_WIRE_READY);
    zpeer_slice_t ready = zpeer_frames_at (&self->frames, 2);
    cr_assert_eq (
        zpeer_wire_get_ready (ready.data, ready.size, &credit, &remote),
        ZPEER_OK);
    cr_assert (remote);
    s_send_batch (self, 9, ZPEER_MODE_BATCH, 1);
    for (unsigned i = 0; i < 2; i++) {
        s_expect_done (self);
        cr_assert_eq (self->done.id, 9);
    }
    s_teardown (self);
}

Test (dispatcher_remote, heartbeat_names_the_batches_it_holds)
{
    fixture_t *self = s_setup (&s_remote);
    zpeer_wire_beat_t beat;
    uint64_t ids[4];
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    s_send_batch (self, 7, ZPEER_MODE_BATCH, 1);
    s_send_batch (self, 8, ZPEER_MODE_BATCH, 1);
    s_send_last (self, 8, 0);
    do
        s_expect_heartbeat (self, &beat, ids);
    while (beat.echo != 8);
    cr_assert_eq (s_expect_heartbeat (self, &beat, ids), 2);
    cr_assert_eq (ids[0], 7);
    cr_assert_eq (ids[1], 8);
    s_teardown (self);
}

Test (dispatcher_remote, aborts_its_requests_when_the_batcher_vanishes)
{
    fixture_t *self = s_setup (&s_remote);
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_wire_beat_t beat;
    uint64_t ids[4];
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    s_send_batch (self, 1, ZPEER_MODE_BATCH, 1);
    cr_assert (speer_wait (self->peer, SPEER_IN_FLIGHT, 1, LIMIT_MS));
    cr_assert_eq (speer_get (self->peer, SPEER_ABANDONED), 0);

    memcpy (endpoint, self->endpoint, sizeof endpoint);
    zsock_destroy (&self->batcher);
    cr_assert (speer_wait (self->peer, SPEER_ABANDONED, 1, LIMIT_MS));

    //  A batcher that is back hears that the batch is not held, and is granted
    //  credit again
    s_bind_batcher (self, endpoint);
    while (s_expect_heartbeat (self, &beat, ids) > 0)
        continue;
    s_send_last (self, 1, beat.sent);
    s_expect (self, ZPEER_WIRE_READY);
    cr_assert_str_eq (self->log, "ZPR051 ");
    s_teardown (self);
}

Test (dispatcher_remote, keeps_its_requests_while_the_batcher_is_heard)
{
    fixture_t *self = s_setup (&s_remote);
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.delay_ms = 1500});
    s_send_batch (self, 9, ZPEER_MODE_BATCH, 1);
    s_beat_until (self, speer_get (self->peer, SPEER_ANSWERED) == 1);
    s_expect_done (self);
    cr_assert_eq (self->done.verdict, ZPEER_SUCCESS);
    cr_assert_str_empty (self->log);
    s_teardown (self);
}

Test (dispatcher_remote, says_goodbye_when_it_ends)
{
    fixture_t *self = s_setup (&s_remote);
    s_expect (self, ZPEER_WIRE_READY);
    zactor_destroy (&self->dispatcher);
    s_expect (self, ZPEER_WIRE_GOODBYE);
    s_teardown (self);
}
