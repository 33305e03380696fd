//  Servers that lose everything: a program of its own, as it ends those that
//  others talk to

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "pair.h"
#include "banned.h"

#define COUNT  100
#define ID_MAX 16

//  For the servers to start, on a busy machine
#define START_MS 120000

static pair_t s_pair;

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (restart, .fini = s_stop, .timeout = 240);

//  Ends the servers; run.sh starts them anew
static void
s_end_servers (void)
{
    for (size_t i = 0; i < s_pair.count; i++) {
        char line[ID_MAX] = "";
        const char *server = remote_name (s_pair.peers[i].remote);
        FILE *file = fopen (remote_variable (server, "pid"), "r");
        cr_assert (file && fgets (line, sizeof line, file), "%s has no pid",
                   server);
        fclose (file);
        long pid = strtol (line, NULL, 10);
        cr_assert_gt (pid, 1);
        cr_assert_eq (kill ((pid_t) pid, SIGKILL), 0);
    }
}

//  Sends this for COUNT instances
static void
s_each (const char *prefix, zpeer_action_t action)
{
    for (unsigned i = 0; i < COUNT; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%s%u", prefix, i);
        pair_send (&s_pair, id, &(pair_event_t){action, 1000, 0, 0}, 1);
    }
}

static void
s_override (const char *id)
{
    pair_send (&s_pair, id,
               &(pair_event_t){ZPEER_STATUS_UPDATE, 1000, ZPEER_DOWN, 0}, 1);
    pair_await (&s_pair, id, "DOWN", "DOWN", 1000);
}

//  Nothing but one heartbeat is lost meanwhile
static void
s_restart_servers (void)
{
    s_pair.limit_ms = START_MS;
    s_end_servers ();
    pair_send (&s_pair, "probe", &(pair_event_t){ZPEER_HEARTBEAT, 1000, 0, 0},
               1);
    pair_outcomes (&s_pair, "peer", "state", "escalated");
    pair_await_answers (&s_pair);
    pair_retry (&s_pair);
    s_pair.limit_ms = STAGE_WAIT_MS;
    pair_outcomes (&s_pair, "peer", "state", "recovered");
    pair_await_count (&s_pair, s_pair.app, 1);
}

static void
s_verify_all (void)
{
    pair_verify (&s_pair);
    for (size_t i = 0; i < s_pair.count; i++) {
        json_t *outcome = pair_outcome (&s_pair, i, "resync", "state", "ended");
        cr_expect_eq (
            json_integer_value (json_object_get (outcome, "repaired")), COUNT);
    }
}

//  1. The servers have all instances, two of them with overrides.
//  2. They end, and empty ones take their places.
//  3. Half of the instances have heartbeats, and are back.
//  4. Verify brings back the others, which have none.
Test (restart, an_empty_server_is_refilled_by_heartbeats_and_at_once_by_verify)
{
    const char *const set[] = {"apiml.discovery.maxPeerRetries=3", NULL};
    pair_open (&s_pair, set);
    pair_register (&s_pair, "probe", 1000, "");
    s_each ("h", ZPEER_REGISTER);
    s_each ("v", ZPEER_REGISTER);
    s_override ("h7");
    s_override ("v7");
    pair_await_count (&s_pair, s_pair.app, 1 + 2 * COUNT);
    s_restart_servers ();
    s_each ("h", ZPEER_HEARTBEAT);
    pair_await_count (&s_pair, s_pair.app, 1 + COUNT);
    pair_await (&s_pair, "h7", "DOWN", "DOWN", 1000);
    s_verify_all ();
    pair_await_count (&s_pair, s_pair.app, 1 + 2 * COUNT);
    pair_await (&s_pair, "v7", "DOWN", "DOWN", 1000);
}
