//  How many tasks a second go from the events socket to counting peers, nothing
//  lost. Feeder and engine are threads of this process, peers are processes.
//
//  bench_end_to_end peers instances rounds [inproc|ipc|tcp]

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zpeer/zpeer.h>
#include "load.h"
#include "peers.h"
#include "stopwatch.h"
#include "banned.h"

#define PEERS_MAX 16

static const char *
s_endpoint (const char *kind)
{
    static char path[64];
    if (kind && !strcmp (kind, "tcp"))
        return "tcp://127.0.0.1:*";
    if (!kind || strcmp (kind, "ipc"))
        return "inproc://bench-events";
    snprintf (path, sizeof path, "ipc:///tmp/zpeer-bench-%d", (int) getpid ());
    return path;
}

static void
s_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) arg;
    if (level >= ZPEER_LOG_WARNING)
        fprintf (stderr, "%s %s\n", id, text);
}

//  An instance that is told of twice while its first heartbeat waits needs one
//  item only. So that every event becomes a task that is delivered, the feeder
//  stays less than half a round ahead of the slowest peer.
typedef struct {
    const peer_t *peers;
    unsigned count;
    uint64_t base;   //  Items a peer had before
    uint64_t ahead;  //  Events that may be on their way
    uint64_t known;  //  Items the slowest peer had when last asked
} pace_t;

static void
s_pace (void *arg, uint64_t sent)
{
    pace_t *self = (pace_t *) arg;
    while (sent > self->known + self->ahead) {
        uint64_t least = UINT64_MAX;
        for (unsigned i = 0; i < self->count; i++) {
            uint64_t items = peer_counter (&self->peers[i], "items");
            if (least > items)
                least = items;
        }
        self->known = least - self->base;
        if (sent > self->known + self->ahead)
            usleep (500);
    }
}

//  Waits until all peers have so many items, or none came for 2 s
static uint64_t
s_settle (const peer_t *peers, unsigned count, uint64_t wanted, int64_t *at)
{
    uint64_t sum = 0, before = 0;
    *at = stopwatch_ns ();
    for (;;) {
        sum = 0;
        for (unsigned i = 0; i < count; i++)
            sum += peer_counter (&peers[i], "items");
        if (sum != before)
            *at = stopwatch_ns ();
        if (sum >= wanted || stopwatch_ns () - *at > 2000000000)
            return sum;
        before = sum;
        usleep (1000);
    }
}

int
main (int argc, char **argv)
{
    if (argc < 4)
        return 2;
    unsigned count = (unsigned) strtoul (argv[1], NULL, 10);
    size_t instances = strtoull (argv[2], NULL, 10);
    unsigned rounds = (unsigned) strtoul (argv[3], NULL, 10);
    peer_t peers[PEERS_MAX] = {{0}};
    if (count > PEERS_MAX)
        return 2;
    zpeer_engine_t *engine = zpeer_engine_new ();
    zpeer_engine_set_log (engine, s_log, NULL);
    zpeer_engine_set (engine, "zpeer.events.endpoint",
                      s_endpoint (argc > 4 ? argv[4] : NULL));
    zpeer_engine_set (engine, "zpeer.outcomes.endpoint",
                      "inproc://bench-outcomes");
    zpeer_engine_set (engine,
                      "eureka.server.max-elements-in-peer-replication-pool",
                      "10000000");
    for (unsigned i = 0; i < count; i++)
        if (peer_start (&peers[i], argv[0], NULL))
            return 1;
    if (zpeer_engine_start (engine)) {
        fprintf (stderr, "%s\n", zpeer_engine_error (engine));
        return 1;
    }
    for (unsigned i = 0; i < count; i++)
        zpeer_engine_add_peer (engine, peers[i].url);

    load_t warm = {0}, load = {0};
    int64_t end;
    load_registers (&warm, instances, 1700000000000);
    load_heartbeats (&load, instances, 1700000000000);
    const char *events = zpeer_engine_events (engine);
    uint64_t events_sent = load_feed (&warm, events, 1, NULL, NULL);
    uint64_t warmed = s_settle (peers, count, events_sent * count, &end);

    int64_t start = stopwatch_ns (), cpu = stopwatch_cpu_ns (), peer_cpu = 0;
    for (unsigned i = 0; i < count; i++)
        peer_cpu -= stopwatch_cpu_of_ns (peers[i].pid);
    pace_t pace = {peers, count, warmed / count, instances / 2, 0};
    events_sent = load_feed (&load, events, rounds, s_pace, &pace);
    int64_t fed = stopwatch_ns ();
    uint64_t wanted = events_sent * count;
    uint64_t got = s_settle (peers, count, warmed + wanted, &end) - warmed;
    cpu = stopwatch_cpu_ns () - cpu;
    for (unsigned i = 0; i < count; i++)
        peer_cpu += stopwatch_cpu_of_ns (peers[i].pid);
    double seconds = (double) (end - start) / 1e9;
    printf ("peers=%u events=%llu tasks=%llu received=%llu missing=%lld "
            "seconds=%.2f fed=%.2f tasks_per_second=%.0f cpu_ns_per_task=%.0f "
            "peer_cpu_ns_per_task=%.0f\n",
            count, (unsigned long long) events_sent,
            (unsigned long long) wanted, (unsigned long long) got,
            (long long) (wanted - got), seconds, (double) (fed - start) / 1e9,
            (double) got / seconds, (double) cpu / (double) got,
            (double) peer_cpu / (double) got);
    zpeer_engine_destroy (&engine);
    for (unsigned i = 0; i < count; i++)
        peer_stop (&peers[i]);
    load_free (&warm);
    load_free (&load);
    return 0;
}
