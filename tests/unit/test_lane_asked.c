//  How long the answer to a question counts, and how much is asked at once

#include <stdlib.h>
#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "lane_scenario.h"
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

TestSuite (lane_asked, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

static void
s_cancel_late (void)
{
    lane_fixture_change (&s, 'a', ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
    zpeer_lane_hold (s.lane, s.now + 5000);
    s.now += 5000;
    EXPECT ("Heartbeat a @5");
}

//  The peer has them, and the lane missed a change of each
static void
s_owe (char from, char to)
{
    lane_state_t up = {.status = ZPEER_UP, .timestamp = 5};
    for (char name = from; name <= to; name++)
        lane_fixture_change (&s, name, ZPEER_REGISTER, up);
    while (*lane_fixture_next (&s))
        lane_fixture_ok (&s);
    for (char name = from; name <= to; name++)
        lane_fixture_flag (&s, name, ZPEER_CHANGE_OWE);
}

//  The other lane of the peer is told to wait by Retry-After, and both do
Test (lane_asked, after_a_pause_a_late_cancel_is_asked_for_again)
{
    s_cancel_late ();
    lane_fixture_ok (&s);
    zpeer_lane_hold (s.lane, s.now + 25000);
    s.now += 25000;
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "conflict a;");
    EXPECT ("");
}

Test (lane_asked, without_a_dispatcher_an_answer_grows_old)
{
    s_cancel_late ();
    lane_fixture_ok (&s);
    cr_expect_str_eq (lane_fixture_next_of (&s, 0), "");
    s.now += 1001;
    EXPECT ("Heartbeat a @5");
}

Test (lane_asked, an_answer_counts_for_a_second)
{
    s_cancel_late ();
    s.now += 29000;  //  It counts from when it came
    lane_fixture_ok (&s);
    s.now += 1000;
    EXPECT ("Cancel a");
}

//  A firewall that refuses one of them voids no answer about another
Test (lane_asked, a_failure_of_others_voids_no_answer)
{
    lane_state_t up = {.status = ZPEER_UP, .timestamp = 5};
    s_owe ('a', 'a');
    lane_fixture_next (&s);
    uint64_t question = s.last_id;
    lane_fixture_change (&s, 'b', ZPEER_REGISTER, up);
    EXPECT ("Register b UP/UNKNOWN @5");
    uint64_t other = s.last_id;
    s.last_id = question;
    lane_fixture_ok (&s);
    s.last_id = other;
    lane_fixture_fail (&s, ZPEER_TRANSIENT_ERROR, false, 0);
    s.now += 100;
    lane_fixture_next (&s);
    cr_expect_not_null (strstr (s.sent, "DeleteStatusOverride a"), "%s",
                        s.sent);
}

//  And in the order in which they were asked about
Test (lane_asked, what_was_answered_goes_in_the_very_next_batch)
{
    lane_state_t up = {.status = ZPEER_UP, .timestamp = 5};
    s_owe ('a', 'c');
    EXPECT ("Heartbeat a @5, Heartbeat b @5, Heartbeat c @5");
    for (char name = 'm'; name <= 'p'; name++)
        lane_fixture_change (&s, name, ZPEER_REGISTER, up);
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    const char *a = strstr (s.sent, "Register a");
    const char *b = strstr (s.sent, "Register b");
    const char *c = strstr (s.sent, "Register c");
    cr_assert (a && b && c, "%s", s.sent);
    cr_expect (a < b && b < c, "%s", s.sent);
}

//  Ten are owed; a batch has room for six items, an act needs two
Test (lane_asked_small, no_more_is_asked_than_a_batch_can_act_on)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.max_items = 6;
    lane_fixture_init_with (&s, &options);
    s_owe ('a', 'j');
    unsigned told = 0;
    for (int round = 0; round < 20 && *lane_fixture_next (&s); round++) {
        bool questions = !strstr (s.sent, "Register");
        cr_expect_leq (s.items, questions ? 3 : 6, "%s", s.sent);
        told += questions ? 0 : s.items / 2;
        s.now += 2000;  //  The peer takes its time
        lane_fixture_ok (&s);
    }
    cr_expect_eq (told, 10);
    s_teardown ();
}

//  A peer that takes long for each batch, however small --------------------------------

#define OWED_INSTANCES 40
#define QUESTIONS_MAX  2  //  To each, on average, until all are told

static lane_scenario_t w;
static uint32_t s_took_ms;
static unsigned s_questions;
static unsigned s_early;  //  Acts without a question not a second before

static uint64_t s_answered_at[SCENARIO_INSTANCES];

static void
s_slow (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
        scenario_attempt_t *attempt)
{
    attempt->at = self->now + s_took_ms;
    attempt->end = ZPEER_END_OK;
    for (uint32_t i = 0; i < batch->count; i++) {
        const zpeer_item_t *item = &batch->items[i];
        uint64_t *answered = &s_answered_at[item->state->handle];
        if (item->action == ZPEER_HEARTBEAT) {
            s_questions++;
            *answered = attempt->at;
        }
        else if (item->action == ZPEER_DELETE_STATUS_OVERRIDE)
            s_early += self->now > *answered + 1000;
    }
}

static void
s_become_whole (uint32_t took_ms)
{
    lane_scenario_begin_with (&w, s_slow, 30000);
    s_took_ms = 1;
    s_questions = s_early = 0;
    lane_scenario_register (&w, 0, OWED_INSTANCES);
    lane_scenario_run (&w, 60000);
    lane_scenario_owe (&w, 0, OWED_INSTANCES);
    s_took_ms = took_ms;
    lane_scenario_run (&w, 4 * 3600 * 1000);
    cr_expect_eq (lane_scenario_stats (&w).owed, 0, "%u ms: %u are owed",
                  took_ms, lane_scenario_stats (&w).owed);
    cr_expect_leq (s_questions, QUESTIONS_MAX * OWED_INSTANCES,
                   "%u ms: %u questions", took_ms, s_questions);
    cr_expect_eq (s_early, 0, "%u ms", took_ms);
    lane_scenario_end (&w);
}

Test (lane_asked_slow, a_peer_becomes_whole_however_slow_it_is)
{
    static const uint32_t took_ms[] = {10,   100,   900,   1000,  1100,
                                       2000, 10000, 15000, 25000, 29000};
    for (size_t i = 0; i < sizeof took_ms / sizeof *took_ms; i++)
        s_become_whole (took_ms[i]);
}

//  What is on its way as the source has it now does not make the question a repair
Test (lane_asked, a_verify_beside_a_heartbeat_only_asks)
{
    lane_state_t up = {.status = ZPEER_UP, .timestamp = 5};
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, up);
    EXPECT ("Register a UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, up);
    EXPECT ("Heartbeat a @5");
    zpeer_lane_walk_begin (s.lane);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_VERIFY | ZPEER_CHANGE_WALK);
    zpeer_lane_walk_complete (s.lane);
    lane_fixture_ok (&s);
    EXPECT ("Heartbeat a @5");
    lane_fixture_ok (&s);
    EXPECT ("");
}

//  News of a conflict is sent as of any other instance, unasked
Test (lane_asked, what_is_new_of_a_conflict_is_told_at_once)
{
    s_owe ('a', 'a');
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "conflict a;");
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_DOWN,
                                        .override = ZPEER_DOWN,
                                        .timestamp = 6});
    EXPECT ("StatusUpdate a DOWN @6");
}
