//  What cancelled instances may cost that a lane cannot tell: the bound in bytes

#include <stdio.h>
#include "view_fixture.h"
#include "banned.h"

//  Of one whose name has one letter, with one lane: at most
#define COST_MAX UINT64_C (450)
#define BOUND    (10 * COST_MAX)

#define GIVE_UP (ZPEER_CHANGE_RELEASE | ZPEER_CHANGE_GIVE_UP)

static zpeer_change_t s_change;

//  Tombstones go at once
static void
s_setup_bound (void)
{
    const zpeer_view_options_t options = {
        .cancels_max_bytes = BOUND, .age_out = true, .seed = 7};
    s_view = zpeer_view_new (&options);
    zpeer_view_add_lane (s_view, 0);
}

TestSuite (view_bound, .init = s_setup_bound, .fini = s_teardown);

static bool
s_expire (void)
{
    return zpeer_view_expire (s_view, s_now, &s_change);
}

static bool
s_is_change (const char *id, unsigned flags)
{
    return s_change.flags == flags && s_change.state &&
           zpeer_slice_eq (zpeer_name_id (s_change.state->name),
                           zpeer_slice_str (id));
}

static uint32_t
s_release (const char *id)
{
    uint32_t handle = s_cancel (id, 20)->handle;
    cr_assert (s_expire ());
    cr_assert (s_is_change (id, ZPEER_CHANGE_RELEASE));
    return handle;
}

//  Releases a, b, c and so on until the view gives one up
static char
s_fill (void)
{
    char id[2] = "a";
    for (s_release (id); zpeer_view_wake (s_view) != 0; s_release (id)) {
        id[0]++;
        cr_assert_leq (id[0], 'z');
    }
    return id[0];
}

Test (view_bound, within_the_bound_nothing_is_given_up)
{
    while (s_stats ().releasing_bytes + COST_MAX <= BOUND) {
        char id[16];
        snprintf (id, sizeof id, "%c", 'a' + (int) s_stats ().releasing);
        s_release (id);
        cr_assert_neq (zpeer_view_wake (s_view), 0);
        cr_assert_not (s_expire ());
    }
    cr_assert_geq (s_stats ().releasing, 9);
    cr_assert_eq (s_stats ().given_up, 0);
}

Test (view_bound, beyond_it_the_oldest_are_given_up)
{
    s_fill ();
    uint64_t before = s_stats ().releasing_bytes;
    uint64_t each = before / s_stats ().releasing;
    cr_assert_gt (before, BOUND);
    cr_assert (s_expire ());
    cr_assert (s_is_change ("a", GIVE_UP));
    cr_assert_not (s_expire ());
    cr_assert_neq (zpeer_view_wake (s_view), 0);
    cr_assert_leq (s_stats ().releasing_bytes, BOUND);
    cr_assert_eq (s_stats ().given_up, 1);
    //  Its lane has not answered yet
    cr_assert_eq (s_stats ().releasing_bytes, before - each);
    s_release ("next");
    cr_assert (s_expire ());
    cr_assert (s_is_change ("b", GIVE_UP));
}

Test (view_bound, what_a_lane_answers_to_makes_room)
{
    s_fill ();
    uint64_t before = s_stats ().releasing_bytes;
    zpeer_view_released (s_view, 0, s_change.handle, s_change.state->seq);
    cr_assert_lt (s_stats ().releasing_bytes, before);
    cr_assert_not (s_expire ());
}

Test (view_bound, one_that_comes_back_is_not_given_up)
{
    s_fill ();
    s_register ("a", 11, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    cr_assert_not (s_expire ());
    s_release ("next");
    cr_assert (s_expire ());
    cr_assert (s_is_change ("b", GIVE_UP));
}

Test (view_bound, one_that_comes_back_and_goes_again_is_the_newest)
{
    s_fill ();
    s_register ("a", 11, ZPEER_UP);
    s_release ("a");
    cr_assert (s_expire ());
    cr_assert (s_is_change ("b", GIVE_UP));
}

Test (view_bound,
      a_handle_that_was_given_up_is_free_when_its_lanes_have_answered)
{
    s_fill ();
    cr_assert (s_expire ());
    uint32_t handle = s_change.handle;
    cr_assert_neq (s_register ("new", 10, ZPEER_UP)->handle, handle);
    zpeer_view_released (s_view, 0, handle, s_change.state->seq);
    cr_assert_eq (s_register ("newer", 10, ZPEER_UP)->handle, handle);
    cr_assert_leq (s_stats ().releasing_bytes, BOUND);
}

Test (view_bound, a_lane_that_was_behind_is_told_to_give_up_too)
{
    zpeer_change_t changes[2];
    s_fill ();
    cr_assert (s_expire ());
    cr_assert_eq (zpeer_view_catch_up (s_view, s_change.handle, changes), 2);
    cr_assert_eq (changes[0].flags, ZPEER_CHANGE_OWE);
    cr_assert_eq (changes[1].flags, GIVE_UP);
}

Test (view_bound, more_lanes_cost_more)
{
    s_release ("a");
    uint64_t one = s_stats ().releasing_bytes;
    cr_assert_leq (one, COST_MAX);
    zpeer_view_add_lane (s_view, 5);
    s_release ("b");
    cr_assert_eq (s_stats ().releasing_bytes, 2 * one + 64);
    zpeer_view_remove_lane (s_view, 0);
    cr_assert_eq (s_stats ().releasing_bytes, one + 64);
    zpeer_view_remove_lane (s_view, 5);
    cr_assert_eq (s_stats ().releasing_bytes, 0);
}

//  1. An instance with an override is cancelled, and that is given up  2. it registers
//  again, without one  3. the peer is back, and holds the override
Test (view_bound, what_peers_may_hold_of_the_one_given_up_is_overwritten)
{
    const zpeer_view_options_t options = {.cancels_max_bytes = 1,
                                          .tombstone_ms = 10,
                                          .outlive_ms = 60000,
                                          .age_out = true};
    zpeer_view_destroy (&s_view);
    s_view = zpeer_view_new (&options);
    zpeer_view_add_lane (s_view, 0);
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 10);
    s_now += 2 * LEASE_MS + 60000;
    cr_assert (s_expire ());
    cr_assert (s_expire ());
    cr_assert (s_is_change ("a", GIVE_UP));
    //  Before the lane has answered, and after
    s_register ("a", 11, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
    s_register ("a", 12, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    s_register ("b", 11, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_FRESH);
    s_now += 2 * LEASE_MS + 60000;
    s_register ("c", 11, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
}

//  However many are cancelled
Test (view_bound, many_cancels_cost_no_more_than_the_bound)
{
    char id[16];
    for (int i = 0; i < 5000; i++) {
        snprintf (id, sizeof id, "%d", i);
        s_cancel (id, 10);
        while (s_expire ())
            if (s_change.flags == GIVE_UP)
                zpeer_view_released (s_view, 0, s_change.handle,
                                     s_change.state->seq);
        cr_assert_leq (s_stats ().releasing_bytes, BOUND);
    }
    cr_assert_leq (zpeer_view_limit (s_view), BOUND / 300 + 2);
    cr_assert_eq (s_stats ().given_up + s_stats ().releasing, 5000);
}
