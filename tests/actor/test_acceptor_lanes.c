/*  test_acceptor_lanes.c - what lanes are told, and what if they do not listen
*/
#include <criterion/criterion.h>
#include <sched.h>
#include "gate.h"
#include "banned.h"

static zsock_t *s_feeder;
static gate_lane_t *s_lane;

static void
s_begin (const char *set)
{
    gate_begin (set);
    s_feeder = gate_feeder ();
    s_lane = gate_lane (0);
}

static void
s_setup (void)
{
    s_begin (NULL);
}

TestSuite (acceptor_lanes, .init = s_setup, .fini = gate_end);

Test (acceptor_lanes, a_state_is_told_once)
{
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 UP");
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Heartbeat #0");
    gate_event (ZPEER_STATUS_UPDATE, "CART", "1", 8);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "StatusUpdate CART/1 OUT_OF_SERVICE");
}

Test (acceptor_lanes, all_lanes_get_the_same_chunk)
{
    gate_lane_t *other = gate_lane (1);
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 UP");
    gate_is (gate_change (other), "Register CART/1 UP");
    cr_assert_eq (gate_last (s_lane), gate_last (other));
}

Test (acceptor_lanes, a_lane_added_later_is_told_states_again)
{
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_sync ();
    gate_lane_t *late = gate_lane (1);
    gate_sync ();
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (late), "OWE CART/1 UP");
    gate_is (gate_change (late), "Heartbeat CART/1 UP");
}

Test (acceptor_lanes, without_lanes_the_view_learns_all_the_same)
{
    gate_is (gate_call ("DELLANE", "0", NULL), "");
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_lane_t *late = gate_lane (1);
    gate_sync ();
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (late), "OWE CART/1 UP");
    gate_is (gate_change (late), "Heartbeat CART/1 UP");
}

Test (acceptor_lanes, nothing_comes_after_dellane)
{
    gate_lane_t *other = gate_lane (1);
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 UP");
    gate_is (gate_call ("DELLANE", "0", NULL), "");
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (other), "Register CART/1 UP");
    gate_is (gate_change (other), "Heartbeat #0");
    cr_assert (gate_lane_idle (s_lane));
}

Test (acceptor_lanes, a_number_can_be_used_again)
{
    gate_is (gate_call ("DELLANE", "0", NULL), "");
    gate_lane_close (s_lane);
    s_lane = gate_lane (0);
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 UP");
}

Test (acceptor_lanes, chunks_a_lane_never_read_are_freed)
{
    gate_lane_t *other = gate_lane (1);
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 UP");

    //  Both lanes have a reference, and one of them goes unread
    const zpeer_state_t *state = gate_last (s_lane)->state;
    const zpeer_chunk_t *chunk =
        (const zpeer_chunk_t *) (const void *) zpeer_frames_at (&s_lane->frames,
                                                                0)
            .data;
    cr_assert_eq (chunk->changes[0].state, state);
    gate_lane_close (other);
    gate_is (gate_call ("DELLANE", "1", NULL), "");
    int64_t deadline = zclock_mono () + GATE_WAIT_MS;
    while (atomic_load (&chunk->refs) > 1 && zclock_mono () < deadline)
        sched_yield ();
    cr_assert_eq (atomic_load (&chunk->refs), 1);
}

//  Registers instances 1, 2 and 3, then sends heartbeats of 1 until the lane,
//  which has read nothing, has refused one chunk. From then on feeders wait.
static void
s_fill (void)
{
    gate_register ("CART", "1", 7);
    gate_register ("CART", "2", 7);
    gate_register ("CART", "3", 7);
    for (unsigned i = 0; i <= GATE_LANE_ROOM; i++) {
        gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
        gate_feed (s_feeder, i ? 1 : 4);
        gate_sync ();
    }
}

Test (acceptor_lanes, a_lane_that_does_not_read_holds_up_feeders_for_a_second)
{
    s_fill ();
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_send (s_feeder);
    //  Meanwhile commands are served
    gate_sync ();
    cr_assert_not (gate_replies (s_feeder, 0));
    int64_t since = zclock_mono ();
    gate_reply (s_feeder);
    cr_assert_lt (zclock_mono () - since, 2000);
    cr_assert_eq (gate_logged ("ZPR021"), 1);
    //  Given up for good: it holds up nobody any more
    since = zclock_mono ();
    for (int i = 0; i < 10; i++) {
        gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
        gate_feed (s_feeder, 1);
    }
    cr_assert_lt (zclock_mono () - since, ZPEER_HANDOVER_PATIENCE_MS);
}

Test (acceptor_lanes, a_lane_that_catches_up_is_owed_what_it_missed)
{
    s_fill ();
    gate_event (ZPEER_STATUS_UPDATE, "CART", "2", 8);
    gate_event (ZPEER_CANCEL, "CART", "2", 9);
    gate_event (ZPEER_STATUS_UPDATE, "CART", "3", 8);
    gate_register ("CART", "4", 7);
    gate_event (ZPEER_FORGET, "CART", "4", 0);
    gate_feed (s_feeder, 5);
    gate_sync ();

    //  Now it reads: first what fitted, then the present states
    gate_is (gate_change (s_lane), "Register CART/1 UP");
    gate_is (gate_change (s_lane), "Register CART/2 UP");
    gate_is (gate_change (s_lane), "Register CART/3 UP");
    for (unsigned i = 0; i < GATE_LANE_ROOM; i++)
        gate_is (gate_change (s_lane), "Heartbeat #0");
    gate_is (gate_change (s_lane), "OWE CART/1 UP");
    gate_is (gate_change (s_lane), "OWE CART/2 absent");
    gate_is (gate_change (s_lane), "OWE CART/3 OUT_OF_SERVICE");
    gate_is (gate_change (s_lane), "Forget CART/4 absent");

    //  And then it is a lane like any other
    gate_sync ();
    gate_event (ZPEER_HEARTBEAT, "CART", "3", 8);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Heartbeat #2");
}

Test (acceptor_lanes, what_others_are_told_meanwhile_is_whole)
{
    gate_lane_t *other = gate_lane (1);
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (other), "Register CART/1 UP");
    for (unsigned i = 0; i <= GATE_LANE_ROOM + 10; i++) {
        gate_event (ZPEER_STATUS_UPDATE, "CART", "1", 8 + i);
        gate_feed (s_feeder, 1);
        const char *text = gate_change (other);
        gate_is (text,
                 i ? "StatusUpdate #0" : "StatusUpdate CART/1 OUT_OF_SERVICE");
    }
}

Test (acceptor_lanes, a_lane_that_does_not_read_can_be_removed)
{
    s_fill ();
    int64_t since = zclock_mono ();
    gate_is (gate_call ("DELLANE", "0", NULL), "");
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    cr_assert_lt (zclock_mono () - since, 800);
}

Test (acceptor_lanes, close_does_not_wait_for_a_lane_longer_than_it_may)
{
    s_fill ();
    int64_t since = zclock_mono ();
    gate_is (gate_call ("CLOSE", "100", NULL), "");
    cr_assert_lt (zclock_mono () - since, 800);
}

TestSuite (acceptor_release, .fini = gate_end);

//  A registered and cancelled instance, until the lane is asked to drop it.
//  Returns the change.
static zpeer_change_t
s_release (const char *id)
{
    char text[64];
    gate_register ("CART", id, 7);
    gate_event (ZPEER_CANCEL, "CART", id, 8);
    gate_feed (s_feeder, 2);
    snprintf (text, sizeof text, "Register CART/%s UP", id);
    gate_is (gate_change (s_lane), text);
    snprintf (text, sizeof text, "Cancel CART/%s absent", id);
    gate_is (gate_change (s_lane), text);
    snprintf (text, sizeof text, "RELEASE CART/%s absent", id);
    gate_is (gate_change (s_lane), text);
    return *gate_last (s_lane);
}

Test (acceptor_release, a_handle_is_used_again_once_every_lane_has_answered)
{
    s_begin ("zpeer.tombstone-ms=0");
    zpeer_change_t first = s_release ("1");
    zpeer_change_t second = s_release ("2");
    cr_assert_neq (first.handle, second.handle);
    gate_released (0, first.handle, first.state->seq);
    gate_sync ();
    gate_register ("CART", "3", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/3 UP");
    cr_assert_eq (gate_last (s_lane)->handle, first.handle);
}

Test (acceptor_release, a_lane_that_is_gone_has_nothing_to_answer)
{
    s_begin ("zpeer.tombstone-ms=0");
    gate_lane (1);
    zpeer_change_t first = s_release ("1");
    gate_released (0, first.handle, first.state->seq);
    gate_is (gate_call ("DELLANE", "1", NULL), "");
    gate_sync ();
    gate_register ("CART", "3", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/3 UP");
    cr_assert_eq (gate_last (s_lane)->handle, first.handle);
}
