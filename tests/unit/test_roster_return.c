#include <criterion/criterion.h>
#include "roster.h"
#include "banned.h"

static zpeer_roster_t *s_roster;

static void
s_setup (void)
{
    s_roster = zpeer_roster_new ();
}

static void
s_teardown (void)
{
    zpeer_roster_destroy (&s_roster);
}

TestSuite (roster_return, .init = s_setup, .fini = s_teardown);

//  1. A remote dispatcher is not heard of for 6 s, and is dropped.
//  2. Its connection is mended: it says a word.
//  3. It dies before its next HEARTBEAT.
Test (roster_return, who_comes_back_can_be_lost_again)
{
    zpeer_slice_t name = ZPEER_SLICE ("d1");
    int number = zpeer_roster_heard (s_roster, 1000, name, true);
    zpeer_roster_ready (s_roster, number, 6);
    zpeer_roster_expire (s_roster, 1000 + ZPEER_ROSTER_SILENCE_MS);
    cr_assert_eq (zpeer_roster_count (s_roster), 0);

    zpeer_roster_heard (s_roster, 8000, name, true);
    cr_assert_eq (zpeer_roster_count (s_roster), 1);
    cr_assert_eq (zpeer_roster_wake (s_roster), 8000 + ZPEER_ROSTER_SILENCE_MS);
    zpeer_roster_expire (s_roster, 8000 + ZPEER_ROSTER_SILENCE_MS);
    cr_assert_eq (zpeer_roster_count (s_roster), 0);
}

Test (roster_return, who_is_ready_over_inproc_is_never_lost)
{
    int number = zpeer_roster_heard (s_roster, 1000, ZPEER_SLICE ("d1"), false);
    zpeer_roster_ready (s_roster, number, 6);
    zpeer_roster_expire (s_roster, 100000);
    cr_assert_eq (zpeer_roster_count (s_roster), 1);
}
