#include <criterion/criterion.h>
#include "throttle.h"
#include "banned.h"

static zpeer_throttle_t s_throttle;
static uint64_t s_held = 99;

Test (throttle, the_first_line_goes_at_once)
{
    cr_assert (zpeer_throttle_pass (&s_throttle, 0, &s_held));
    cr_assert_eq (s_held, 0);
}

Test (throttle, one_line_goes_in_ten_seconds_and_says_how_many_were_held_back)
{
    cr_assert (zpeer_throttle_pass (&s_throttle, 500, &s_held));
    s_held = 99;
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 500, &s_held));
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 10499, &s_held));
    cr_assert_eq (s_held, 99);
    cr_assert (zpeer_throttle_pass (&s_throttle, 10500, &s_held));
    cr_assert_eq (s_held, 2);
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 20000, &s_held));
    cr_assert (zpeer_throttle_pass (&s_throttle, 20500, &s_held));
    cr_assert_eq (s_held, 1);
}

Test (throttle, a_line_after_a_long_silence_starts_anew)
{
    cr_assert (zpeer_throttle_pass (&s_throttle, 0, &s_held));
    cr_assert (zpeer_throttle_pass (&s_throttle, 1000000, &s_held));
    cr_assert_eq (s_held, 0);
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 1009999, &s_held));
}
