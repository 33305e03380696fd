//  How many events a second go through the acceptor's own thread: receive,
//  parse, check, view, encode, hand over.
//
//  bench_acceptor heartbeats|scattered|registers instances rounds lanes
//
//  scattered: heartbeats in an order that no cache can guess. The CPU time is
//  that of the process: feeder, acceptor, and what throws chunks away.

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <czmq.h>
#include <zpeer/acceptor.h>
#include "arguments.h"
#include "command.h"
#include "load.h"
#include "socket.h"
#include "stopwatch.h"
#include "banned.h"

#define KINDS     "heartbeats|scattered|registers"
#define LANES_MAX 64

static void
s_call (zactor_t *actor, const char *command, const char *one, const char *two)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    int rc = zpeer_command_call (actor, 5000, answer, command, one, two, NULL);
    if (rc) {
        fprintf (stderr, "%s: %s\n", command, answer);
        exit (EXIT_FAILURE);
    }
}

//  Reads chunks and throws them away
static void
s_lane (zsock_t *pipe, void *args)
{
    zsock_t *inbox = zpeer_socket_new (ZPEER_ROLE_PULL, 64, -1);
    zpeer_frames_t frames = {0};
    zpeer_socket_bind (inbox, (const char *) args, NULL, NULL);
    zsock_signal (pipe, 0);
    zpoller_t *poller = zpoller_new (pipe, inbox, NULL);
    while (zpoller_wait (poller, -1) == inbox)
        while (zpeer_socket_recv (inbox, &frames) == ZPEER_OK)
            ;
    zpoller_destroy (&poller);
    zpeer_frames_close (&frames);
    zsock_destroy (&inbox);
}

static zactor_t *
s_start (const char *events, zactor_t **readers, unsigned lanes)
{
    zactor_t *acceptor = zactor_new (zpeer_acceptor, NULL);
    s_call (acceptor, "BIND", events, NULL);
    s_call (acceptor, "UPLINK", "inproc://bench-uplink", NULL);
    s_call (acceptor, "START", NULL, NULL);
    for (unsigned i = 0; i < lanes; i++) {
        char endpoint[64], number[16];
        snprintf (endpoint, sizeof endpoint, "inproc://bench-lane-%u", i);
        snprintf (number, sizeof number, "%u", i);
        readers[i] = zactor_new (s_lane, endpoint);
        s_call (acceptor, "ADDLANE", number, endpoint);
    }
    return acceptor;
}

int
main (int argc, char **argv)
{
    static const char *events = "inproc://bench-events";
    zactor_t *readers[LANES_MAX] = {NULL};
    arguments_t args;
    arguments_open (&args, argc, argv, KINDS " instances rounds lanes");
    const char *kind = arguments_word (&args, KINDS);
    size_t instances = arguments_number (&args, 1, ARGUMENTS_INSTANCES_MAX);
    unsigned rounds =
        (unsigned) arguments_number (&args, 1, ARGUMENTS_ROUNDS_MAX);
    unsigned lanes = (unsigned) arguments_number (&args, 1, LANES_MAX);
    arguments_close (&args);
    zpeer_socket_init ();
    zactor_t *acceptor = s_start (events, readers, lanes);
    load_t registers, heartbeats;
    load_registers (&registers, instances);
    if (streq (kind, "scattered"))
        load_scattered (&heartbeats, instances);
    else
        load_heartbeats (&heartbeats, instances);
    load_feed (&registers, events, 1, NULL, NULL);
    bool registering = streq (kind, "registers");
    int64_t start = stopwatch_ns (), cpu = stopwatch_cpu_ns ();
    uint64_t accepted = load_feed (registering ? &registers : &heartbeats,
                                   events, rounds, NULL, NULL);
    double seconds = (double) (stopwatch_ns () - start) / 1e9;
    cpu = stopwatch_cpu_ns () - cpu;
    printf ("acceptor kind=%s instances=%zu lanes=%u events=%llu "
            "events_per_second=%.0f cpu_ns_per_event=%.0f\n",
            kind, instances, lanes, (unsigned long long) accepted,
            (double) accepted / seconds, (double) cpu / (double) accepted);
    for (unsigned i = 0; i < lanes; i++)
        zactor_destroy (&readers[i]);
    zactor_destroy (&acceptor);
    load_free (&registers);
    load_free (&heartbeats);
    return EXIT_SUCCESS;
}
