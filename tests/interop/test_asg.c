//  ASG statuses: Netflix's servers keep them, Spring's refuse them

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "pair.h"
#include "banned.h"

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

//  An ASG of this process alone, and the member that says so of an instance
static char s_asg[32];
static char s_member[64];

static void
s_start (void)
{
    snprintf (s_asg, sizeof s_asg, "catalog-v%d", getpid ());
    snprintf (s_member, sizeof s_member, ",\"asgName\":\"%s\"", s_asg);
}

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (asg, .init = s_start, .fini = s_stop, .timeout = 120);

static void
s_update (zpeer_status_t status)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_ASG_STATUS_UPDATE);
    zpeer_event_set_asg (event, s_asg);
    zpeer_event_set_status (event, status);
    stage_send (s_pair.feed, event);
    zpeer_event_destroy (&event);
}

static bool
s_keeps_asgs (size_t peer)
{
    return !strcmp (remote_name (s_pair.peers[peer].remote), "netflix");
}

//  Each server has answered: an update it does not take is rejected, and none
//  is lost or tried again
static void
s_await_answers (void)
{
    for (size_t i = 0; i < s_pair.count; i++)
        pair_outcome (&s_pair, i, s_keeps_asgs (i) ? "delivered" : "rejected",
                      "asg", s_asg);
}

//  An instance that is UP at its source, as the servers list it
static void
s_await (const char *id, const char *where_kept)
{
    for (size_t i = 0; i < s_pair.count; i++)
        pair_await_at (&s_pair, i, id, s_keeps_asgs (i) ? where_kept : "UP",
                       "UNKNOWN", 1000);
}

//  1. An instance is UP, and its ASG goes out of service: GET apps has it so
//     from its next heartbeat on.
//  2. Another comes, and is out of service from the beginning.
//  3. The ASG is back, and with their next heartbeats so are they.
static void
s_expect_asg (const char *const *set)
{
    const pair_event_t heartbeat = {ZPEER_HEARTBEAT, 1000, 0, 0};
    pair_open (&s_pair, set);
    pair_register (&s_pair, "a", 1000, s_member);
    s_await ("a", "UP");
    s_update (ZPEER_OUT_OF_SERVICE);
    s_await_answers ();
    pair_send (&s_pair, "a", &heartbeat, 1);
    s_await ("a", "OUT_OF_SERVICE");
    pair_register (&s_pair, "b", 1000, s_member);
    s_await ("b", "OUT_OF_SERVICE");

    s_update (ZPEER_UP);
    s_await_answers ();
    pair_send (&s_pair, "a", &heartbeat, 1);
    pair_send (&s_pair, "b", &heartbeat, 1);
    s_await ("a", "UP");
    s_await ("b", "UP");
}

Test (asg, its_status_shows_in_its_instances_where_asgs_are_kept)
{
    s_expect_asg (NULL);
}

Test (asg, it_shows_in_them_too_when_they_go_as_calls)
{
    s_expect_asg (s_single);
}

//  Many that Spring refuses, and an instance behind them
Test (asg, updates_that_are_refused_do_not_delay_instances)
{
    enum { COUNT = 20 };
    pair_open (&s_pair, NULL);
    pair_register (&s_pair, "first", 1000, "");
    pair_await (&s_pair, "first", "UP", "UNKNOWN", 1000);
    s_pair.limit_ms = 3000;
    for (int i = 0; i < COUNT; i++)
        s_update (i % 2 ? ZPEER_UP : ZPEER_OUT_OF_SERVICE);
    pair_register (&s_pair, "a", 1000, "");
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1000);
    for (size_t i = 0; i < s_pair.count; i++) {
        json_t *outcome = pair_outcome (
            &s_pair, i, s_keeps_asgs (i) ? "delivered" : "rejected", "asg",
            s_asg);
        json_int_t status =
            json_integer_value (json_object_get (outcome, "status"));
        cr_expect_eq (status, s_keeps_asgs (i) ? 0 : 400);
    }
}

Test (asg, a_peer_added_late_is_told_of_it_too)
{
    pair_start (&s_pair, NULL);
    s_update (ZPEER_OUT_OF_SERVICE);
    pair_register (&s_pair, "a", 1000, s_member);
    pair_add_all (&s_pair);
    s_await_answers ();
    pair_send (&s_pair, "a", &(pair_event_t){ZPEER_HEARTBEAT, 1000, 0, 0}, 1);
    s_await ("a", "OUT_OF_SERVICE");
}
