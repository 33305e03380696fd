//  Whose word an event is: snapshots, what was replicated, what has an origin

#include "view_fixture.h"
#include "banned.h"

#define NONE     ZPEER_UNKNOWN
#define OUT      ZPEER_OUT_OF_SERVICE
#define SNAPSHOT ZPEER_CHANGE_SNAPSHOT
#define EXACT    ZPEER_CHANGE_EXACT

TestSuite (view_marks, .init = s_setup, .fini = s_teardown);

static zpeer_parsed_t
s_shown (uint64_t timestamp, zpeer_status_t status, zpeer_status_t override)
{
    zpeer_parsed_t event = s_registration ("a", timestamp, status);
    event.override = override;
    event.snapshot = true;
    return event;
}

static const zpeer_state_t *
s_snapshot (uint64_t timestamp, zpeer_status_t status, zpeer_status_t override)
{
    return s_apply (s_shown (timestamp, status, override));
}

//  A document of that time, which may have been written a while before
static void
s_document (uint64_t as_of, uint64_t timestamp, zpeer_status_t status)
{
    zpeer_parsed_t event = s_shown (timestamp, status, NONE);
    event.as_of = as_of;
    event.info = ZPEER_SLICE ("{\"document\":1");
    s_apply (event);
}

//  By a receiving registry's rules a client's Register must not do it
Test (view_marks, a_snapshot_removes_an_override_and_a_register_does_not)
{
    zpeer_parsed_t event = s_registration ("a", 10, ZPEER_UP);
    event.override = OUT;
    s_apply (event);
    s_register ("a", 10, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    s_expect (OUT, OUT, 10);
    s_snapshot (10, ZPEER_UP, NONE);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    s_expect (ZPEER_UP, NONE, 10);
}

Test (view_marks, a_snapshot_replaces_an_override_by_its_own)
{
    s_register ("a", 10, ZPEER_UP);
    s_set_status ("a", 11, ZPEER_DOWN);
    s_snapshot (12, ZPEER_UP, OUT);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    s_expect (OUT, OUT, 12);
    s_snapshot (12, ZPEER_STARTING, OUT);
    s_expect (ZPEER_STARTING, OUT, 12);
}

Test (view_marks, a_snapshot_replaces_a_higher_timestamp)
{
    s_register ("a", 10, ZPEER_UP);
    s_snapshot (7, ZPEER_DOWN, NONE);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    s_expect (ZPEER_DOWN, NONE, 7);
    cr_assert_eq (s_applied.state->top, 10);
    cr_assert_eq (s_stats ().outdated, 0);
}

Test (view_marks, a_snapshot_makes_an_instance_known)
{
    s_snapshot (7, ZPEER_UP, NONE);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    cr_assert_eq (s_stats ().instances, 1);
    s_cancel ("b", 0);
    s_register ("b", 5, ZPEER_UP);
    cr_assert_eq (s_stats ().instances, 2);
}

//  An engine that was started anew knows the instance from its Register, and a peer
//  may hold an override that the source has not any more
Test (view_marks, the_first_snapshot_is_told_though_it_says_the_same)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_snapshot (10, ZPEER_UP, NONE), state);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    cr_assert_eq (s_snapshot (10, ZPEER_UP, NONE), state);
    s_expect_told (ZPEER_REGISTER, 0);
}

Test (view_marks, a_later_snapshot_is_a_register_if_that_does_the_same)
{
    s_snapshot (10, ZPEER_UP, NONE);
    s_snapshot (11, ZPEER_DOWN, NONE);
    s_expect_told (ZPEER_REGISTER, 0);
    s_snapshot (11, ZPEER_UP, OUT);
    s_expect_told (ZPEER_REGISTER, 0);
    s_expect (OUT, OUT, 11);
    s_snapshot (12, ZPEER_UP, NONE);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    s_snapshot (9, ZPEER_UP, NONE);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    s_expect (ZPEER_UP, NONE, 9);
}

Test (view_marks, after_a_cancel_a_snapshot_is_a_register)
{
    s_snapshot (10, ZPEER_UP, OUT);
    s_cancel ("a", 11);
    s_snapshot (12, ZPEER_UP, NONE);
    s_expect_told (ZPEER_REGISTER, 0);
    s_expect (ZPEER_UP, NONE, 12);
}

Test (view_marks, after_a_forget_a_snapshot_is_the_first)
{
    s_snapshot (10, ZPEER_UP, OUT);
    s_forget ("a");
    s_snapshot (12, ZPEER_UP, OUT);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT | ZPEER_CHANGE_FRESH);
    s_snapshot (12, ZPEER_UP, OUT);
    s_expect_told (ZPEER_REGISTER, 0);
}

static const struct {
    zpeer_action_t action;
    zpeer_status_t status;
} s_changes[] = {
    {ZPEER_REGISTER, ZPEER_DOWN},
    {ZPEER_CANCEL, NONE},
    {ZPEER_STATUS_UPDATE, OUT},
    {ZPEER_STATUS_UPDATE, ZPEER_UP},
    {ZPEER_DELETE_STATUS_OVERRIDE, ZPEER_DOWN},
    {ZPEER_FORGET, NONE},
};

static void
s_change (size_t number)
{
    zpeer_parsed_t event =
        s_registration ("a", s_now, s_changes[number].status);
    event.action = s_changes[number].action;
    s_apply (event);
}

//  Eureka gives documents out that are up to 30 s old
Test (view_marks, a_document_does_not_undo_what_was_accepted_since)
{
    for (size_t i = 0; i < sizeof s_changes / sizeof *s_changes; i++) {
        s_now += 100000;
        s_snapshot (s_now, ZPEER_UP, OUT);
        s_now += 100000;
        s_change (i);
        const zpeer_state_t *state = s_applied.state;
        uint64_t outdated = s_stats ().outdated;
        s_document (s_now, s_now - 1, ZPEER_STARTING);
        s_expect_not_told ();
        cr_assert_eq (s_applied.state, state, "%zu", i);
        s_now += 29000;
        s_document (s_now - 30000, s_now, ZPEER_STARTING);
        s_expect_not_told ();
        cr_assert_eq (s_applied.state, state, "%zu", i);
        cr_assert_eq (s_stats ().outdated, outdated + 2);
        s_now += 2000;
        s_document (s_now - 30000, s_now, ZPEER_STARTING);
        s_expect (ZPEER_STARTING, NONE, s_now);
    }
}

Test (view_marks, nor_what_the_view_let_go_of_by_itself)
{
    zpeer_change_t change;
    s_register ("a", 10, ZPEER_UP);
    uint64_t as_of = s_now;
    s_now += 2 * LEASE_MS;
    cr_assert (zpeer_view_expire (s_view, s_now, &change));
    s_document (as_of, 10, ZPEER_UP);
    s_expect_not_told ();
}

//  A sign of life is no change
Test (view_marks, heartbeats_do_not_keep_a_document_from_being_taken)
{
    s_register ("a", 10, ZPEER_UP);
    s_now += 60000;
    s_heartbeat ("a", 10);
    s_register ("a", 9, ZPEER_UP);
    s_document (s_now - 30000, 10, ZPEER_DOWN);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    s_expect (ZPEER_DOWN, NONE, 10);
}

//  The text has times in it that are always others
Test (view_marks, a_late_document_that_agrees_shows_that_there_is_no_more)
{
    const zpeer_state_t *state = s_register ("a", 10, ZPEER_UP);
    s_document (s_now - 30000, 10, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, SNAPSHOT);
    cr_assert_eq (s_applied.state, state);
    s_document (s_now - 30000, 10, ZPEER_UP);
    s_expect_told (ZPEER_REGISTER, 0);
    cr_assert_eq (s_applied.state, state);
}

Test (view_marks, an_older_document_does_not_undo_a_later_one)
{
    s_document (s_now - 40000, 10, ZPEER_UP);
    s_document (s_now - 10000, 10, ZPEER_DOWN);
    s_document (s_now - 20000, 10, ZPEER_STARTING);
    s_expect_not_told ();
    s_document (s_now - 9000, 10, ZPEER_STARTING);
    s_expect (ZPEER_STARTING, NONE, 10);
    //  What is of the present is not late
    s_snapshot (10, ZPEER_UP, NONE);
    s_expect (ZPEER_UP, NONE, 10);
    s_document (s_now - 1000, 10, ZPEER_DOWN);
    s_expect_not_told ();
}

//  Its clock is not this engine's
Test (view_marks, a_document_of_the_future_undoes_nothing)
{
    s_document (s_now + 5000, 10, ZPEER_UP);
    s_expect (ZPEER_UP, NONE, 10);
    s_document (s_now + 5000, 10, ZPEER_DOWN);
    s_expect_not_told ();
    s_now += 1000;
    s_document (s_now, 10, ZPEER_DOWN);
    s_expect (ZPEER_DOWN, NONE, 10);
}

Test (view_marks, a_replicated_event_applies_and_says_what_it_is)
{
    unsigned exact = ZPEER_CHANGE_REPLICATED | EXACT;
    s_replicated (s_registration ("a", 10, ZPEER_UP));
    s_expect_told (ZPEER_REGISTER, exact);
    s_expect (ZPEER_UP, NONE, 10);
    s_replicated (s_event (ZPEER_HEARTBEAT, "a", 10));
    s_expect_told (ZPEER_HEARTBEAT, exact);
    s_replicated (s_event (ZPEER_CANCEL, "a", 11));
    s_expect_told (ZPEER_CANCEL, exact);
    s_register ("a", 12, ZPEER_UP);
    s_forget ("a");
    s_replicated (s_registration ("a", 13, ZPEER_UP));
    s_expect_told (ZPEER_REGISTER, exact | ZPEER_CHANGE_FRESH);
}

//  From the peer of lane 2
static void
s_expect_origin (zpeer_parsed_t event, unsigned flags)
{
    event.from = 3;
    s_apply (event);
    s_expect_told ((zpeer_action_t) s_applied.change.action, flags);
    cr_assert_eq (s_applied.change.origin, 3);
}

static zpeer_parsed_t
s_status_event (zpeer_action_t action, uint64_t timestamp,
                zpeer_status_t status)
{
    zpeer_parsed_t event = s_event (action, "a", timestamp);
    event.has_status = status != NONE;
    event.status = status;
    return event;
}

Test (view_marks, an_origin_has_what_the_view_says_if_that_is_what_it_said)
{
    s_expect_origin (s_registration ("a", 10, ZPEER_UP), EXACT);
    s_expect_origin (s_event (ZPEER_HEARTBEAT, "a", 10), EXACT);
    s_expect_origin (s_status_event (ZPEER_STATUS_UPDATE, 11, OUT), EXACT);
    //  The override is held here, and not there
    s_expect_origin (s_registration ("a", 12, ZPEER_UP), 0);
    s_expect_origin (
        s_status_event (ZPEER_DELETE_STATUS_OVERRIDE, 13, ZPEER_UP), EXACT);
    //  Held there, and not here
    s_expect_origin (s_status_event (ZPEER_STATUS_UPDATE, 13, ZPEER_UP), 0);
    s_expect_origin (s_status_event (ZPEER_DELETE_STATUS_OVERRIDE, 13, NONE),
                     0);
    s_expect_origin (s_event (ZPEER_CANCEL, "a", 13), EXACT);
    cr_assert_not (zpeer_state_present (s_applied.state));
}

Test (view_marks, an_origin_that_is_older_has_not_what_the_view_says)
{
    s_register ("a", 10, ZPEER_UP);
    s_expect_origin (s_registration ("a", 9, ZPEER_UP), 0);
    cr_assert_eq (s_applied.change.action, ZPEER_HEARTBEAT);
    s_expect_origin (s_event (ZPEER_HEARTBEAT, "a", 9), 0);
    s_expect_origin (s_status_event (ZPEER_STATUS_UPDATE, 9, OUT), 0);
    //  It has cancelled it, for it does not compare
    s_expect_origin (s_event (ZPEER_CANCEL, "a", 9), ZPEER_CHANGE_VERIFY);
    s_expect (OUT, OUT, 10);
}

Test (view_marks, an_origin_that_is_newer_has_not_what_the_view_says)
{
    s_register ("a", 10, ZPEER_UP);
    s_expect_origin (s_event (ZPEER_HEARTBEAT, "a", 11), 0);
    cr_assert_eq (s_applied.change.given, 11);
    s_expect_origin (s_event (ZPEER_HEARTBEAT, "b", 11), 0);
    cr_assert_eq (s_applied.change.given, 11);
}

//  Peers took it, if it came to them before what is newer
Test (view_marks, an_older_register_that_was_replicated_is_told_as_one)
{
    s_register ("a", 10, ZPEER_UP);
    s_replicated (s_registration ("a", 9, ZPEER_DOWN));
    s_expect_told (ZPEER_REGISTER, ZPEER_CHANGE_REPLICATED);
    s_expect (ZPEER_UP, NONE, 10);
}

//  It has taken what is older, an override included, and no Heartbeat says so
Test (view_marks, an_older_register_of_an_origin_is_told_as_one_at_UNKNOWN)
{
    s_register ("a", 10, ZPEER_UNKNOWN);
    s_expect_origin (s_registration ("a", 9, OUT), 0);
    cr_assert_eq (s_applied.change.action, ZPEER_REGISTER);
    s_expect (ZPEER_UNKNOWN, NONE, 10);
}

//  All peers have cancelled what lives on here
Test (view_marks, after_a_replicated_cancel_that_is_outdated_peers_are_asked)
{
    s_register ("a", 10, ZPEER_UP);
    s_replicated (s_event (ZPEER_CANCEL, "a", 9));
    s_expect_told (ZPEER_HEARTBEAT,
                   ZPEER_CHANGE_VERIFY | ZPEER_CHANGE_REPLICATED);
    s_expect (ZPEER_UP, NONE, 10);
}

Test (view_marks, a_snapshot_may_have_an_origin)
{
    s_register ("a", 20, ZPEER_UP);
    s_expect_origin (s_shown (10, ZPEER_DOWN, NONE), EXACT | SNAPSHOT);
    s_expect (ZPEER_DOWN, NONE, 10);
    //  UP with an override there is none, here or there
    s_expect_origin (s_shown (9, ZPEER_UP, OUT), SNAPSHOT);
    s_expect (OUT, OUT, 9);
}

Test (view_marks, an_ASG_update_may_have_an_origin)
{
    s_expect_origin ((zpeer_parsed_t){.action = ZPEER_ASG_STATUS_UPDATE,
                                      .id = ZPEER_SLICE ("group"),
                                      .status = ZPEER_UP,
                                      .has_status = true},
                     0);
    s_set_asg ("group", ZPEER_UP);
    cr_assert_eq (s_applied.change.origin, 0);
}
