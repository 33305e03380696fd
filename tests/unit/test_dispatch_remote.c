#include "dispatch_fixture.h"
#include "banned.h"

static void
s_succeed (fixture_t *self, uint64_t id)
{
    s_batch (self, id);
    s_reply (self, id, ZPEER_END_OK, 200);
}

static void
s_heartbeat (fixture_t *self, uint64_t last)
{
    zpeer_dispatch_heartbeat (self->core, self->now, last, self->now);
}

Test (dispatch_remote, done_is_repeated_until_it_is_acknowledged)
{
    fixture_t self = s_setup (true, 6);
    s_succeed (&self, 9);
    s_assert_trace (&self, "READY request OK release DONE");
    for (int i = 0; i < 2; i++) {
        self.now += 999;
        s_assert_trace (&self, "");
        self.now += 1;
        self.done.id = 0;
        s_assert_trace (&self, "DONE HEARTBEAT");
        cr_assert_eq (self.done.id, 9);
        s_heartbeat (&self, 9);
    }
    zpeer_dispatch_ack (self.core, 9);
    self.now += 1000;
    s_assert_trace (&self, "HEARTBEAT");
    cr_assert_eq (self.held_count, 0);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, heartbeat_names_what_is_held_and_the_newest_id_heard_of)
{
    fixture_t self = s_setup (true, 1);
    s_succeed (&self, 1);
    s_batch (&self, 2);
    s_batch (&self, 3);
    s_heartbeat (&self, 3);
    s_assert_trace (&self, "READY request OK release DONE request");
    self.now += 1000;
    s_assert_trace (&self, "DONE HEARTBEAT");
    cr_assert_eq (self.echo, 3);
    cr_assert_eq (self.held_count, 3, "reported, running and waiting");
    for (uint64_t id = 1; id <= 3; id++)
        cr_assert_eq (self.held[id - 1], id);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, without_its_batcher_for_three_seconds_it_aborts)
{
    fixture_t self = s_setup (true, 6);
    s_batch (&self, 1);
    s_batch (&self, 2);
    s_assert_trace (&self, "READY request request");
    self.now += 2000;
    s_heartbeat (&self, 2);
    s_assert_trace (&self, "HEARTBEAT");
    self.now += 2999;
    s_assert_trace (&self, "HEARTBEAT");
    self.now += 1;
    s_assert_trace (&self, "abort release abort release gone");
    self.now += 60000;
    s_assert_trace (&self, "HEARTBEAT");
    cr_assert_eq (self.held_count, 0);
    cr_assert_eq (self.echo, 0, "a new batcher counts anew");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, what_waits_for_its_turn_is_given_up_too)
{
    fixture_t self = s_setup (true, 1);
    s_batch (&self, 1);
    s_batch (&self, 2);
    s_assert_trace (&self, "READY request");
    self.now += 3000;
    s_assert_trace (&self, "release abort release gone HEARTBEAT");
    cr_assert_eq (self.held_count, 0);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, a_batcher_that_is_back_learns_credit_and_results)
{
    fixture_t self = s_setup (true, 6);
    s_succeed (&self, 1);
    s_assert_trace (&self, "READY request OK release DONE");
    self.now += 3000;
    s_assert_trace (&self, "gone HEARTBEAT");
    self.now += 3000;
    s_assert_trace (&self, "HEARTBEAT");
    s_heartbeat (&self, 1);
    s_assert_trace (&self, "READY DONE");
    zpeer_dispatch_ack (self.core, 1);
    s_assert_trace (&self, "");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, a_result_of_what_was_aborted_is_ignored)
{
    fixture_t self = s_setup (true, 6);
    s_batch (&self, 1);
    s_assert_trace (&self, "READY request");
    self.now += 3000;
    s_assert_trace (&self, "abort release gone HEARTBEAT");
    s_reply (&self, 1, ZPEER_END_OK, 200);
    s_assert_trace (&self, "");
    zpeer_dispatch_stats_t stats;
    zpeer_dispatch_stats (self.core, &stats);
    cr_assert_eq (stats.ignored, 1);
    cr_assert_eq (stats.in_flight, 0);
    cr_assert_eq (stats.gone, 1);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, an_acknowledgement_of_what_is_not_reported_is_ignored)
{
    fixture_t self = s_setup (true, 6);
    s_batch (&self, 1);
    zpeer_dispatch_ack (self.core, 1);
    zpeer_dispatch_ack (self.core, 77);
    s_reply (&self, 1, ZPEER_END_OK, 200);
    s_assert_trace (&self, "READY request OK release DONE");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, inside_the_process_nobody_is_missed)
{
    fixture_t self = s_setup (false, 6);
    s_batch (&self, 1);
    s_assert_trace (&self, "READY request");
    self.now += 600000;
    s_assert_trace (&self, "");
    cr_assert_eq (zpeer_dispatch_wake (self.core), UINT64_MAX);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch_remote, more_batches_than_any_credit_allows_are_refused)
{
    fixture_t self = s_setup (true, 1);
    for (uint64_t id = 1; id <= ZPEER_WIRE_HELD_MAX; id++)
        s_batch (&self, id);
    zpeer_wire_batch_t batch = {5000, ZPEER_MODE_BATCH, 1};
    cr_assert_eq (zpeer_dispatch_batch (self.core, self.now, &batch,
                                        ZPEER_SLICE ("{}"), NULL),
                  ZPEER_E_TOO_LARGE);
    zpeer_dispatch_destroy (&self.core);
}
