//  When a batch goes, and what time does to a lane

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

#define LINGER_MS 10

static lane_fixture_t s;

static void
s_setup (void)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.linger_ms = LINGER_MS;
    options.pool = 2;
    lane_fixture_init_with (&s, &options);
}

static void
s_teardown (void)
{
    lane_fixture_fini (&s);
}

TestSuite (lane_time, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

static void
s_change (char name, zpeer_action_t action, uint64_t timestamp)
{
    lane_fixture_change (
        &s, name, action,
        (lane_state_t){.status = ZPEER_UP, .timestamp = timestamp});
}

static zpeer_lane_stats_t
s_stats (void)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    return stats;
}

Test (lane_time, the_first_change_waits_for_company)
{
    s_change ('a', ZPEER_REGISTER, 5);
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 6), s.now + LINGER_MS);
    s.now += LINGER_MS - 1;
    EXPECT ("");
    s_change ('b', ZPEER_REGISTER, 5);
    s.now += 1;
    EXPECT ("Register a UP/UNKNOWN @5, Register b UP/UNKNOWN @5");
}

Test (lane_time, without_credit_nothing_wakes_the_lane)
{
    s_change ('a', ZPEER_REGISTER, 5);
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 0), UINT64_MAX);
}

//  In the reference a hot instance stops every batch: eureka#1509
Test (lane_time, a_hot_instance_does_not_delay_others_past_the_linger_time)
{
    s_change ('b', ZPEER_REGISTER, 5);
    for (uint64_t i = 0; i < LINGER_MS; i += 2, s.now += 2)
        s_change ('h', ZPEER_REGISTER, 5 + i);
    EXPECT ("Register b UP/UNKNOWN @5, Register h UP/UNKNOWN @13");
}

Test (lane_time, a_hot_instance_is_not_delayed_by_itself)
{
    s_change ('h', ZPEER_REGISTER, 5);
    s.now += LINGER_MS - 1;
    s_change ('h', ZPEER_REGISTER, 6);
    s.now += 1;
    EXPECT ("Register h UP/UNKNOWN @6");
}

Test (lane_time, what_gathered_in_flight_goes_next)
{
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    s_change ('a', ZPEER_REGISTER, 6);
    s.now += LINGER_MS;
    lane_fixture_ok (&s);
    EXPECT ("Register a UP/UNKNOWN @6");
}

Test (lane_time, heartbeats_expire_and_leave_renew)
{
    s_change ('a', ZPEER_HEARTBEAT, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    s_change ('b', ZPEER_HEARTBEAT, 5);
    lane_fixture_fail (&s, ZPEER_CONGESTION, false, 503);
    zpeer_lane_hold (s.lane, s.now + 60000);
    s.now += 30000;
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_EXPIRED), 2);
    cr_expect_eq (s_stats ().renew, 2);
}

Test (lane_time, a_newer_heartbeat_keeps_the_older_one_alive)
{
    s_change ('a', ZPEER_HEARTBEAT, 5);
    zpeer_lane_hold (s.lane, s.now + 40000);
    s.now += 20000;
    s_change ('a', ZPEER_HEARTBEAT, 5);
    s.now += 20000;
    EXPECT ("Heartbeat a @5");
}

Test (lane_time, state_does_not_expire)
{
    s_change ('a', ZPEER_REGISTER, 5);
    zpeer_lane_hold (s.lane, s.now + 3600000);
    s.now += 3600000;
    EXPECT ("Register a UP/UNKNOWN @5");
}

//  In the reference a Register expires with its lease's renewal interval, which
//  is as long as the read timeout: the first timeout loses it
Test (lane_time, by_default_a_timed_out_register_is_tried_again)
{
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    s.now += 30000;
    lane_fixture_fail (&s, ZPEER_CONGESTION, true, 0);
    s.now += 1000;
    EXPECT ("Register a UP/UNKNOWN @5");
}

Test (lane_time, the_oldest_heartbeats_give_way_when_too_many_wait)
{
    s_change ('a', ZPEER_HEARTBEAT, 5);
    s_change ('b', ZPEER_REGISTER, 5);
    s_change ('c', ZPEER_HEARTBEAT, 5);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_OVERFLOWED), 1);
    cr_expect_eq (s_stats ().renew, 1);
    s_change ('d', ZPEER_REGISTER, 5);
    s_change ('e', ZPEER_REGISTER, 5);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_OVERFLOWED), 2);
    cr_expect_eq (s_stats ().queued, 3, "state never goes");
}

Test (lane_time, while_the_counter_is_at_its_maximum_there_is_one_probe)
{
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    zpeer_result_t result = {.id = s.last_id,
                             .verdict = ZPEER_PERMANENT_ERROR,
                             .reached = true,
                             .escalated = true};
    zpeer_lane_done (s.lane, s.now, &result);
    s_change ('b', ZPEER_REGISTER, 5);
    s.now += 1250;
    EXPECT ("Register b UP/UNKNOWN @5");
    s_change ('c', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    EXPECT ("");
}

Test (lane_time, an_owed_instance_is_the_probe_when_nothing_else_waits)
{
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
    s.now += 1250;
    EXPECT ("Heartbeat a @5");
}

Test (lane_time, pauses_double_up_to_ten_seconds_and_a_success_ends_them)
{
    uint64_t longest = 0;
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    for (int i = 0; i < 8; i++) {
        cr_assert_neq (*lane_fixture_next (&s), 0);
        lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
        longest = zpeer_lane_pause (s.lane) - s.now;
        cr_expect_leq (longest, 10000);
        s.now = zpeer_lane_pause (s.lane);
    }
    cr_expect_geq (longest, 8000);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 404);
    cr_expect_leq (zpeer_lane_pause (s.lane) - s.now, 1250);
}

Test (lane_time, a_first_escalation_in_a_short_pause_makes_it_longer)
{
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    uint64_t first = s.last_id;
    s_change ('b', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.last_id = first;
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    cr_expect_geq (zpeer_lane_pause (s.lane) - s.now, 750);
}

//  The pause after an attempt that failed, and asked for this
static uint64_t
s_pause_after (zpeer_verdict_t verdict, uint32_t retry_after_ms)
{
    s.now += 60000;  //  Beyond the pause of before
    cr_assert_neq (*lane_fixture_next (&s), 0);
    zpeer_result_t result = {.id = s.last_id,
                             .end = ZPEER_END_BUSY,
                             .verdict = verdict,
                             .retry_after_ms = retry_after_ms};
    zpeer_lane_done (s.lane, s.now, &result);
    return zpeer_lane_pause (s.lane) - s.now;
}

Test (lane_time, retry_after_makes_a_pause_longer_and_never_shorter)
{
    s_change ('a', ZPEER_REGISTER, 5);
    cr_expect_eq (s_pause_after (ZPEER_CONGESTION, 7000), 7000);
    cr_expect_eq (s_pause_after (ZPEER_CONGESTION, 10), 1000);
    cr_expect_eq (s_pause_after (ZPEER_TRANSIENT_ERROR, 400), 400);
    cr_expect_eq (s_pause_after (ZPEER_PERMANENT_ERROR, 3000), 3000);
}

Test (lane_time, retry_after_is_not_believed_beyond_half_a_minute)
{
    s_change ('a', ZPEER_REGISTER, 5);
    cr_expect_eq (s_pause_after (ZPEER_CONGESTION, 30001), 30000);
    cr_expect_eq (s_pause_after (ZPEER_PERMANENT_ERROR, UINT32_MAX), 30000);
}

Test (lane_time, closing_ends_whatever_has_not_ended)
{
    s_change ('a', ZPEER_REGISTER, 5);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    s_change ('b', ZPEER_REGISTER, 5);
    cr_expect_eq (zpeer_lane_close (s.lane, ZPEER_ENDED_SHUTDOWN), 2);
    cr_expect (zpeer_lane_idle (s.lane));
    EXPECT ("");
}

Test (lane_time, a_released_instance_is_dropped_when_nothing_is_owed)
{
    s_change ('a', ZPEER_REGISTER, 5);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_RELEASE);
    cr_expect_str_eq (s.said, "");
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    cr_expect_str_eq (s.said, "released a;");
    cr_expect_eq (s_stats ().instances, 0);
}

Test (lane_time, a_released_instance_that_comes_back_stays)
{
    s_change ('a', ZPEER_REGISTER, 5);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_RELEASE);
    s_change ('a', ZPEER_REGISTER, 6);
    s.now += LINGER_MS;
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    cr_expect_str_eq (s.said, "");
    cr_expect_eq (s_stats ().instances, 1);
}

Test (lane_time, a_released_instance_whose_heartbeat_overflows_is_dropped)
{
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.absent = true, .given = 5});
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_RELEASE);
    s_change ('b', ZPEER_REGISTER, 5);
    cr_expect_str_eq (s.said, "");
    s_change ('c', ZPEER_REGISTER, 5);
    cr_expect_str_eq (s.said, "released a;");
    cr_expect_eq (s_stats ().instances, 2);
}

//  What the README promises of memory
Test (lane_time, an_instance_costs_at_most_64_bytes_in_a_lane)
{
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("APP"), ZPEER_SLICE ("a"));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    state->top = state->timestamp = 5;
    for (uint32_t handle = 0; handle < 200000; handle++) {
        zpeer_change_t change = {
            .state = state, .handle = handle, .flags = ZPEER_CHANGE_OWE};
        zpeer_lane_change (s.lane, s.now, &change);
        if (handle % 50000 == 49999) {
            zpeer_lane_stats_t stats = s_stats ();
            cr_expect_leq (stats.memory_bytes, UINT64_C (64) * (handle + 1));
        }
    }
    zpeer_state_unref (&state);
}
