//  Whose word a change is: snapshots, what was replicated, what has an origin

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

#define MINE   3
#define OTHERS 2

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

TestSuite (lane_marks, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)
#define CHANGE(ACTION, ...)                                                    \
    lane_fixture_change (&s, 'a', ZPEER_##ACTION, (lane_state_t){__VA_ARGS__})
#define LIVE(STATUS, OVERRIDE, AT)                                             \
    .status = ZPEER_##STATUS, .override = ZPEER_##OVERRIDE, .timestamp = (AT)
#define GONE      .absent = true, .top = 5
#define ZPEER_OUT ZPEER_OUT_OF_SERVICE

#define UP_PAIR "DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5"
#define OUT_PAIR                                                               \
    "DeleteStatusOverride a OUT_OF_SERVICE @5, "                               \
    "Register a OUT_OF_SERVICE/OUT_OF_SERVICE @5"

//  What the lane sends next, which is answered 200
static void
s_expect_done (const char *text)
{
    cr_expect_str_eq (lane_fixture_next (&s), text);
    if (s.items)
        lane_fixture_ok (&s);
}

//  The peer has the instance, and it was long ago that it was told
static void
s_begin (void)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    s_expect_done ("Register a UP/UNKNOWN @5");
    s.now += 120000;
}

static uint64_t
s_settled (void)
{
    return lane_fixture_ended (&s, ZPEER_ENDED_SETTLED);
}

//  --------------------------------------------------------------------------
//  Snapshots

//  1. An operator sets an override, and the peer is told  2. the engine ends, and
//  the override is removed  3. an engine that knows of none is told a snapshot
Test (lane_marks, a_snapshot_takes_away_what_only_the_peer_has)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .snapshot = true);
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    s_expect_done (UP_PAIR);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 1);
}

Test (lane_marks, a_snapshot_is_told_where_there_was_nothing)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .snapshot = true);
    EXPECT ("Heartbeat a @5");
    lane_fixture_codes (&s, (const uint16_t[]){404});
    s_expect_done (UP_PAIR);
    EXPECT ("");
}

Test (lane_marks, a_snapshot_harms_nobody_who_is_newer)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .snapshot = true);
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 6);
    cr_expect_str_eq (s.said, "conflict a;");
    EXPECT ("");
}

Test (lane_marks, a_snapshot_of_a_lower_timestamp_is_a_life_anew)
{
    s_begin ();
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 3), .top = 5, .snapshot = true);
    s_expect_done ("Heartbeat a @5");
    s_expect_done ("Cancel a, Register a UP/UNKNOWN @3");
    EXPECT ("");
}

Test (lane_marks, a_snapshot_that_crosses_a_flight_is_told_after_it)
{
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5));
    EXPECT ("StatusUpdate a OUT_OF_SERVICE @5");
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .snapshot = true);
    lane_fixture_ok (&s);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (UP_PAIR);
    EXPECT ("");
}

//  A whole registry may be fed so
Test (lane_marks, live_changes_do_not_wait_for_snapshots)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .snapshot = true);
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .snapshot = true);
    lane_fixture_change (&s, 'b', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 7});
    EXPECT ("Register b UP/UNKNOWN @7");
    EXPECT ("Heartbeat a @5");
}

//  --------------------------------------------------------------------------
//  What was replicated

Test (lane_marks, a_vague_replicated_register_settles_nothing)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .replicated = true, .vague = true);
    cr_expect_eq (s_settled (), 0);
    s_expect_done (UP_PAIR);
}

Test (lane_marks, a_peer_that_missed_what_was_replicated_is_told)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .replicated = true);
    cr_expect_eq (s_settled (), 1);
    EXPECT ("Heartbeat a @5");
    lane_fixture_codes (&s, (const uint16_t[]){404});
    s_expect_done (UP_PAIR);
    EXPECT ("");
}

//  1. Another server sets an override at the peer  2. a resync from here, which
//  does not know it, takes it away  3. the event of 1 arrives here
Test (lane_marks,
      what_was_acted_upon_lately_is_not_proven_by_a_replicated_event)
{
    s_begin ();
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (UP_PAIR);
    s.now += 59000;
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5), .replicated = true);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (OUT_PAIR);
    EXPECT ("");
}

//  1. Another sets an override at all peers  2. a Register in that status goes there
//  3. the event of 1 arrives here, where a status that is there sets no override
Test (lane_marks, what_changes_nothing_here_may_have_changed_the_peer)
{
    CHANGE (REGISTER, LIVE (OUT, UNKNOWN, 5));
    s_expect_done ("Register a OUT_OF_SERVICE/UNKNOWN @5");
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_REPLICATED);
    s_expect_done ("Heartbeat a @5");
    s_expect_done ("DeleteStatusOverride a OUT_OF_SERVICE @5, "
                   "Register a OUT_OF_SERVICE/UNKNOWN @5");
    EXPECT ("");
}

Test (lane_marks, what_is_exactly_so_changes_nothing)
{
    CHANGE (REGISTER, LIVE (OUT, UNKNOWN, 5));
    s_expect_done ("Register a OUT_OF_SERVICE/UNKNOWN @5");
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_REPLICATED | ZPEER_CHANGE_EXACT);
    EXPECT ("");
}

Test (lane_marks, what_was_acted_upon_long_ago_is)
{
    s_begin ();
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5), .replicated = true);
    EXPECT ("");
}

//  1. A Register from here is on its way for long  2. another cancels at the peer
//  3. ours arrives there  4. the event of 2 arrives here
//  An override of the life that was forgotten here may live on at the peer
Test (lane_marks, what_comes_back_through_another_after_a_forget_is_owed)
{
    s_begin ();
    CHANGE (FORGET, GONE);
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .fresh = true, .replicated = true);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (UP_PAIR);
    EXPECT ("");
}

Test (lane_marks, a_replicated_cancel_of_what_was_told_lately_is_told)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    s_expect_done ("Register a UP/UNKNOWN @5");
    CHANGE (CANCEL, GONE, .replicated = true);
    s_expect_done ("Heartbeat a @5");
    s_expect_done ("Cancel a");
    EXPECT ("");
}

Test (lane_marks, a_cancel_that_waits_is_told_though_another_was_replicated)
{
    s_begin ();
    CHANGE (CANCEL, GONE);
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 6));
    CHANGE (CANCEL, GONE, .replicated = true);
    cr_expect_eq (s_settled (), 1);
    s_expect_done ("Cancel a");
    EXPECT ("");
}

//  --------------------------------------------------------------------------
//  What has an origin

Test (lane_marks, what_came_from_another_peer_is_news)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .origin = OTHERS);
    s_expect_done ("Register a UP/UNKNOWN @5");
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 6), .origin = OTHERS, .vague = true);
    s_expect_done ("Register a UP/UNKNOWN @6");
    CHANGE (CANCEL, GONE, .origin = OTHERS);
    s_expect_done ("Cancel a");
}

Test (lane_marks, what_came_from_the_peer_is_not_told_to_it)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .origin = MINE);
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5), .origin = MINE);
    CHANGE (HEARTBEAT, LIVE (OUT, OUT, 5), .origin = MINE);
    EXPECT ("");
    CHANGE (CANCEL, GONE, .origin = MINE);
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 0);
}

Test (lane_marks, what_waits_for_the_peer_is_settled_by_its_own_word)
{
    s_begin ();
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5));
    CHANGE (REGISTER, LIVE (OUT, OUT, 6));
    CHANGE (REGISTER, LIVE (OUT, OUT, 6), .origin = MINE);
    EXPECT ("");
    cr_expect_eq (s_settled (), 2);
}

Test (lane_marks, what_is_owed_to_the_peer_is_settled_by_its_own_word)
{
    s_begin ();
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    CHANGE (CANCEL, GONE, .origin = MINE);
    EXPECT ("");
    cr_expect_eq (zpeer_lane_owed (s.lane), 0);
}

//  It has cancelled the earlier life itself
Test (lane_marks, the_peer_holds_what_it_said_and_nothing_newer)
{
    s_begin ();
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 3), .top = 5, .origin = MINE);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_VERIFY);
    s_expect_done ("Heartbeat a @3");
    EXPECT ("");
}

Test (lane_marks, a_cancel_that_the_peer_has_made_itself_is_not_told)
{
    s_begin ();
    CHANGE (CANCEL, GONE);
    CHANGE (CANCEL, GONE, .origin = MINE);
    CHANGE (FORGET, .absent = true);
    EXPECT ("");
}

Test (lane_marks, what_the_peer_refused_and_has_by_now_is_not_told)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    EXPECT ("Register a UP/UNKNOWN @5");
    lane_fixture_codes (&s, (const uint16_t[]){403});
    cr_expect_str_eq (s.said, "rejected a;");
    s.now += 61000;
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5), .origin = MINE);
    EXPECT ("");
    cr_expect_eq (zpeer_lane_owed (s.lane), 0);
}

//  Which data the peer has an override does not say
Test (lane_marks, a_register_that_waits_is_told_though_the_override_is_there)
{
    s_begin ();
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5), .origin = MINE);
    s_expect_done (OUT_PAIR);
    EXPECT ("");
}

Test (lane_marks, the_peer_is_owed_what_the_view_says_otherwise)
{
    s_begin ();
    CHANGE (STATUS_UPDATE, LIVE (UP, UNKNOWN, 5), .origin = MINE,
            .vague = true);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (UP_PAIR);
    EXPECT ("");
}

//  What was sent from here may have come to it after what it said
Test (lane_marks, the_peer_is_owed_what_it_was_told_of_lately)
{
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    s_expect_done ("Register a UP/UNKNOWN @5");
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5), .origin = MINE);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (OUT_PAIR);
    EXPECT ("");
}

Test (lane_marks, what_crosses_the_word_of_the_peer_is_settled_after_it)
{
    s_begin ();
    CHANGE (HEARTBEAT, LIVE (UP, UNKNOWN, 5));
    EXPECT ("Heartbeat a @5");
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5), .origin = MINE);
    lane_fixture_ok (&s);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (OUT_PAIR);
}

//  1. It is told an override  2. its client registers there with an older timestamp
//  and other data  3. the override arrives, and makes those as new as the view's
Test (lane_marks, a_peer_that_is_older_is_told_whatever_it_says_by_then)
{
    s_begin ();
    CHANGE (STATUS_UPDATE, LIVE (OUT, OUT, 5));
    EXPECT ("StatusUpdate a OUT_OF_SERVICE @5");
    CHANGE (HEARTBEAT, LIVE (OUT, OUT, 5), .origin = MINE, .vague = true);
    lane_fixture_ok (&s);
    s_expect_done ("Heartbeat a @5");
    s_expect_done (OUT_PAIR);
    EXPECT ("");
}

Test (lane_marks, a_peer_that_is_newer_is_left_alone)
{
    CHANGE (HEARTBEAT, GONE, .given = 9, .origin = MINE, .vague = true);
    EXPECT ("");
    CHANGE (HEARTBEAT, GONE, .given = 9, .origin = OTHERS, .vague = true);
    s_expect_done ("Heartbeat a @9");
}

Test (lane_marks, a_heartbeat_that_waits_is_settled_by_the_peers_own)
{
    s_begin ();
    CHANGE (HEARTBEAT, LIVE (UP, UNKNOWN, 5));
    CHANGE (HEARTBEAT, LIVE (UP, UNKNOWN, 5), .origin = MINE);
    cr_expect_eq (s_settled (), 1);
    EXPECT ("");
    //  Data and override it says nothing of
    CHANGE (REGISTER, LIVE (UP, UNKNOWN, 5));
    CHANGE (HEARTBEAT, LIVE (UP, UNKNOWN, 5), .origin = MINE);
    s_expect_done ("Register a UP/UNKNOWN @5");
}

static void
s_verify_by (uint8_t origin)
{
    zpeer_change_t change = {
        .handle = 'a', .flags = ZPEER_CHANGE_VERIFY, .origin = origin};
    zpeer_lane_change (s.lane, s.now, &change);
}

Test (lane_marks, what_the_peer_has_cancelled_it_alone_is_asked_about)
{
    s_begin ();
    s_verify_by (OTHERS);
    EXPECT ("");
    s_verify_by (MINE);
    EXPECT ("Heartbeat a @5");
    lane_fixture_codes (&s, (const uint16_t[]){404});
    s_expect_done (UP_PAIR);
    s_verify_by (0);
    s_expect_done ("Heartbeat a @5");
    EXPECT ("");
}
