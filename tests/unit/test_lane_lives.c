//  An instance that is cancelled and comes back, with a lower timestamp than before;
//  and one that is forgotten while the peer has not been told of its Cancel

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

static lane_fixture_t s;

static void
s_setup (void)
{
    lane_fixture_init (&s);
}

static void
s_teardown (void)
{
    lane_fixture_fini (&s);
}

TestSuite (lane_lives, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)
#define CODES(...)   lane_fixture_codes (&s, (const uint16_t[]){__VA_ARGS__})

//  Its clock was set back, and the peer has confirmed the new life
static void
s_live_lower (void)
{
    lane_fixture_register (&s, 'a', 2000, 0);
    lane_fixture_next (&s);
    CODES (200);
    lane_fixture_cancel (&s, 'a', 2000);
    lane_fixture_register (&s, 'a', 1500, 2000);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
    CODES (200, 200);
}

//  Asked with the earlier life's timestamp, a peer that has it would say 404
Test (lane_lives, a_verify_asks_with_what_the_peer_holds)
{
    s_live_lower ();
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_VERIFY);
    EXPECT ("Heartbeat a @1500");
    CODES (200);
    EXPECT ("");
}

Test (lane_lives, a_lost_heartbeat_takes_no_life_away)
{
    s_live_lower ();
    lane_fixture_change (
        &s, 'a', ZPEER_HEARTBEAT,
        (lane_state_t){.status = ZPEER_UP, .timestamp = 1500, .top = 2000});
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Heartbeat a @1500");
    CODES (404);
    EXPECT ("DeleteStatusOverride a UP @1500, Register a UP/UNKNOWN @1500");
}

//  1. The peer has confirmed a Cancel  2. a life goes to it, and another's Cancel,
//  which came to it first, comes here last  3. a lower life begins
Test (lane_lives, anothers_cancel_after_an_act_leaves_the_life_before)
{
    s_live_lower ();
    lane_fixture_register (&s, 'a', 2500, 0);
    EXPECT ("Register a UP/UNKNOWN @2500");
    CODES (200);
    lane_fixture_change (
        &s, 'a', ZPEER_CANCEL,
        (lane_state_t){.absent = true, .top = 2500, .replicated = true});
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP,
                                        .timestamp = 1600,
                                        .top = 2500,
                                        .replicated = true});
    EXPECT ("Heartbeat a @2500");
    CODES (404);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1600");
}

//  A snapshot says so, and nothing was cancelled: what the peer confirmed once is of
//  a life before
Test (lane_lives, a_life_that_falls_is_told_as_one_that_began_lower)
{
    s_live_lower ();
    lane_fixture_register (&s, 'a', 1600, 2000);
    EXPECT ("Register a UP/UNKNOWN @1600");
    CODES (200);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP,
                                        .timestamp = 1550,
                                        .top = 2000,
                                        .snapshot = true});
    EXPECT ("Heartbeat a @2000");
    CODES (404);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1550");
    CODES (200, 200);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_VERIFY);
    EXPECT ("Heartbeat a @1550");
}

//  The peer was restored from a backup
Test (lane_lives, an_earlier_life_at_the_peer_is_our_own)
{
    s_live_lower ();
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @1500");
    lane_fixture_conflict (&s, 2000);
    cr_expect_str_eq (s.said, "");
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
}

Test (lane_lives, without_a_copy_the_peer_is_asked_with_the_highest)
{
    s_live_lower ();
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @1500");
    CODES (409);
    EXPECT ("Heartbeat a @2000");
    CODES (409);
    cr_expect_str_eq (s.said, "conflict a;");
}

Test (lane_lives, anothers_newer_registration_is_left_alone)
{
    s_live_lower ();
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @1500");
    lane_fixture_conflict (&s, 2001);
    cr_expect_str_eq (s.said, "conflict a;");
    EXPECT ("");
}

//  The peer still has what was forgotten
Test (lane_lives, what_comes_back_lower_after_a_forget_replaces_what_was)
{
    lane_fixture_register (&s, 'a', 2000, 0);
    lane_fixture_next (&s);
    CODES (200);
    lane_fixture_forget (&s, 'a');
    lane_fixture_change (
        &s, 'a', ZPEER_REGISTER,
        (lane_state_t){
            .status = ZPEER_UP, .timestamp = 1500, .top = 2000, .fresh = true});
    EXPECT ("Heartbeat a @2000");
    CODES (200);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
    CODES (200, 200);
    EXPECT ("");
}

//  Cancel, then Forget --------------------------------------------------------------------

static void
s_have (void)
{
    lane_fixture_register (&s, 'a', 5, 0);
    lane_fixture_next (&s);
    CODES (200);
}

Test (lane_lives, a_cancel_that_waits_is_told_though_it_is_forgotten)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    lane_fixture_forget (&s, 'a');
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_FORGOTTEN), 0);
}

Test (lane_lives, a_cancel_on_its_way_is_tried_again_though_it_is_forgotten)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    EXPECT ("Cancel a");
    lane_fixture_forget (&s, 'a');
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
}

Test (lane_lives, a_cancel_that_is_owed_is_told_though_it_is_forgotten)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    lane_fixture_forget (&s, 'a');
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Heartbeat a @5");
    lane_fixture_forget (&s, 'a');
    CODES (200);
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
}

//  Only what came after it is forgotten
//  The lane was not told of lives that came between
Test (lane_lives, a_cancel_is_asked_about_with_the_highest_that_was_ever_known)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    lane_fixture_change (&s, 'a', ZPEER_FORGET,
                         (lane_state_t){.absent = true, .given = 9});
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Heartbeat a @9");
}

Test (lane_lives, of_a_cancel_and_a_register_the_cancel_is_told)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    lane_fixture_register (&s, 'a', 6, 0);
    lane_fixture_forget (&s, 'a');
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_FORGOTTEN), 1);
}

Test (lane_lives, a_cancel_that_was_told_is_done)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    lane_fixture_next (&s);
    CODES (200);
    lane_fixture_register (&s, 'a', 6, 0);
    lane_fixture_next (&s);
    lane_fixture_forget (&s, 'a');
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("");
}

Test (lane_lives, a_refused_cancel_rests_though_it_is_forgotten)
{
    s_have ();
    lane_fixture_cancel (&s, 'a', 5);
    lane_fixture_next (&s);
    CODES (403);
    lane_fixture_forget (&s, 'a');
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("Cancel a");
}
