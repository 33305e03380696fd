/*  test_walker_order.c - which lane is walked for, and until when
*/
#include "walker_fixture.h"
#include "banned.h"

TestSuite (walker_order, .init = s_begin, .fini = s_end);

static void
s_expect_figures (uint64_t begun, uint32_t waiting, uint32_t under_way)
{
    zpeer_walker_stats_t stats;
    zpeer_walker_stats (s_walker, &stats);
    cr_assert_eq (stats.begun, begun);
    cr_assert_eq (stats.waiting, waiting);
    cr_assert_eq (stats.under_way, under_way);
}

//  The walk of this lane, and of no other, begins
static void
s_expect_walks_next (unsigned lane, zpeer_walk_kind_t kind)
{
    s_tick ();
    cr_assert (s_first (lane), "no walk of lane %u", lane);
    cr_assert_eq (s_first (lane)->walk, kind);
    cr_assert (s_first (lane)->first);
    s_drop (lane);
}

Test (walker_order, peers_are_told_one_after_the_other)
{
    s_fill (1);
    s_ask (2, RESYNC);
    s_ask (0, VERIFY);
    s_ask (1, RESYNC);
    s_expect_walks_next (2, RESYNC);
    s_expect_figures (1, 2, 1);
    s_tick ();
    cr_assert_eq (s_posts, 1);

    s_walked (2);
    cr_assert_eq (zpeer_walker_wake (s_walker), 0);
    s_expect_walks_next (0, VERIFY);
    s_walked (0);
    s_expect_walks_next (1, RESYNC);
    s_walked (1);
    s_expect_figures (3, 0, 0);
    cr_assert_eq (zpeer_walker_wake (s_walker), UINT64_MAX);
}

Test (walker_order, only_the_lane_that_got_all_of_its_walk_has_walked)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    s_turn ();
    s_walked (0);
    s_tick ();
    s_walked (1);
    s_expect_figures (1, 0, 1);
    s_walked (0);
    s_expect_figures (1, 0, 0);
}

Test (walker_order, a_peer_that_is_down_does_not_hold_up_the_others)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    s_ask (1, RESYNC);
    s_turn ();
    s_now += ZPEER_WALKER_LIMIT_MS / 2;
    s_turn ();
    //  The time counts from the last chunk, which nobody reads
    cr_assert_eq (zpeer_walker_wake (s_walker), s_now + ZPEER_WALKER_LIMIT_MS);
    s_now += ZPEER_WALKER_LIMIT_MS - 1;
    s_turn ();
    cr_assert_null (s_first (1));
    s_expect_walks_next (1, RESYNC);
    s_tick ();
    s_expect_chunk (1, RESYNC, 1, false, true);
    //  It comes back late, and nobody waits for it
    s_walked (0);
    s_expect_figures (2, 0, 1);
}

//  Given up, asked for again, and then the lane is done with the first one
Test (walker_order, the_end_of_a_walk_is_not_that_of_the_next)
{
    s_fill (1);
    s_ask (0, RESYNC);
    s_expect_walks_next (0, RESYNC);
    s_now += ZPEER_WALKER_LIMIT_MS;
    s_ask (0, RESYNC);
    s_ask (1, RESYNC);
    s_expect_walks_next (0, RESYNC);
    zpeer_walker_walked (s_walker, 0, 1);
    s_expect_figures (2, 1, 1);
    zpeer_walker_walked (s_walker, 0, 2);
    s_expect_walks_next (1, RESYNC);
}

Test (walker_order, a_walk_is_over_in_time_though_nobody_waits)
{
    s_ask (0, RESYNC);
    s_turn ();
    cr_assert_eq (zpeer_walker_wake (s_walker), s_now + ZPEER_WALKER_LIMIT_MS);
    s_now += ZPEER_WALKER_LIMIT_MS;
    s_turn ();
    s_expect_figures (1, 0, 0);
}

Test (walker_order, a_lane_that_reads_nothing_goes_behind_those_that_wait)
{
    s_fill (3 * ZPEER_WALKER_PORTION);
    s_ask (0, VERIFY);
    s_tick ();
    s_tick ();
    //  While nobody waits it is given all the time it needs
    cr_assert_neq (zpeer_walker_wake (s_walker), UINT64_MAX);
    s_now += 2 * ZPEER_WALKER_LIMIT_MS;
    s_tick ();
    s_expect_figures (1, 0, 1);

    s_ask (1, RESYNC);
    s_expect_walks_next (1, RESYNC);
    s_expect_figures (2, 1, 1);
    zpeer_walker_remove (s_walker, 1);
    s_close_inboxes ();
    s_expect_walks_next (0, VERIFY);
}

//  One that is given up is the one that was asked for meanwhile
Test (walker_order, a_lane_waits_once_and_is_forgotten_as_a_whole)
{
    s_fill (3 * ZPEER_WALKER_PORTION);
    s_ask (0, RESYNC);
    s_tick ();
    s_tick ();
    s_ask (1, RESYNC);
    s_ask (0, VERIFY);
    s_expect_figures (1, 2, 1);
    s_now += 2 * ZPEER_WALKER_LIMIT_MS;
    s_tick ();
    s_expect_figures (2, 1, 1);
    zpeer_walker_remove (s_walker, 0);
    s_expect_figures (2, 0, 1);
}

//  However often somebody asks, it ends, and the others have their turn
Test (walker_order, a_walk_asked_for_again_goes_on_and_comes_once_more)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    s_ask (1, RESYNC);
    s_turn ();
    s_drop (0);
    for (unsigned i = 0; i < 3; i++)
        s_ask (0, RESYNC);
    s_tick ();
    s_expect_chunk (0, RESYNC, 1, false, true);
    s_drop (0);
    s_expect_figures (1, 2, 1);
    s_walked (0);
    s_expect_walks_next (1, RESYNC);
    s_tick ();
    s_drop (1);
    s_walked (1);
    s_expect_walks_next (0, RESYNC);
}

Test (walker_order, who_asks_again_and_again_fills_no_inbox)
{
    s_fill (2 * ZPEER_WALKER_PORTION);
    for (unsigned i = 0; i < 10; i++) {
        s_ask (0, RESYNC);
        s_tick ();
    }
    cr_assert_eq (s_posts, ZPEER_WALKER_UNREAD);
}

Test (walker_order, a_lane_waits_once_and_for_the_stronger_walk)
{
    s_fill (1);
    s_ask (0, VERIFY);
    s_turn ();
    s_ask (1, VERIFY);
    s_ask (1, RESYNC);
    s_ask (1, VERIFY);
    s_expect_figures (1, 1, 1);
    s_walked (0);
    s_expect_walks_next (1, RESYNC);
}

Test (walker_order, a_verify_waits_for_the_resync_under_way)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    s_ask (0, RESYNC);
    s_turn ();
    s_drop (0);
    s_ask (0, VERIFY);
    s_tick ();
    s_expect_chunk (0, RESYNC, 1, false, true);
    s_drop (0);
    s_expect_figures (1, 1, 1);
    s_walked (0);
    s_expect_walks_next (0, VERIFY);
}

Test (walker_order, a_lane_that_is_gone_is_not_walked_for)
{
    s_fill (ZPEER_WALKER_PORTION + 1);
    for (unsigned i = 0; i < 3; i++)
        s_ask (i, RESYNC);
    s_turn ();
    zpeer_walker_remove (s_walker, 1);
    s_expect_figures (1, 1, 1);
    zpeer_walker_remove (s_walker, 0);
    s_expect_walks_next (2, RESYNC);
    cr_assert_null (s_first (1));
}

Test (walker_order, only_lanes_there_are_can_ask)
{
    zpeer_handover_remove (s_handover, 1);
    cr_assert_eq (zpeer_walker_ask (s_walker, 1, RESYNC), ZPEER_E_UNKNOWN);
    cr_assert_eq (zpeer_walker_ask (s_walker, ZPEER_LANES_MAX, VERIFY),
                  ZPEER_E_UNKNOWN);
    s_expect_figures (0, 0, 0);
}
