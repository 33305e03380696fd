//  An item that has the peer hang: no answer tells which one it is

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

#define TIMEOUT_MS 30000

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

TestSuite (lane_hang, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

static void
s_register (char name)
{
    lane_fixture_change (&s, name, ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
}

static void
s_cancel (char name)
{
    lane_fixture_change (&s, name, ZPEER_CANCEL,
                         (lane_state_t){.absent = true, .timestamp = 5});
}

//  The peer does not answer the batch that went last; and the pause is over
static void
s_hang (void)
{
    zpeer_result_t result = {.id = s.last_id,
                             .end = ZPEER_END_READ_TIMEOUT,
                             .verdict = ZPEER_CONGESTION,
                             .ambiguous = true};
    s.now += TIMEOUT_MS;
    cr_assert (zpeer_lane_done (s.lane, s.now, &result));
    s.now = zpeer_lane_pause (s.lane);
}

//  The same with a status
static void
s_refuse (uint16_t status)
{
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, true, status);
    if (zpeer_lane_pause (s.lane) > s.now)
        s.now = zpeer_lane_pause (s.lane);
}

//  A peer that hangs on every batch with this text. Returns how often, until so many
//  changes are delivered.
static unsigned
s_play (const char *bad, uint64_t delivered)
{
    unsigned timeouts = 0;
    while (timeouts < 20 &&
           lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED) < delivered) {
        if (!*lane_fixture_next (&s))
            s.now = zpeer_lane_wake (s.lane, s.now, 6);
        else if (strstr (s.sent, bad)) {
            s_hang ();
            timeouts++;
        }
        else
            lane_fixture_ok (&s);
    }
    return timeouts;
}

//  1. a is registered, b is new: Cancel a and Register b go in one batch. It fails.
//  2. The Cancel is late, so that it is asked about. The answer is a success.
//  3. Cancel a, which was asked about, and Register b went in one batch again.
Test (lane_hang, what_hung_with_another_is_told_without_it)
{
    s_register ('a');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_cancel ('a');
    s_register ('b');
    EXPECT ("Cancel a, Register b UP/UNKNOWN @5");
    s_hang ();
    cr_expect_leq (s_play ("Register b", 2), 1);
}

Test (lane_hang, good_neighbours_are_told_after_a_few_timeouts)
{
    for (char name = 'a'; name <= 'z'; name++)
        s_register (name);
    s_register ('A');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    for (char name = 'a'; name <= 'z'; name++)
        s_register (name);
    unsigned timeouts = s_play ("Register k", 27 + 25);
    cr_expect_leq (timeouts, 4, "%u", timeouts);
}

Test (lane_hang, others_go_before_what_hung)
{
    s_register ('x');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_register ('a');
    s_register ('b');
    lane_fixture_next (&s);
    s_hang ();
    s_register ('c');
    EXPECT ("Register c UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    EXPECT ("Register a UP/UNKNOWN @5");
}

//  A suspect because of its Register, which is asked about before it is told again:
//  when that hangs, it hung for ever.
Test (lane_hang, a_suspect_whose_question_hangs_is_given_up)
{
    zpeer_lane_stats_t stats;
    s_register ('x');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_register ('a');
    lane_fixture_next (&s);
    s_refuse (400);
    for (int i = 0; i < 2; i++) {
        s_register ('x');
        EXPECT ("Register x UP/UNKNOWN @5");
        lane_fixture_ok (&s);
        EXPECT ("Heartbeat a @5");
        s_hang ();
    }
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.resting, 1);
    EXPECT ("");
}

//  Whether the last attempt was a success depends on what else failed
Test (lane_hang, a_suspect_is_given_up_though_another_failed_just_before)
{
    zpeer_lane_stats_t stats;
    s_register ('x');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_register ('a');
    lane_fixture_next (&s);
    s_refuse (501);
    s_register ('x');
    EXPECT ("Register x UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
    s_register ('b');
    EXPECT ("Register b UP/UNKNOWN @5");
    uint64_t a = s.last_id - 1;
    s_hang ();
    s.last_id = a;
    s_refuse (501);
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.resting, 1);
}

//  It was answered 400 once, when the peer was in trouble. What stands before the peer
//  does not like it: that was never confirmed, and it was tried for ever.
Test (lane_hang, a_suspect_for_a_word_becomes_one_for_another_status)
{
    zpeer_lane_stats_t stats;
    s_register ('x');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_register ('a');
    lane_fixture_next (&s);
    s_refuse (400);
    for (int i = 0; i < 2; i++) {
        EXPECT ("Heartbeat a @5");
        lane_fixture_ok (&s);
        EXPECT ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5");
        s_refuse (403);
    }
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.resting, 1);
    EXPECT ("");
}

//  A peer that fails is told live changes first. If only what hangs is left of them,
//  what is owed was never told.
Test (lane_hang, what_is_owed_does_not_wait_for_what_hangs)
{
    s_register ('x');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_register ('a');
    lane_fixture_next (&s);
    s_hang ();
    lane_fixture_flag (&s, 'x', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat x @5");
    lane_fixture_ok (&s);
    EXPECT ("DeleteStatusOverride x UP @5, Register x UP/UNKNOWN @5");
}
