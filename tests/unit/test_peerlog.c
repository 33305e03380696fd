//  What a batcher says of its peer: log lines

#include <criterion/criterion.h>
#include "peerlog_fixture.h"
#include "banned.h"

static peerlog_fixture_t s;
static zpeer_state_t *s_state;

static void
s_setup (void)
{
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("APP"), ZPEER_SLICE ("i1"));
    s_state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    peerlog_fixture_init (&s);
}

static void
s_teardown (void)
{
    peerlog_fixture_fini (&s);
    zpeer_state_unref (&s_state);
}

TestSuite (peerlog, .init = s_setup, .fini = s_teardown);

static void
s_attempt (zpeer_verdict_t verdict, zpeer_end_t end, uint32_t count,
           bool announce)
{
    zpeer_result_t result = {.verdict = verdict,
                             .end = end,
                             .count = count,
                             .max = 10,
                             .announce = announce,
                             .status = 503,
                             .items = 7,
                             .detail = ""};
    zpeer_peerlog_attempt (&s.log, s.now, &result,
                           &(zpeer_lane_evidence_t){.taken = true});
}

static void
s_dropped (unsigned bits)
{
    zpeer_lane_report_t report = {.kind = ZPEER_LANE_DROPPED,
                                  .state = s_state,
                                  .ending = ZPEER_ENDED_ESCALATED,
                                  .bits = bits};
    zpeer_peerlog_report (&s.log, &report);
}

Test (peerlog, the_escalation_names_peer_count_and_tasks)
{
    s_dropped (ZPEER_LANE_R | ZPEER_LANE_S);
    s_dropped (ZPEER_LANE_H);
    s_attempt (ZPEER_PERMANENT_ERROR, ZPEER_END_READ_TIMEOUT, 10, true);
    cr_expect_not_null (strstr (s.lines, "peer p "));
    cr_expect_not_null (strstr (s.lines, "failed 10+ times"));
    cr_expect_not_null (strstr (s.lines, "3 tasks dropped"));
}

Test (peerlog, a_question_in_vain_drops_no_task)
{
    s_dropped (0);
    s_attempt (ZPEER_PERMANENT_ERROR, ZPEER_END_READ_TIMEOUT, 10, true);
    cr_expect_not_null (strstr (s.lines, " 0 tasks dropped"));
    cr_expect_eq (s.log.dropped[ZPEER_ENDED_ESCALATED].instances, 0);
}

Test (peerlog, recovery_is_said_after_an_escalation_only)
{
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    s_attempt (ZPEER_CONGESTION, ZPEER_END_BUSY, 1, false);
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR037"), 0);
    s_attempt (ZPEER_PERMANENT_ERROR, ZPEER_END_READ_TIMEOUT, 10, true);
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR037"), 1);
}

Test (peerlog, a_line_of_a_kind_comes_once_in_ten_seconds)
{
    for (int i = 0; i < 5; i++)
        s_attempt (ZPEER_CONGESTION, ZPEER_END_BUSY, 1, false);
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR030"), 1);
}

Test (peerlog, an_overflow_names_the_limit)
{
    for (uint32_t handle = 1; handle <= 4; handle++)
        peerlog_fixture_change (&s, handle, ZPEER_HEARTBEAT);
    zpeer_peerlog_stats (&s.log, s.now, 1, 0);
    cr_expect_not_null (strstr (s.lines, "more than 10000 instances"));
}
