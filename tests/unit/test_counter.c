#include <criterion/criterion.h>
#include "counter.h"
#include "banned.h"

static zpeer_counter_t s_counter;
static bool s_announce;

static void
s_setup (void)
{
    zpeer_counter_init (&s_counter, 3);
}

TestSuite (counter, .init = s_setup);

static bool
s_fail (bool gated)
{
    s_announce = true;  //  Must be cleared when there is nothing to say
    return zpeer_counter_fail (&s_counter, gated, &s_announce);
}

static void
s_expect_text (const char *expected)
{
    char text[ZPEER_COUNTER_TEXT_MAX];
    cr_assert_str_eq (zpeer_counter_text (s_counter.count, s_counter.max, text),
                      expected);
}

Test (counter, it_counts_first_and_then_compares)
{
    cr_assert_not (zpeer_counter_reached (&s_counter));
    cr_assert_not (s_fail (true));
    cr_assert_not (s_fail (true));
    cr_assert (s_fail (true));
    cr_assert (zpeer_counter_reached (&s_counter));
}

Test (counter, it_stops_at_its_maximum)
{
    for (int i = 0; i < 10; i++)
        s_fail (true);
    cr_assert_eq (s_counter.count, 3);
    cr_assert (s_fail (true));
}

Test (counter, a_success_resets_it)
{
    for (int i = 0; i < 3; i++)
        s_fail (true);
    zpeer_counter_reset (&s_counter);
    cr_assert_eq (s_counter.count, 0);
    cr_assert_not (s_fail (true));
}

Test (counter, the_escalation_is_announced_once_a_cycle)
{
    for (int cycle = 0; cycle < 2; cycle++) {
        for (int i = 1; i <= 6; i++) {
            s_fail (true);
            cr_assert_eq (s_announce, i == 3, "failure %d", i);
        }
        zpeer_counter_reset (&s_counter);
    }
}

Test (counter, six_failures_together_announce_once)
{
    zpeer_counter_init (&s_counter, 10);
    for (int i = 0; i < 9; i++)
        s_fail (true);
    unsigned announced = 0;
    for (int i = 0; i < 6; i++) {
        cr_assert (s_fail (true));
        announced += s_announce;
    }
    cr_assert_eq (announced, 1);
}

Test (counter, a_failure_that_does_not_escalate_leaves_the_announcement)
{
    s_fail (true);
    s_fail (true);
    cr_assert (s_fail (false));
    cr_assert_not (s_announce);
    cr_assert (s_fail (true));
    cr_assert (s_announce);
    cr_assert (s_fail (true));
    cr_assert_not (s_announce);
}

Test (counter, a_maximum_of_zero_is_one)
{
    zpeer_counter_init (&s_counter, 0);
    cr_assert_not (zpeer_counter_reached (&s_counter));
    cr_assert (s_fail (true));
    cr_assert (s_announce);
    s_expect_text ("1+/1");
}

Test (counter, its_text_has_a_plus_at_the_maximum)
{
    s_expect_text ("0/3");
    s_fail (true);
    s_fail (true);
    s_expect_text ("2/3");
    s_fail (true);
    s_fail (true);
    s_expect_text ("3+/3");
    zpeer_counter_init (&s_counter, UINT32_MAX);
    s_counter.count = UINT32_MAX;
    s_expect_text ("4294967295+/4294967295");
}
