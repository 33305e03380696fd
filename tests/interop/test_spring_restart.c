//  A Spring server that loses everything: a program of its own, as it ends the
//  server that others talk to

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "pair.h"
#include "banned.h"

#define COUNT  100
#define ID_MAX 16

//  For the server to start, on a busy machine
#define START_MS 120000

static pair_t s_pair;

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (spring_restart, .fini = s_stop, .timeout = 240);

//  Ends the server; run.sh starts it anew
static void
s_end_server (void)
{
    char line[ID_MAX] = "";
    const char *name = getenv ("ZPEER_SPRING_PID");
    FILE *file = name ? fopen (name, "r") : NULL;
    cr_assert (file && fgets (line, sizeof line, file), "no server of run.sh");
    fclose (file);
    long pid = strtol (line, NULL, 10);
    cr_assert_gt (pid, 1);
    cr_assert_eq (kill ((pid_t) pid, SIGKILL), 0);
}

static void
s_register_all (void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", i);
        pair_register (&s_pair, id, 1000, "");
    }
}

//  One round
static void
s_heartbeats (void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", i);
        pair_send (&s_pair, id, &(pair_event_t){ZPEER_HEARTBEAT, 1000, 0, 0},
                   1);
    }
}

//  1. The server has all instances, one with an override.
//  2. It ends. Heartbeats fail until the peer is escalated, and are given up.
//  3. An empty one takes its place, and answers 404 to what it is asked.
Test (spring_restart, one_round_of_heartbeats_refills_an_empty_server)
{
    const char *const set[] = {"apiml.discovery.maxPeerRetries=3", NULL};
    pair_open (&s_pair, set);
    s_register_all ();
    pair_send (&s_pair, "7",
               &(pair_event_t){ZPEER_STATUS_UPDATE, 1000, ZPEER_DOWN, 0}, 1);
    pair_await (&s_pair, "7", "DOWN", "DOWN", 1000);
    pair_await_count (&s_pair, s_pair.app, COUNT);
    s_pair.limit_ms = START_MS;
    s_end_server ();
    s_heartbeats ();
    pair_outcome (&s_pair, "peer", "state", "escalated");
    pair_outcome (&s_pair, "peer", "state", "recovered");
    s_heartbeats ();
    pair_await_count (&s_pair, s_pair.app, COUNT);
    pair_await (&s_pair, "7", "DOWN", "DOWN", 1000);
}
