//  400 and 413: one bad item does not take 249 good ones with it

#include <stdio.h>
#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

#define INSTANCES 26

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

TestSuite (lane_split, .init = s_setup, .fini = s_teardown);

static void
s_register_all (void)
{
    for (char name = 'a'; name < 'a' + INSTANCES; name++)
        lane_fixture_change (
            &s, name, ZPEER_REGISTER,
            (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
}

//  A peer that answers 400 to every batch with a Register of this instance.
//  Returns the number of requests until nothing is sent for half a minute; gives up
//  at most.
static unsigned
s_play (char bad, unsigned most)
{
    char text[32];
    unsigned requests = 0;
    snprintf (text, sizeof text, "Register %c", bad);
    for (; requests < most; requests++) {
        if (!*lane_fixture_next (&s)) {
            uint64_t wake = zpeer_lane_wake (s.lane, s.now, 6);
            if (wake > s.now + 30000)
                break;
            s.now = wake;
            if (!*lane_fixture_next (&s))
                break;
        }
        if (strstr (s.sent, text) || bad == '*')
            lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
        else
            lane_fixture_ok (&s);
    }
    return requests;
}

Test (lane_split, the_bad_item_alone_is_rejected)
{
    s_register_all ();
    cr_expect_leq (s_play ('q', 100), 20);
    cr_expect_not_null (strstr (s.said, "rejected q;"));
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_REJECTED), 1);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED),
                  INSTANCES - 1);
    cr_expect (zpeer_lane_idle (s.lane));
}

Test (lane_split, a_peer_that_answers_400_to_everything_rejects_nothing)
{
    s_register_all ();
    s_play ('*', 60);
    cr_expect_null (strstr (s.said, "rejected"));
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_REJECTED), 0);
    s_play ('-', 60);
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.owed, 0);
    cr_expect_eq (stats.waiting, 0);
}

Test (lane_split, a_batch_too_large_is_halved)
{
    s_register_all ();
    lane_fixture_next (&s);
    unsigned items = s.items;
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 413);
    cr_expect_neq (*lane_fixture_next (&s), 0);
    cr_expect_leq (s.items, items / 2);
    cr_expect_geq (s.items, items / 2 - 1);
}

Test (lane_split, an_item_too_large_is_rejected_the_second_time)
{
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 413);
    cr_expect_str_eq (s.said, "dropped a;", "the peer may be in trouble");
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5");
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 413);
    cr_expect_str_eq (s.said, "dropped a;rejected a;");
}

Test (lane_split, the_byte_limit_grows_again)
{
    zpeer_lane_stats_t stats;
    s_register_all ();
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 413);
    zpeer_lane_stats (s.lane, &stats);
    uint32_t limit = stats.byte_limit;
    cr_expect_lt (limit, s.options.max_bytes);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_gt (stats.byte_limit, limit);
    for (unsigned i = 0; i < 100 && stats.byte_limit < s.options.max_bytes;
         i++) {
        s_register_all ();
        while (*lane_fixture_next (&s))
            lane_fixture_ok (&s);
        zpeer_lane_stats (s.lane, &stats);
    }
    cr_expect_gt (stats.byte_limit, 2 * limit);
}

//  All instances are registered again while a batch of them is being halved, each
//  a quarter of what a batch may have
Test (lane_split, a_part_that_has_grown_has_no_more_bytes_than_a_batch)
{
    s_register_all ();
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    for (char name = 'a'; name < 'a' + INSTANCES; name++)
        lane_fixture_change (
            &s, name, ZPEER_REGISTER,
            (lane_state_t){.status = ZPEER_UP,
                           .timestamp = 6,
                           .info_bytes = s.options.max_bytes / 4});
    unsigned items = 0;
    while (*lane_fixture_next (&s)) {
        cr_expect_leq (s.items, 3);
        items += s.items;
        lane_fixture_ok (&s);
    }
    cr_expect_eq (items, INSTANCES);
}

//  A batch of two is refused, of which one is forgotten while it is on its way:
//  that one may be the bad one
static void
s_refuse_with_a_forgotten_one (uint16_t status)
{
    lane_state_t state = {.status = ZPEER_UP, .timestamp = 5};
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, state);
    lane_fixture_change (&s, 'b', ZPEER_REGISTER, state);
    lane_fixture_next (&s);
    cr_assert_eq (s.items, 2);
    lane_fixture_change (&s, 'b', ZPEER_FORGET, (lane_state_t){.absent = true});
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, status);
    cr_expect_str_eq (s.said, "");
    cr_expect_str_eq (lane_fixture_next (&s), "Register a UP/UNKNOWN @5");
}

Test (lane_split, with_a_forgotten_one_an_instance_was_not_alone)
{
    s_refuse_with_a_forgotten_one (400);
}

Test (lane_split, with_a_forgotten_one_a_batch_too_large_rejects_nobody)
{
    s_refuse_with_a_forgotten_one (413);
}

static const lane_state_t s_up = {.status = ZPEER_UP, .timestamp = 5};

static void
s_fail_alone (const char *sent, uint16_t status)
{
    cr_expect_str_eq (lane_fixture_next (&s), sent);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, status);
}

//  1. Refused alone, 'a' rests. Its Heartbeats go on, one of them in a batch that is
//     refused, too.
//  2. Before that is bisected its time comes: with what is told of it now the others
//     of its part would be refused.
Test (lane_split, a_suspect_that_is_tried_again_has_no_company_in_a_part)
{
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, s_up);
    s_fail_alone ("Register a UP/UNKNOWN @5", 400);
    s.now = zpeer_lane_pause (s.lane);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_fail_alone ("DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5",
                  400);
    cr_expect_not_null (strstr (s.said, "rejected a;"));
    lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, s_up);
    for (char name = 'b'; name <= 'd'; name++)
        lane_fixture_change (&s, name, ZPEER_REGISTER, s_up);
    lane_fixture_next (&s);
    cr_expect_eq (s.items, 4);
    s.now += 75000;
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    //  Where the batch began is chance: the other half may be the first
    while (!strstr (lane_fixture_next (&s), "Heartbeat a"))
        lane_fixture_ok (&s);
    cr_expect_str_eq (s.sent, "Heartbeat a @5");
}

//  It rests half a minute for that, though it rested before for another reason
Test (lane_split, a_conflict_that_fails_by_chance_is_not_rejected)
{
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, s_up);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    for (int i = 0; i < 3; i++) {
        if (i)
            s_fail_alone ("Heartbeat a @5", 403);
        s.now += 10000;
        lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, s_up);
        if (i < 2 && *lane_fixture_next (&s))
            lane_fixture_conflict (&s, 9);
        lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, s_up);
    }
    cr_expect_null (strstr (s.said, "rejected"), "%s", s.said);
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (s.lane, &stats);
    cr_expect_eq (stats.resting, 1);
}

//  It failed twice with a success in between, and rested for that. That it fails once
//  more says nothing when nobody was answered since.
Test (lane_split, a_peer_that_answers_nobody_any_more_rejects_nobody)
{
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, s_up);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    for (int i = 0; i < 2; i++) {
        lane_fixture_change (&s, 'a', ZPEER_HEARTBEAT, s_up);
        s_fail_alone ("Heartbeat a @5", 403);
        s.now = zpeer_lane_wake (s.lane, s.now, 6);
        if (!i && *lane_fixture_next (&s))
            lane_fixture_ok (&s);
    }
    s_fail_alone ("Heartbeat a @5", 403);
    cr_expect_null (strstr (s.said, "rejected"), "%s", s.said);
}

//  An instance that needs two items where a batch has room for one
Test (lane_small, each_instance_goes_alone_with_both_its_items)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.max_items = 1;
    lane_fixture_t small;
    lane_fixture_init_with (&small, &options);
    for (char name = 'a'; name <= 'c'; name++)
        lane_fixture_change (
            &small, name, ZPEER_REGISTER,
            (lane_state_t){.status = ZPEER_UP, .timestamp = 5, .fresh = true});
    for (char name = 'a'; name <= 'c'; name++) {
        lane_fixture_next (&small);
        cr_expect_eq (small.items, 2);
        lane_fixture_ok (&small);
    }
    lane_fixture_fini (&small);
}

//  Ids of batches begin anywhere
Test (lane_small, where_nothing_was_ever_answered_no_suspicion_is_confirmed)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    lane_fixture_init_with (&s, &options);
    s.next_id = UINT64_C (2640560832);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    for (int i = 0; i < 4; i++) {
        cr_expect_neq (*lane_fixture_next (&s), 0, "try %d", i);
        lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
        s.now = zpeer_lane_pause (s.lane);
    }
    cr_expect_null (strstr (s.said, "rejected"), "%s", s.said);
    lane_fixture_fini (&s);
}

//  It was answered 400, and is registered anew; then the connection breaks
Test (lane_small, what_may_be_chance_confirms_no_refusal)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    lane_state_t up = {.status = ZPEER_UP, .timestamp = 5};
    lane_fixture_init_with (&s, &options);
    lane_fixture_change (&s, 'b', ZPEER_REGISTER, up);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, up);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    s.now = zpeer_lane_pause (s.lane);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    zpeer_result_t lost = {.id = s.last_id,
                           .end = ZPEER_END_RESET,
                           .verdict = ZPEER_TRANSIENT_ERROR,
                           .ambiguous = true};
    zpeer_lane_done (s.lane, s.now, &lost);
    s.now = zpeer_lane_pause (s.lane);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5", "%s", s.said);
    lane_fixture_fini (&s);
}

//  One that was sent before the peer began to answer 400 says nothing
Test (lane_small, an_answer_to_an_earlier_batch_confirms_no_suspicion)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.max_items = 1;
    lane_fixture_init_with (&s, &options);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_change (&s, 'b', ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
    lane_fixture_next (&s);
    uint64_t first = s.last_id;
    lane_fixture_next (&s);
    uint64_t second = s.last_id;
    s.last_id = first;
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    s.last_id = second;
    lane_fixture_ok (&s);
    for (int i = 0; i < 5; i++) {
        s.now = zpeer_lane_wake (s.lane, s.now, 6);
        if (*lane_fixture_next (&s))
            lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    }
    cr_expect_null (strstr (s.said, "rejected"), "%s", s.said);
    lane_fixture_fini (&s);
}

//  What was sent after the second try, and answered before it, says nothing of the
//  time when it was refused
Test (lane_small, an_answer_beside_the_second_try_confirms_no_suspicion)
{
    lane_state_t up = {.status = ZPEER_UP, .timestamp = 5};
    zpeer_lane_options_t options = lane_fixture_options ();
    options.max_items = 1;
    lane_fixture_init_with (&s, &options);
    lane_fixture_change (&s, 'b', ZPEER_REGISTER, up);
    lane_fixture_change (&s, 'a', ZPEER_REGISTER, up);
    lane_fixture_next (&s);
    uint64_t earlier = s.last_id;
    cr_expect_str_eq (lane_fixture_next (&s), "Register a UP/UNKNOWN @5");
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    s.last_id = earlier;
    lane_fixture_ok (&s);  //  So that two may be in flight
    s.now = zpeer_lane_pause (s.lane);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5");
    uint64_t second = s.last_id;
    lane_fixture_change (&s, 'c', ZPEER_REGISTER, up);
    cr_expect_str_eq (lane_fixture_next (&s), "Register c UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    s.last_id = second;
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    cr_expect_null (strstr (s.said, "rejected"), "%s", s.said);
    lane_fixture_fini (&s);
}
