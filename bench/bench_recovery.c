//  A peer that comes back after several lease times, beside one that was well
//  all the time: how long until it is whole, what it was sent for that, and what
//  the changes that come meanwhile notice, at both.
//
//  bench_recovery instances delay_ms per_second seconds
//
//  delay_ms: how long the peer takes for an answer. per_second: changes that
//  come while it recovers, and for so many seconds before, with all well.
//
//  Each line is one case, about so many instances:
//
//      owed     1 %, 10 % and all were changed and tried in vain: each is asked
//               about, then told as a pair
//      waiting  all were changed, and it came back before they were tried: but
//               for those of the few probes they are told as they are
//      renew    all were renewed: only asked about, and no Register is sent
//      added    the peer is added at run time, and told of the whole view
//      verify   it is asked about the whole view, and has all of it
//
//  Scaled down, so that it takes a minute:
//
//      leases   1 s instead of 90: an instance that missed three renewals is
//               owed one, as it is after a hundred
//      retries  2 instead of 10: pauses before the escalation are not measured
//      probes   RETRY-NOW makes those of up to an hour in a second (owed); each
//               lets one batch escalate, as it would by itself
//      figures  come ten times a second, to know when all are owed
//
//  The view's age-out is off, for its leases are short. A refused connection
//  needs no timeout.

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "arguments.h"
#include "rig.h"
#include "stopwatch.h"
#include "told.h"
#include "trickle.h"
#include "banned.h"

#define SAMPLES_MAX 120000

//  So that 1 % of them is one; far below every timeout
#define INSTANCES_MIN 100
#define DELAY_MAX_MS  1000

//  More would not fit where a peer keeps them
#define SAMPLES_KEPT 50000

//  Of the instances, and how long a peer is away
#define LEASE_SECONDS 1
#define AWAY_NS       INT64_C (3000000000)

//  Probes between two looks at the figures, and how far apart
#define PROBES   80
#define PROBE_US 1000

//  Nothing comes any more
#define SILENCE_NS INT64_C (2000000000)

//  As the lane has them: items of a batch; batches in flight, and of these with
//  what is owed
#define BATCH  250
#define WINDOW 6
#define PLACES 5

static char s_retries[] = "apiml.discovery.maxPeerRetries=2";
static char s_figures[] = "zpeer.stats.interval-ms=100";
static char s_age_out[] = "zpeer.view.age-out=false";

typedef enum { OWED, WAITING, RENEW, ADDED, VERIFY } kind_t;

static const char *const s_kinds[] = {"owed", "waiting", "renew", "added",
                                      "verify"};

//  From sending to receipt
typedef struct {
    size_t count;
    double p50_ms;
    double p99_ms;
} latency_t;

enum { HEALTHY, OTHER, PEERS };

typedef struct {
    rig_t rig;
    told_t told;
    trickle_t trickle;
    unsigned generation;  //  Of the trickle
    unsigned delay_ms;
    double per_second;
    latency_t before[PEERS];
} bench_t;

//  One case
typedef struct {
    kind_t kind;
    uint64_t instances;  //  As planned; a walk finds those of trickles, too
    uint64_t changed;    //  Instances
    uint64_t owed;       //  Of these
    uint64_t items;      //  The peer had when it came back
    uint64_t requests;   //  The same
    int64_t back_ns;     //  From now on it would answer
    int64_t begun_ns;    //  Its first answer
    int64_t whole_ns;
    uint64_t got_items;  //  Between the last two
    uint64_t got_requests;
    int64_t extra;  //  Items more than needed, in the end
    latency_t during[PEERS];
} case_t;

static uint64_t
s_counter (const bench_t *self, const char *name)
{
    return peer_counter (&self->rig.peers[OTHER], name);
}

//  Notes the receipt of every n-th item from now on; 0: of none
static void
s_sample (const bench_t *self, unsigned peer, uint64_t every)
{
    char script[64];
    snprintf (script, sizeof script,
              "{\"settings\": {\"sample\": %" PRIu64 "}}", every);
    peer_script (&self->rig.peers[peer], script);
}

static latency_t
s_latency (const bench_t *self, unsigned peer)
{
    static double ms[SAMPLES_MAX];
    s_sample (self, peer, 0);
    size_t count = peer_samples (&self->rig.peers[peer], self->trickle.begun_ns,
                                 ms, 0, SAMPLES_MAX);
    return (latency_t){count, stopwatch_percentile (ms, count, 50),
                       stopwatch_percentile (ms, count, 99)};
}

static void
s_open_trickle (bench_t *self)
{
    trickle_open (&self->trickle, zpeer_engine_events (self->rig.engine),
                  self->per_second, ++self->generation);
}

static void
s_measure_before (bench_t *self, double seconds)
{
    s_open_trickle (self);
    for (unsigned peer = 0; peer < PEERS; peer++)
        s_sample (self, peer, 1);
    trickle_run (&self->trickle, (uint64_t) (self->per_second * seconds));
    usleep (100000 + 1000 * self->delay_ms);
    for (unsigned peer = 0; peer < PEERS; peer++)
        self->before[peer] = s_latency (self, peer);
    trickle_close (&self->trickle);
}

//  What is needed -------------------------------------------------------------

static bool
s_is_told (const case_t *run)
{
    return run->kind != RENEW && run->kind != VERIFY;
}

static uint64_t
s_needed_items (const case_t *run)
{
    return run->changed + (s_is_told (run) ? 2 * run->owed : 0);
}

static uint64_t
s_batches (uint64_t items)
{
    return (items + BATCH - 1) / BATCH;
}

//  Requests, and the time they take at least: a question each, then two items;
//  what waits goes as one
static uint64_t
s_needed_requests (const bench_t *self, const case_t *run, double *ms)
{
    uint64_t waiting = s_batches (run->changed - run->owed);
    uint64_t owed = s_batches (run->owed);
    if (s_is_told (run))
        owed += s_batches (2 * run->owed);
    *ms = self->delay_ms * ((double) owed / PLACES + (double) waiting / WINDOW);
    return owed + waiting;
}

static void
s_print_latency (const char *name, const latency_t *before,
                 const latency_t *during)
{
    printf ("%s_before_p50_ms=%.2f %s_before_p99_ms=%.2f %s_samples=%zu "
            "%s_p50_ms=%.2f %s_p99_ms=%.2f ",
            name, before->p50_ms, name, before->p99_ms, name, during->count,
            name, during->p50_ms, name, during->p99_ms);
}

static void
s_print (const bench_t *self, const case_t *run)
{
    double least_ms;
    uint64_t needed = s_needed_requests (self, run, &least_ms);
    double ms = (double) (run->whole_ns - run->begun_ns) / 1e6;
    printf ("recovery kind=%s instances=%" PRIu64 " delay_ms=%u "
            "per_second=%.0f changed=%" PRIu64 " owed=%" PRIu64
            " first_ms=%.1f whole_ms=%.1f minimum_ms=%.1f ",
            s_kinds[run->kind], run->instances, self->delay_ms,
            self->per_second, run->changed, run->owed,
            (double) (run->begun_ns - run->back_ns) / 1e6, ms, least_ms);
    if (self->delay_ms)
        printf ("ratio=%.2f ", ms / least_ms);
    s_print_latency ("healthy", &self->before[HEALTHY], &run->during[HEALTHY]);
    s_print_latency ("live", &self->before[OTHER], &run->during[OTHER]);
    printf ("needed_requests=%" PRIu64 " requests=%" PRIu64
            " needed_items=%" PRIu64 " got_items=%" PRIu64 " extra=%" PRId64
            "\n",
            needed, run->got_requests, s_needed_items (run), run->got_items,
            run->extra);
    fflush (stdout);
}

//  A case ---------------------------------------------------------------------

//  Ready for what comes; the script lets it begin
static void
s_prepare (bench_t *self, case_t *run, const char *mode)
{
    char script[64];
    s_open_trickle (self);
    told_skip (&self->told);
    run->items = s_counter (self, "items");
    run->requests = s_counter (self, "requests");
    s_sample (self, HEALTHY, 1);
    s_sample (self, OTHER, 1 + 3 * run->changed / SAMPLES_KEPT);
    snprintf (script, sizeof script, "{\"mode\": \"%s\"}", mode);
    peer_script (&self->rig.peers[OTHER], script);
    run->back_ns = stopwatch_ns ();
}

//  Waits until it has got so many items, or none for a while. Returns how many.
static uint64_t
s_settle (const bench_t *self, const case_t *run, uint64_t wanted)
{
    uint64_t items = 0, before = 0;
    int64_t at = stopwatch_ns ();
    while (items < wanted && stopwatch_ns () - at < SILENCE_NS) {
        items = s_counter (self, "items") - run->items;
        if (items != before)
            at = stopwatch_ns ();
        before = items;
        usleep (500);
    }
    return items;
}

//  From its first answer, with changes coming, until it is whole
static void
s_recover (bench_t *self, case_t *run, const char *topic, const char *end)
{
    run->begun_ns = stopwatch_ns ();
    trickle_start (&self->trickle);
    told_wait (&self->told, topic, end);
    if (run->kind == ADDED || run->kind == VERIFY)
        run->changed = run->owed = told_number (&self->told, "instances");
    if (run->kind == WAITING)  //  It is owed nothing long before that
        s_settle (self, run, s_needed_items (run));
    run->whole_ns = stopwatch_ns ();
    run->got_requests = s_counter (self, "requests") - run->requests;
    run->got_items = s_counter (self, "items") - run->items;
    trickle_stop (&self->trickle);
    uint64_t wanted = s_needed_items (run) + self->trickle.sent;
    run->extra = (int64_t) (s_settle (self, run, wanted) - wanted);
    usleep (100000);  //  And the healthy one
    for (unsigned peer = 0; peer < PEERS; peer++)
        run->during[peer] = s_latency (self, peer);
    trickle_close (&self->trickle);
    s_print (self, run);
}

static void
s_probe (const bench_t *self)
{
    for (unsigned i = 0; i < PROBES; i++) {
        zpeer_engine_retry_peer (self->rig.engine, self->told.peer);
        usleep (PROBE_US);
    }
}

//  It goes away, misses all of that, and stays away until it is owed enough
static void
s_leave (bench_t *self, const case_t *run, const load_t *load)
{
    int64_t until = stopwatch_ns () + AWAY_NS;
    peer_script (&self->rig.peers[OTHER], "{\"mode\": \"refuse\"}");
    load_feed (load, zpeer_engine_events (self->rig.engine), 1, NULL, NULL);
    told_skip (&self->told);
    bool enough = false;
    while (!enough || stopwatch_ns () < until) {
        if (run->kind == OWED && !enough)
            s_probe (self);
        told_figures (&self->told);
        enough = run->kind == WAITING ||
                 told_number (&self->told, "owed") >= run->changed;
    }
}

static void
s_outage (bench_t *self, kind_t kind, load_t load)
{
    uint64_t instances = load_events (&load);
    case_t run = {.kind = kind, .instances = instances, .changed = instances};
    s_leave (self, &run, &load);
    load_free (&load);
    s_prepare (self, &run, "listen");
    if (kind == OWED)  //  Else its pause ends by itself
        zpeer_engine_retry_peer (self->rig.engine, self->told.peer);
    told_wait (&self->told, "peer", "recovered");
    //  The first success may have paid a part of what is owed
    run.owed =
        kind == WAITING ? told_number (&self->told, "owed") : run.changed;
    s_recover (self, &run, "peer", "whole");
    //  Had it been sent more than the questions, it were a pair each
    assert (kind != RENEW || run.extra <= 0);
}

static void
s_walk (bench_t *self, kind_t kind, uint64_t instances)
{
    case_t run = {.kind = kind, .instances = instances, .changed = instances};
    if (kind == ADDED)
        zpeer_engine_remove_peer (self->rig.engine, self->told.peer);
    s_prepare (self, &run, "listen");
    if (kind == ADDED)
        zpeer_engine_add_peer (self->rig.engine, self->told.peer);
    else
        zpeer_engine_verify_peer (self->rig.engine, self->told.peer);
    told_wait (&self->told, "resync", "begun");
    s_recover (self, &run, "resync", "ended");
}

static load_t
s_statuses (size_t instances, zpeer_status_t status)
{
    load_t load;
    load_statuses (&load, instances, status);
    return load;
}

static load_t
s_heartbeats (size_t instances)
{
    load_t load;
    load_heartbeats (&load, instances);
    return load;
}

static void
s_measure (bench_t *self, size_t instances, double seconds)
{
    s_measure_before (self, seconds);
    s_outage (self, OWED, s_statuses (instances / 100, ZPEER_OUT_OF_SERVICE));
    s_outage (self, OWED, s_statuses (instances / 10, ZPEER_UP));
    s_outage (self, OWED, s_statuses (instances, ZPEER_OUT_OF_SERVICE));
    s_outage (self, WAITING, s_statuses (instances, ZPEER_UP));
    s_outage (self, RENEW, s_heartbeats (instances));
    s_walk (self, ADDED, instances);
    s_walk (self, VERIFY, instances);
}

int
main (int argc, char **argv)
{
    static bench_t bench;
    arguments_t args;
    arguments_open (&args, argc, argv, "instances delay_ms per_second seconds");
    size_t instances =
        arguments_number (&args, INSTANCES_MIN, ARGUMENTS_INSTANCES_MAX);
    bench.delay_ms = (unsigned) arguments_number (&args, 0, DELAY_MAX_MS);
    bench.per_second = arguments_real (&args, 1, ARGUMENTS_PER_SECOND_MAX);
    double seconds = arguments_real (&args, 1, ARGUMENTS_SECONDS_MAX);
    arguments_close (&args);
    load_t registers;
    instances = load_leases (&registers, instances, LEASE_SECONDS);
    rig_start (&bench.rig, argv[0], PEERS, "inproc",
               (char *[]){s_retries, s_figures, s_age_out, NULL});
    rig_warm (&bench.rig, &registers);
    load_free (&registers);
    if (bench.delay_ms) {
        char script[96];
        snprintf (script, sizeof script,
                  "{\"rules\": [{\"path\": \"batch\", \"delay_ms\": %u}]}",
                  bench.delay_ms);
        peer_script (&bench.rig.peers[OTHER], script);
    }
    told_open (&bench.told, zpeer_engine_outcomes (bench.rig.engine),
               bench.rig.peers[OTHER].url);
    s_measure (&bench, instances, seconds);
    told_close (&bench.told);
    rig_stop (&bench.rig);
    return EXIT_SUCCESS;
}
