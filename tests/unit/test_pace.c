#include <criterion/criterion.h>
#include "pace.h"
#include "banned.h"

static zpeer_pace_t s_pace;
static uint64_t s_now = 1000;

//  Events one by one, so many each ms, until a stretch is over; while it dozes all
//  that one feeder sends in a ms is read at once
static void
s_stretch (uint32_t each_ms)
{
    for (uint32_t i = 0; i < ZPEER_PACE_STRETCH;) {
        uint32_t at_once = s_pace.dozes ? each_ms : 1;
        i += at_once;
        s_now += i % each_ms == 0;
        zpeer_pace_turn (&s_pace, s_now, at_once, at_once > 1);
    }
}

Test (pace, dozes_when_a_feeder_does_not_wait_for_replies)
{
    s_stretch (8);
    cr_assert (s_pace.dozes);
    for (int i = 0; i < 10; i++)
        s_stretch (8);
    cr_expect (s_pace.dozes);
}

Test (pace, does_not_doze_again_for_feeders_that_wait_for_replies)
{
    s_stretch (8);
    cr_assert (s_pace.dozes);
    //  Of two feeders, one each
    zpeer_pace_turn (&s_pace, s_now, 2, 0);
    cr_expect_not (s_pace.dozes);
}

Test (pace, does_not_doze_when_nothing_came)
{
    s_stretch (8);
    zpeer_pace_turn (&s_pace, s_now, 0, 0);
    cr_expect_not (s_pace.dozes);
    zpeer_pace_turn (&s_pace, s_now + 60000, 0, 0);
    cr_expect_not (s_pace.dozes);
}

Test (pace, many_events_at_a_time_end_it_and_are_no_reason_to_try)
{
    s_stretch (8);
    zpeer_pace_turn (&s_pace, s_now, ZPEER_PACE_MANY, ZPEER_PACE_MANY - 1);
    cr_expect_not (s_pace.dozes);
    for (int i = 0; i < 100; i++) {
        zpeer_pace_turn (&s_pace, s_now, 256, 3);
        cr_assert_not (s_pace.dozes);
    }
}

//  A feeder that waits when four requests are unanswered, and so sends four a doze
static uint32_t
s_doze (void)
{
    uint32_t dozes = 0;
    for (; s_pace.dozes && dozes < 1000; dozes++) {
        s_now += dozes % 2;
        zpeer_pace_turn (&s_pace, s_now, 4, 3);
    }
    return dozes;
}

Test (pace, feeders_that_dozing_makes_slower_are_spared_for_long)
{
    s_stretch (64);
    cr_assert (s_pace.dozes);
    //  A stretch is 4 ms, a doze half of one
    cr_expect_leq (s_doze (), 16);
    for (uint32_t i = 0; i < ZPEER_PACE_WAIT; i++) {
        s_stretch (64);
        cr_assert_not (s_pace.dozes);
    }
    for (int i = 0; i < ZPEER_PACE_STRETCH && !s_pace.dozes; i++)
        zpeer_pace_turn (&s_pace, s_now, 1, 0);
    cr_expect (s_pace.dozes);
}

Test (pace, a_pause_is_no_part_of_the_time_that_feeders_take)
{
    for (int i = 0; i < ZPEER_PACE_STRETCH - 1; i++)
        zpeer_pace_turn (&s_pace, s_now, 1, 0);
    s_now += 1500;
    s_stretch (64);
    cr_assert (s_pace.dozes);
    cr_expect_leq (s_doze (), 16);
}

Test (pace, events_that_are_far_apart_are_none_to_try_with)
{
    for (int i = 0; i < 4 * ZPEER_PACE_STRETCH; i++) {
        s_now += ZPEER_PACE_GAP_MS + 1;
        zpeer_pace_turn (&s_pace, s_now, 1, 0);
        cr_assert_not (s_pace.dozes);
    }
}

Test (pace, can_be_woken)
{
    s_stretch (8);
    zpeer_pace_wake (&s_pace, s_now);
    cr_expect_not (s_pace.dozes);
}
