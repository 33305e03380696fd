#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rig.h"
#include "stopwatch.h"
#include "trickle.h"
#include "banned.h"

//  Nothing comes any more
#define SILENCE_NS INT64_C (2000000000)

//  A peer takes nothing while the feeder waits for it
#define STALLED_NS INT64_C (20000000000)

//  Between two looks at the peers' counters, us: at the end, and while the feeder
//  waits, at most
#define LOOK_US     500
#define LOOK_MAX_US 2000

//  Of a trickle; a peer keeps 65,536
#define SAMPLES_LIMIT 50000.0

static void
s_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) arg;
    if (level >= ZPEER_LOG_ERROR)
        fprintf (stderr, "%s %s\n", id, text);
}

static void
s_set (rig_t *self, const char *key, const char *value)
{
    if (zpeer_engine_set (self->engine, key, value) == ZPEER_OK)
        return;
    fprintf (stderr, "%s\n", zpeer_engine_error (self->engine));
    exit (EXIT_FAILURE);
}

static void
s_set_events (rig_t *self, const char *kind)
{
    char endpoint[64];
    if (!strcmp (kind, "tcp"))
        snprintf (endpoint, sizeof endpoint, "tcp://127.0.0.1:*");
    else if (!strcmp (kind, "ipc"))
        snprintf (endpoint, sizeof endpoint, "ipc://@zpeer-bench-%d",
                  (int) getpid ());
    else
        snprintf (endpoint, sizeof endpoint, "inproc://bench-events");
    s_set (self, "zpeer.events.endpoint", endpoint);
    s_set (self, "zpeer.outcomes.endpoint", "inproc://bench-outcomes");
}

static void
s_set_all (rig_t *self, char *const *settings)
{
    for (; settings && *settings; settings++) {
        char key[128];
        const char *value = strchr (*settings, '=');
        if (!value)
            value = *settings + strlen (*settings);
        snprintf (key, sizeof key, "%.*s", (int) (value - *settings),
                  *settings);
        s_set (self, key, *value ? value + 1 : value);
    }
}

static void
s_open (rig_t *self, unsigned peers, const char *kind, char *const *settings)
{
    assert (peers <= RIG_PEERS_MAX);
    *self = (rig_t){.engine = zpeer_engine_new (),
                    .count = peers,
                    .counted = peers,
                    .ahead_max = UINT64_MAX,
                    .silence_ns = SILENCE_NS};
    zpeer_engine_set_log (self->engine, s_log, NULL);
    s_set_events (self, kind);
    s_set_all (self, settings);
}

static void
s_start (rig_t *self)
{
    int rc = zpeer_engine_start (self->engine);
    for (unsigned i = 0; i < self->count && rc == ZPEER_OK; i++)
        rc = zpeer_engine_add_peer (self->engine, self->peers[i].url);
    if (rc) {
        fprintf (stderr, "%s\n", zpeer_engine_error (self->engine));
        exit (EXIT_FAILURE);
    }
}

void
rig_start (rig_t *self, const char *self_path, unsigned peers, const char *kind,
           char *const *settings)
{
    s_open (self, peers, kind, settings);
    for (unsigned i = 0; i < peers; i++)
        if (peer_start (&self->peers[i], self_path))
            exit (EXIT_FAILURE);
    s_start (self);
}

void
rig_join (rig_t *self, char *const *peers, unsigned count, const char *kind,
          char *const *settings)
{
    s_open (self, count, kind, settings);
    for (unsigned i = 0; i < count; i++)
        if (peer_adopt (&self->peers[i], peers[i]))
            exit (EXIT_FAILURE);
    s_start (self);
}

void
rig_stop (rig_t *self)
{
    zpeer_engine_destroy (&self->engine);
    for (unsigned i = 0; i < self->count; i++)
        peer_stop (&self->peers[i]);
}

//  Items since the clock was started
static uint64_t
s_items (const rig_t *self, unsigned i)
{
    return peer_counter (&self->peers[i], "items") - self->base[i];
}

static uint64_t
s_sum (const rig_t *self)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < self->counted; i++)
        sum += s_items (self, i);
    return sum;
}

//  Waits until a peer has all but the last few of what was sent; and then a few
//  more, for asking it costs as much as hundreds of events
static void
s_pace_peer (rig_t *self, unsigned i, uint64_t sent)
{
    int64_t at = 0;
    if (sent <= self->known[i] + self->ahead)
        return;
    uint64_t ahead = self->ahead / 2;
    //  What is left must last until the next look, at millions a second
    uint64_t look_us = ahead / 4 < LOOK_MAX_US ? ahead / 4 : LOOK_MAX_US;
    while (sent > self->known[i] + ahead) {
        uint64_t items = s_items (self, i);
        if (!at || items != self->known[i])
            at = stopwatch_ns ();
        self->known[i] = items;
        if (stopwatch_ns () - at > STALLED_NS) {
            fprintf (stderr, "%s takes nothing\n", self->peers[i].url);
            _exit (EXIT_FAILURE);  //  No handlers of exit: the engine runs
        }
        if (sent > items + ahead)
            usleep ((useconds_t) look_us);
    }
}

static void
s_pace (void *arg, uint64_t sent)
{
    rig_t *self = (rig_t *) arg;
    for (unsigned i = 0; i < self->counted; i++)
        s_pace_peer (self, i, sent);
}

void
rig_mark (rig_t *self)
{
    for (unsigned i = 0; i < self->counted; i++) {
        self->base[i] = peer_counter (&self->peers[i], "items");
        self->known[i] = 0;
    }
}

uint64_t
rig_settle (const rig_t *self, uint64_t wanted, int64_t *at)
{
    uint64_t before = 0;
    *at = stopwatch_ns ();
    for (;;) {
        uint64_t sum = s_sum (self);
        if (sum != before)
            *at = stopwatch_ns ();
        if (sum >= wanted || stopwatch_ns () - *at > self->silence_ns)
            return sum;
        before = sum;
        usleep (LOOK_US);
    }
}

static int64_t
s_peer_cpu_ns (const rig_t *self)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < self->counted; i++)
        if (self->peers[i].pid)
            sum += stopwatch_cpu_of_ns (self->peers[i].pid);
    return sum;
}

rig_flood_t
rig_flood (rig_t *self, const load_t *load, unsigned rounds)
{
    size_t next = 0;
    return rig_flood_from (self, load, &next, rounds * load_events (load));
}

rig_flood_t
rig_flood_from (rig_t *self, const load_t *load, size_t *next, uint64_t events)
{
    rig_mark (self);
    self->ahead = load_events (load) / 2;
    if (self->ahead > self->ahead_max)
        self->ahead = self->ahead_max;
    int64_t cpu = stopwatch_cpu_ns (), peer_cpu = s_peer_cpu_ns (self);
    int64_t start = stopwatch_ns (), end;
    const char *endpoint = zpeer_engine_events (self->engine);
    uint64_t sent = load_feed_from (load, endpoint, next, events, s_pace, self);
    rig_flood_t flood = {.tasks = sent * self->counted};
    flood.received = rig_settle (self, flood.tasks, &end);
    flood.seconds = (double) (end - start) / 1e9;
    if (flood.received) {
        double tasks = (double) flood.received;
        flood.cpu_ns = (double) (stopwatch_cpu_ns () - cpu) / tasks;
        flood.peer_cpu_ns = (double) (s_peer_cpu_ns (self) - peer_cpu) / tasks;
    }
    return flood;
}

void
rig_warm (rig_t *self, const load_t *load)
{
    rig_flood (self, load, 1);
}

//  A trickle -------------------------------------------------------------------

size_t
rig_trickle (rig_t *self, double per_second, double seconds, double *ms,
             size_t max)
{
    char script[64];
    size_t count = 0;
    double total = per_second * seconds;
    unsigned every = (unsigned) (total / SAMPLES_LIMIT) + 1;
    snprintf (script, sizeof script, "{\"settings\": {\"sample\": %u}}", every);
    for (unsigned i = 0; i < self->counted; i++)
        peer_script (&self->peers[i], script);
    rig_mark (self);
    trickle_t trickle;
    trickle_open (&trickle, zpeer_engine_events (self->engine), per_second, 0);
    trickle_run (&trickle, (uint64_t) total);
    trickle_close (&trickle);
    int64_t end;
    rig_settle (self, (uint64_t) total * self->counted, &end);
    for (unsigned i = 0; i < self->counted; i++) {
        count = peer_samples (&self->peers[i], 0, ms, count, max);
        peer_script (&self->peers[i], "{\"settings\": {\"sample\": 0}}");
    }
    return count;
}
