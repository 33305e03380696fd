//  What a batcher says of its peer: log lines here, outcomes in test_batcher.c

#include <criterion/criterion.h>
#include <stdio.h>
#include "peerlog.h"
#include "banned.h"

#define URL "http://peer/eureka/"

static zpeer_peerlog_t s_peerlog;
static zpeer_options_t *s_options;
static zpeer_state_t *s_state;
static char s_lines[2048];

static void
s_on_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) arg;
    (void) level;
    size_t used = strlen (s_lines);
    snprintf (s_lines + used, sizeof s_lines - used, "%s %s\n", id, text);
}

static void
s_setup (void)
{
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("APP"), ZPEER_SLICE ("i1"));
    s_state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    s_options = zpeer_options_new ();
    zpeer_peerlog_init (&s_peerlog, s_options, (zpeer_log_t){s_on_log, NULL},
                        URL);
}

static void
s_teardown (void)
{
    zpeer_peerlog_fini (&s_peerlog);
    zpeer_options_destroy (&s_options);
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
    zpeer_peerlog_attempt (&s_peerlog, 1, &result);
}

static unsigned
s_count (const char *id)
{
    unsigned count = 0;
    for (const char *at = s_lines; (at = strstr (at, id)); at++)
        count++;
    return count;
}

static void
s_dropped (unsigned bits)
{
    zpeer_lane_report_t report = {.kind = ZPEER_LANE_DROPPED,
                                  .state = s_state,
                                  .ending = ZPEER_ENDED_ESCALATED,
                                  .bits = bits};
    zpeer_peerlog_report (&s_peerlog, &report);
}

Test (peerlog, the_escalation_names_peer_count_and_tasks)
{
    s_dropped (ZPEER_LANE_R | ZPEER_LANE_S);
    s_dropped (ZPEER_LANE_H);
    s_attempt (ZPEER_PERMANENT_ERROR, ZPEER_END_READ_TIMEOUT, 10, true);
    cr_expect_not_null (strstr (s_lines, URL));
    cr_expect_not_null (strstr (s_lines, "10+/10"));
    cr_expect_not_null (strstr (s_lines, "3 tasks dropped"));
}

Test (peerlog, a_question_in_vain_drops_no_task)
{
    s_dropped (0);
    s_attempt (ZPEER_PERMANENT_ERROR, ZPEER_END_READ_TIMEOUT, 10, true);
    cr_expect_not_null (strstr (s_lines, " 0 tasks dropped"));
    cr_expect_eq (s_peerlog.dropped[ZPEER_ENDED_ESCALATED].instances, 0);
}

Test (peerlog, recovery_is_said_after_an_escalation_only)
{
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    s_attempt (ZPEER_CONGESTION, ZPEER_END_BUSY, 1, false);
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    cr_expect_eq (s_count ("ZPR037"), 0);
    s_attempt (ZPEER_PERMANENT_ERROR, ZPEER_END_READ_TIMEOUT, 10, true);
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    s_attempt (ZPEER_SUCCESS, ZPEER_END_OK, 0, false);
    cr_expect_eq (s_count ("ZPR037"), 1);
}

Test (peerlog, a_line_of_a_kind_comes_once_in_ten_seconds)
{
    for (int i = 0; i < 5; i++)
        s_attempt (ZPEER_CONGESTION, ZPEER_END_BUSY, 1, false);
    cr_expect_eq (s_count ("ZPR030"), 1);
}

Test (peerlog, an_overflow_names_the_limit)
{
    zpeer_lane_options_t options = {
        .max_items = 1, .max_bytes = 1024, .read_timeout_ms = 1, .pool = 1};
    zpeer_lane_t *lane = zpeer_lane_new (&options);
    zpeer_lane_t *asgs = zpeer_lane_new (&options);
    for (uint32_t i = 0; i < 3; i++) {
        zpeer_change_t change = {.state = s_state,
                                 .handle = i,
                                 .action = ZPEER_HEARTBEAT,
                                 .given = 5};
        zpeer_lane_change (lane, 1, &change);
    }
    zpeer_peerlog_stats (&s_peerlog, 1, lane, asgs, 1, 0);
    cr_expect_not_null (strstr (s_lines, "more than 10000 instances"));
    zpeer_lane_destroy (&lane);
    zpeer_lane_destroy (&asgs);
}
