//  What the end of an attempt does to a lane

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

TestSuite (lane_results, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)
#define CODES(...)   lane_fixture_codes (&s, (const uint16_t[]){__VA_ARGS__})

static void
s_register (char name, uint64_t timestamp)
{
    lane_fixture_change (
        &s, name, ZPEER_REGISTER,
        (lane_state_t){.status = ZPEER_UP, .timestamp = timestamp});
}

static void
s_heartbeat (char name, uint64_t timestamp)
{
    lane_fixture_change (
        &s, name, ZPEER_HEARTBEAT,
        (lane_state_t){.status = ZPEER_UP, .timestamp = timestamp});
}

static void
s_cancel (char name, uint64_t top)
{
    lane_fixture_change (&s, name, ZPEER_CANCEL,
                         (lane_state_t){.absent = true, .top = top});
}

static zpeer_lane_stats_t
s_stats (void)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    return stats;
}

//  --------------------------------------------------------------------------
//  Retries

Test (lane_results, congestion_pauses_a_second)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_CONGESTION, false, 503);
    s.now += 999;
    EXPECT ("");
    s.now += 1;
    EXPECT ("Register a UP/UNKNOWN @5");
}

Test (lane_results, a_transient_error_pauses_a_tenth_of_a_second)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 6), s.now + 100);
    s.now += 100;
    EXPECT ("Register a UP/UNKNOWN @5");
}

Test (lane_results, a_failed_batch_comes_back_in_its_order)
{
    s_register ('a', 1);
    s_register ('b', 2);
    lane_fixture_next (&s);
    s_register ('c', 3);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    EXPECT ("Register a UP/UNKNOWN @1, Register b UP/UNKNOWN @2, "
            "Register c UP/UNKNOWN @3");
}

Test (lane_results, a_retried_cancel_asks_before_it_acts)
{
    s_cancel ('a', 5);
    EXPECT ("Cancel a");
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT ("Cancel a");
}

Test (lane_results, a_retried_cancel_leaves_a_newer_registration_alone)
{
    s_cancel ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    EXPECT ("");
    cr_expect_str_eq (s.said, "conflict a;");
}

//  --------------------------------------------------------------------------
//  Permanent errors: state is owed, a Heartbeat leaves renew

Test (lane_results, a_dropped_register_is_owed_and_refreshed)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
    cr_expect_str_eq (s.said, "dropped a;");
    cr_expect_eq (s_stats ().owed, 1);
    s.now += 1250;
    EXPECT ("Heartbeat a @5");
    CODES (404);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
    CODES (404, 200);
    cr_expect_eq (s_stats ().owed, 0);
    cr_expect (zpeer_lane_idle (s.lane));
}

Test (lane_results, for_a_lost_heartbeat_another_one_is_enough)
{
    s_heartbeat ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
    cr_expect_eq (s_stats ().renew, 1);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_FAILED), 1);
    s.now += 1250;
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT ("");
    cr_expect_eq (s_stats ().owed, 0);
}

Test (lane_results, an_answer_is_void_after_a_failed_attempt)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
    s.now += 1250;
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    EXPECT ("Heartbeat a @5");
}

Test (lane_results, an_owed_life_that_began_lower_is_cancelled_first)
{
    lane_fixture_change (
        &s, 'a', ZPEER_REGISTER,
        (lane_state_t){.status = ZPEER_UP, .timestamp = 3, .top = 9});
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
    s.now += 1250;
    EXPECT ("Heartbeat a @9");
    lane_fixture_ok (&s);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @3");
}

Test (lane_results, what_the_acceptor_could_not_hand_over_is_owed)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @5");
}

//  --------------------------------------------------------------------------
//  Ambiguous attempts

Test (lane_results, an_ambiguous_attempt_is_settled_if_the_state_changed)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_CONGESTION, true, 0);
    s_register ('a', 6);
    s.now += 1000;
    EXPECT ("Register a UP/UNKNOWN @6");
    lane_fixture_ok (&s);
    cr_expect_eq (s_stats ().unsure, 1);
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 6), s.now + 30000);
    s.now += 30000;
    EXPECT ("Heartbeat a @6");
    cr_expect_eq (s_stats ().unsure, 0);
}

Test (lane_results, an_ambiguous_attempt_at_the_present_state_is_forgiven)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_CONGESTION, true, 0);
    s.now += 1000;
    EXPECT ("Register a UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    s.now += 30000;
    EXPECT ("");
    cr_expect_eq (s_stats ().unsure, 0);
}

//  --------------------------------------------------------------------------
//  Item statuses

Test (lane_results, a_heartbeat_answered_404_brings_the_pair)
{
    s_heartbeat ('a', 5);
    lane_fixture_next (&s);
    CODES (404);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
}

Test (lane_results, a_404_after_a_cancel_brings_nothing)
{
    s_heartbeat ('a', 5);
    lane_fixture_next (&s);
    s_cancel ('a', 5);
    CODES (404);
    EXPECT ("Cancel a");
}

Test (lane_results, a_404_for_a_heartbeat_beyond_the_view_asks_the_host)
{
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.absent = true, .given = 9});
    lane_fixture_next (&s);
    CODES (404);
    EXPECT ("");
    cr_expect_str_eq (s.said, "need-register a;");
}

Test (lane_results, after_a_rejection_a_register_brings_the_whole_state)
{
    //  1. A Register is rejected  2. a StatusUpdate is not sent  3. the next
    //  Register cannot know what override the peer holds
    s_register ('a', 5);
    lane_fixture_next (&s);
    CODES (403);
    cr_expect_str_eq (s.said, "rejected a;");
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_DOWN,
                                        .override = ZPEER_DOWN,
                                        .timestamp = 5});
    EXPECT ("");
    s_register ('a', 6);
    EXPECT ("Heartbeat a @6");
    CODES (404);
    EXPECT ("DeleteStatusOverride a UP @6, Register a UP/UNKNOWN @6");
}

static void
s_set_status (char name, zpeer_status_t status)
{
    lane_fixture_change (
        &s, name, ZPEER_STATUS_UPDATE,
        (lane_state_t){.status = status, .override = status, .timestamp = 5});
}

Test (lane_results, a_register_beside_a_refresh_in_flight_of_what_was_rejected)
{
    //  1. A rejection  2. a change that is not sent  3. after its rest a refresh
    //  4. changes while that is on its way
    s_register ('a', 5);
    lane_fixture_next (&s);
    CODES (403);
    cr_expect_str_eq (s.said, "rejected a;");
    s_set_status ('a', ZPEER_DOWN);
    s.now += 75000;
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("DeleteStatusOverride a DOWN @5, Register a DOWN/DOWN @5");
    s_set_status ('a', ZPEER_UP);
    s_register ('a', 6);
    CODES (200, 200);
    EXPECT ("DeleteStatusOverride a UP @6, Register a UP/UNKNOWN @6");
    CODES (200, 200);
    cr_expect_eq (s_stats ().resting, 0);
    cr_expect_eq (s_stats ().rejected, 0);
}

//  What was ambiguous is settled by what is told when it has rested
Test (lane_results, what_is_held_is_not_settled_before_its_time)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_CONGESTION, true, 0);
    s.now += 1000;
    EXPECT ("Register a UP/UNKNOWN @5");
    CODES (403);
    s_set_status ('a', ZPEER_DOWN);
    s.now += s.options.read_timeout_ms;
    EXPECT ("");
    cr_expect_eq (s_stats ().unsure, 0);
    s.now += 75000;
    EXPECT ("Heartbeat a @5");
}

Test (lane_results, a_404_for_a_cancel_is_done)
{
    s_cancel ('a', 5);
    lane_fixture_next (&s);
    CODES (404);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 1);
}

Test (lane_results, a_409_above_top_is_a_conflict)
{
    s_heartbeat ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_conflict (&s, 6);
    cr_expect_str_eq (s.said, "conflict a;");
    EXPECT ("");
}

Test (lane_results, a_409_of_an_own_older_life_is_refreshed)
{
    lane_fixture_change (
        &s, 'a', ZPEER_HEARTBEAT,
        (lane_state_t){.status = ZPEER_UP, .timestamp = 3, .top = 9});
    lane_fixture_next (&s);
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "");
    EXPECT ("Heartbeat a @9");
}

//  With another item that is taken, it is not the peer's trouble
Test (lane_results, an_item_500_is_sent_in_full_once_then_rejected)
{
    s_register ('a', 5);
    s_register ('b', 5);
    lane_fixture_next (&s);
    CODES (500, 200);
    EXPECT ("Heartbeat a @5");
    CODES (404);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
    CODES (404, 500);
    cr_expect_str_eq (s.said, "dropped a;rejected a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_REJECTED), 1);
    EXPECT ("");
}

Test (lane_results, one_bad_item_does_not_take_the_others_along)
{
    s_register ('a', 5);
    s_register ('b', 5);
    lane_fixture_next (&s);
    CODES (403, 200);
    cr_expect_str_eq (s.said, "rejected a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 1);
}

Test (lane_results, what_was_asked_of_a_forgotten_life_is_asked_again)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
    lane_fixture_change (&s, 'a', ZPEER_FORGET, (lane_state_t){.absent = true});
    CODES (200, 200);
    s_register ('a', 6);
    EXPECT ("Register a UP/UNKNOWN @6");
    lane_fixture_ok (&s);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @6");
}

Test (lane_results, an_item_without_a_status_is_not_delivered)
{
    s_register ('a', 5);
    lane_fixture_next (&s);
    CODES (0);
    cr_expect_str_eq (s.said, "rejected a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 0);
}
