//  What the view keeps of an instance that its source has dropped

#include "view_fixture.h"
#include "banned.h"

#define NONE ZPEER_UNKNOWN

static zpeer_change_t s_change;

TestSuite (view_forget, .init = s_setup, .fini = s_teardown);

Test (view_forget, after_a_forget_the_next_register_is_fresh)
{
    s_register ("a", 10, ZPEER_UP);
    const zpeer_state_t *state = s_forget ("a");
    s_expect_told (ZPEER_FORGET, 0);
    cr_assert_not (zpeer_state_present (state));
    cr_assert_eq (state->top, 0);
    s_register ("a", 5, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
    s_register ("a", 6, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
}

Test (view_forget, the_mark_of_a_forget_outlives_a_cancel)
{
    s_register ("a", 10, ZPEER_UP);
    s_forget ("a");
    s_cancel ("a", 11);
    s_expect_told (ZPEER_CANCEL, 0);
    s_register ("a", 12, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
}

Test (view_forget, the_mark_of_a_forget_outlives_another_forget)
{
    s_register ("a", 10, ZPEER_UP);
    s_forget ("a");
    s_forget ("a");
    s_register ("a", 12, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
}

//  The Cancel was accepted, and is told whatever follows
Test (view_forget, a_forget_of_a_cancelled_instance_is_nothing)
{
    s_register ("a", 10, ZPEER_UP);
    const zpeer_state_t *state = s_cancel ("a", 11);
    cr_assert_eq (s_forget ("a"), state);
    s_expect_not_told ();
    cr_assert_eq (state->top, 11);
    s_register ("a", 12, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    //  It was the life before that was cancelled
    s_forget ("a");
    s_expect_told (ZPEER_FORGET, 0);
}

//  A peer may hold the forgotten life until its lease runs out
Test (view_forget, the_highest_timestamp_outlives_a_forget)
{
    s_register ("a", 2000, ZPEER_UP);
    s_forget ("a");
    //  Meanwhile there is nothing to ask a peer about, but a Cancel of before
    cr_assert_eq (s_applied.state->top, 0);
    cr_assert_eq (s_applied.change.given, 2000);
    s_heartbeat ("a", 1600);
    cr_assert_eq (s_applied.state->top, 0);
    s_register ("a", 1500, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
    s_expect (ZPEER_UP, NONE, 1500);
    cr_assert_eq (s_applied.state->top, 2000);
}

Test (view_forget, the_highest_timestamp_is_known_to_a_cancel_after_a_forget)
{
    s_register ("a", 2000, ZPEER_UP);
    s_forget ("a");
    s_cancel ("a", 0);
    s_expect_told (ZPEER_CANCEL, 0);
    cr_assert_eq (s_applied.state->top, 2000);
}

Test (view_forget, a_forget_of_an_unknown_instance_is_not_told)
{
    cr_assert_null (s_forget ("a"));
    s_expect_not_told ();
    cr_assert_not (s_applied.need_register);
}

//  A view that remembers for a moment only, but a minute longer than leases live
static void
s_remember_little (void)
{
    const zpeer_view_options_t options = {
        .tombstone_ms = 10, .outlive_ms = 60000, .age_out = true};
    zpeer_view_destroy (&s_view);
    s_view = zpeer_view_new (&options);
    zpeer_view_add_lane (s_view, 0);
}

static void
s_expect_kept (uint64_t ms)
{
    s_now += ms - 1;
    cr_assert_not (zpeer_view_expire (s_view, s_now, &s_change));
    s_now++;
    cr_assert (zpeer_view_expire (s_view, s_now, &s_change));
    cr_assert_eq (s_change.flags, ZPEER_CHANGE_RELEASE);
}

Test (view_forget, a_tombstone_outlives_what_peers_may_hold)
{
    s_remember_little ();
    zpeer_parsed_t event = s_registration ("a", 10, ZPEER_UP);
    event.duration_ms = 100000;
    s_apply (event);
    s_cancel ("a", 11);
    s_expect_kept (2 * 100000 + 60000);
    s_apply (event);
    s_forget ("a");
    s_expect_kept (2 * 100000 + 60000);
}

Test (view_forget, of_an_unknown_lease_the_usual_one_is_assumed)
{
    s_remember_little ();
    s_cancel ("a", 11);
    s_expect_kept (2 * 90000 + 60000);
}

Test (view_forget, a_lane_that_missed_a_forget_is_told_to_forget)
{
    zpeer_change_t changes[2];
    s_register ("a", 10, ZPEER_UP);
    const zpeer_state_t *state = s_forget ("a");
    cr_assert_eq (zpeer_view_catch_up (s_view, state->handle, changes), 1);
    cr_assert_eq (changes[0].state, state);
    cr_assert_eq (changes[0].action, ZPEER_FORGET);
    cr_assert_eq (changes[0].flags, 0);
    cr_assert_eq (changes[0].given, 10);
    s_register ("a", 12, ZPEER_UP);
    zpeer_view_catch_up (s_view, s_applied.state->handle, changes);
    cr_assert_eq (changes[0].flags, ZPEER_CHANGE_OWE);
}

Test (view_forget, a_lane_that_missed_a_cancel_is_owed_it_though_a_forget_came)
{
    zpeer_change_t changes[2];
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 11);
    const zpeer_state_t *state = s_forget ("a");
    cr_assert_eq (zpeer_view_catch_up (s_view, state->handle, changes), 1);
    cr_assert_eq (changes[0].state, state);
    cr_assert_eq (changes[0].flags, ZPEER_CHANGE_OWE);
}
