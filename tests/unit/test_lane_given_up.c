//  What the view cannot remember any longer

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

TestSuite (lane_given_up, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

#define CODES(...) lane_fixture_codes (&s, (const uint16_t[]){__VA_ARGS__})

static void
s_cancel (char name)
{
    lane_fixture_change (&s, name, ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
}

static void
s_cancel_all (const char *names)
{
    for (; *names; names++)
        s_cancel (*names);
}

static void
s_release (char name)
{
    lane_fixture_flag (&s, name, ZPEER_CHANGE_RELEASE);
    cr_expect_str_eq (s.said, "");
}

static void
s_give_up (char name)
{
    lane_fixture_flag (&s, name, ZPEER_CHANGE_RELEASE | ZPEER_CHANGE_GIVE_UP);
}

static zpeer_lane_stats_t
s_stats (void)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    return stats;
}

//  Nothing is left of it, and the peer is never told
static void
s_expect_gone (void)
{
    zpeer_lane_stats_t stats = s_stats ();
    cr_expect_eq (stats.instances, 0);
    cr_expect_eq (stats.waiting + stats.in_flight, 0);
    cr_expect_eq (stats.owed + stats.unsure + stats.resting, 0);
    s.now += 3600000;
    EXPECT ("");
}

Test (lane_given_up, a_cancel_that_waits)
{
    s_cancel ('a');
    s_release ('a');
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;released a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DROPPED), 1);
    s_expect_gone ();
}

Test (lane_given_up, a_cancel_that_is_owed)
{
    s_cancel ('a');
    EXPECT ("Cancel a");
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    s.said[0] = 0;
    s_release ('a');
    cr_expect_eq (s_stats ().owed, 1);
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;released a;");
    s_expect_gone ();
}

//  The lane missed the Cancel itself, and was told later
Test (lane_given_up, a_cancel_that_is_owed_without_a_task)
{
    s_cancel ('a');
    EXPECT ("Cancel a");
    lane_fixture_ok (&s);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    s_release ('a');
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;released a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DROPPED), 0);
    s_expect_gone ();
}

Test (lane_given_up, a_cancel_that_rests)
{
    s_cancel ('a');
    EXPECT ("Cancel a");
    CODES (403);
    s.said[0] = 0;
    s_release ('a');
    cr_expect_eq (s_stats ().resting, 1);
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;released a;");
    s_expect_gone ();
}

//  Nobody waits for the result
static void
s_fly (void)
{
    s_cancel ('a');
    EXPECT ("Cancel a");
    s_release ('a');
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DROPPED), 1);
    s.said[0] = 0;
}

Test (lane_given_up, a_cancel_in_flight_that_is_answered)
{
    s_fly ();
    lane_fixture_ok (&s);
    cr_expect_str_eq (s.said, "released a;");
    s_expect_gone ();
}

Test (lane_given_up, a_cancel_in_flight_that_may_come_late)
{
    s_fly ();
    lane_fixture_fail (&s, ZPEER_CONGESTION, true, 0);
    cr_expect_str_eq (s.said, "released a;");
    s_expect_gone ();
}

Test (lane_given_up, a_question_in_flight)
{
    s_cancel ('a');
    zpeer_lane_hold (s.lane, s.now + 5000);
    s.now += 5000;
    EXPECT ("Heartbeat a @5");
    s_release ('a');
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;");
    CODES (200);
    cr_expect_str_eq (s.said, "dropped a;released a;");
    s_expect_gone ();
}

//  1. A Cancel is given up in flight  2. the instance registers again  3. the Cancel
//  may be applied after that
Test (lane_given_up, one_in_flight_that_comes_back_is_settled)
{
    s_fly ();
    lane_fixture_change (
        &s, 'a', ZPEER_REGISTER,
        (lane_state_t){.status = ZPEER_UP, .timestamp = 6, .fresh = true});
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, true, 0);
    cr_expect_str_eq (s.said, "");
    cr_expect_eq (s_stats ().unsure, 1);
    s.now += 100;
    EXPECT ("DeleteStatusOverride a UP @6, Register a UP/UNKNOWN @6");
    lane_fixture_ok (&s);
    s.now += 30000;
    EXPECT ("Heartbeat a @6");
}

//  Others' doubts stay
Test (lane_given_up, what_is_unsure)
{
    s_cancel_all ("abc");
    EXPECT ("Cancel a, Cancel b, Cancel c");
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, true, 0);
    s.now += 100;
    EXPECT ("Heartbeat a @5, Heartbeat b @5, Heartbeat c @5");
    CODES (404, 404, 404);
    EXPECT ("Cancel a, Cancel b, Cancel c");
    lane_fixture_ok (&s);
    cr_expect_eq (s_stats ().unsure, 3);
    s.said[0] = 0;
    s_release ('b');
    s_give_up ('b');
    cr_expect_str_eq (s.said, "released b;");
    cr_expect_eq (s_stats ().unsure, 2);
    s.said[0] = 0;
    s_release ('c');
    cr_expect_eq (s_stats ().unsure, 2);
}

Test (lane_given_up, part_of_a_bisection)
{
    s_cancel_all ("abcd");
    EXPECT ("Cancel a, Cancel b, Cancel c, Cancel d");
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    s.said[0] = 0;
    s_release ('a');
    s_give_up ('a');
    cr_expect_str_eq (s.said, "dropped a;released a;");
    EXPECT ("Cancel b");
}

Test (lane_given_up, what_the_lane_had_let_go_of_is_no_news)
{
    s_cancel ('a');
    EXPECT ("Cancel a");
    lane_fixture_ok (&s);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_RELEASE);
    cr_expect_str_eq (s.said, "released a;");
    lane_fixture_change (
        &s, 'a', ZPEER_FORGET,
        (lane_state_t){.top = 5, .absent = true, .given_up = true});
    cr_expect_str_eq (s.said, "released a;released a;");
    s_expect_gone ();
}
