#include "dispatch_fixture.h"
#include "banned.h"

Test (dispatch, a_batch_that_succeeds_is_reported_and_health_told)
{
    fixture_t self = s_setup (false, 6);
    s_assert_trace (&self, "READY");
    s_batch (&self, 9);
    s_assert_trace (&self, "request");
    cr_assert_str_eq (self.path, "peerreplication/batch/");
    self.now += 40;
    s_reply (&self, 9, ZPEER_END_OK, 200);
    s_assert_trace (&self, "OK release DONE");
    cr_assert_eq (self.done.id, 9);
    cr_assert_eq (self.done.verdict, ZPEER_SUCCESS);
    cr_assert_eq (self.done.elapsed_ms, 40);
    cr_assert_eq (self.done.items, 1);
    cr_assert_eq (self.code_count, 0, "all 200");
    cr_assert_eq (zpeer_dispatch_wake (self.core), UINT64_MAX);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, the_gate_decides_between_another_try_and_a_permanent_error)
{
    fixture_t self = s_setup (false, 6);
    s_assert_trace (&self, "READY");
    s_batch (&self, 1);
    s_reply (&self, 1, ZPEER_END_READ_TIMEOUT, 0);
    s_assert_trace (&self, "request release FAIL");
    cr_assert (self.gated);
    s_health (&self, 1, 2, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.verdict, ZPEER_CONGESTION);
    cr_assert (self.done.ambiguous && !self.done.reached);
    cr_assert_str_eq (self.detail, "as the library says");

    s_batch (&self, 2);
    s_reply (&self, 2, ZPEER_END_READ_TIMEOUT, 0);
    s_assert_trace (&self, "request release FAIL");
    s_health (&self, 2, 2, true);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.verdict, ZPEER_PERMANENT_ERROR);
    cr_assert (self.done.reached && self.done.escalated && self.done.announce);
    cr_assert_eq (self.done.count, 2);
    cr_assert_eq (self.done.max, 2);
    zpeer_dispatch_destroy (&self.core);
}

//  It asks health nothing, and is counted
Test (dispatch, a_request_that_went_out_twice_is_a_success)
{
    fixture_t self = s_setup (false, 6);
    zpeer_dispatch_stats_t stats;
    s_assert_trace (&self, "READY");
    s_batch (&self, 1);
    zpeer_reply_t reply = {
        .status = 200, .repeated = true, .body = ALL_OK, .detail = ""};
    zpeer_dispatch_reply (self.core, self.now, 1, &reply);
    s_assert_trace (&self, "request OK release DONE");
    cr_assert_eq (self.done.verdict, ZPEER_SUCCESS);
    cr_assert (self.done.repeated);
    zpeer_dispatch_stats (self.core, &stats);
    cr_assert_eq (stats.reconnects, 1);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, what_does_not_count_asks_only_whether_the_maximum_is_reached)
{
    fixture_t self = s_setup (false, 6);
    s_assert_trace (&self, "READY");
    s_batch (&self, 1);
    s_reply (&self, 1, ZPEER_END_OK, 400);
    s_assert_trace (&self, "request release HASREACHEDMAX");
    s_health (&self, 3, 3, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.end, ZPEER_END_STATUS);
    cr_assert_eq (self.done.status, 400);
    cr_assert (self.done.reached && !self.done.escalated);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, a_status_of_the_list_is_congestion_even_at_the_maximum)
{
    fixture_t self = s_setup (false, 6);
    s_batch (&self, 1);
    s_reply (&self, 1, ZPEER_END_OK, 503);
    s_assert_trace (&self, "READY request release FAIL");
    cr_assert_not (self.gated);
    s_health (&self, 10, 10, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.end, ZPEER_END_BUSY);
    cr_assert_eq (self.done.verdict, ZPEER_CONGESTION);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, an_unusable_answer_is_tried_again)
{
    fixture_t self = s_setup (false, 6);
    zpeer_reply_t reply = {
        .status = 200,
        .body = ZPEER_SLICE ("{\"responseList\":[]}"),
        .detail = "",
    };
    s_batch (&self, 1);
    zpeer_dispatch_reply (self.core, self.now, 1, &reply);
    s_assert_trace (&self, "READY request release FAIL");
    s_health (&self, 1, 10, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.end, ZPEER_END_UNUSABLE);
    cr_assert_eq (self.done.verdict, ZPEER_TRANSIENT_ERROR);
    cr_assert_str_not_empty (self.detail);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, without_an_answer_of_health_the_tasks_are_kept)
{
    fixture_t self = s_setup (false, 6);
    s_batch (&self, 1);
    s_reply (&self, 1, ZPEER_END_TLS, 0);
    s_assert_trace (&self, "READY request release FAIL");
    uint64_t wake = self.now + ZPEER_DISPATCH_HEALTH_MS;
    cr_assert_eq (zpeer_dispatch_wake (self.core), wake);
    self.now = wake - 1;
    s_assert_trace (&self, "");
    self.now = wake;
    s_assert_trace (&self, "unheard failed DONE");
    cr_assert_eq (self.done.verdict, ZPEER_CONGESTION);
    s_health (&self, 1, 1, true);
    s_assert_trace (&self, "");

    zpeer_dispatch_stats_t stats;
    zpeer_dispatch_stats (self.core, &stats);
    cr_assert_eq (stats.ignored, 1, "it came too late");
    cr_assert_eq (stats.unheard, 1);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, answers_of_health_find_their_batch_whatever_their_order)
{
    fixture_t self = s_setup (false, 6);
    s_batch (&self, 1);
    s_batch (&self, 2);
    s_reply (&self, 1, ZPEER_END_READ_TIMEOUT, 0);
    s_assert_trace (&self, "READY request request release FAIL");
    uint64_t first = self.token;
    s_reply (&self, 2, ZPEER_END_UNSENT, 0);
    s_assert_trace (&self, "release FAIL");
    s_health (&self, 2, 9, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.id, 2);
    cr_assert_eq (self.done.count, 2);

    self.token = first + 100;
    s_health (&self, 7, 9, false);
    s_assert_trace (&self, "");
    self.token = first;
    s_health (&self, 1, 9, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.id, 1);
    cr_assert_eq (self.done.count, 1);
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, single_requests_that_break_off_may_have_been_applied)
{
    static const char body[] = "\2\0\1\0\0\0\0a\2\0\1\0\0\0\0b";
    fixture_t self = s_setup (false, 6);
    zpeer_wire_batch_t batch = {1, ZPEER_MODE_SINGLE, 2};
    cr_assert_eq (zpeer_dispatch_batch (self.core, self.now, &batch,
                                        (zpeer_slice_t){body, sizeof body - 1},
                                        NULL),
                  ZPEER_OK);
    s_assert_trace (&self, "READY request");
    s_reply (&self, 1, ZPEER_END_OK, 200);
    s_assert_trace (&self, "OK request");
    s_reply (&self, 1, ZPEER_END_UNSENT, 0);
    s_assert_trace (&self, "release FAIL");
    s_health (&self, 1, 9, false);
    s_assert_trace (&self, "failed DONE");
    cr_assert_eq (self.done.verdict, ZPEER_TRANSIENT_ERROR);
    cr_assert (self.done.ambiguous, "the first was");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, batches_beyond_the_credit_wait_their_turn)
{
    fixture_t self = s_setup (false, 1);
    s_batch (&self, 1);
    s_batch (&self, 2);
    s_batch (&self, 3);
    s_assert_trace (&self, "READY request");
    self.now += 70;
    s_reply (&self, 1, ZPEER_END_OK, 200);
    s_assert_trace (&self, "OK release DONE request");
    self.now += 5;
    s_reply (&self, 2, ZPEER_END_OK, 200);
    s_assert_trace (&self, "OK release DONE request");
    cr_assert_eq (self.done.id, 2);
    cr_assert_eq (self.done.elapsed_ms, 5, "waiting is not counted");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, a_batch_it_holds_already_is_ignored)
{
    fixture_t self = s_setup (false, 6);
    zpeer_wire_batch_t batch = {1, ZPEER_MODE_BATCH, 1};
    s_batch (&self, 1);
    cr_assert_eq (zpeer_dispatch_batch (self.core, self.now, &batch,
                                        ZPEER_SLICE ("{}"), NULL),
                  ZPEER_E_EXISTS);
    s_assert_trace (&self, "READY request");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, closing_loses_no_release_that_was_due)
{
    fixture_t self = s_setup (false, 1);
    s_batch (&self, 1);
    s_batch (&self, 2);
    s_assert_trace (&self, "READY request");
    s_reply (&self, 1, ZPEER_END_READ_TIMEOUT, 0);
    zpeer_dispatch_close (self.core);
    s_assert_trace (&self, "release abort release");
    zpeer_dispatch_destroy (&self.core);
}

Test (dispatch, closing_aborts_and_releases_everything)
{
    fixture_t self = s_setup (true, 1);
    s_batch (&self, 1);
    s_batch (&self, 2);
    s_assert_trace (&self, "READY request");
    zpeer_dispatch_close (self.core);
    s_assert_trace (&self, "abort release release GOODBYE");
    self.now += 60000;
    s_assert_trace (&self, "");
    zpeer_dispatch_destroy (&self.core);
}
