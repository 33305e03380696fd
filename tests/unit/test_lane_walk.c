//  Walks of the whole view: resync and verify; and what is owed

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

TestSuite (lane_walk, .init = s_setup, .fini = s_teardown);

static void
s_register (char name)
{
    lane_fixture_change (&s, name, ZPEER_REGISTER,
                         (lane_state_t){.status = ZPEER_UP, .timestamp = 5});
}

//  Registered, and confirmed
static void
s_have (char name)
{
    s_register (name);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
}

static void
s_cancel (char name)
{
    lane_fixture_change (&s, name, ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
}

static void
s_walk (const char *names, unsigned flag)
{
    zpeer_lane_walk_begin (s.lane);
    for (; *names; names++)
        lane_fixture_flag (&s, *names, flag | ZPEER_CHANGE_WALK);
    zpeer_lane_walk_complete (s.lane);
}

//  instances, left, repaired, refused
static void
s_expect (uint32_t instances, uint32_t left, uint32_t repaired,
          uint32_t refused)
{
    zpeer_lane_walk_t walk;
    zpeer_lane_walk (s.lane, &walk);
    cr_expect_eq (walk.instances, instances, "instances %u", walk.instances);
    cr_expect_eq (walk.left, left, "left %u", walk.left);
    cr_expect_eq (walk.repaired, repaired, "repaired %u", walk.repaired);
    cr_expect_eq (walk.refused, refused, "refused %u", walk.refused);
}

Test (lane_walk, a_resync_asks_and_tells_everything)
{
    s_have ('a');
    s_cancel ('b');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_walk ("ab", ZPEER_CHANGE_OWE);
    s_expect (2, 2, 0, 0);
    cr_expect_eq (zpeer_lane_owed (s.lane), 2);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5, Heartbeat b @5");
    lane_fixture_codes (&s, (uint16_t[]){200, 404});
    cr_expect_str_eq (
        lane_fixture_next (&s),
        "DeleteStatusOverride a UP @5, Register a UP/UNKNOWN @5, Cancel b");
    lane_fixture_ok (&s);
    s_expect (2, 0, 2, 0);
    cr_expect_eq (zpeer_lane_owed (s.lane), 0);
}

Test (lane_walk, a_verify_asks_with_heartbeats_and_repairs_what_differs)
{
    s_have ('a');
    s_have ('b');
    s_have ('c');
    s_walk ("abc", ZPEER_CHANGE_VERIFY);
    cr_expect_str_eq (lane_fixture_next (&s),
                      "Heartbeat a @5, Heartbeat b @5, Heartbeat c @5");
    uint16_t codes[] = {200, 404, 200};
    lane_fixture_codes (&s, codes);
    s_expect (3, 1, 0, 0);
    cr_expect_str_eq (lane_fixture_next (&s), "DeleteStatusOverride b UP @5, "
                                              "Register b UP/UNKNOWN @5");
    lane_fixture_ok (&s);
    s_expect (3, 0, 1, 0);
    cr_expect_str_eq (lane_fixture_next (&s), "");
}

//  A peer answers 404 for an older copy, too
Test (lane_walk, a_verify_cancels_what_is_cancelled_whatever_the_peer_says)
{
    s_have ('a');
    s_cancel ('a');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_walk ("a", ZPEER_CHANGE_VERIFY);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5");
    uint16_t codes[] = {404};
    lane_fixture_codes (&s, codes);
    cr_expect_str_eq (lane_fixture_next (&s), "Cancel a");
    lane_fixture_ok (&s);
    s_expect (1, 0, 1, 0);
}

Test (lane_walk, what_is_cancelled_and_not_there_was_not_repaired)
{
    s_have ('a');
    s_cancel ('a');
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_walk ("a", ZPEER_CHANGE_VERIFY);
    lane_fixture_next (&s);
    lane_fixture_codes (&s, (uint16_t[]){404});
    cr_expect_str_eq (lane_fixture_next (&s), "Cancel a");
    lane_fixture_codes (&s, (uint16_t[]){404});
    s_expect (1, 0, 0, 0);
}

Test (lane_walk, a_newer_registration_at_the_peer_is_left_alone)
{
    s_have ('a');
    s_walk ("a", ZPEER_CHANGE_VERIFY);
    lane_fixture_next (&s);
    lane_fixture_conflict (&s, 9);
    cr_expect_str_eq (s.said, "conflict a;");
    s_expect (1, 0, 0, 1);
    cr_expect_str_eq (lane_fixture_next (&s), "");
}

static void
s_have_refused (char name)
{
    s_register (name);
    lane_fixture_next (&s);
    lane_fixture_codes (&s, (uint16_t[]){418});
    cr_assert_not_null (strstr (s.said, "rejected"));
}

Test (lane_walk, a_resync_gives_what_was_rejected_another_chance)
{
    s_have_refused ('a');
    s_walk ("a", ZPEER_CHANGE_OWE);
    s_expect (1, 1, 0, 0);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5");
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_expect (1, 0, 1, 0);
}

//  That it was "0 refused" then would not be so
Test (lane_walk, a_verify_tries_what_was_rejected)
{
    s_have_refused ('a');
    s_walk ("a", ZPEER_CHANGE_VERIFY);
    s_expect (1, 1, 0, 0);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5");
    lane_fixture_codes (&s, (uint16_t[]){404});
    lane_fixture_next (&s);
    lane_fixture_codes (&s, (uint16_t[]){404, 403});
    s_expect (1, 0, 0, 1);
}

//  Not behind the owed ones, and not in one large batch with them
Test (lane_walk, a_live_change_goes_at_once)
{
    for (char name = 'a'; name <= 'j'; name++)
        s_have (name);
    lane_fixture_change (&s, 'j', ZPEER_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_DOWN,
                                        .override = ZPEER_DOWN,
                                        .timestamp = 6});
    s_walk ("abcdefghij", ZPEER_CHANGE_OWE);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat j @6");
    lane_fixture_ok (&s);
    cr_expect_str_eq (lane_fixture_next (&s), "DeleteStatusOverride j DOWN @6, "
                                              "Register j DOWN/DOWN @6");
}

//  However many live changes there are, and however many go in a batch
Test (lane_walk, live_changes_do_not_starve_what_is_owed)
{
    for (unsigned size = 1; size <= 9; size++) {
        lane_fixture_fini (&s);
        zpeer_lane_options_t options = lane_fixture_options ();
        options.max_items = size;
        lane_fixture_init_with (&s, &options);
        for (char name = 'a'; name <= 'z'; name++)
            s_register (name);
        while (*lane_fixture_next (&s))
            lane_fixture_ok (&s);
        s_walk ("a", ZPEER_CHANGE_VERIFY);
        unsigned batches = 0;
        do {
            for (char name = 'b'; name <= 'z'; name++)
                s_register (name);
            lane_fixture_next (&s);
            lane_fixture_ok (&s);
        } while (zpeer_lane_owed (s.lane) && ++batches < 5);
        cr_expect_lt (batches, 5, "with %u in a batch", size);
    }
}

//  One after the other at first, and none may keep it busy for long: at a peer that
//  works in turn live changes wait behind all of them
Test (lane_walk, what_is_owed_begins_with_one_batch_and_follows_the_peer)
{
    char names[64] = "";
    for (char name = 'A'; name <= 'z'; name++) {
        s_register (name);
        names[name - 'A'] = name;
    }
    while (*lane_fixture_next (&s))
        lane_fixture_ok (&s);
    s_walk (names, ZPEER_CHANGE_OWE);
    lane_fixture_next (&s);
    cr_expect_eq (s.items, 32, "what 64 items can tell: %u", s.items);
    uint64_t first = s.last_id;
    cr_expect_str_eq (lane_fixture_next_of (&s, 5), "", "one at a time");
    s_register ('0');
    cr_expect_str_eq (lane_fixture_next_of (&s, 5), "Register 0 UP/UNKNOWN @5");
    s.now += 3200;
    s.last_id = first;
    lane_fixture_ok (&s);
    lane_fixture_next_of (&s, 5);
    cr_expect_eq (s.items, 64, "an answer does not wait: %u", s.items);
    s.now += 6400;
    lane_fixture_ok (&s);
    lane_fixture_next_of (&s, 5);
    cr_expect (s.items > 0 && s.items <= 6, "100 ms an item: %u", s.items);
}

//  Its answers do not make small batches of their own
Test (lane_walk, what_is_owed_is_told_in_large_batches)
{
    for (char name = 'a'; name <= 'j'; name++)
        s_have (name);
    s_walk ("abcdefghi", ZPEER_CHANGE_OWE);
    lane_fixture_next (&s);
    cr_expect_eq (s.items, 9);
    s_register ('j');
    lane_fixture_ok (&s);
    unsigned batches = 0;
    for (; *lane_fixture_next (&s); batches++)
        lane_fixture_ok (&s);
    cr_expect_eq (batches, 2, "j, and all the others: %u", batches);
}

//  What changed while the question was on its way is a live change, too
Test (lane_walk, what_gathered_beside_the_question_does_not_wait_either)
{
    for (char name = 'a'; name <= 'c'; name++)
        s_have (name);
    s_register ('a');
    lane_fixture_next (&s);
    s_walk ("abc", ZPEER_CHANGE_OWE);
    lane_fixture_change (&s, 'a', ZPEER_CANCEL,
                         (lane_state_t){.top = 5, .absent = true});
    lane_fixture_ok (&s);
    cr_expect_eq (strncmp (lane_fixture_next (&s), "Heartbeat a @5", 14), 0,
                  "%s", s.sent);
}

Test (lane_walk, what_is_owed_leaves_a_place_in_the_window)
{
    zpeer_lane_options_t options = s.options;
    lane_fixture_fini (&s);
    options.max_items = 2;
    lane_fixture_init_with (&s, &options);
    for (char name = 'a'; name <= 'z'; name++)
        s_register (name);
    while (*lane_fixture_next (&s))
        lane_fixture_ok (&s);
    s_walk ("abcdefghijklmnopqrstuvw", ZPEER_CHANGE_VERIFY);
    for (int i = 0; i < 5; i++) {  //  One more each time, if it is quick
        lane_fixture_next (&s);
        lane_fixture_ok (&s);
    }
    unsigned batches = 0;
    while (*lane_fixture_next_of (&s, 6 - batches))
        batches++;
    cr_expect_eq (batches, 5, "%u of 6 places", batches);
    s_register ('z');
    cr_expect_str_eq (lane_fixture_next_of (&s, 6 - batches),
                      "Register z UP/UNKNOWN @5");
}

//  The peer may have applied it, and restarted empty, before it was asked for
Test (lane_walk, what_is_in_flight_is_verified_afterwards)
{
    s_register ('a');
    lane_fixture_next (&s);
    s_walk ("a", ZPEER_CHANGE_VERIFY);
    lane_fixture_ok (&s);
    s_expect (1, 1, 0, 0);
    cr_expect_str_eq (lane_fixture_next (&s), "Heartbeat a @5");
}

Test (lane_walk, another_walk_takes_the_place_of_the_first)
{
    s_have ('a');
    s_have ('b');
    s_walk ("ab", ZPEER_CHANGE_OWE);
    s_walk ("b", ZPEER_CHANGE_VERIFY);
    s_expect (1, 1, 0, 0);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_expect (1, 0, 1, 0);
    cr_expect_eq (zpeer_lane_owed (s.lane), 0, "what the first owed is told");
}

Test (lane_walk, what_is_forgotten_meanwhile_is_not_left)
{
    s_have ('a');
    s_have ('b');
    s_walk ("ab", ZPEER_CHANGE_OWE);
    lane_fixture_change (&s, 'a', ZPEER_FORGET, (lane_state_t){.absent = true});
    s_expect (2, 1, 0, 0);
}

Test (lane_walk, a_walk_ends_only_when_the_peer_is_back)
{
    s_have ('a');
    s_walk ("a", ZPEER_CHANGE_OWE);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    s_expect (1, 1, 0, 0);
    s.now = zpeer_lane_wake (s.lane, s.now, 6);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    lane_fixture_next (&s);
    lane_fixture_ok (&s);
    s_expect (1, 0, 1, 0);
    zpeer_lane_walk_t walk;
    zpeer_lane_walk (s.lane, &walk);
    cr_expect (walk.active && walk.complete);
    zpeer_lane_walk_end (s.lane);
    zpeer_lane_walk (s.lane, &walk);
    cr_expect_not (walk.active);
}

Test (lane_walk, retry_now_ends_the_longest_pause)
{
    s_register ('a');
    for (int i = 0; i < 8; i++) {
        cr_assert_str_neq (lane_fixture_next (&s), "");
        lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
        s.now = zpeer_lane_wake (s.lane, s.now, 6);
    }
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    cr_expect_geq (zpeer_lane_pause (s.lane), s.now + 8000);
    cr_expect_str_eq (lane_fixture_next (&s), "");
    zpeer_lane_retry_now (s.lane);
    cr_expect_str_neq (lane_fixture_next (&s), "");
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 0);
    cr_expect_leq (zpeer_lane_pause (s.lane), s.now + 1250, "it begins anew");
}

Test (lane_walk, a_lane_that_closes_names_what_is_owed)
{
    s_have ('a');
    s_have ('b');
    s_walk ("ab", ZPEER_CHANGE_OWE);
    s_register ('b');
    cr_expect_not (zpeer_lane_idle (s.lane));
    cr_expect_eq (zpeer_lane_close (s.lane, ZPEER_ENDED_SHUTDOWN), 2);
    cr_expect (zpeer_lane_idle (s.lane));
}

//  A bit in what there is already
Test (lane_walk, what_is_owed_costs_no_memory)
{
    zpeer_lane_stats_t before, after;
    for (char name = 'a'; name <= 'z'; name++)
        s_have (name);
    zpeer_lane_stats (s.lane, &before);
    s_walk ("abcdefghijklmnopqrstuvwxyz", ZPEER_CHANGE_OWE);
    zpeer_lane_stats (s.lane, &after);
    cr_expect_eq (after.owed, 26);
    cr_expect_eq (after.memory_bytes, before.memory_bytes);
}
