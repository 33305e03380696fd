//  What a peer's absence has cost, and when the peer is whole again

#include <criterion/criterion.h>
#include "peerlog_fixture.h"
#include "banned.h"

//  Longer than any pause of a lane
#define PAUSE_MS 12000

static peerlog_fixture_t s;

static void
s_setup (void)
{
    peerlog_fixture_init (&s);
}

static void
s_teardown (void)
{
    peerlog_fixture_fini (&s);
}

TestSuite (peerlog_absence, .init = s_setup, .fini = s_teardown);

//  Three instances, and one change of each that failed at the maximum
static void
s_escalate (void)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_change (&s, 2, ZPEER_STATUS_UPDATE);
    peerlog_fixture_change (&s, 3, ZPEER_HEARTBEAT);
    cr_assert (peerlog_fixture_fail (&s, ZPEER_END_READ_TIMEOUT, 10));
    cr_assert (strstr (peerlog_fixture_said (&s, "peer"), "escalated"));
    peerlog_fixture_turn (&s);
}

//  Whatever is owed and waits is told, one batch a turn
static void
s_tell_all (void)
{
    do {
        peerlog_fixture_turn (&s);
        s.now++;
    } while (peerlog_fixture_ok (&s));
}

Test (peerlog_absence, the_first_answer_ends_none)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_ok (&s);
    cr_expect_str_eq (peerlog_fixture_said (&s, "peer"),
                      "{\"peer\":\"p\",\"state\":\"healthy\"}");
}

Test (peerlog_absence, counts_from_the_first_failure_of_the_row)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1);
    peerlog_fixture_said (&s, "peer");
    s.now += 4000;
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 2);
    s.now += 5000;
    cr_assert (peerlog_fixture_ok (&s));
    cr_expect_str_eq (peerlog_fixture_said (&s, "peer"),
                      "{\"peer\":\"p\",\"state\":\"healthy\",\"count\":2,"
                      "\"max\":10,\"away-ms\":9000,\"dropped\":{},\"owed\":0}");

    //  The next row is another
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1);
    peerlog_fixture_said (&s, "peer");
    s.now += 300;
    peerlog_fixture_ok (&s);
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "peer"), "\"away-ms\":300,"));
}

//  For whoever comes late, and has missed the outcomes
Test (peerlog_absence, is_in_the_figures_while_it_lasts)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1);
    s.now += 4000;
    zpeer_peerlog_stats (&s.log, s.now, 1, 0);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "stats"),
                                "\"failures\":1,\"away-ms\":4000,"));
    peerlog_fixture_ok (&s);
    s.now += 1000;
    zpeer_peerlog_stats (&s.log, s.now, 1, 0);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "stats"),
                                "\"failures\":0,\"away-ms\":0,"));
}

Test (peerlog_absence, counts_what_the_first_failure_dropped)
{
    s_escalate ();
    s.now += PAUSE_MS;
    cr_assert (peerlog_fixture_ok (&s));
    cr_expect_str_eq (
        peerlog_fixture_said (&s, "peer"),
        "{\"peer\":\"p\",\"state\":\"recovered\",\"count\":10,\"max\":10,"
        "\"away-ms\":12000,\"dropped\":{\"Register\":1,\"Heartbeat\":1,"
        "\"StatusUpdate\":1},\"owed\":3}",
        "the probe asked about one, and told nothing yet");
    cr_expect_not_null (strstr (s.lines, "after 10+/10 failures and 12000 ms; "
                                         "before, it was owed 3 instances, "
                                         "now 3"));
}

//  Lost heartbeats are made good by the answer itself
Test (peerlog_absence, says_what_was_owed_though_the_answer_settles_it)
{
    peerlog_fixture_change (&s, 1, ZPEER_HEARTBEAT);
    peerlog_fixture_change (&s, 2, ZPEER_HEARTBEAT);
    cr_assert (peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 10));
    peerlog_fixture_turn (&s);
    s.now += PAUSE_MS;
    cr_assert (peerlog_fixture_ok (&s));
    peerlog_fixture_turn (&s);
    cr_expect_not_null (
        strstr (s.lines, "before, it was owed 2 instances, now 0"), "%s",
        s.lines);
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR039"), 1);
}

Test (peerlog_absence, a_question_in_vain_drops_nothing_more)
{
    s_escalate ();
    for (int i = 0; i < 3; i++) {
        s.now += PAUSE_MS;
        cr_assert (peerlog_fixture_fail (&s, ZPEER_END_READ_TIMEOUT, 10));
    }
    s.now += PAUSE_MS;
    peerlog_fixture_ok (&s);
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "peer"),
                "\"away-ms\":48000,\"dropped\":{\"Register\":1,\"Heartbeat\":1,"
                "\"StatusUpdate\":1},"));
}

//  A Cancel that may have arrived is asked about first
Test (peerlog_absence, a_cancel_is_dropped_though_only_its_question_failed)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_ok (&s);
    peerlog_fixture_change (&s, 1, ZPEER_CANCEL);
    peerlog_fixture_fail (&s, ZPEER_END_READ_TIMEOUT, 1);
    for (int i = 0; i < 2; i++) {
        s.now += PAUSE_MS;
        cr_assert (peerlog_fixture_fail (&s, ZPEER_END_READ_TIMEOUT, 10));
        peerlog_fixture_turn (&s);
    }
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "dropped"), "\"Cancel\""));
    cr_expect_str_eq (peerlog_fixture_said (&s, "dropped"), "", "once");
    s.now += PAUSE_MS;
    peerlog_fixture_ok (&s);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"),
                                "\"dropped\":{\"Cancel\":1},"));
}

Test (peerlog_absence, an_earlier_row_is_not_counted_again)
{
    s_escalate ();
    s.now += PAUSE_MS;
    s_tell_all ();
    peerlog_fixture_said (&s, "peer");
    peerlog_fixture_change (&s, 4, ZPEER_CANCEL);
    cr_assert (peerlog_fixture_fail (&s, ZPEER_END_TLS, 1));
    s.now += PAUSE_MS;
    cr_assert (peerlog_fixture_ok (&s));
    const char *said;
    while (*(said = peerlog_fixture_said (&s, "peer")))
        if (strstr (said, "healthy"))
            break;
    cr_expect_not_null (
        strstr (said, "\"dropped\":{\"Cancel\":1},\"owed\":1}"));
}

Test (peerlog_absence, what_was_dropped_before_the_attempt_is_not_its_own)
{
    zpeer_lane_report_t report = {.kind = ZPEER_LANE_DROPPED,
                                  .ending = ZPEER_ENDED_DROPPED,
                                  .bits = ZPEER_LANE_D};
    zpeer_name_t *name = zpeer_name_new (ZPEER_SLICE ("A"), ZPEER_SLICE ("b"));
    zpeer_state_t *state = zpeer_state_new (name);
    report.state = state;
    zpeer_peerlog_report (&s.log, &report);
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1);
    s.now += 100;
    //  In the row it counts, though it happened to no batch
    zpeer_peerlog_report (&s.log, &report);
    peerlog_fixture_turn (&s);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"), "failing"));
    peerlog_fixture_ok (&s);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"),
                                "\"dropped\":{\"DeleteStatusOverride\":1}"));
    zpeer_state_unref (&state);
    zpeer_name_unref (&name);
}

Test (peerlog_absence, heartbeats_too_old_or_too_many_meanwhile_count)
{
    //  One is too many before: four wait where three may
    for (uint32_t handle = 1; handle <= 4; handle++)
        peerlog_fixture_change (&s, handle, ZPEER_HEARTBEAT);
    cr_assert (peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1));
    peerlog_fixture_said (&s, "peer");

    //  Two more are too many in the row, then the three that wait get too old
    peerlog_fixture_change (&s, 5, ZPEER_HEARTBEAT);
    peerlog_fixture_change (&s, 6, ZPEER_HEARTBEAT);
    s.now += 40000;
    cr_assert (peerlog_fixture_ok (&s), "what is owed is asked about");
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "peer"),
                "\"away-ms\":40000,\"dropped\":{\"Heartbeat\":5},\"owed\":0}"));
}

Test (peerlog_absence, asg_updates_too_old_meanwhile_count)
{
    zpeer_lane_batch_t batch;
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1);
    peerlog_fixture_said (&s, "peer");
    peerlog_fixture_change (&s, 1, ZPEER_ASG_STATUS_UPDATE);
    peerlog_fixture_change (&s, 2, ZPEER_ASG_STATUS_UPDATE);
    s.now += 1001;
    cr_assert_not (zpeer_lane_next (s.asgs, s.now, 6, 1, &batch));
    peerlog_fixture_ok (&s);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"),
                                "\"dropped\":{\"AsgStatusUpdate\":2}"));
}

Test (peerlog_absence, a_lost_dispatcher_begins_no_row_and_ends_none)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_TAKEN_BACK, 0);
    s.now += 1000;
    peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 4);
    peerlog_fixture_said (&s, "peer");
    s.now += 1000;
    peerlog_fixture_fail (&s, ZPEER_END_TAKEN_BACK, 0);
    s.now += 1000;
    peerlog_fixture_ok (&s);
    cr_expect_str_eq (peerlog_fixture_said (&s, "peer"),
                      "{\"peer\":\"p\",\"state\":\"healthy\",\"count\":4,"
                      "\"max\":10,\"away-ms\":2000,\"dropped\":{},\"owed\":0}");
}

Test (peerlog_absence, a_count_that_health_did_not_tell_is_the_last_one)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_BUSY, 3);
    s.now += PAUSE_MS;
    peerlog_fixture_fail (&s, ZPEER_END_BUSY, 0);
    s.now += PAUSE_MS;
    peerlog_fixture_said (&s, "peer");
    peerlog_fixture_ok (&s);
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "peer"), "\"count\":3,\"max\":10"));
}

Test (peerlog_absence, whole_is_said_once_when_nothing_is_owed_any_more)
{
    s_escalate ();
    s.now += PAUSE_MS;
    s_tell_all ();
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "peer"), "recovered"));
    //  Owed since the escalation; then a few turns, each of a millisecond
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "peer"),
                "{\"peer\":\"p\",\"state\":\"whole\",\"ms\":1200"));
    peerlog_fixture_turn (&s);
    cr_expect_str_empty (peerlog_fixture_said (&s, "peer"));
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR039"), 1);
}

Test (peerlog_absence, every_episode_has_a_whole_of_its_own)
{
    for (int i = 0; i < 2; i++) {
        s_escalate ();
        s.now += PAUSE_MS;
        s_tell_all ();
        peerlog_fixture_said (&s, "peer");
        cr_expect_not_null (
            strstr (peerlog_fixture_said (&s, "peer"), "whole"));
        cr_expect_str_empty (peerlog_fixture_said (&s, "peer"));
    }
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR039"), 2);
}

Test (peerlog_absence, a_peer_that_fails_is_not_whole)
{
    s_escalate ();
    for (uint32_t handle = 1; handle <= 3; handle++)
        peerlog_fixture_change (&s, handle, ZPEER_FORGET);
    cr_assert_eq (zpeer_lane_owed (s.lane), 0);
    peerlog_fixture_turn (&s);
    cr_expect_str_empty (peerlog_fixture_said (&s, "peer"));
    peerlog_fixture_change (&s, 4, ZPEER_REGISTER);
    s.now += PAUSE_MS;
    cr_assert (peerlog_fixture_ok (&s));
    peerlog_fixture_turn (&s);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"),
                                "\"StatusUpdate\":1},\"owed\":0}"));
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"), "whole"));
}

Test (peerlog_absence, whole_is_a_line_only_after_recovered)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_fail (&s, ZPEER_END_TLS, 1);
    s.now += PAUSE_MS;
    s_tell_all ();
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"), "failing"));
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"), "healthy"));
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"), "whole"));
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR039"), 0);
}
