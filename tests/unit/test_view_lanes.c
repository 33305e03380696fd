//  What lanes know, and when a handle can be used again; what is let go of

#include <stdio.h>
#include "view_fixture.h"
#include "banned.h"

static zpeer_change_t s_change;

static void
s_setup_lane (void)
{
    s_setup ();
    zpeer_view_add_lane (s_view, 0);
}

TestSuite (view_lanes, .init = s_setup_lane, .fini = s_teardown);

static bool
s_expire (void)
{
    return zpeer_view_expire (s_view, s_now, &s_change);
}

//  Lets the tombstone of an instance grow old; lanes are told RELEASE
static void
s_let_release (void)
{
    s_now += TOMBSTONE_MS;
    cr_assert (s_expire ());
    cr_assert_eq (s_change.flags, ZPEER_CHANGE_RELEASE);
    cr_assert_not_null (s_change.state);
}

static void
s_released (unsigned lane)
{
    zpeer_view_released (s_view, lane, s_change.handle, s_change.state->seq);
}

Test (view_lanes, a_state_is_told_once)
{
    s_register ("a", 10, ZPEER_UP);
    cr_assert_not_null (s_applied.change.state);
    s_heartbeat ("a", 10);
    cr_assert_null (s_applied.change.state);
    s_set_status ("a", 11, ZPEER_DOWN);
    cr_assert_eq (s_applied.change.state, s_applied.state);
}

//  Else lanes would let it expire before they have sent it
Test (view_lanes, a_heartbeat_of_an_unknown_instance_has_a_life)
{
    s_heartbeat ("a", 10);
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_eq (s_applied.change.state->renewal_ms, 90000);
    s_register ("b", 10, ZPEER_UP);
    s_cancel ("b", 11);
    s_heartbeat ("b", 12);
    cr_assert_eq (s_applied.state->renewal_ms, 90000);
}

Test (view_lanes, a_new_lane_is_told_the_state_with_the_next_change)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_asg ("group", ZPEER_UP);
    zpeer_view_add_lane (s_view, 1);
    s_heartbeat ("a", 10);
    cr_assert_eq (s_applied.change.state, s_applied.state);
    s_heartbeat ("a", 10);
    cr_assert_null (s_applied.change.state);
    s_set_asg ("group", ZPEER_UP);
    cr_assert_eq (s_applied.change.state, s_applied.state);
}

Test (view_lanes, everything_can_be_told_again)
{
    s_register ("a", 10, ZPEER_UP);
    zpeer_view_tell_all (s_view);
    s_heartbeat ("a", 10);
    cr_assert_eq (s_applied.change.state, s_applied.state);
}

Test (view_lanes, a_handle_is_used_again_when_every_lane_has_answered)
{
    zpeer_view_add_lane (s_view, 63);
    uint32_t handle = s_register ("a", 10, ZPEER_UP)->handle;
    s_cancel ("a", 11);
    s_let_release ();
    cr_assert_eq (s_stats ().releasing, 1);
    cr_assert_neq (s_register ("b", 10, ZPEER_UP)->handle, handle);
    s_released (0);
    cr_assert_neq (s_register ("c", 10, ZPEER_UP)->handle, handle);
    s_released (63);
    cr_assert_eq (s_stats ().releasing, 0);
    cr_assert_null (
        zpeer_view_find (s_view, ZPEER_SLICE ("APP"), ZPEER_SLICE ("a")));
    cr_assert_eq (s_register ("d", 10, ZPEER_UP)->handle, handle);
}

Test (view_lanes, an_instance_that_comes_back_in_time_has_the_same_handle)
{
    uint32_t handle = s_register ("a", 10, ZPEER_UP)->handle;
    s_cancel ("a", 11);
    s_let_release ();
    cr_assert_eq (s_register ("a", 5, ZPEER_UP)->handle, handle);
    cr_assert_eq (s_applied.change.state, s_applied.state);
    cr_assert_eq (s_applied.state->top, 11);
    cr_assert_eq (s_stats ().releasing, 0);
}

Test (view_lanes, an_answer_that_crossed_a_return_means_nothing)
{
    //  1. RELEASE is told  2. a Heartbeat brings the instance back, in the very
    //  state it had  3. the lane's answer to 1 arrives  4. RELEASE again
    uint32_t handle = s_heartbeat ("a", 10)->handle;
    s_let_release ();
    uint64_t seq = s_change.state->seq;
    s_heartbeat ("a", 10);
    cr_assert_eq (s_applied.change.state, s_applied.state);
    cr_assert_gt (s_applied.state->seq, seq);
    zpeer_view_released (s_view, 0, handle, seq);
    s_let_release ();
    zpeer_view_released (s_view, 0, handle, seq);
    cr_assert_eq (s_stats ().releasing, 1);
    s_released (0);
    cr_assert_eq (s_stats ().releasing, 0);
}

Test (view_lanes, an_answer_about_an_instance_in_use_means_nothing)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    zpeer_view_released (s_view, 0, state->handle, state->seq);
    zpeer_view_released (s_view, 64, state->handle, state->seq);
    zpeer_view_released (s_view, 0, 12345, state->seq);
    cr_assert_eq (s_stats ().instances, 1);
}

Test (view_lanes, a_removed_lane_has_nothing_to_answer)
{
    zpeer_view_add_lane (s_view, 1);
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 11);
    s_let_release ();
    s_released (0);
    zpeer_view_remove_lane (s_view, 1);
    cr_assert_eq (s_stats ().releasing, 0);
}

Test (view_lanes, a_lane_that_was_caught_up_has_to_answer)
{
    //  1. The view has an instance that no lane was ever told of  2. a lane is
    //  added, and owed the whole view  3. the instance goes
    zpeer_change_t changes[2];
    zpeer_view_remove_lane (s_view, 0);
    uint32_t handle = s_register ("a", 10, ZPEER_UP)->handle;
    s_cancel ("a", 11);
    zpeer_view_add_lane (s_view, 1);
    cr_assert_eq (zpeer_view_catch_up (s_view, handle, changes), 1);
    s_let_release ();
    cr_assert_eq (s_stats ().releasing, 1);
    cr_assert_neq (s_register ("b", 10, ZPEER_UP)->handle, handle);
    s_released (1);
    cr_assert_eq (s_stats ().releasing, 0);
}

Test (view_lanes, without_lanes_nobody_has_to_answer)
{
    zpeer_view_remove_lane (s_view, 0);
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 11);
    s_now += TOMBSTONE_MS;
    cr_assert_not (s_expire ());
    cr_assert_eq (s_stats ().tombstones, 0);
    cr_assert_eq (s_stats ().releasing, 0);
}

Test (view_lanes, a_tombstone_is_kept_for_its_time)
{
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 11);
    cr_assert_eq (zpeer_view_wake (s_view), s_now + TOMBSTONE_MS);
    s_now += TOMBSTONE_MS - 1;
    cr_assert_not (s_expire ());
    s_now++;
    cr_assert (s_expire ());
    cr_assert_eq (s_change.flags, ZPEER_CHANGE_RELEASE);
    cr_assert_not (s_expire ());
    cr_assert_eq (zpeer_view_wake (s_view), UINT64_MAX);
}

Test (view_lanes, an_instance_without_an_event_for_two_leases_is_forgotten)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    uint32_t handle = state->handle;
    cr_assert_eq (zpeer_view_wake (s_view), s_now + UINT64_C (2) * LEASE_MS);
    s_now += 2 * LEASE_MS - 1;
    cr_assert_not (s_expire ());
    s_now++;
    cr_assert (s_expire ());
    cr_assert_eq (s_change.action, ZPEER_FORGET);
    cr_assert_eq (s_change.flags, 0);
    cr_assert_eq (s_change.handle, handle);
    cr_assert_not (zpeer_state_present (s_change.state));
    cr_assert_not (s_expire ());
    cr_assert_eq (s_stats ().aged_out, 1);
    cr_assert_eq (s_stats ().tombstones, 1);
    s_register ("a", 11, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
}

Test (view_lanes, any_event_renews)
{
    s_register ("a", 10, ZPEER_UP);
    for (int i = 0; i < 6; i++) {
        s_now += 2 * LEASE_MS - 1;
        switch (i) {
        case 0: s_heartbeat ("a", 10); break;
        case 1: s_heartbeat ("a", 9); break;
        case 2: s_register ("a", 9, ZPEER_UP); break;
        case 3: s_set_status ("a", 10, ZPEER_DOWN); break;
        case 4: s_delete_override ("a", 10, ZPEER_UNKNOWN); break;
        default: s_heartbeat ("a", 10);
        }
        cr_assert_not (s_expire (), "event %d", i);
    }
    s_now += 2 * LEASE_MS;
    cr_assert (s_expire ());
}

Test (view_lanes, a_shorter_lease_counts_at_once)
{
    s_register ("a", 10, ZPEER_UP);
    zpeer_parsed_t event = s_registration ("a", 11, ZPEER_UP);
    event.duration_ms = 1000;
    s_apply (event);
    cr_assert_eq (zpeer_view_wake (s_view), s_now + 2000);
    s_now += 2000;
    cr_assert (s_expire ());
}

Test (view_lanes, ageing_can_be_switched_off)
{
    const zpeer_view_options_t options = {.tombstone_ms = TOMBSTONE_MS};
    zpeer_view_destroy (&s_view);
    s_view = zpeer_view_new (&options);
    s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (zpeer_view_wake (s_view), UINT64_MAX);
    s_now = UINT64_MAX;
    cr_assert_not (s_expire ());
    cr_assert_eq (s_stats ().instances, 1);
}

Test (view_lanes, renewing_costs_one_early_call_and_no_more)
{
    s_register ("a", 10, ZPEER_UP);
    uint64_t first = zpeer_view_wake (s_view);
    s_now += LEASE_MS;
    s_heartbeat ("a", 10);
    s_now = first;
    cr_assert_not (s_expire ());
    cr_assert_eq (zpeer_view_wake (s_view), first + LEASE_MS);
}

Test (view_lanes, the_oldest_tombstones_go_when_there_are_too_many)
{
    char id[16];
    for (int i = 0; i <= ZPEER_VIEW_TOMBSTONES; i++) {
        snprintf (id, sizeof id, "%d", i);
        s_cancel (id, 10);
        cr_assert_eq (zpeer_view_wake (s_view) == 0,
                      i == ZPEER_VIEW_TOMBSTONES);
        s_now++;
    }
    cr_assert (s_expire ());
    cr_assert (zpeer_slice_eq (zpeer_name_id (s_change.state->name),
                               ZPEER_SLICE ("0")));
    cr_assert_not (s_expire ());
    cr_assert_eq (s_stats ().tombstones, ZPEER_VIEW_TOMBSTONES);
}

Test (view_lanes, there_may_be_as_many_tombstones_as_instances)
{
    char id[16];
    for (int i = 0; i < 2 * ZPEER_VIEW_TOMBSTONES; i++) {
        snprintf (id, sizeof id, "%d", i);
        s_register (id, 10, ZPEER_UP);
        snprintf (id, sizeof id, "t%d", i);
        s_cancel (id, 10);
    }
    cr_assert_not (s_expire ());
    s_cancel ("1", 10);
    cr_assert (s_expire ());
    cr_assert (s_expire ());
    cr_assert_not (s_expire ());
}

Test (view_lanes, a_lane_that_missed_changes_is_owed_the_present_state)
{
    zpeer_change_t changes[2];
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (zpeer_view_catch_up (s_view, state->handle, changes), 1);
    cr_assert_eq (changes[0].state, state);
    cr_assert_eq (changes[0].flags, ZPEER_CHANGE_OWE);
    cr_assert_eq (changes[0].handle, state->handle);
    state = s_cancel ("a", 11);
    cr_assert_eq (zpeer_view_catch_up (s_view, state->handle, changes), 1);
    cr_assert_eq (changes[0].state, state);
    cr_assert_eq (changes[0].flags, ZPEER_CHANGE_OWE);
    s_let_release ();
    cr_assert_eq (zpeer_view_catch_up (s_view, s_change.handle, changes), 2);
    cr_assert_eq (changes[0].flags, ZPEER_CHANGE_OWE);
    cr_assert_eq (changes[1].flags, ZPEER_CHANGE_RELEASE);
    cr_assert_eq (changes[1].state, s_change.state);
    s_released (0);
    cr_assert_eq (zpeer_view_catch_up (s_view, s_change.handle, changes), 0);
    cr_assert_eq (zpeer_view_catch_up (s_view, 12345, changes), 0);
}

Test (view_lanes, nothing_is_owed_of_an_instance_that_never_registered)
{
    zpeer_change_t changes[2];
    const zpeer_state_t *state = s_heartbeat ("a", 10);
    cr_assert_eq (zpeer_view_catch_up (s_view, state->handle, changes), 1);
    cr_assert_eq (changes[0].action, ZPEER_FORGET);
    cr_assert_eq (changes[0].flags, 0);
}

Test (view_lanes, a_lane_that_missed_an_ASGs_change_is_told_its_state)
{
    zpeer_change_t changes[2];
    const zpeer_state_t *state = s_set_asg ("group", ZPEER_UP);
    cr_assert_eq (zpeer_view_catch_up_asg (s_view, state->handle, changes), 1);
    cr_assert_eq (changes[0].state, state);
    cr_assert_eq (changes[0].action, ZPEER_ASG_STATUS_UPDATE);
    cr_assert_eq (changes[0].flags, 0);
    cr_assert_eq (zpeer_view_catch_up_asg (s_view, 1, changes), 0);
}
