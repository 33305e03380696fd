//  What an event does to the view, and what the lanes are told of it

#include "view_fixture.h"
#include "banned.h"

#define NONE ZPEER_UNKNOWN

TestSuite (view, .init = s_setup, .fini = s_teardown);

Test (view, a_register_makes_an_instance_known)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    s_expect (ZPEER_UP, NONE, 10);
    cr_assert_eq (s_applied.change.state, state);
    cr_assert_eq (s_applied.change.handle, state->handle);
    cr_assert_eq (state->top, 10);
    cr_assert_eq (state->renewal_ms, 30000);
    cr_assert_str_eq (state->info->data, "{\"instanceId\":\"x\"");
    cr_assert (
        zpeer_slice_eq (zpeer_name_app (state->name), ZPEER_SLICE ("APP")));
    cr_assert (zpeer_slice_eq (zpeer_name_id (state->name), ZPEER_SLICE ("a")));
    cr_assert_eq (
        zpeer_view_find (s_view, ZPEER_SLICE ("APP"), ZPEER_SLICE ("a")),
        state);
    cr_assert_eq (s_stats ().instances, 1);
}

Test (view, an_older_register_renews_and_changes_nothing)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    zpeer_parsed_t older = s_registration ("a", 9, ZPEER_DOWN);
    older.info = ZPEER_SLICE ("{\"older\":1");
    cr_assert_eq (s_apply (older), state);
    s_expect (ZPEER_UP, NONE, 10);
    //  For the lanes it is a Heartbeat of what the view has
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_eq (s_applied.change.given, 0);
    cr_assert_eq (s_stats ().outdated, 1);
}

Test (view, an_older_heartbeat_renews_and_changes_nothing)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_heartbeat ("a", 9), state);
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_eq (s_applied.change.given, 0);
    cr_assert_not (s_applied.need_register);
    cr_assert_eq (s_stats ().outdated, 1);
}

Test (view, of_equal_timestamps_the_later_arrival_wins)
{
    s_register ("a", 10, ZPEER_UP);
    zpeer_parsed_t later = s_registration ("a", 10, ZPEER_DOWN);
    later.info = ZPEER_SLICE ("{\"later\":1");
    s_apply (later);
    s_expect_told (ZPEER_REGISTER, 0);
    s_expect (ZPEER_DOWN, NONE, 10);
    cr_assert_str_eq (s_applied.state->info->data, "{\"later\":1");
    cr_assert_eq (s_stats ().outdated, 0);
}

Test (view, a_heartbeat_that_changes_nothing_leaves_the_state)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_heartbeat ("a", 10), state);
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_null (s_applied.change.state);
    cr_assert_eq (s_applied.change.handle, state->handle);
    cr_assert_not (s_applied.need_register);
}

Test (view, a_register_that_says_the_same_leaves_the_state)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_register ("a", 10, ZPEER_UP), state);
    s_expect_told (ZPEER_REGISTER, 0);
    cr_assert_null (s_applied.change.state);
}

Test (view, states_share_a_text_that_has_not_changed)
{
    const zpeer_text_t *info = s_register ("a", 10, ZPEER_UP)->info;
    uint64_t seq = s_applied.state->seq;
    cr_assert_eq (s_set_status ("a", 11, ZPEER_DOWN)->info, info);
    cr_assert_gt (s_applied.state->seq, seq);
    cr_assert_eq (s_delete_override ("a", 12, ZPEER_UP)->info, info);
    cr_assert_eq (s_register ("a", 13, ZPEER_UP)->info, info);
    s_expect (ZPEER_UP, NONE, 13);
}

Test (view, a_heartbeat_newer_than_the_view_is_sent_as_given)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_heartbeat ("a", 11), state);
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_eq (s_applied.change.given, 11);
    cr_assert (s_applied.need_register);
    s_expect (ZPEER_UP, NONE, 10);
}

Test (view, a_heartbeat_of_an_unknown_instance_is_sent_as_given)
{
    const zpeer_state_t *state = s_heartbeat ("a", 11);
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_eq (s_applied.change.given, 11);
    cr_assert_eq (s_applied.change.state, state);
    cr_assert (s_applied.need_register);
    cr_assert_not (zpeer_state_present (state));
    cr_assert_eq (state->top, 0);
    cr_assert_eq (s_stats ().instances, 0);
}

Test (view, a_heartbeat_of_a_cancelled_instance_leaves_its_tombstone)
{
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 12);
    s_heartbeat ("a", 13);
    s_expect_told (ZPEER_HEARTBEAT, 0);
    cr_assert_eq (s_applied.change.given, 13);
    cr_assert (s_applied.need_register);
    cr_assert_not (zpeer_state_present (s_applied.state));
    cr_assert_eq (s_applied.state->top, 12);
}

Test (view, a_replicated_event_of_an_unknown_instance_is_not_told)
{
    cr_assert_null (s_replicated (s_event (ZPEER_HEARTBEAT, "a", 11)));
    s_expect_not_told ();
    cr_assert (s_applied.need_register);
}

Test (view, an_override_operation_of_an_unknown_instance_needs_a_register)
{
    cr_assert_null (s_set_status ("a", 11, ZPEER_DOWN));
    s_expect_not_told ();
    cr_assert (s_applied.need_register);
    s_cancel ("a", 12);
    s_delete_override ("a", 13, ZPEER_UP);
    s_expect_not_told ();
    cr_assert (s_applied.need_register);
}

Test (view, a_status_update_holds_the_status_as_override)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 12, ZPEER_OUT_OF_SERVICE);
    s_expect_told (ZPEER_STATUS_UPDATE, 0);
    s_expect (ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE, 12);
    cr_assert_eq (s_applied.state->top, 12);
}

Test (view, an_override_operation_is_never_outdated)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 1, ZPEER_OUT_OF_SERVICE);
    s_expect (ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE, 10);
    s_delete_override ("a", 2, ZPEER_UP);
    s_expect_told (ZPEER_DELETE_STATUS_OVERRIDE, 0);
    s_expect (ZPEER_UP, NONE, 10);
    cr_assert_eq (s_stats ().outdated, 0);
}

Test (view, a_status_update_to_the_same_status_changes_nothing)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_set_status ("a", 12, ZPEER_UP), state);
    s_expect_told (ZPEER_STATUS_UPDATE, 0);
    s_expect (ZPEER_UP, NONE, 10);
}

Test (view, a_register_never_replaces_a_held_override)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_OUT_OF_SERVICE);
    zpeer_parsed_t event = s_registration ("a", 12, ZPEER_UP);
    event.override = ZPEER_DOWN;
    s_apply (event);
    s_expect (ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE, 12);
}

Test (view, a_register_brings_its_override_when_none_is_held)
{
    zpeer_parsed_t event = s_registration ("a", 10, ZPEER_UP);
    event.override = ZPEER_OUT_OF_SERVICE;
    s_apply (event);
    s_expect (ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE, 10);
}

Test (view, an_override_yields_to_down_and_starting)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_OUT_OF_SERVICE);
    s_register ("a", 12, ZPEER_DOWN);
    s_expect (ZPEER_DOWN, ZPEER_OUT_OF_SERVICE, 12);
    s_register ("a", 13, ZPEER_STARTING);
    s_expect (ZPEER_STARTING, ZPEER_OUT_OF_SERVICE, 13);
    s_register ("a", 14, ZPEER_UP);
    s_expect (ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE, 14);
}

Test (view, deleting_an_override_without_a_status_leaves_UNKNOWN)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_OUT_OF_SERVICE);
    zpeer_parsed_t event = s_event (ZPEER_DELETE_STATUS_OVERRIDE, "a", 12);
    event.status = ZPEER_UP;
    s_apply (event);
    s_expect (ZPEER_UNKNOWN, NONE, 12);
}

Test (view, deleting_an_override_that_is_not_held_changes_nothing)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_delete_override ("a", 12, ZPEER_DOWN), state);
    s_expect_told (ZPEER_DELETE_STATUS_OVERRIDE, 0);
    s_expect (ZPEER_UP, NONE, 10);
}

Test (view, an_instance_at_UNKNOWN_needs_a_register_and_is_not_renewed)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_DOWN);
    s_delete_override ("a", 12, ZPEER_UNKNOWN);
    s_expect (ZPEER_UNKNOWN, NONE, 12);
    s_heartbeat ("a", 12);
    s_expect_not_told ();
    cr_assert (s_applied.need_register);
    //  Nor by a Register that is outdated
    s_register ("a", 11, ZPEER_UP);
    s_expect_not_told ();
    s_register ("a", 12, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    s_heartbeat ("a", 12);
    s_expect_told (ZPEER_HEARTBEAT, 0);
}

Test (view, a_cancel_leaves_a_tombstone)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_DOWN);
    const zpeer_state_t *state = s_cancel ("a", 12);
    s_expect_told (ZPEER_CANCEL, 0);
    cr_assert_not (zpeer_state_present (state));
    cr_assert_eq (state->top, 12);
    cr_assert_eq (state->timestamp, 0);
    cr_assert_eq (state->override, NONE);
    cr_assert_eq (s_stats ().instances, 0);
    cr_assert_eq (s_stats ().tombstones, 1);
}

Test (view, after_a_cancel_a_lower_register_starts_a_new_life)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_DOWN);
    s_cancel ("a", 0);
    cr_assert_eq (s_applied.state->top, 11);
    s_register ("a", 5, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    //  The override went with its life, top stays
    s_expect (ZPEER_UP, NONE, 5);
    cr_assert_eq (s_applied.state->top, 11);
    s_register ("a", 20, ZPEER_UP);
    cr_assert_eq (s_applied.state->top, 20);
}

Test (view, a_cancel_of_an_earlier_life_is_outdated)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_cancel ("a", 9), state);
    s_expect_not_told ();
    cr_assert_eq (s_stats ().outdated, 1);
    s_cancel ("a", 10);
    s_expect_told (ZPEER_CANCEL, 0);
}

Test (view, a_cancel_of_an_unknown_instance_is_told)
{
    const zpeer_state_t *state = s_cancel ("a", 12);
    s_expect_told (ZPEER_CANCEL, 0);
    cr_assert_not (zpeer_state_present (state));
    cr_assert_eq (state->top, 12);
}

Test (view, an_instance_is_a_pair_and_not_a_joined_string)
{
    zpeer_parsed_t one = s_registration ("C", 10, ZPEER_UP);
    zpeer_parsed_t other = s_registration ("B/C", 10, ZPEER_UP);
    one.app = ZPEER_SLICE ("A/B");
    other.app = ZPEER_SLICE ("A");
    uint32_t handle = s_apply (one)->handle;
    cr_assert_neq (s_apply (other)->handle, handle);
    cr_assert_eq (s_stats ().instances, 2);
    cr_assert_null (
        zpeer_view_find (s_view, ZPEER_SLICE ("A"), ZPEER_SLICE ("C")));
}

Test (view, an_ASG_has_one_state_and_a_handle_of_its_own)
{
    s_register ("a", 10, ZPEER_UP);
    const zpeer_state_t *state = s_set_asg ("group", ZPEER_UP);
    s_expect_told (ZPEER_ASG_STATUS_UPDATE, 0);
    cr_assert_eq (s_applied.change.state, state);
    cr_assert_eq (state->handle, 0);
    cr_assert_eq (s_set_asg ("group", ZPEER_UP), state);
    s_expect_told (ZPEER_ASG_STATUS_UPDATE, 0);
    cr_assert_null (s_applied.change.state);
    s_set_asg ("group", ZPEER_OUT_OF_SERVICE);
    cr_assert_eq (s_applied.change.state, s_applied.state);
    cr_assert_eq (s_applied.state->status, ZPEER_OUT_OF_SERVICE);
    cr_assert_eq (s_applied.state->handle, 0);
    cr_assert_eq (s_set_asg ("other", ZPEER_UP)->handle, 1);
    cr_assert_eq (s_stats ().asgs, 2);
    cr_assert_eq (s_stats ().instances, 1);
    cr_assert_not_null (
        zpeer_view_find (s_view, (zpeer_slice_t){0}, ZPEER_SLICE ("group")));
}
