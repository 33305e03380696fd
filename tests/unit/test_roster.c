#include <stdio.h>
#include <criterion/criterion.h>
#include "roster.h"
#include "banned.h"

#define NOW 1000

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

TestSuite (roster, .init = s_setup, .fini = s_teardown);

static int
s_join (const char *name, uint32_t credit, bool remote)
{
    int number =
        zpeer_roster_heard (s_roster, NOW, zpeer_slice_str (name), remote);
    zpeer_roster_ready (s_roster, number, credit);
    return number;
}

//  A batch that may be held for ever
static void
s_send (int number, uint64_t id, unsigned lane)
{
    zpeer_roster_sent (s_roster, number, id, lane, UINT64_MAX);
}

//  A remote one that has done a batch
static int
s_join_proven (const char *name, uint32_t credit)
{
    int number = s_join (name, credit, true);
    s_send (number, 1000, 0);
    cr_assert_eq (zpeer_roster_done (s_roster, number, 1000), 0);
    return number;
}

//  How many batches are lost; each is given once
static unsigned
s_lost (void)
{
    uint64_t id;
    unsigned lane, count = 0;
    while (zpeer_roster_lost (s_roster, &id, &lane))
        count++;
    return count;
}

Test (roster, nobody_takes_a_batch_before_ready)
{
    cr_expect_eq (zpeer_roster_pick (s_roster), -1);
    zpeer_roster_heard (s_roster, NOW, ZPEER_SLICE ("a"), false);
    cr_expect_eq (zpeer_roster_pick (s_roster), -1);
    cr_expect_eq (zpeer_roster_credit (s_roster), 0);
}

Test (roster, a_second_dispatcher_doubles_the_credit)
{
    s_join ("a", 6, false);
    s_join ("b", 6, false);
    cr_expect_eq (zpeer_roster_credit (s_roster), 12);
    cr_expect_eq (zpeer_roster_count (s_roster), 2);
}

Test (roster, the_one_with_most_room_is_next)
{
    int a = s_join ("a", 2, false), b = s_join ("b", 2, false);
    s_send (a, 1, 0);
    cr_expect_eq (zpeer_roster_pick (s_roster), b);
    s_send (b, 2, 0);
    s_send (b, 3, 0);
    cr_expect_eq (zpeer_roster_pick (s_roster), a);
    s_send (a, 4, 0);
    cr_expect_eq (zpeer_roster_pick (s_roster), -1);
}

Test (roster, done_gives_the_room_back_and_tells_the_lane)
{
    int a = s_join ("a", 1, false);
    s_send (a, 7, 1);
    cr_expect_eq (zpeer_roster_credit (s_roster), 0);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 7), 1);
    cr_expect_eq (zpeer_roster_credit (s_roster), 1);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 7), -1, "only once");
}

Test (roster, what_a_remote_one_does_not_hold_is_lost)
{
    int a = s_join_proven ("a", 6);
    s_send (a, 1, 0);
    s_send (a, 2, 0);
    s_send (a, 3, 0);
    uint64_t held = 2;
    //  3 was sent after what it echoes: it may still be on its way
    zpeer_roster_holds (s_roster, a, 6, 2, &held, 1);
    cr_expect_eq (s_lost (), 1);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 1), -1);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 2), 0);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 3), 0);
}

Test (roster, goodbye_loses_all_it_has)
{
    int a = s_join ("a", 6, true), b = s_join ("b", 6, true);
    s_send (a, 1, 0);
    s_send (b, 2, 0);
    zpeer_roster_gone (s_roster, a);
    cr_expect_eq (s_lost (), 1);
    cr_expect_eq (zpeer_roster_count (s_roster), 1);
    cr_expect_eq (zpeer_roster_done (s_roster, b, 2), 0);
}

Test (roster, a_silent_remote_one_is_gone_after_six_seconds)
{
    int a = s_join ("a", 6, true);
    s_send (a, 1, 0);
    cr_expect_eq (zpeer_roster_wake (s_roster), NOW + ZPEER_ROSTER_SILENCE_MS);
    zpeer_roster_expire (s_roster, NOW + ZPEER_ROSTER_SILENCE_MS - 1);
    cr_expect_eq (s_lost (), 0);
    zpeer_roster_heard (s_roster, NOW + 5000, ZPEER_SLICE ("a"), true);
    zpeer_roster_expire (s_roster, NOW + ZPEER_ROSTER_SILENCE_MS);
    cr_expect_eq (s_lost (), 0, "it was heard of");
    zpeer_roster_expire (s_roster, NOW + 5000 + ZPEER_ROSTER_SILENCE_MS);
    cr_expect_eq (s_lost (), 1);
    cr_expect_eq (zpeer_roster_credit (s_roster), 0);
}

Test (roster, one_over_inproc_may_be_silent)
{
    int a = s_join ("a", 6, false);
    s_send (a, 1, 0);
    cr_expect_eq (zpeer_roster_wake (s_roster), UINT64_MAX);
    zpeer_roster_expire (s_roster, NOW + 3600000);
    cr_expect_eq (s_lost (), 0);
}

Test (roster, one_that_comes_back_starts_with_nothing)
{
    int a = s_join ("a", 6, true);
    s_send (a, 1, 0);
    zpeer_roster_gone (s_roster, a);
    cr_expect_eq (s_lost (), 1);
    a = s_join ("a", 6, true);
    cr_expect_eq (zpeer_roster_last (s_roster, a), 0);
    cr_expect_eq (zpeer_roster_credit (s_roster), 1, "and on probation");
}

Test (roster, what_another_holds_is_not_done)
{
    int a = s_join ("a", 6, false), b = s_join ("b", 6, true);
    s_send (a, 1, 0);
    cr_expect_eq (zpeer_roster_done (s_roster, b, 1), -1);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 1), 0);
}

//  The same name over inproc is another's
Test (roster, a_remote_one_is_not_taken_for_a_local_one)
{
    int a = s_join ("a", 6, false), b = s_join ("a", 6, true);
    cr_expect_neq (a, b);
    cr_expect_eq (zpeer_roster_known (s_roster, NOW, ZPEER_SLICE ("a"), false),
                  a);
    cr_expect_eq (zpeer_roster_known (s_roster, NOW, ZPEER_SLICE ("a"), true),
                  b);
}

Test (roster, those_on_probation_have_one_batch_together)
{
    int a = s_join ("a", 6, true), b = s_join ("b", 6, true);
    cr_expect_eq (zpeer_roster_credit (s_roster), 1);
    s_send (a, 1, 0);
    cr_expect_eq (zpeer_roster_pick (s_roster), -1);
    cr_expect_eq (zpeer_roster_credit (s_roster), 0);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 1), 0);
    cr_expect_eq (zpeer_roster_credit (s_roster), 7);
    zpeer_roster_gone (s_roster, a);
    cr_expect_eq (zpeer_roster_pick (s_roster), b);
}

//  One that is known to work goes first
Test (roster, a_stranger_gets_what_nobody_else_can_take)
{
    int a = s_join ("a", 1, false), b = s_join ("b", 200, true);
    cr_expect_eq (zpeer_roster_pick (s_roster), a);
    s_send (a, 1, 0);
    cr_expect_eq (zpeer_roster_pick (s_roster), b);
}

Test (roster, what_is_held_for_too_long_comes_back)
{
    int a = s_join_proven ("a", 6);
    zpeer_roster_sent (s_roster, a, 1, 0, NOW + 3000);
    zpeer_roster_sent (s_roster, a, 2, 0, NOW + 4000);
    cr_expect_eq (zpeer_roster_wake (s_roster), NOW + 3000);
    zpeer_roster_expire (s_roster, NOW + 2999);
    cr_expect_eq (s_lost (), 0);
    zpeer_roster_expire (s_roster, NOW + 3000);
    cr_expect_eq (s_lost (), 1);
    cr_expect_eq (zpeer_roster_pick (s_roster), -1, "it still has one");
    cr_expect_eq (zpeer_roster_done (s_roster, a, 1), -1);
    cr_expect_eq (zpeer_roster_done (s_roster, a, 2), 0);
    cr_expect_eq (zpeer_roster_credit (s_roster), 6, "it works after all");
}

Test (roster, one_over_inproc_is_not_late)
{
    int a = s_join ("a", 6, false);
    zpeer_roster_sent (s_roster, a, 1, 0, NOW + 3000);
    zpeer_roster_expire (s_roster, NOW + 3600000);
    cr_expect_eq (s_lost (), 0);
}

Test (roster, one_too_many_is_not_heard)
{
    char name[8];
    for (int i = 0; i < ZPEER_ROSTER_MAX; i++) {
        snprintf (name, sizeof name, "d%d", i);
        cr_assert_geq (s_join (name, 1, true), 0);
    }
    cr_expect_eq (
        zpeer_roster_heard (s_roster, NOW, ZPEER_SLICE ("more"), true), -1);
    cr_expect_geq (s_join ("local", 1, false), 0);
}
