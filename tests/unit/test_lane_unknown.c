//  A Cancel without a timestamp: the engine was started anew, and knows none. The peer
//  is away, and is asked for its own when it is back.

#include <stdio.h>
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

TestSuite (lane_unknown, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)
#define CODES(...)   lane_fixture_codes (&s, (const uint16_t[]){__VA_ARGS__})

//  The peer's copy, registered so long before this answer
static void
s_answer_with (uint16_t code, uint64_t timestamp, uint64_t age_ms)
{
    char json[256];
    uint16_t codes[] = {code};
    int size = snprintf (
        json, sizeof json,
        "{\"lastDirtyTimestamp\":\"%llu\",\"leaseInfo\":{\"durationInSecs\":90,"
        "\"registrationTimestamp\":1000000,\"lastRenewalTimestamp\":%llu}}",
        (unsigned long long) timestamp, 1000000ull + 90000ull + age_ms);
    zpeer_copy_t copy = {.timestamp = timestamp, .json = {json, (size_t) size}};
    zpeer_result_t result = {.id = s.last_id,
                             .verdict = ZPEER_SUCCESS,
                             .codes = codes,
                             .copies = &copy,
                             .copy_count = 1};
    cr_assert (zpeer_lane_done (s.lane, s.now, &result));
    cr_assert (zpeer_lane_check (s.lane));
}

static void
s_answer_copy (uint64_t timestamp, uint64_t age_ms)
{
    s_answer_with (409, timestamp, age_ms);
}

static void
s_cancel_in_vain (void)
{
    lane_fixture_cancel (&s, 'a', 0);
    EXPECT ("Cancel a");
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    s.now += 60000;
    EXPECT ("Heartbeat a @1");
}

Test (lane_unknown, a_cancel_without_a_timestamp_asks_for_it)
{
    s_cancel_in_vain ();
    s_answer_copy (77, 600000);
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
    cr_expect_null (strstr (s.said, "conflict"));
}

Test (lane_unknown, what_came_to_the_peer_after_the_cancel_is_anothers)
{
    s_cancel_in_vain ();
    s_answer_copy (77, 50000);
    EXPECT ("");
    cr_expect_not_null (strstr (s.said, "conflict a;"));
}

//  The peer refuses it for a while, and a Heartbeat comes meanwhile
static void
s_cancel_refused (void)
{
    lane_fixture_cancel (&s, 'a', 0);
    EXPECT ("Cancel a");
    CODES (403);
    s.now += 50000;
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.absent = true, .given = 77});
    EXPECT ("");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @1");
}

Test (lane_unknown, a_heartbeat_takes_no_cancel_back)
{
    s_cancel_refused ();
    s_answer_copy (77, 600000);
    EXPECT ("Cancel a");
}

Test (lane_unknown, a_heartbeat_makes_a_cancel_no_younger)
{
    s_cancel_refused ();
    s_answer_copy (77, 30000);
    EXPECT ("");
}

Test (lane_unknown, what_the_peer_does_not_have_needs_no_timestamp)
{
    s_cancel_in_vain ();
    CODES (404);
    EXPECT ("Cancel a");
    CODES (404);
    EXPECT ("");
}

//  Once the timestamp is known, it is what the peer is asked with
Test (lane_unknown, a_timestamp_that_was_asked_for_is_kept)
{
    s_cancel_in_vain ();
    s_answer_copy (77, 600000);
    EXPECT ("Cancel a");
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now = zpeer_lane_pause (s.lane);
    EXPECT ("Heartbeat a @77");
    lane_fixture_conflict (&s, 78);
    cr_expect_not_null (strstr (s.said, "conflict a;"));
}

//  Where a 409 says nothing but that ------------------------------------------------

static void
s_ask_for_it (void)
{
    s_cancel_in_vain ();
    CODES (409);
    cr_expect_str_eq (s.said, "dropped a;");
    EXPECT ("Fetch a");
}

static unsigned
s_resting (void)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    return stats.resting;
}

Test (lane_unknown, where_a_409_tells_no_timestamp_it_is_fetched)
{
    s_ask_for_it ();
    s_answer_with (200, 77, 600000);
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
    cr_expect_str_eq (s.said, "dropped a;");
}

Test (lane_unknown, what_is_fetched_and_came_after_the_cancel_is_anothers)
{
    s_ask_for_it ();
    s_answer_with (200, 77, 50000);
    EXPECT ("");
    cr_expect_not_null (strstr (s.said, "conflict a;"));
}

Test (lane_unknown, what_is_not_there_any_more_is_cancelled_all_the_same)
{
    s_ask_for_it ();
    CODES (404);
    EXPECT ("Cancel a");
    CODES (404);
    EXPECT ("");
}

//  Other servers' pages are answered 200, too
Test (lane_unknown, an_answer_without_a_timestamp_is_a_refusal_and_tried_again)
{
    s_ask_for_it ();
    CODES (200);
    EXPECT ("");
    cr_expect_not_null (strstr (s.said, "rejected a"));
    cr_expect_eq (s_resting (), 1);
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @1");
    CODES (409);
    EXPECT ("Fetch a");
    s_answer_with (200, 77, 600000);
    EXPECT ("Cancel a");
}

//  A peer, or what stands before it, answers no such request; the second time, and
//  when others were answered in between, it rests
Test (lane_unknown, a_status_is_one_for_it_alone)
{
    s_ask_for_it ();
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 403);
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    lane_fixture_register (&s, 'b', 5, 0);
    EXPECT ("Register b UP/UNKNOWN @5");
    CODES (200);
    EXPECT ("Fetch a");
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 403);
    EXPECT ("");
    cr_expect_eq (s_resting (), 1);
}

//  A request of its own is none for the batch endpoint
Test (lane_unknown, nothing_else_goes_with_what_is_fetched)
{
    s_cancel_in_vain ();
    lane_fixture_register (&s, 'b', 5, 0);
    CODES (409);
    lane_fixture_register (&s, 'c', 6, 0);
    EXPECT ("Register b UP/UNKNOWN @5, Register c UP/UNKNOWN @6");
    EXPECT ("Fetch a");
}

Test (lane_unknown, what_came_meanwhile_is_not_cancelled)
{
    s_ask_for_it ();
    lane_fixture_register (&s, 'a', 9, 0);
    s_answer_with (200, 77, 600000);
    EXPECT ("Heartbeat a @9");
}

//  A lane that was behind, or of a peer that was added again, was not there when the
//  Cancel came, and is told when that was
static void
s_catch_up (uint64_t cancelled_at)
{
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT,
                         (lane_state_t){.absent = true, .given = 88});
    EXPECT ("Heartbeat a @88");
    CODES (404);
    lane_fixture_catch_up (&s, 'a', cancelled_at);
    EXPECT ("Heartbeat a @1");
}

Test (lane_unknown, a_lane_that_was_behind_asks_for_it)
{
    s.now = 100000;
    s_catch_up (40000);
    s_answer_copy (77, 70000);
    EXPECT ("Cancel a");
    CODES (200);
    EXPECT ("");
}

Test (lane_unknown, a_lane_that_was_behind_ends_nothing_that_came_later)
{
    s.now = 100000;
    s_catch_up (40000);
    s_answer_copy (77, 50000);
    EXPECT ("");
    cr_expect_not_null (strstr (s.said, "conflict a;"));
}
