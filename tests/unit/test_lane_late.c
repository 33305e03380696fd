//  What an attempt leaves behind that comes late, or crosses another's

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
s_setup_single (void)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.max_items = 1;
    options.single = true;
    lane_fixture_init_with (&s, &options);
}

static void
s_teardown (void)
{
    lane_fixture_fini (&s);
}

TestSuite (lane_late, .init = s_setup, .fini = s_teardown);
TestSuite (lane_late_single, .init = s_setup_single, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

#define PAIR "DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5"

//  The first one of a request that was sent twice may be applied after the second
Test (lane_late, a_success_that_was_sent_twice_is_settled_if_the_state_changed)
{
    lane_state_t state = {.status = ZPEER_UP, .timestamp = 5};
    zpeer_lane_stats_t stats;
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, state);
    EXPECT ("Register a UP/UNKNOWN @5");
    lane_fixture_twice (&s, NULL);
    state.timestamp = 6;
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, state);
    EXPECT ("Register a UP/UNKNOWN @6");
    lane_fixture_ok (&s);
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.unsure, 1);
    s.now += 30000;
    EXPECT ("Heartbeat a @6");
}

Test (lane_late, a_heartbeat_that_was_sent_twice_leaves_no_doubt)
{
    lane_state_t state = {.status = ZPEER_UP, .timestamp = 5};
    zpeer_lane_stats_t stats;
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, state);
    EXPECT ("Heartbeat a @5");
    lane_fixture_twice (&s, NULL);
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.unsure, 0);
}

//  Told in full, and given up without an answer; then again, with one. Then a
//  read timeout passes.
static void
s_tell_twice (void)
{
    lane_fixture_change (
        &s, 'a', ZPEER_REGISTER,
        (lane_state_t){.status = ZPEER_UP, .timestamp = 5, .fresh = true});
    EXPECT (PAIR);
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, true, 0);
    s.now += 100;
    EXPECT (PAIR);
    lane_fixture_ok (&s);
    s.now += 30000;
}

Test (lane_late, a_pair_in_one_request_is_late_as_a_whole)
{
    s_tell_twice ();
    EXPECT ("");
}

//  Of two requests the first may be applied late, and alone: the override is
//  gone then, though the state has not changed since
Test (lane_late_single, a_pair_in_two_requests_may_be_late_by_half)
{
    s_tell_twice ();
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT (PAIR);
    lane_fixture_ok (&s);
    EXPECT ("");
}

static void
s_replicated (char name, uint64_t timestamp)
{
    lane_fixture_change (&s, name, ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP,
                                        .timestamp = timestamp,
                                        .replicated = true});
}

static void
s_beat_and_409 (uint64_t timestamp, bool replicated)
{
    uint16_t codes[] = {409};
    lane_fixture_change (
        &s, 'a', ZPEER_HEARTBEAT,
        (lane_state_t){.status = ZPEER_UP, .timestamp = timestamp});
    lane_fixture_next (&s);
    if (replicated)
        s_replicated ('a', timestamp + 4);
    lane_fixture_codes (&s, codes);
}

//  The peer has it from elsewhere, newer than what crossed it
Test (lane_late, a_409_without_a_copy_is_no_conflict_when_we_know_newer)
{
    s_beat_and_409 (5, true);
    cr_expect_str_eq (s.said, "");
    EXPECT ("Heartbeat a @9");
}

Test (lane_late, a_409_without_a_copy_is_a_conflict_when_we_do_not)
{
    s_beat_and_409 (5, false);
    cr_expect_str_eq (s.said, "conflict a;");
    EXPECT ("");
}

//  What it was asked about is not what there is now
Test (lane_late, a_409_about_a_state_that_has_changed_is_no_conflict)
{
    zpeer_copy_t copy = {.timestamp = 7};
    uint16_t codes[] = {409};
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 6});
    zpeer_result_t result = {.id = s.last_id,
                             .verdict = ZPEER_SUCCESS,
                             .codes = codes,
                             .copies = &copy,
                             .copy_count = 1};
    zpeer_lane_done (s.lane, s.now, &result);
    cr_expect_str_eq (s.said, "");
    EXPECT ("Heartbeat a @6");
    lane_fixture_conflict (&s, 7);
    cr_expect_str_eq (s.said, "conflict a;");
}

//  The acceptor could not tell of what came between, the last of which was Forget
Test (lane_late, a_heartbeat_of_the_past_is_not_sent_for_what_is_gone)
{
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.given = 5, .absent = true});
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SUPERSEDED), 1);
}

//  It was never tried, and is late all the same
Test (lane_late, a_cancel_that_waited_long_is_asked_for_first)
{
    lane_fixture_change (&s, 'a', ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
    zpeer_lane_hold (s.lane, s.now + 5000);
    s.now += 5000;
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "conflict a;");
    EXPECT ("");
}

Test (lane_late, a_cancel_that_waited_a_moment_is_not)
{
    lane_fixture_change (&s, 'a', ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
    zpeer_lane_hold (s.lane, s.now + 100);
    s.now += 100;
    EXPECT ("Cancel a");
}

//  It may have been too large for us
Test (lane_late, an_unusable_answer_makes_the_next_batch_smaller)
{
    for (char name = 'a'; name <= 'p'; name++)
        lane_fixture_change (
            &s, name, ZPEER_REGISTER,
            (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    cr_expect_eq (s.items, 16);
    zpeer_result_t result = {.id = s.last_id,
                             .end = ZPEER_END_UNUSABLE,
                             .verdict = ZPEER_TRANSIENT_ERROR};
    zpeer_lane_done (s.lane, s.now, &result);
    s.now += 100;
    lane_fixture_next (&s);
    cr_expect_eq (s.items, 4);
}

//  How long a batch took says something of its size, that it failed does not
Test (lane_late, a_failure_makes_what_is_owed_no_smaller)
{
    for (char name = 'a'; name <= 'p'; name++)
        lane_fixture_change (
            &s, name, ZPEER_REGISTER,
            (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    for (int i = 0; i < 3; i++) {
        s.now = zpeer_lane_pause (s.lane);
        lane_fixture_next (&s);
        cr_expect_eq (s.items, 16, "%u", s.items);
        lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    }
}

static void
s_inherit (void)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.inherits = true;
    lane_fixture_fini (&s);
    lane_fixture_init_with (&s, &options);
}

//  1. A StatusUpdate is on its way when the peer is removed  2. the override is taken
//  back  3. the peer is added again, and told everything  4. the request of 1 comes
//  late
Test (lane_late, what_an_earlier_lane_sent_is_settled)
{
    s_inherit ();
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    zpeer_lane_walk_begin (s.lane);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE | ZPEER_CHANGE_WALK);
    zpeer_lane_walk_complete (s.lane);
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT (PAIR);
    lane_fixture_ok (&s);
    s.now += 60000;
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT (PAIR);
    lane_fixture_ok (&s);
    zpeer_lane_walk_begin (s.lane);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE | ZPEER_CHANGE_WALK);
    zpeer_lane_walk_complete (s.lane);
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT (PAIR);
    lane_fixture_ok (&s);
    cr_expect_not (zpeer_lane_unsettled (s.lane));
    s.now += 60000;
    EXPECT ("");
}

//  1. A Register is on its way when the peer is removed  2. it is added again, and
//  told of a Cancel before the walk of it comes to its turn  3. the view lets go of
//  the instance  4. the request of 1 comes late, and may be under way in a dispatcher
//  of another process for a read timeout before that
Test (lane_late, what_is_told_before_the_walk_is_settled_too)
{
    lane_state_t state = {.status = ZPEER_UP, .timestamp = 5};
    s_inherit ();
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, state);
    lane_fixture_change (&s, 'a', ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
    EXPECT ("Cancel a");
    lane_fixture_ok (&s);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_RELEASE);
    cr_expect_str_eq (s.said, "");
    s.now += 59999;
    EXPECT ("");
    s.now++;
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT ("Cancel a");
    lane_fixture_ok (&s);
    cr_expect_str_eq (s.said, "released a;");
    cr_expect_not (zpeer_lane_unsettled (s.lane));
}

//  The peer is removed once more before anything was told
Test (lane_late, what_an_earlier_lane_sent_is_left_to_the_next)
{
    s_inherit ();
    zpeer_lane_walk_begin (s.lane);
    zpeer_lane_walk_complete (s.lane);
    cr_expect (zpeer_lane_unsettled (s.lane));
}
