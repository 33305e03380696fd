//  Gathering and rendering: what a peer is sent after which changes

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

TestSuite (lane, .init = s_setup, .fini = s_teardown);

#define UP      ZPEER_UP
#define DOWN    ZPEER_DOWN
#define OUT     ZPEER_OUT_OF_SERVICE
#define UNKNOWN ZPEER_UNKNOWN

#define LIVE(st, ov, ts) .status = (st), .override = (ov), .timestamp = (ts)

#define REGISTER(name, ...)                                                    \
    lane_fixture_change (&s, name, ZPEER_REGISTER, (lane_state_t){__VA_ARGS__})
#define HEARTBEAT(name, ...)                                                   \
    lane_fixture_change (&s, name, ZPEER_HEARTBEAT, (lane_state_t){__VA_ARGS__})
#define CANCEL(name, ...)                                                      \
    lane_fixture_change (&s, name, ZPEER_CANCEL, (lane_state_t){__VA_ARGS__})
#define STATUS(name, ...)                                                      \
    lane_fixture_change (&s, name, ZPEER_STATUS_UPDATE,                        \
                         (lane_state_t){__VA_ARGS__})
#define DELETE(name, ...)                                                      \
    lane_fixture_change (&s, name, ZPEER_DELETE_STATUS_OVERRIDE,               \
                         (lane_state_t){__VA_ARGS__})
#define FORGET(name)                                                           \
    lane_fixture_change (&s, name, ZPEER_FORGET, (lane_state_t){.absent = true})

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

//  --------------------------------------------------------------------------
//  One kind of change

Test (lane, nothing_waits_in_a_new_lane)
{
    EXPECT ("");
    cr_expect (zpeer_lane_idle (s.lane));
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 6), UINT64_MAX);
}

Test (lane, a_register_goes_as_one_item)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 1);
}

Test (lane, a_heartbeat_carries_the_views_timestamp)
{
    HEARTBEAT ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Heartbeat a @5");
}

Test (lane, a_heartbeat_the_view_cannot_vouch_for_goes_as_given)
{
    HEARTBEAT ('a', .absent = true, .given = 9);
    EXPECT ("Heartbeat a @9");
}

Test (lane, a_cancel_goes_without_a_timestamp)
{
    CANCEL ('a', .absent = true, .top = 5);
    EXPECT ("Cancel a");
}

Test (lane, one_status_update_alone_goes_as_such)
{
    STATUS ('a', LIVE (OUT, OUT, 5));
    EXPECT ("StatusUpdate a OUT_OF_SERVICE @5");
}

Test (lane, one_deleted_override_alone_goes_as_such)
{
    DELETE ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("DeleteStatusOverride a UP @5");
}

Test (lane, many_registers_are_one)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    REGISTER ('a', LIVE (DOWN, UNKNOWN, 6));
    REGISTER ('a', LIVE (UP, UNKNOWN, 7));
    EXPECT ("Register a UP/UNKNOWN @7");
    lane_fixture_ok (&s);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SUPERSEDED), 2);
}

//  --------------------------------------------------------------------------
//  Mixtures

Test (lane, delete_override_then_register_up)
{
    DELETE ('a', LIVE (UNKNOWN, UNKNOWN, 5));
    REGISTER ('a', LIVE (UP, UNKNOWN, 6));
    EXPECT ("DeleteStatusOverride a UP @6, Register a UP/UNKNOWN @6");
}

Test (lane, status_update_out_then_register_down)
{
    STATUS ('a', LIVE (OUT, OUT, 5));
    REGISTER ('a', LIVE (DOWN, OUT, 5));
    EXPECT ("DeleteStatusOverride a DOWN @5, "
            "Register a DOWN/OUT_OF_SERVICE @5");
}

Test (lane, register_status_update_delete_override_in_one_go)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    STATUS ('a', LIVE (OUT, OUT, 5));
    DELETE ('a', LIVE (UNKNOWN, UNKNOWN, 5));
    EXPECT ("DeleteStatusOverride a UNKNOWN @5, Register a UNKNOWN/UNKNOWN @5");
}

Test (lane, two_status_updates)
{
    STATUS ('a', LIVE (OUT, OUT, 5));
    STATUS ('a', LIVE (DOWN, DOWN, 6));
    EXPECT ("DeleteStatusOverride a DOWN @6, Register a DOWN/DOWN @6");
    lane_fixture_ok (&s);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SUPERSEDED), 1);
}

Test (lane, heartbeat_then_newer_register)
{
    HEARTBEAT ('a', LIVE (UP, UNKNOWN, 5));
    REGISTER ('a', LIVE (UP, UNKNOWN, 7));
    EXPECT ("Register a UP/UNKNOWN @7");
}

Test (lane, a_heartbeat_behind_a_change_is_superseded)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    HEARTBEAT ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SUPERSEDED), 1);
}

Test (lane, cancel_clears_everything_else)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    STATUS ('a', LIVE (OUT, OUT, 5));
    CANCEL ('a', .absent = true, .top = 5);
    EXPECT ("Cancel a");
}

Test (lane, cancel_then_register_with_a_lower_timestamp)
{
    CANCEL ('a', .absent = true, .top = 9);
    REGISTER ('a', LIVE (UP, UNKNOWN, 4), .top = 9);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @4");
}

Test (lane, register_cancel_register_ends_registered)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    CANCEL ('a', .absent = true, .top = 5);
    REGISTER ('a', LIVE (UP, UNKNOWN, 6));
    EXPECT ("Cancel a, Register a UP/UNKNOWN @6");
}

Test (lane, a_register_back_after_forget_is_full)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5), .fresh = true);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
}

Test (lane, forget_ends_what_waits_and_sends_nothing)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    FORGET ('a');
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_FORGOTTEN), 1);
}

//  --------------------------------------------------------------------------
//  In flight at most once

Test (lane, changes_wait_while_the_instance_is_in_flight)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    CANCEL ('a', .absent = true, .top = 5);
    EXPECT ("");
    lane_fixture_ok (&s);
    EXPECT ("Cancel a");
}

Test (lane, register_in_flight_and_failing_while_an_older_one_arrives)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    //  To the view an older Register is a Heartbeat: it renews
    HEARTBEAT ('a', LIVE (UP, UNKNOWN, 5));
    lane_fixture_fail (&s, ZPEER_CONGESTION, true, 503);
    s.now += 1000;
    EXPECT ("Register a UP/UNKNOWN @5");
}

Test (lane, what_comes_back_and_what_gathered_are_one)
{
    STATUS ('a', LIVE (OUT, OUT, 5));
    EXPECT ("StatusUpdate a OUT_OF_SERVICE @5");
    STATUS ('a', LIVE (DOWN, DOWN, 6));
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    EXPECT ("DeleteStatusOverride a DOWN @6, Register a DOWN/DOWN @6");
}

Test (lane, a_cancel_since_clears_what_comes_back)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    CANCEL ('a', .absent = true, .top = 5);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    EXPECT ("Cancel a");
}

Test (lane, different_instances_do_not_wait_for_each_other)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    REGISTER ('b', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register b UP/UNKNOWN @5");
}

//  --------------------------------------------------------------------------
//  Replicated events: whoever sent them tells the peers

Test (lane, a_replicated_cancel_settles_what_waits)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    CANCEL ('a', .absent = true, .top = 5, .replicated = true);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SETTLED), 1);
}

//  The peer is asked all the same: it may be the one that was not told
Test (lane, a_replicated_register_settles_a_waiting_register)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    REGISTER ('a', LIVE (UP, UNKNOWN, 6), .replicated = true);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SETTLED), 1);
    EXPECT ("Heartbeat a @6");
    lane_fixture_ok (&s);
    EXPECT ("");
}

Test (lane, a_replicated_register_does_not_settle_an_override)
{
    STATUS ('a', LIVE (OUT, OUT, 5));
    REGISTER ('a', LIVE (OUT, OUT, 6), .replicated = true);
    EXPECT ("DeleteStatusOverride a OUT_OF_SERVICE @6, "
            "Register a OUT_OF_SERVICE/OUT_OF_SERVICE @6");
}

Test (lane, a_replicated_register_does_not_settle_the_override_of_another)
{
    REGISTER ('a', LIVE (OUT, OUT, 5));
    REGISTER ('a', LIVE (OUT, OUT, 6), .replicated = true);
    EXPECT ("DeleteStatusOverride a OUT_OF_SERVICE @6, "
            "Register a OUT_OF_SERVICE/OUT_OF_SERVICE @6");
}

Test (lane, a_replicated_event_is_not_sent_on)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5), .replicated = true);
    STATUS ('a', LIVE (OUT, OUT, 5), .replicated = true);
    EXPECT ("");
}

Test (lane, what_was_in_flight_beside_a_replicated_event_is_refreshed)
{
    REGISTER ('a', LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    REGISTER ('a', LIVE (DOWN, UNKNOWN, 6), .replicated = true);
    lane_fixture_ok (&s);
    EXPECT ("Heartbeat a @6");
    lane_fixture_ok (&s);
    EXPECT ("DeleteStatusOverride a DOWN @6, Register a DOWN/UNKNOWN @6");
}
