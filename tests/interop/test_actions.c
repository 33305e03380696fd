//  Every action of the engine, read back from each server, in batches and as
//  calls of their own

#include <criterion/criterion.h>
#include <stdio.h>
#include "pair.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (actions, .fini = s_stop, .timeout = 120);

//  ---- The actions one by one

static void
s_act (zpeer_action_t action, uint64_t at, zpeer_status_t status)
{
    pair_send (&s_pair, "a", &(pair_event_t){action, at, status, 0}, 1);
}

//  A Heartbeat raises when the lease was renewed
static void
s_expect_renewal (void)
{
    json_int_t renewed[PAIR_PEERS_MAX] = {0};
    for (size_t i = 0; i < s_pair.count; i++)
        renewed[i] = pair_lease (&s_pair, i, "a", "lastRenewalTimestamp");
    s_act (ZPEER_HEARTBEAT, 1000, 0);
    pair_delivered (&s_pair, pair_id (&s_pair, "a"), "Heartbeat");
    for (size_t i = 0; i < s_pair.count; i++)
        cr_expect_gt (pair_lease (&s_pair, i, "a", "lastRenewalTimestamp"),
                      renewed[i]);
}

static void
s_expect_actions (const char *const *set)
{
    pair_open (&s_pair, set);
    s_act (ZPEER_REGISTER, 1000, ZPEER_UP);
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1000);
    s_expect_renewal ();
    s_act (ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    s_act (ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_DOWN);
    pair_await (&s_pair, "a", "DOWN", "UNKNOWN", 1002);
    s_act (ZPEER_REGISTER, 1003, ZPEER_UP);
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1003);
    s_act (ZPEER_CANCEL, 0, 0);
    pair_await_gone (&s_pair, "a");
    pair_await_count (&s_pair, s_pair.app, 0);
}

Test (actions, every_action_arrives_in_a_batch)
{
    s_expect_actions (NULL);
}

Test (actions, every_action_arrives_as_a_call)
{
    s_expect_actions (s_single);
}

//  ---- Mixtures: what gathered before it went out

#define EVENTS_MAX 5

static const struct {
    pair_event_t events[EVENTS_MAX];
    const char *status;  //  NULL: gone
    const char *overridden;
    uint64_t at;
} s_mixtures[] = {
    {{{ZPEER_REGISTER, 1000, ZPEER_UP, 0},
      {ZPEER_STATUS_UPDATE, 1000, ZPEER_OUT_OF_SERVICE, 0}},
     "OUT_OF_SERVICE",
     "OUT_OF_SERVICE",
     1000},
    {{{ZPEER_REGISTER, 1000, ZPEER_UP, ZPEER_OUT_OF_SERVICE}},
     "OUT_OF_SERVICE",
     "OUT_OF_SERVICE",
     1000},
    {{{ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0},
      {ZPEER_REGISTER, 1002, ZPEER_DOWN, 0}},
     "DOWN",
     "OUT_OF_SERVICE",
     1002},
    {{{ZPEER_DELETE_STATUS_OVERRIDE, 1001, 0, 0},
      {ZPEER_REGISTER, 1002, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     1002},
    {{{ZPEER_REGISTER, 1001, ZPEER_UP, 0},
      {ZPEER_STATUS_UPDATE, 1001, ZPEER_DOWN, 0},
      {ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     1002},
    {{{ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE, 0},
      {ZPEER_STATUS_UPDATE, 1002, ZPEER_DOWN, 0}},
     "DOWN",
     "DOWN",
     1002},
    {{{ZPEER_HEARTBEAT, 1000, 0, 0},
      {ZPEER_STATUS_UPDATE, 1001, ZPEER_STARTING, 0}},
     "STARTING",
     "STARTING",
     1001},
    {{{ZPEER_HEARTBEAT, 1000, 0, 0}, {ZPEER_REGISTER, 1003, ZPEER_DOWN, 0}},
     "DOWN",
     "UNKNOWN",
     1003},
    {{{ZPEER_CANCEL, 0, 0, 0}, {ZPEER_REGISTER, 900, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     900},
    {{{ZPEER_CANCEL, 0, 0, 0},
      {ZPEER_REGISTER, 900, ZPEER_UP, 0},
      {ZPEER_STATUS_UPDATE, 901, ZPEER_DOWN, 0}},
     "DOWN",
     "DOWN",
     901},
    {{{ZPEER_REGISTER, 1001, ZPEER_UP, 0}, {ZPEER_CANCEL, 0, 0, 0}},
     NULL,
     NULL,
     0},
    {{{ZPEER_FORGET, 0, 0, 0}, {ZPEER_REGISTER, 1004, ZPEER_UP, 0}},
     "UP",
     "UNKNOWN",
     1004},
};

static const char *
s_id (size_t mixture)
{
    static char id[32];
    snprintf (id, sizeof id, "mixture %zu", mixture);
    return id;
}

static void
s_send (size_t mixture)
{
    const pair_event_t *events = s_mixtures[mixture].events;
    size_t count = 0;
    while (count < EVENTS_MAX && events[count].at + events[count].action)
        count++;
    pair_send (&s_pair, s_id (mixture), events, count);
}

static void
s_expect_mixtures (const char *const *set)
{
    pair_open (&s_pair, set);
    for (size_t i = 0; i < LENGTH (s_mixtures); i++)
        pair_register (&s_pair, s_id (i), 1000, "");
    for (size_t i = 0; i < LENGTH (s_mixtures); i++)
        pair_await (&s_pair, s_id (i), "UP", "UNKNOWN", 1000);
    for (size_t i = 0; i < LENGTH (s_mixtures); i++)
        s_send (i);
    for (size_t i = 0; i < LENGTH (s_mixtures); i++) {
        if (s_mixtures[i].status)
            pair_await (&s_pair, s_id (i), s_mixtures[i].status,
                        s_mixtures[i].overridden, s_mixtures[i].at);
        else
            pair_await_gone (&s_pair, s_id (i));
    }
}

Test (actions, every_mixture_ends_in_the_state_of_the_source)
{
    s_expect_mixtures (NULL);
}

Test (actions, every_mixture_ends_so_as_calls_too)
{
    s_expect_mixtures (s_single);
}
