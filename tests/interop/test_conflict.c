//  What the servers know better: another writer registered there, and newer

#include <criterion/criterion.h>
#include <stdlib.h>
#include "compare.h"
#include "pair.h"
#include "banned.h"

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (conflict, .fini = s_stop, .timeout = 120);

//  What was reported is all of what the peer has
static void
s_expect_copy (size_t peer, const char *id, json_t *outcome)
{
    remote_t *remote = s_pair.peers[peer].remote;
    const char *text = json_string_value (json_object_get (outcome, "copy"));
    json_t *copy = json_loads (text, 0, NULL);
    json_t *info = remote_instance (remote, s_pair.app, pair_id (&s_pair, id));
    char *differs = compare_infos (copy, info);
    cr_expect_null (differs, "%s: %s", remote_name (remote), differs);
    cr_expect_str_eq (json_string_value (json_object_get (copy, "hostName")),
                      "other");
    free (differs);
    json_decref (info);
    json_decref (copy);
}

//  Each peer has said so, and has it still
static void
s_expect_conflict (const char *id)
{
    for (size_t i = 0; i < s_pair.count; i++) {
        json_t *outcome =
            pair_outcome (&s_pair, i, "conflict", "id", pair_id (&s_pair, id));
        cr_expect_eq (json_integer_value (
                          json_object_get (outcome, "lastDirtyTimestamp")),
                      2000);
        s_expect_copy (i, id, outcome);
    }
    pair_expect (&s_pair, id, "DOWN", "UNKNOWN", 2000);
    pair_await (&s_pair, id, "DOWN", "UNKNOWN", 2000);
}

//  The first life of the instance, which all peers have
static void
s_register (const char *id)
{
    pair_register (&s_pair, id, 1000, "");
    pair_await (&s_pair, id, "UP", "UNKNOWN", 1000);
}

static void
s_expect_live_conflict (const char *const *set)
{
    pair_open (&s_pair, set);
    s_register ("a");
    pair_other_registers (&s_pair, "a", 2000);
    pair_send (&s_pair, "a", &(pair_event_t){ZPEER_HEARTBEAT, 1000, 0, 0}, 1);
    s_expect_conflict ("a");
}

Test (conflict, a_newer_registration_is_reported_and_stays)
{
    s_expect_live_conflict (NULL);
}

Test (conflict, a_newer_registration_met_by_a_call_is_too)
{
    s_expect_live_conflict (s_single);
}

static void
s_expect_verify_conflict (const char *const *set)
{
    pair_open (&s_pair, set);
    s_register ("a");
    pair_other_registers (&s_pair, "a", 2000);
    pair_verify (&s_pair);
    s_expect_conflict ("a");
}

Test (conflict, a_newer_registration_is_found_by_verify)
{
    s_expect_verify_conflict (NULL);
}

Test (conflict, a_newer_registration_is_found_by_verify_in_calls)
{
    s_expect_verify_conflict (s_single);
}

//  ---- What comes late could do harm: neither has a timestamp that a peer
//  would look at

//  1. The peers cannot be reached, and what they should be told is given up.
//  2. Meanwhile the instances are registered there, newer.
//  3. The peers can be reached again, and are asked before they are told.
static void
s_expect_late_conflict (const char *const *set)
{
    pair_start (&s_pair, set);
    pair_add_apart (&s_pair);
    s_register ("cancelled");
    s_register ("overridden");
    pair_set_passage (&s_pair, SPEER_CUT);
    pair_send (&s_pair, "cancelled", &(pair_event_t){ZPEER_CANCEL, 0, 0, 0}, 1);
    pair_send (
        &s_pair, "overridden",
        &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0}, 1);
    pair_outcomes (&s_pair, "peer", "state", "escalated");
    pair_retry (&s_pair);
    pair_outcomes (&s_pair, "dropped", "reason", "escalated");
    pair_other_registers (&s_pair, "cancelled", 2000);
    pair_other_registers (&s_pair, "overridden", 2000);
    pair_set_passage (&s_pair, SPEER_PASS);
    pair_retry (&s_pair);
    s_expect_conflict ("cancelled");
    s_expect_conflict ("overridden");
}

Test (conflict, what_registered_in_an_outage_is_not_harmed_by_what_was_lost)
{
    const char *const set[] = {"apiml.discovery.maxPeerRetries=3", NULL};
    s_expect_late_conflict (set);
}

Test (conflict, it_is_not_harmed_by_calls_either)
{
    const char *const set[] = {"apiml.discovery.maxPeerRetries=3",
                               "zpeer.batch.enabled=false", NULL};
    s_expect_late_conflict (set);
}
