//  A firewall before the servers, which answers 403 to a whole request for what it
//  finds in its body, and passes nothing of it on

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <czmq.h>
#include "figures.h"
#include "pair.h"
#include "banned.h"

#define COUNT  300
#define BAD    150  //  Which of them it does not like
#define ID_MAX 16

#define REJECTED_MS 90000

//  Instances that a firewall refuses with everything else; its tries
#define FEW      8
#define TRIES_MS 60000
#define REFUSED  "end-http-status"

//  What it does not like
#define TEXT    "jndi:ldap"
#define MEMBERS ",\"metadata\":{\"note\":\"${" TEXT "://192.0.2.66/}\"}"

static pair_t s_pair;

static const char *const s_quick[] = {"apiml.discovery.maxPeerRetries=3", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (firewall, .fini = s_stop, .timeout = 240);

static void
s_register_some (unsigned count, const char *bad, const char *members)
{
    for (unsigned i = 0; i < count; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", i);
        pair_register (&s_pair, i == BAD ? bad : id, 1000,
                       i == BAD ? members : "");
    }
}

//  Nothing was reported as rejected that has not been looked at
static void
s_expect_no_more_rejected (void)
{
    json_t *outcome;
    size_t i;
    json_array_foreach (s_pair.heard, i, outcome)
    {
        const char *topic =
            json_string_value (json_object_get (outcome, "topic"));
        cr_expect_str_neq (topic, "rejected", "%s",
                           json_string_value (json_object_get (outcome, "id")));
    }
}

//  Others are answered meanwhile
static void
s_renew_another (void)
{
    pair_send (&s_pair, "0", &(pair_event_t){ZPEER_HEARTBEAT, 1000, 0, 0}, 1);
}

//  What is refused twice alone rests for half a minute first: it may have been chance
static void
s_await_rejected (const char *bad)
{
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    for (size_t i = 0; i < s_pair.count; i++)
        while (figure_of (&s_pair, i, "peer", "resting") != 1) {
            cr_assert_lt (zclock_mono (), until, "nothing rests");
            s_renew_another ();
        }
    s_renew_another ();
    s_pair.limit_ms = REJECTED_MS;
    pair_outcomes (&s_pair, "rejected", "id", pair_id (&s_pair, bad));
    s_pair.limit_ms = STAGE_WAIT_MS;
}

//  1. All are told, but for one, of which that is said.
//  2. The firewall lets it pass, and an operator has the peers verified.
static void
s_expect_one_bad (const char *bad)
{
    pair_await_count (&s_pair, s_pair.app, COUNT - 1);
    s_await_rejected (bad);
    s_expect_no_more_rejected ();
    pair_await_count (&s_pair, s_pair.app, COUNT - 1);
    pair_deny (&s_pair, NULL);
    pair_verify (&s_pair);
    pair_await_count (&s_pair, s_pair.app, COUNT);
    pair_await (&s_pair, bad, "UP", "UNKNOWN", 1000);
    s_expect_no_more_rejected ();
}

Test (firewall, one_instance_it_does_not_like_takes_none_along)
{
    pair_start (&s_pair, s_quick);
    pair_add_apart (&s_pair);
    pair_deny (&s_pair, TEXT);
    s_register_some (COUNT, "bad", MEMBERS);
    s_expect_one_bad ("bad");
}

//  In large batches, and questions are refused, too
Test (firewall, one_of_a_whole_view_takes_none_along)
{
    pair_start (&s_pair, s_quick);
    pair_add_apart (&s_pair);
    pair_set_passage (&s_pair, SPEER_CUT);
    pair_deny (&s_pair, TEXT);
    s_register_some (COUNT, TEXT, "");
    pair_outcomes (&s_pair, "peer", "state", "escalated");
    pair_set_passage (&s_pair, SPEER_PASS);
    pair_retry (&s_pair);
    s_expect_one_bad (TEXT);
}

//  Tries a peer until it has refused so many requests more
static void
s_try (size_t peer, unsigned times)
{
    int64_t until = zclock_mono () + TRIES_MS;
    json_int_t from = figure_of (&s_pair, peer, "dispatcher", REFUSED);
    while (figure_of (&s_pair, peer, "dispatcher", REFUSED) < from + times) {
        cr_assert_lt (zclock_mono (), until, "it is not tried");
        pair_retry (&s_pair);
    }
}

//  Then nothing says that it is about one of them, however often each was in a batch
//  of its own
Test (firewall, one_that_refuses_everything_makes_nothing_rejected)
{
    pair_start (&s_pair, s_quick);
    pair_add_apart (&s_pair);
    pair_register (&s_pair, "first", 1000, "");
    pair_await (&s_pair, "first", "UP", "UNKNOWN", 1000);
    pair_deny (&s_pair, "");
    s_register_some (FEW, NULL, NULL);
    pair_send (&s_pair, "first", &(pair_event_t){ZPEER_CANCEL, 0, 0, 0}, 1);
    for (size_t i = 0; i < s_pair.count; i++)
        s_try (i, 5 * FEW);
    pair_expect (&s_pair, "first", "UP", "UNKNOWN", 1000);
    pair_deny (&s_pair, NULL);
    pair_retry (&s_pair);
    pair_outcomes (&s_pair, "peer", "state", "whole");
    pair_await_gone (&s_pair, "first");
    pair_await_count (&s_pair, s_pair.app, FEW);
    s_expect_no_more_rejected ();
}

//  Whatever names one of them: Registers, heartbeats and questions
static void
s_register_every_third_bad (void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        char id[ID_MAX + sizeof TEXT];
        snprintf (id, sizeof id, "%s%u", i % 3 ? "" : TEXT, i);
        pair_register (&s_pair, id, 1000, "");
    }
}

//  Once the firewall lets them pass, an operator need not wait for their next try
Test (firewall, every_third_of_a_whole_view_takes_none_along)
{
    pair_start (&s_pair, s_quick);
    pair_add_apart (&s_pair);
    pair_register (&s_pair, "first", 1000, "");
    pair_await (&s_pair, "first", "UP", "UNKNOWN", 1000);
    pair_deny (&s_pair, TEXT);
    s_register_every_third_bad ();
    pair_await_count (&s_pair, s_pair.app, 1 + COUNT - COUNT / 3);
    pair_deny (&s_pair, NULL);
    pair_verify (&s_pair);
    pair_await_count (&s_pair, s_pair.app, 1 + COUNT);
}
