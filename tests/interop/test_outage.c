//  What was lost in an outage that left the servers' registries as they were.
//  Nothing happens at the source after it: no heartbeat, no event at all.

#include <criterion/criterion.h>
#include <stdio.h>
#include "pair.h"
#include "banned.h"

static pair_t s_pair;

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (outage, .fini = s_stop, .timeout = 120);

static void
s_act (const char *id, zpeer_action_t action, uint64_t at,
       zpeer_status_t status)
{
    pair_send (&s_pair, id, &(pair_event_t){action, at, status, 0}, 1);
}

static void
s_begin (const char *const *set)
{
    static const char *const ids[] = {"cancelled", "again", "overridden",
                                      "restored"};
    pair_start (&s_pair, set);
    pair_add_apart (&s_pair);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        s_act (ids[i], ZPEER_REGISTER, 1000, ZPEER_UP);
    s_act ("restored", ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    for (size_t i = 0; i < sizeof ids / sizeof *ids - 1; i++)
        pair_await (&s_pair, ids[i], "UP", "UNKNOWN", 1000);
    pair_await (&s_pair, "restored", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
}

//  What happens meanwhile; a Cancel, of which the engine learns nothing before
//  the instance is registered again, with a lower timestamp
static void
s_change (const char *failing)
{
    s_act ("again", ZPEER_CANCEL, 0, 0);
    pair_outcomes (&s_pair, "peer", "state", failing);
    s_act ("again", ZPEER_REGISTER, 900, ZPEER_UP);
    s_act ("cancelled", ZPEER_CANCEL, 0, 0);
    s_act ("overridden", ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    s_act ("restored", ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_UP);
    s_act ("new", ZPEER_REGISTER, 1000, ZPEER_UP);
}

static void
s_expect_old (void)
{
    pair_expect (&s_pair, "cancelled", "UP", "UNKNOWN", 1000);
    pair_expect (&s_pair, "again", "UP", "UNKNOWN", 1000);
    pair_expect (&s_pair, "overridden", "UP", "UNKNOWN", 1000);
    pair_expect (&s_pair, "restored", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
}

static void
s_await_new (void)
{
    pair_await_gone (&s_pair, "cancelled");
    pair_await (&s_pair, "again", "UP", "UNKNOWN", 900);
    pair_await (&s_pair, "overridden", "OUT_OF_SERVICE", "OUT_OF_SERVICE",
                1001);
    pair_await (&s_pair, "restored", "UP", "UNKNOWN", 1002);
    pair_await (&s_pair, "new", "UP", "UNKNOWN", 1000);
}

//  1. The peers have four instances.
//  2. They are away, and all changes are given up at the maximum of retries.
//  3. They are back as they were, and are told what they were owed.
static void
s_expect_repair (speer_passage_t passage, const char *failing,
                 const char *const *set)
{
    s_begin (set);
    pair_set_passage (&s_pair, passage);
    s_change (failing);
    pair_outcomes (&s_pair, "peer", "state", "escalated");
    pair_retry (&s_pair);
    pair_outcomes (&s_pair, "dropped", "reason", "escalated");
    s_expect_old ();
    pair_set_passage (&s_pair, SPEER_PASS);
    pair_retry (&s_pair);
    pair_outcomes (&s_pair, "peer", "state", "whole");
    s_await_new ();
}

#define RETRIES "apiml.discovery.maxPeerRetries=3"
#define TIMEOUT "eureka.server.peer-node-read-timeout-ms=300"
#define SINGLE  "zpeer.batch.enabled=false"

Test (outage, what_was_lost_when_connections_failed_is_made_good)
{
    const char *const set[] = {RETRIES, NULL};
    s_expect_repair (SPEER_CUT, "failing", set);
}

Test (outage, it_is_made_good_by_calls_too)
{
    const char *const set[] = {RETRIES, SINGLE, NULL};
    s_expect_repair (SPEER_CUT, "failing", set);
}

//  What was sent may arrive after all when they are back, late
Test (outage, what_was_lost_when_no_answer_came_is_made_good)
{
    const char *const set[] = {RETRIES, TIMEOUT, NULL};
    s_expect_repair (SPEER_HOLD, "congested", set);
}

Test (outage, it_is_made_good_by_calls_when_no_answer_came)
{
    const char *const set[] = {RETRIES, TIMEOUT, SINGLE, NULL};
    s_expect_repair (SPEER_HOLD, "congested", set);
}

//  ---- Many: more than a batch, and more than is owed at first in one piece

#define COUNT  300
#define ID_MAX 16

static void
s_act_each (unsigned first, unsigned step, const pair_event_t *event)
{
    for (unsigned i = first; i < COUNT; i += step) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", i);
        pair_send (&s_pair, id, event, 1);
    }
}

Test (outage, hundreds_of_cancels_and_overrides_are_made_good)
{
    const char *const set[] = {RETRIES, NULL};
    pair_start (&s_pair, set);
    pair_add_apart (&s_pair);
    s_act_each (0, 1, &(pair_event_t){ZPEER_REGISTER, 1000, ZPEER_UP, 0});
    pair_await_count (&s_pair, s_pair.app, COUNT);
    pair_set_passage (&s_pair, SPEER_CUT);
    s_act_each (0, 3, &(pair_event_t){ZPEER_CANCEL, 0, 0, 0});
    s_act_each (1, 3,
                &(pair_event_t){ZPEER_STATUS_UPDATE, 1001, ZPEER_DOWN, 0});
    pair_outcomes (&s_pair, "dropped", "reason", "escalated");
    pair_await_count (&s_pair, s_pair.app, COUNT);
    pair_set_passage (&s_pair, SPEER_PASS);
    pair_retry (&s_pair);
    pair_outcomes (&s_pair, "peer", "state", "whole");
    pair_await_count (&s_pair, s_pair.app, COUNT * 2 / 3);
    pair_await (&s_pair, "1", "DOWN", "DOWN", 1001);
    pair_await (&s_pair, "298", "DOWN", "DOWN", 1001);
    pair_await (&s_pair, "299", "UP", "UNKNOWN", 1000);
}
