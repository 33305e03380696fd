/*  test_walker.c - what a walk of the view tells, and in which steps
*/
#include "walker_fixture.h"
#include "banned.h"

TestSuite (walker, .init = s_begin, .fini = s_end);

//  What it tells -----------------------------------------------------------------

//  One of each way an instance can stand
static void
s_fill_kinds (void)
{
    s_register ("up", 7, ZPEER_UP);
    s_register ("out", 7, ZPEER_UP);
    s_set_status ("out", 8, ZPEER_OUT_OF_SERVICE);
    s_register ("cancelled", 7, ZPEER_UP);
    s_cancel ("cancelled", 8);
    s_register ("forgotten", 7, ZPEER_UP);
    s_forget ("forgotten");
    s_heartbeat ("unknown", 7);
    s_set_asg ("web", ZPEER_OUT_OF_SERVICE);
}

Test (walker, a_resync_tells_one_lane_what_the_view_knows)
{
    s_fill_kinds ();
    s_ask (1, RESYNC);
    s_turn ();
    s_expect_chunk (1, RESYNC, 4, true, true);
    s_expect_read (1, "WALK OWE up UP");
    s_expect_read (1, "WALK OWE out OUT_OF_SERVICE");
    s_expect_read (1, "WALK OWE cancelled absent");
    s_expect_read (1, "AsgStatusUpdate web OUT_OF_SERVICE");
    s_expect_read (1, "");
    cr_assert_eq (s_posts, 1);
}

Test (walker, a_verify_asks_about_instances_alone)
{
    s_fill_kinds ();
    s_ask (1, VERIFY);
    s_turn ();
    s_expect_chunk (1, VERIFY, 3, true, true);
    s_expect_read (1, "WALK VERIFY up UP");
    s_expect_read (1, "WALK VERIFY out OUT_OF_SERVICE");
    s_expect_read (1, "WALK VERIFY cancelled absent");
    s_expect_read (1, "");
}

Test (walker, what_is_being_released_is_not_told_again)
{
    zpeer_change_t change;
    s_fill (1);
    s_cancel ("0", 8);
    s_now += TOMBSTONE_MS;
    cr_assert (zpeer_view_expire (s_view, s_now, &change));
    cr_assert_eq (change.flags, ZPEER_CHANGE_RELEASE);
    s_ask (0, RESYNC);
    s_turn ();
    s_expect_chunk (0, RESYNC, 0, true, true);
}

Test (walker, a_walk_of_nothing_begins_and_ends)
{
    s_ask (0, VERIFY);
    s_turn ();
    s_expect_chunk (0, VERIFY, 0, true, true);
}

//  In which steps ----------------------------------------------------------------

Test (walker, a_portion_a_ms_until_all_is_told)
{
    s_fill (2 * ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    cr_assert_eq (zpeer_walker_wake (s_walker), 0);
    s_turn ();
    s_expect_chunk (0, RESYNC, ZPEER_WALKER_PORTION, true, false);
    cr_assert_eq (zpeer_walker_wake (s_walker), s_now + ZPEER_WALKER_PACE_MS);
    s_turn ();
    cr_assert_eq (s_posts, 1);
    s_drop (0);

    s_tick ();
    s_expect_chunk (0, RESYNC, ZPEER_WALKER_PORTION, false, false);
    s_drop (0);
    s_tick ();
    s_expect_chunk (0, RESYNC, 1, false, true);
    s_drop (0);
    s_tick ();
    cr_assert_eq (s_posts, 3);
}

Test (walker, a_portion_without_anything_to_tell_is_no_chunk)
{
    char id[16];
    s_fill (ZPEER_WALKER_PORTION + 1);
    for (unsigned i = 0; i < ZPEER_WALKER_PORTION; i++) {
        snprintf (id, sizeof id, "%u", i);
        s_forget (id);
    }
    s_ask (0, RESYNC);
    s_turn ();
    cr_assert_null (s_first (0));
    s_tick ();
    s_expect_chunk (0, RESYNC, 1, true, true);
}

Test (walker, asgs_come_last_in_portions_too)
{
    char name[16];
    s_fill (ZPEER_WALKER_PORTION - 1);
    for (unsigned i = 0; i < ZPEER_WALKER_PORTION; i++) {
        snprintf (name, sizeof name, "asg-%u", i);
        s_set_asg (name, ZPEER_UP);
    }
    s_ask (0, RESYNC);
    s_turn ();
    s_tick ();
    s_expect_chunk (0, RESYNC, ZPEER_WALKER_PORTION, true, false);
    s_drop (0);
    s_expect_chunk (0, RESYNC, ZPEER_WALKER_PORTION - 1, false, true);
}

Test (walker, what_came_after_the_walk_began_is_not_part_of_it)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    s_turn ();
    s_drop (0);
    s_register ("late", 7, ZPEER_UP);
    s_set_asg ("late", ZPEER_UP);
    s_tick ();
    s_expect_chunk (0, RESYNC, 1, false, true);
}

Test (walker, the_inbox_keeps_room_for_what_changes)
{
    s_fill (10 * ZPEER_WALKER_PORTION);
    s_ask (0, RESYNC);
    for (unsigned i = 0; i < 100; i++)
        s_tick ();
    cr_assert_eq (s_posts, ZPEER_WALKER_UNREAD);
    s_drop (0);
    s_tick ();
    s_tick ();
    cr_assert_eq (s_posts, ZPEER_WALKER_UNREAD + 1);
}

Test (walker, a_portion_that_is_refused_is_told_as_it_is_then)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_inboxes[0].room = 0;
    s_ask (0, RESYNC);
    s_turn ();
    cr_assert_eq (s_posts, 1);
    cr_assert_eq (zpeer_walker_wake (s_walker), s_now + ZPEER_WALKER_PACE_MS);
    s_set_status ("0", 8, ZPEER_DOWN);
    s_inboxes[0].room = 1;
    s_tick ();
    s_expect_chunk (0, RESYNC, ZPEER_WALKER_PORTION, true, false);
    s_expect_read (0, "WALK OWE 0 DOWN");
}

Test (walker, a_lane_the_hand_over_waits_for_is_told_first_what_changed)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    s_turn ();
    s_inboxes[0].room = 1;
    s_set_status ("250", 8, ZPEER_DOWN);
    zpeer_handover_put (s_handover, &s_applied.change);
    zpeer_handover_send (s_handover, s_now);
    s_drop (0);
    s_tick ();
    cr_assert_null (s_first (0));
    cr_assert_eq (zpeer_walker_wake (s_walker), UINT64_MAX);

    zpeer_handover_send (s_handover, s_now);
    s_turn ();
    s_expect_read (0, "StatusUpdate 250 DOWN");
    s_drop (0);
    s_tick ();
    s_expect_read (0, "WALK OWE 250 DOWN");
}
