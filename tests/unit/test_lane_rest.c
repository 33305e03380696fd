//  What a peer does not take, or not keep, is tried again: nothing is final while
//  the source says that the instance lives

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "lane_scenario.h"
#include "banned.h"

#define MINUTE_MS  60000
#define RENEWAL_MS 30000

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

TestSuite (lane_rest, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)
#define CODES(...)   lane_fixture_codes (&s, (const uint16_t[]){__VA_ARGS__})
#define PAIR         "DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5"

static const lane_state_t s_up = {.status = ZPEER_UP, .timestamp = 5};

static void
s_register (char name)
{
    lane_fixture_change (&s, name, ZPEER_REGISTER, s_up);
}

//  Says the same as the lane was told before
static void
s_beat (char name)
{
    zpeer_change_t change = {.handle = (uint32_t) name,
                             .action = ZPEER_HEARTBEAT};
    zpeer_lane_change (s.lane, s.now, &change);
}

static zpeer_lane_stats_t
s_stats (void)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    return stats;
}

//  A peer that restarts, empty, between all heartbeats
static void
s_lose_it_four_times (void)
{
    s_register ('a');
    lane_fixture_next (&s);
    CODES (200);
    for (int i = 0; i < 3; i++) {
        cr_expect_str_eq (s.said, "");
        s.now += RENEWAL_MS;
        s_beat ('a');
        EXPECT ("Heartbeat a @5");
        CODES (404);
        EXPECT (PAIR);
        CODES (404, 200);
    }
    cr_expect_str_eq (s.said, "rejected a;", "it is reported, once");
    cr_expect_eq (s_stats ().rejected, 1);
}

Test (lane_rest, a_peer_that_restarts_between_heartbeats_goes_on_being_told)
{
    s_lose_it_four_times ();
    for (int i = 0; i < 20; i++) {
        s.now += RENEWAL_MS;
        s_beat ('a');
        EXPECT ("Heartbeat a @5");
        CODES (404);
        EXPECT (PAIR);
        CODES (404, 200);
    }
    cr_expect_str_eq (s.said, "rejected a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_REJECTED), 0);
    cr_expect_geq (lane_fixture_ended (&s, ZPEER_ENDED_MISSING), 3);
}

//  Once it is well, without one more event
Test (lane_rest, what_it_lost_last_is_told_without_an_event)
{
    s_lose_it_four_times ();
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    CODES (404);
    EXPECT (PAIR);
    CODES (404, 200);
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    cr_expect_eq (s_stats ().rejected, 0);
    cr_expect_eq (s_stats ().resting, 0);
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 6), UINT64_MAX);
}

//  Whoever stores nothing costs no more for that
Test (lane_rest, it_is_told_once_each_renewal_interval)
{
    s_lose_it_four_times ();
    unsigned told = 0;
    for (int i = 0; i < 600; i++) {
        s_beat ('a');
        while (*lane_fixture_next (&s))
            if (strstr (s.sent, "Register")) {
                told++;
                CODES (404, 200);
            }
            else
                CODES (404);
        s.now += 1000;
    }
    cr_expect_leq (told, 600000 / RENEWAL_MS + 1, "%u", told);
    cr_expect_geq (told, 600000 / RENEWAL_MS - 2, "%u", told);
}

Test (lane_rest, its_other_changes_go_as_those_of_any_other)
{
    s_lose_it_four_times ();
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_DOWN,
                                        .override = ZPEER_DOWN,
                                        .timestamp = 5});
    EXPECT ("StatusUpdate a DOWN @5");
}

//  A peer may take a status of what it does not keep
Test (lane_rest, no_other_change_puts_off_the_next_time)
{
    s_lose_it_four_times ();
    for (int i = 0; i < 3; i++) {
        s.now += RENEWAL_MS / 3;
        lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                             (lane_state_t){.status = ZPEER_DOWN,
                                            .override = ZPEER_DOWN,
                                            .timestamp = 5});
        while (strcmp (lane_fixture_next (&s), "Heartbeat a @5") != 0 &&
               *s.sent)
            CODES (200);
    }
    cr_expect_str_eq (s.sent, "Heartbeat a @5");
}

//  A peer that was there and could not be told is told, however long it takes
Test (lane_rest, a_cancel_that_was_refused_is_not_let_go_of)
{
    s_register ('a');
    lane_fixture_next (&s);
    CODES (200);
    lane_fixture_change (&s, 'a', ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
    EXPECT ("Cancel a");
    CODES (403);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_RELEASE);
    cr_expect_str_eq (s.said, "rejected a;");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("Cancel a");
    CODES (200);
    cr_expect_str_eq (s.said, "rejected a;released a;");
}

//  Bad items ----------------------------------------------------------------------------

static void
s_refuse (void)
{
    s_register ('a');
    lane_fixture_next (&s);
    CODES (422);
    cr_expect_str_eq (s.said, "rejected a;");
}

Test (lane_rest,
      a_refused_item_is_tried_again_after_a_minute_then_two_then_four)
{
    s_refuse ();
    uint64_t pause_ms = MINUTE_MS;
    for (int i = 0; i < 10; i++) {
        uint64_t at = zpeer_lane_wake (s.lane, s.now, 6);
        cr_expect_geq (at - s.now, pause_ms);
        cr_expect_leq (at - s.now, pause_ms + pause_ms / 4);
        s.now = at;
        EXPECT ("Heartbeat a @5");
        CODES (404);
        EXPECT (PAIR);
        CODES (404, 422);
        if (pause_ms < 32 * MINUTE_MS)
            pause_ms *= 2;
    }
    cr_expect_str_eq (s.said, "rejected a;", "it is reported once");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    lane_fixture_next (&s);
    CODES (404);
    EXPECT (PAIR);
    CODES (404, 200);
    cr_expect_eq (s_stats ().rejected, 0);
    cr_expect_eq (zpeer_lane_wake (s.lane, s.now, 6), UINT64_MAX);
}

//  The peer may have an older registration of it, which must not run out for that
Test (lane_rest, its_heartbeats_go_on_if_only_its_register_was_refused)
{
    s_refuse ();
    s_beat ('a');
    EXPECT ("Heartbeat a @5");
    CODES (404);
    EXPECT ("");
    s_beat ('a');
    EXPECT ("Heartbeat a @5");
    CODES (200);
    cr_expect_eq (s_stats ().rejected, 1, "that is not what it refused");
    cr_expect_eq (s_stats ().resting, 1);
}

//  That the peer has an older one is not enough, though it missed that before
Test (lane_rest, what_changed_while_it_was_held_is_told_whatever_it_misses)
{
    s_register ('a');
    lane_fixture_next (&s);
    CODES (200);
    s_register ('a');
    lane_fixture_next (&s);
    CODES (422);
    s_beat ('a');
    lane_fixture_next (&s);
    CODES (404);
    lane_fixture_change (&s, 'a', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_DOWN,
                                        .override = ZPEER_DOWN,
                                        .timestamp = 5});
    EXPECT ("");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    CODES (200);
    EXPECT ("DeleteStatusOverride a DOWN @5, Register a DOWN/DOWN @5");
}

Test (lane_rest, no_heartbeat_goes_if_a_heartbeat_was_refused)
{
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, s_up);
    lane_fixture_next (&s);
    CODES (422);
    s_beat ('a');
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_REJECTED), 2);
}

//  Conflicts ----------------------------------------------------------------------------

Test (lane_rest, a_conflict_is_asked_about_again)
{
    s_register ('a');
    lane_fixture_next (&s);
    CODES (200);
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "conflict a;");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "conflict a;", "that is no news");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    CODES (404);
    EXPECT (PAIR);
    CODES (404, 200);
    cr_expect_eq (s_stats ().resting, 0);
}

//  What changed here meanwhile was not told, as an override that was removed
Test (lane_rest, a_conflict_that_another_ends_is_told)
{
    s_register ('a');
    lane_fixture_next (&s);
    CODES (200);
    s.now += 120000;
    lane_fixture_flag (&s, 'a', ZPEER_CHANGE_OWE);
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP,
                                        .timestamp = 9,
                                        .replicated = true,
                                        .vague = true});
    EXPECT ("Heartbeat a @9");
    CODES (200);
    EXPECT ("DeleteStatusOverride a UP @9, Register a UP/UNKNOWN @9");
}

Test (lane_rest, another_may_register_what_is_cancelled_here)
{
    lane_fixture_cancel (&s, 'a', 5);
    EXPECT ("Cancel a");
    CODES (403);
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    EXPECT ("Heartbeat a @5");
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "rejected a;conflict a;", "so it ends");
    cr_expect_eq (s_stats ().resting, 0);
    cr_expect_eq (s_stats ().rejected, 0, "nothing is refused any more");
}

//  A batch refused for one item ---------------------------------------------------------

static lane_scenario_t w;
static unsigned s_with_bad;

static void
s_picky (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
         scenario_attempt_t *attempt)
{
    bool bad = false;
    for (uint32_t i = 0; i < batch->count; i++)
        bad |= self->bad[batch->items[i].state->handle] &&
               batch->items[i].action == ZPEER_REGISTER;
    s_with_bad += bad;
    attempt->at = self->now + 1;
    attempt->end = bad ? ZPEER_END_STATUS : ZPEER_END_OK;
    attempt->result.status = bad ? 400 : 200;
}

//  Hours with so many instances, some of them bad, that are all renewed
static void
s_live (unsigned instances, unsigned hours)
{
    for (unsigned i = 0; i < hours * 120; i++) {
        uint64_t at = w.now;
        w.requests = w.requests < SCENARIO_REQUESTS_MAX / 2 ? w.requests : 0;
        lane_scenario_renew (&w, 0, instances);
        lane_scenario_run (&w, RENEWAL_MS);
        w.now = at + RENEWAL_MS;
    }
}

static void
s_begin_bad (unsigned instances, unsigned bad)
{
    lane_scenario_begin (&w, s_picky);
    for (unsigned i = 0; i < bad; i++)
        w.bad[i * 3] = true;
    lane_scenario_register (&w, 0, instances);
    lane_scenario_run (&w, 20000);
    cr_expect_eq (w.rejected, bad);
    s_with_bad = 0;
}

//  In batches of one item, as it comes
Test (lane_rest_alone, what_poisons_a_batch_makes_one_request_in_a_hundred)
{
    s_begin_bad (100, 20);
    uint64_t before = w.last_id;
    s_live (100, 4);
    uint64_t requests = w.last_id - before;
    uint64_t by_time = 4 * 12;
    cr_expect_gt (s_with_bad, 0);
    cr_expect_leq (s_with_bad, requests / 100 + by_time, "%u of %llu",
                   s_with_bad, (unsigned long long) requests);
    lane_scenario_end (&w);
}

Test (lane_rest_alone, what_is_bad_no_more_is_told_without_an_event)
{
    s_begin_bad (30, 4);
    memset (w.bad, 0, sizeof w.bad);
    lane_scenario_run (&w, 30 * MINUTE_MS);
    cr_expect_eq (lane_scenario_stats (&w).rejected, 0);
    cr_expect_eq (lane_scenario_stats (&w).resting, 0);
    lane_scenario_end (&w);
}

//  It is registered again and again: that takes no other along
Test (lane_rest_alone, a_register_of_it_is_tried_alone_and_not_more_often)
{
    s_begin_bad (30, 1);
    for (int i = 0; i < 120; i++) {
        lane_scenario_register (&w, 0, 1);
        lane_scenario_run (&w, 1000);
        w.now += 1000;
    }
    cr_expect_leq (s_with_bad, 120 / 30 + 1, "%u", s_with_bad);
    lane_scenario_end (&w);
}
