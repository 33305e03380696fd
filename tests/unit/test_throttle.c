#include <criterion/criterion.h>
#include <stdio.h>
#include "throttle.h"
#include "banned.h"

static zpeer_throttle_t s_throttle;
static char s_held[ZPEER_THROTTLE_TEXT_MAX] = "untouched";

Test (throttle, the_first_line_goes_at_once)
{
    cr_assert (zpeer_throttle_pass (&s_throttle, 0, s_held));
    cr_assert_str_empty (s_held);
}

Test (throttle, one_line_goes_in_ten_seconds_and_says_how_many_were_held_back)
{
    cr_assert (zpeer_throttle_pass (&s_throttle, 500, s_held));
    snprintf (s_held, sizeof s_held, "untouched");
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 500, s_held));
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 10499, s_held));
    cr_assert_str_eq (s_held, "untouched");
    cr_assert (zpeer_throttle_pass (&s_throttle, 10500, s_held));
    cr_assert_str_eq (s_held, " (2 more held back)");
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 20000, s_held));
    cr_assert (zpeer_throttle_pass (&s_throttle, 20500, s_held));
    cr_assert_str_eq (s_held, " (1 more held back)");
}

Test (throttle, a_line_after_a_long_silence_starts_anew)
{
    cr_assert (zpeer_throttle_pass (&s_throttle, 0, s_held));
    cr_assert (zpeer_throttle_pass (&s_throttle, 1000000, s_held));
    cr_assert_str_empty (s_held);
    cr_assert_not (zpeer_throttle_pass (&s_throttle, 1009999, s_held));
}

Test (throttle, the_text_has_room_for_any_number)
{
    s_throttle.held = UINT64_MAX;
    cr_assert (zpeer_throttle_pass (&s_throttle, 0, s_held));
    cr_assert_str_eq (s_held, " (18446744073709551615 more held back)");
}
