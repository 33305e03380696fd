//  A Cancel, a Forget or a lower life that comes while another life is on its way; and
//  an override of another's while one waits; and what is tried while it is on its way

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

#define MINE 3

static lane_fixture_t s;

static void
s_setup (void)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.origin = MINE;
    lane_fixture_init_with (&s, &options);
}

static void
s_teardown (void)
{
    lane_fixture_fini (&s);
}

TestSuite (lane_crossing, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)
#define CODES(...)   lane_fixture_codes (&s, (const uint16_t[]){__VA_ARGS__})

static void
s_come_back_lower (void)
{
    lane_fixture_forget (&s, 'a');
    lane_fixture_change (
        &s, 'a', ZPEER_REGISTER,
        (lane_state_t){
            .status = ZPEER_UP, .timestamp = 1500, .top = 2000, .fresh = true});
}

//  The peer has it, and it is cancelled
static void
s_live_and_go (void)
{
    lane_fixture_register (&s, 'a', 5, 0);
    lane_fixture_next (&s);
    CODES (200);
    lane_fixture_cancel (&s, 'a', 5);
}

//  Another life is on its way, behind the Cancel of the one before
static void
s_live_again (void)
{
    s_live_and_go ();
    lane_fixture_register (&s, 'a', 2000, 2000);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @2000");
}

//  After the question about a Cancel goes what has come meanwhile: then it is no
//  Cancel that is on its way, and the peer has that life when the next one comes
Test (lane_crossing, what_is_told_in_place_of_a_cancel_is_replaced)
{
    s_live_and_go ();
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Heartbeat a @5");
    lane_fixture_register (&s, 'a', 2000, 2000);
    CODES (404);
    EXPECT ("DeleteStatusOverride a UP @2000, Register a UP/UNKNOWN @2000");
    s_come_back_lower ();
    CODES (404, 200);
    EXPECT ("Heartbeat a @2000");
    CODES (200);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
}

Test (lane_crossing, what_goes_behind_a_cancel_is_replaced)
{
    s_live_again ();
    s_come_back_lower ();
    CODES (200, 200);
    EXPECT ("Heartbeat a @2000");
    CODES (200);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
}

//  The Cancel that the peer confirms now was not the last
Test (lane_crossing, a_cancel_that_waits_replaces_what_was_on_its_way)
{
    s_live_again ();
    lane_fixture_cancel (&s, 'a', 2000);
    s.now += 2000;
    CODES (200, 200);
    EXPECT ("Heartbeat a @2000");
    lane_fixture_register (&s, 'a', 1500, 2000);
    CODES (200);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
}

//  Nor is it the one that was accepted meanwhile
Test (lane_crossing, a_cancel_that_waits_is_told_though_another_was_confirmed)
{
    s_live_again ();
    lane_fixture_cancel (&s, 'a', 2000);
    CODES (200, 200);
    lane_fixture_register (&s, 'a', 2001, 2001);
    lane_fixture_forget (&s, 'a');
    EXPECT ("Cancel a");
}

//  What comes late may be an earlier life, though a Cancel was confirmed since
Test (lane_crossing, a_life_that_comes_late_is_replaced)
{
    lane_fixture_register (&s, 'a', 2000, 0);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, true, 0);
    lane_fixture_cancel (&s, 'a', 2000);
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Cancel a");
    CODES (404);
    lane_fixture_register (&s, 'a', 1500, 2000);
    EXPECT ("Register a UP/UNKNOWN @1500");
    CODES (200);
    s.now += lane_fixture_options ().read_timeout_ms;
    EXPECT ("Heartbeat a @2000");
    CODES (200);
    EXPECT ("Cancel a, Register a UP/UNKNOWN @1500");
}

//  The peer was up all the time: to set that did nothing there, and it has none
Test (lane_crossing, an_override_of_the_peer_is_told_if_another_waits)
{
    lane_fixture_register (&s, 'a', 5, 0);
    lane_fixture_next (&s);
    CODES (200);
    s.now += 120000;
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_OUT_OF_SERVICE,
                                        .override = ZPEER_OUT_OF_SERVICE,
                                        .timestamp = 5});
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_UP,
                                        .override = ZPEER_UP,
                                        .timestamp = 6,
                                        .origin = MINE});
    EXPECT ("DeleteStatusOverride a UP @6, Register a UP/UP @6");
}

//  What the peer refused is tried again while a heartbeat of before is on its way: that
//  it takes this says nothing of what it refused
Test (lane_crossing, a_heartbeat_from_before_a_try_does_not_end_its_pauses)
{
    lane_fixture_register (&s, 'a', 5, 0);
    lane_fixture_next (&s);
    CODES (422);
    uint64_t at = zpeer_lane_wake (s.lane, s.now, 6);
    s.now = at - 1;
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    EXPECT ("Heartbeat a @5");
    s.now = at;
    EXPECT ("");
    CODES (200);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
    CODES (200, 422);
    cr_expect_str_eq (s.said, "rejected a;", "that is no news");
    cr_expect_geq (zpeer_lane_wake (s.lane, s.now, 6) - s.now, 120000);
}

//  The peer had it newer, perhaps with an override, which no Register takes away: that
//  another's Register is what the view says does not tell what the peer has now
Test (lane_crossing, after_a_conflict_what_another_registers_is_asked_about)
{
    lane_fixture_register (&s, 'a', 5, 0);
    lane_fixture_next (&s);
    CODES (200);
    s.now += 120000;
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    lane_fixture_conflict (&s, 9);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_DOWN,
                                        .timestamp = 10,
                                        .replicated = true});
    EXPECT ("Heartbeat a @10");
    CODES (200);
    EXPECT ("DeleteStatusOverride a DOWN @10, Register a DOWN/UNKNOWN @10");
}

//  1. Another registers the instance, and sets an override. 2. It registers it once more,
//  in that status; here that comes late, and is outdated. 3. At the peer it came before
//  the override, which the peer took for none: it was in that status.
Test (lane_crossing,
      a_register_that_comes_late_may_have_cost_the_peer_an_override)
{
    lane_fixture_register (&s, 'a', 5, 0);
    lane_fixture_next (&s);
    CODES (200);
    s.now += 120000;
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_OUT_OF_SERVICE,
                                        .override = ZPEER_OUT_OF_SERVICE,
                                        .timestamp = 5,
                                        .replicated = true});
    EXPECT ("");
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_REPLICATED);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("DeleteStatusOverride a OUT_OF_SERVICE @5, "
            "Register a OUT_OF_SERVICE/OUT_OF_SERVICE @5");
}
