//  What the servers lost, while the engine believes they have it

#include <criterion/criterion.h>
#include <string.h>
#include "pair.h"
#include "banned.h"

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (repair, .fini = s_stop, .timeout = 120);

static void
s_heartbeat (const char *id, uint64_t at)
{
    pair_send (&s_pair, id, &(pair_event_t){ZPEER_HEARTBEAT, at, 0, 0}, 1);
}

//  An instance with an override and a member of its own, which each server has
//  and then loses
static void
s_lose (const char *id)
{
    pair_register (&s_pair, id, 1000, ",\"vipAddress\":\"v\"");
    pair_send (
        &s_pair, id,
        &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0}, 1);
    pair_await (&s_pair, id, "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    pair_other_sends (&s_pair, id, "\"action\":\"Cancel\"");
    pair_await_gone (&s_pair, id);
}

//  It is back everywhere, with both
static void
s_expect_back (const char *id)
{
    pair_await (&s_pair, id, "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    for (size_t i = 0; i < s_pair.count; i++) {
        json_t *info = pair_listed (&s_pair, i, id);
        cr_expect_str_eq (
            json_string_value (json_object_get (info, "vipAddress")), "v");
        json_decref (info);
    }
}

//  ---- By live events

static void
s_expect_repair (const char *const *set)
{
    pair_open (&s_pair, set);
    s_lose ("a");
    s_heartbeat ("a", 1001);
    s_expect_back ("a");
}

Test (repair, a_heartbeat_of_an_instance_they_lost_brings_it_back)
{
    s_expect_repair (NULL);
}

Test (repair, a_heartbeat_as_a_call_brings_it_back_too)
{
    s_expect_repair (s_single);
}

static void
s_expect_repair_by_override (const char *const *set)
{
    pair_open (&s_pair, set);
    pair_register (&s_pair, "b", 1000, "");
    pair_await (&s_pair, "b", "UP", "UNKNOWN", 1000);
    pair_other_sends (&s_pair, "b", "\"action\":\"Cancel\"");
    pair_send (&s_pair, "b",
               &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_DOWN, 0}, 1);
    pair_await (&s_pair, "b", "DOWN", "DOWN", 1001);
}

Test (repair, an_override_of_an_instance_they_lost_brings_it_back)
{
    s_expect_repair_by_override (NULL);
}

Test (repair, an_override_as_a_call_brings_it_back_too)
{
    s_expect_repair_by_override (s_single);
}

Test (repair, a_heartbeat_newer_than_the_view_asks_for_the_register)
{
    pair_open (&s_pair, NULL);
    pair_register (&s_pair, "n", 1000, "");
    pair_await (&s_pair, "n", "UP", "UNKNOWN", 1000);
    s_heartbeat ("n", 1005);
    pair_outcome (&s_pair, PAIR_ANY, "need-register", "id",
                  pair_id (&s_pair, "n"));
}

//  ---- By verify

//  Three instances differ: one is not there, one is older there, and one is
//  there though it was cancelled. A fourth does not.
static void
s_expect_repair_by_verify (const char *const *set)
{
    pair_open (&s_pair, set);
    pair_register (&s_pair, "same", 1000, "");
    pair_register (&s_pair, "older", 1000, "");
    pair_register (&s_pair, "cancelled", 1000, "");
    s_lose ("lost");
    pair_await (&s_pair, "older", "UP", "UNKNOWN", 1000);
    pair_other_sends (&s_pair, "older", "\"action\":\"Cancel\"");
    pair_other_registers (&s_pair, "older", 900);
    pair_send (&s_pair, "cancelled", &(pair_event_t){ZPEER_CANCEL, 0, 0, 0}, 1);
    pair_await_gone (&s_pair, "cancelled");
    pair_other_registers (&s_pair, "cancelled", 900);

    pair_verify (&s_pair);
    s_expect_back ("lost");
    pair_await (&s_pair, "older", "UP", "UNKNOWN", 1000);
    pair_await_gone (&s_pair, "cancelled");
    for (size_t i = 0; i < s_pair.count; i++) {
        json_t *outcome = pair_outcome (&s_pair, i, "resync", "state", "ended");
        cr_expect_eq (
            json_integer_value (json_object_get (outcome, "repaired")), 3);
    }
}

Test (repair, verify_repairs_at_once_what_differs)
{
    s_expect_repair_by_verify (NULL);
}

Test (repair, verify_repairs_it_by_calls_too)
{
    s_expect_repair_by_verify (s_single);
}
