#include <criterion/criterion.h>
#include "counter.h"
#include "verdict.h"
#include "banned.h"

#define MAX_RETRIES 10

static zpeer_counter_t s_counter;

static void
s_setup (void)
{
    zpeer_counter_init (&s_counter, MAX_RETRIES);
}

TestSuite (verdict, .init = s_setup);

//  One attempt, from its end over the counter to the verdict
static zpeer_result_t
s_attempt (zpeer_end_t end)
{
    const zpeer_verdict_row_t *row = zpeer_verdict_row (end);
    bool reached = zpeer_counter_reached (&s_counter);
    bool announce = false;
    if (row->resets)
        zpeer_counter_reset (&s_counter);
    if (row->counts)
        reached = zpeer_counter_fail (&s_counter, row->gated, &announce);
    zpeer_result_t result = {.id = 7, .status = 200, .detail = ""};
    zpeer_verdict_judge (end, reached, announce, &result);
    return result;
}

static void
s_expect (zpeer_end_t end, unsigned times, zpeer_verdict_t verdict)
{
    for (unsigned i = 0; i < times; i++) {
        zpeer_result_t result = s_attempt (end);
        cr_assert_eq (result.verdict, verdict, "%s, attempt %u: %s",
                      zpeer_end_text (end), i + 1,
                      zpeer_verdict_name (result.verdict));
    }
}

//  The table said once more: counts, gated, ambiguous, verdict below the
//  maximum, verdict at it
static const struct {
    zpeer_end_t end;
    bool counts;
    bool gated;
    bool ambiguous;
    zpeer_verdict_t below;
    zpeer_verdict_t at;
} s_table[] = {
    {ZPEER_END_UNUSABLE, true, true, true, ZPEER_TRANSIENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_BUSY, true, false, false, ZPEER_CONGESTION, ZPEER_CONGESTION},
    {ZPEER_END_STATUS, false, false, false, ZPEER_PERMANENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_STATUS_5XX, false, false, true, ZPEER_PERMANENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_READ_TIMEOUT, true, true, true, ZPEER_CONGESTION,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_UNSENT, true, true, false, ZPEER_TRANSIENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_RESET, true, true, true, ZPEER_TRANSIENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_TLS, true, false, false, ZPEER_PERMANENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_INTERNAL, true, false, false, ZPEER_PERMANENT_ERROR,
     ZPEER_PERMANENT_ERROR},
    {ZPEER_END_TAKEN_BACK, false, false, true, ZPEER_TRANSIENT_ERROR,
     ZPEER_TRANSIENT_ERROR},
};

#define ROWS (sizeof s_table / sizeof *s_table)

//  All that are not in it are the successes
_Static_assert(ROWS + 2 == ZPEER_END_COUNT, "every end has its row");

Test (verdict, every_end_is_judged_as_the_table_says)
{
    for (size_t i = 0; i < ROWS; i++) {
        zpeer_end_t end = s_table[i].end;
        zpeer_counter_init (&s_counter, 3);
        for (uint32_t n = 1; n <= 5; n++) {
            zpeer_result_t result = s_attempt (end);
            bool at = n >= 3 && s_table[i].counts;
            bool gate = at && s_table[i].gated;
            cr_assert_eq (result.verdict,
                          gate ? s_table[i].at : s_table[i].below, "%s",
                          zpeer_end_text (end));
            cr_assert_eq (result.end, end);
            cr_assert_eq (result.reached, at);
            cr_assert_eq (result.escalated, gate);
            cr_assert_eq (result.announce, gate && n == 3);
            cr_assert_eq (result.ambiguous, s_table[i].ambiguous);
            uint32_t count = n < 3 ? n : 3;
            cr_assert_eq (s_counter.count, s_table[i].counts ? count : 0);
        }
    }
}

Test (verdict, nothing_but_what_it_judges_is_touched)
{
    zpeer_result_t result = s_attempt (ZPEER_END_READ_TIMEOUT);
    cr_assert_eq (result.id, 7);
    cr_assert_eq (result.status, 200);
    cr_assert_str_eq (result.detail, "");
}

Test (verdict, read_timeout_escalates_after_N_retries)
{
    s_expect (ZPEER_END_READ_TIMEOUT, MAX_RETRIES - 1, ZPEER_CONGESTION);
    s_expect (ZPEER_END_READ_TIMEOUT, 3, ZPEER_PERMANENT_ERROR);
}

Test (verdict, read_timeout_escalates_at_once_with_N_of_1)
{
    zpeer_counter_init (&s_counter, 1);
    s_expect (ZPEER_END_READ_TIMEOUT, 2, ZPEER_PERMANENT_ERROR);
}

Test (verdict, success_resets_the_counter)
{
    s_expect (ZPEER_END_READ_TIMEOUT, MAX_RETRIES - 1, ZPEER_CONGESTION);
    s_expect (ZPEER_END_OK, 1, ZPEER_SUCCESS);
    s_expect (ZPEER_END_READ_TIMEOUT, 1, ZPEER_CONGESTION);
}

Test (verdict, success_ends_an_escalation)
{
    s_expect (ZPEER_END_UNSENT, MAX_RETRIES - 1, ZPEER_TRANSIENT_ERROR);
    s_expect (ZPEER_END_UNSENT, 2, ZPEER_PERMANENT_ERROR);
    zpeer_result_t result = s_attempt (ZPEER_END_OK);
    cr_assert_not (result.reached);
    cr_assert_not (result.escalated);
    s_expect (ZPEER_END_UNSENT, MAX_RETRIES - 1, ZPEER_TRANSIENT_ERROR);
    cr_assert (s_attempt (ZPEER_END_UNSENT).announce);
}

Test (verdict, connection_failures_as_before)
{
    s_expect (ZPEER_END_UNSENT, 5, ZPEER_TRANSIENT_ERROR);
    s_expect (ZPEER_END_RESET, MAX_RETRIES - 6, ZPEER_TRANSIENT_ERROR);
    s_expect (ZPEER_END_UNSENT, 1, ZPEER_PERMANENT_ERROR);
    s_expect (ZPEER_END_RESET, 1, ZPEER_PERMANENT_ERROR);
}

Test (verdict, a_tls_failure_is_permanent_at_once)
{
    s_expect (ZPEER_END_TLS, 1, ZPEER_PERMANENT_ERROR);
    cr_assert_eq (s_counter.count, 1);
}

Test (verdict, a_503_is_always_congestion_also_as_the_Nth_failure)
{
    s_expect (ZPEER_END_READ_TIMEOUT, MAX_RETRIES - 1, ZPEER_CONGESTION);
    zpeer_result_t result = s_attempt (ZPEER_END_BUSY);
    cr_assert_eq (result.verdict, ZPEER_CONGESTION);
    cr_assert (result.reached);
    cr_assert_not (result.announce);
    s_expect (ZPEER_END_BUSY, MAX_RETRIES, ZPEER_CONGESTION);
}

Test (verdict, the_escalation_is_announced_after_a_503_reached_the_maximum)
{
    s_expect (ZPEER_END_BUSY, MAX_RETRIES, ZPEER_CONGESTION);
    zpeer_result_t result = s_attempt (ZPEER_END_READ_TIMEOUT);
    cr_assert_eq (result.verdict, ZPEER_PERMANENT_ERROR);
    cr_assert (result.announce);
    cr_assert_not (s_attempt (ZPEER_END_READ_TIMEOUT).announce);
}

Test (verdict, all_kinds_of_failure_share_one_counter)
{
    s_expect (ZPEER_END_READ_TIMEOUT, 3, ZPEER_CONGESTION);
    s_expect (ZPEER_END_UNSENT, 3, ZPEER_TRANSIENT_ERROR);
    s_expect (ZPEER_END_BUSY, 2, ZPEER_CONGESTION);
    s_expect (ZPEER_END_UNUSABLE, 1, ZPEER_TRANSIENT_ERROR);
    s_expect (ZPEER_END_STATUS, 1, ZPEER_PERMANENT_ERROR);
    cr_assert_eq (s_counter.count, MAX_RETRIES - 1);
    s_expect (ZPEER_END_UNUSABLE, 1, ZPEER_PERMANENT_ERROR);
}

Test (verdict, an_item_status_is_a_success_that_leaves_the_counter)
{
    s_expect (ZPEER_END_UNSENT, MAX_RETRIES - 1, ZPEER_TRANSIENT_ERROR);
    s_expect (ZPEER_END_ITEM, 1, ZPEER_SUCCESS);
    cr_assert_eq (s_counter.count, MAX_RETRIES - 1);
    s_expect (ZPEER_END_UNSENT, 1, ZPEER_PERMANENT_ERROR);
    zpeer_result_t result = s_attempt (ZPEER_END_ITEM);
    cr_assert_eq (result.verdict, ZPEER_SUCCESS);
    cr_assert_not (result.escalated || result.announce || result.ambiguous);
}

Test (verdict, only_a_failure_that_escalates_is_announced)
{
    for (int end = 0; end < ZPEER_END_COUNT; end++) {
        zpeer_result_t result = {0};
        zpeer_verdict_judge ((zpeer_end_t) end, true, true, &result);
        cr_assert_eq (result.announce, result.escalated);
    }
}

Test (verdict, taken_back_is_tried_again_even_at_the_maximum)
{
    for (int i = 0; i < MAX_RETRIES; i++)
        s_attempt (ZPEER_END_UNSENT);
    s_expect (ZPEER_END_TAKEN_BACK, 1, ZPEER_TRANSIENT_ERROR);
    cr_assert (s_attempt (ZPEER_END_TAKEN_BACK).reached);
    cr_assert_eq (s_counter.count, MAX_RETRIES);
}
