#include <czmq.h>
#include <stdarg.h>
#include "compare.h"
#include "fault.h"
#include "operator.h"
#include "plan.h"
#include "process.h"
#include "report.h"
#include "banned.h"

#define TURN_MS     5      //  The longest that nothing is looked at
#define READY_MS    30000  //  Until the engine's first figures
#define CONVERGE_MS 45000  //  Pauses go up to 10 s; a dispatcher is lost in 6 s
#define LOOK_MS     200
#define SLACK_MS    5000  //  On a busy machine
#define STATS_MS    100
#define PAUSE_MS    1000  //  Of the engine after a read timeout

void
run_fail (run_t *self, const char *kind, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start (args, format);
    vsnprintf (text, sizeof text, format, args);
    va_end (args);
    history_say (&self->history, "FAULT %s: %s", kind, text);
    if (!self->fault[0])
        snprintf (self->fault, sizeof self->fault, "%s: %.100s", kind, text);
}

void
run_check (run_t *self, const char *kind, const char *wrong)
{
    if (wrong)
        run_fail (self, kind, "%s", wrong);
}

//  ---- What the seed decides

//  A restart, a resync, a verify repair much that went wrong before: not so often
static void
s_choose_features (run_t *self, rng_t *rng)
{
    static const unsigned per_mille[FEATURES] = {
        [FEATURE_REMOTE] = 300,     [FEATURE_SINGLE] = 120,
        [FEATURE_REPLICATED] = 500, [FEATURE_REFUSE] = 700,
        [FEATURE_OTHERS] = 600,     [FEATURE_KILLS] = 350,
        [FEATURE_FORGET] = 600,     [FEATURE_JOIN] = 400,
        [FEATURE_WALKS] = 300,      [FEATURE_VISITS] = 600};
    bool *features = self->features;
    for (unsigned i = 0; i < FEATURES; i++)
        features[i] = rng_chance (rng, per_mille[i]);
    if (features[FEATURE_REPLICATED])
        features[FEATURE_REFUSE] = false;
    if (features[FEATURE_REMOTE])
        features[FEATURE_JOIN] = features[FEATURE_WALKS] = false;
}

//  How late a peer may apply a request: see fault.h
static void
s_choose_times (run_t *self, rng_t *rng)
{
    self->threads = RNG_PICK (rng, unsigned, 1, 2, 6);
    self->read_timeout_ms = 200 + (unsigned) rng_below (rng, 200);
    self->latest_ms = self->read_timeout_ms * 3 / 2;
    if (self->threads > 1 || self->features[FEATURE_REMOTE] ||
        self->features[FEATURE_WALKS])
        return;
    self->read_timeout_ms += 200;
    self->latest_ms = 2 * self->read_timeout_ms + PAUSE_MS * 3 / 4;
}

static void
s_choose (run_t *self)
{
    rng_t rng;
    service_t *service = &self->service;
    rng_seed (&rng, self->seed);
    s_choose_features (self, &rng);
    self->peer_count = 2 + (unsigned) rng_below (&rng, 2);
    self->joined = self->peer_count - self->features[FEATURE_JOIN];
    self->feeder_count = 1 + (unsigned) rng_below (&rng, FEEDERS_MAX);
    self->base_count = RNG_PICK (&rng, unsigned, 5, 20, 60, 150, 300);
    s_choose_times (self, &rng);
    self->stop_deadline_ms = RNG_PICK (&rng, unsigned, 500, 1000, 2000);
    self->calm_at = 5000 + (int64_t) rng_below (&rng, 3000);
    service->remote = self->features[FEATURE_REMOTE];
    service_set (service, "eureka.server.peer-node-read-timeout-ms=%u",
                 self->read_timeout_ms);
    service_set (service, "eureka.server.peer-node-connect-timeout-ms=%u",
                 RNG_PICK (&rng, unsigned, 200, 500));
    service_set (service, "eureka.server.max-threads-for-peer-replication=%u",
                 self->threads);
    service_set (service, "apiml.discovery.maxPeerRetries=%u",
                 2 + (unsigned) rng_below (&rng, 3));
    service_set (service, "zpeer.batch.linger-ms=%u",
                 RNG_PICK (&rng, unsigned, 0, 10, 10));
    service_set (service, "zpeer.batch.max-items=%u",
                 RNG_PICK (&rng, unsigned, 7, 50, 250, 1000));
    service_set (service, "zpeer.batch.max-bytes=%u",
                 RNG_PICK (&rng, unsigned, 8192, 1048576, 1048576));
    //  What is gone must be remembered as long as a peer may hold something of it
    unsigned tombstone_ms = RNG_PICK (&rng, unsigned, 0, 0, 900000);
    service_set (service, "zpeer.tombstone-ms=%u",
                 self->features[FEATURE_FORGET] || self->features[FEATURE_JOIN]
                     ? 900000
                     : tombstone_ms);
    service_set (service, "zpeer.batch.enabled=%s",
                 self->features[FEATURE_SINGLE] ? "false" : "true");
    service_set (service, "zpeer.stop.deadline-ms=%u", self->stop_deadline_ms);
    service_set (service, "zpeer.stats.interval-ms=%u", STATS_MS);
}

static void
s_say_choice (run_t *self)
{
    static const char *const names[FEATURES] = {
        "remote", "single", "replicated", "refuse", "others",
        "kills",  "forget", "join",       "walks",  "visits"};
    history_say (&self->history,
                 "seed %" PRIu64 ": %u peers, %u instances, "
                 "%u feeders, calm at %" PRId64,
                 self->seed, self->peer_count, self->base_count,
                 self->feeder_count, self->calm_at);
    for (unsigned i = 0; i < FEATURES; i++)
        if (self->features[i])
            history_say (&self->history, "with %s", names[i]);
    for (unsigned i = 0; i < self->service.setting_count; i++)
        history_say (&self->history, "%s", self->service.settings[i]);
}

//  ---- Beginning

static bool
s_wait_ready (run_t *self)
{
    int64_t deadline = run_now (self) + READY_MS;
    bool ready = false;
    while (!ready && run_now (self) < deadline) {
        report_read (self, TURN_MS);
        ready = self->acceptor_stats > 0;
        for (unsigned i = 0; i < self->joined; i++)
            ready = ready && self->figures[i].at;
    }
    return ready;
}

static void
s_open (run_t *self)
{
    for (unsigned i = 0; i < self->peer_count; i++) {
        self->peers[i].number = i;
        if (!peer_start (&self->peers[i], self->programs->scripted_peer,
                         self->service.log))
            run_fail (self, "control", "P%u does not start", i);
    }
    if (self->fault[0])
        return;
    run_check (self, "service",
               service_start (&self->service, self->peers, self->joined));
    self->watch = zpeer_watch_new (self->service.outcomes, NULL);
    for (unsigned i = 0; i < self->feeder_count; i++)
        run_check (self, "feeder",
                   feeder_open (&self->feeders[i], self->service.events,
                                self->source));
    if (!self->fault[0] && !s_wait_ready (self))
        run_fail (self, "service", "no figures come");
}

static void
s_check_service (run_t *self)
{
    if (!service_runs (&self->service))
        run_fail (self, "service", "the engine has ended");
}

//  ---- The storm

static void
s_turn (run_t *self)
{
    plan_turn (self);
    fault_turn (self);
    operator_turn (self);
    for (unsigned i = 0; i < self->feeder_count; i++)
        run_check (self, "feeder", feeder_read (&self->feeders[i]));
    report_read (self, TURN_MS);
    s_check_service (self);
}

static void
s_storm (run_t *self)
{
    self->calm_at += run_now (self);
    plan_init (self);
    fault_init (self);
    operator_init (self);
    while (!self->fault[0] && run_now (self) < self->calm_at)
        s_turn (self);
}

//  ---- The calm

static bool
s_any_emptied (const run_t *self)
{
    for (unsigned i = 0; i < self->peer_count; i++)
        if (self->peers[i].kills)
            return true;
    return false;
}

//  Nothing is waiting, by figures that came after since
static bool
s_quiet (const run_t *self, int64_t since)
{
    for (unsigned i = 0; i < self->peer_count; i++) {
        const figures_t *figures = &self->figures[i];
        if (figures->at < since || figures->waiting || figures->in_flight ||
            figures->owed)
            return false;
    }
    return operator_done (self);
}

static unsigned
s_compare (run_t *self, bool say)
{
    unsigned differences = 0;
    for (unsigned i = 0; i < self->peer_count; i++)
        differences += compare_peer (self, &self->peers[i], say);
    return differences;
}

//  Every peer equals the source, and goes on doing so
static void
s_converge (run_t *self)
{
    int64_t begun = run_now (self);
    int64_t equal_at = 0;
    int64_t hold = 3 * (int64_t) self->read_timeout_ms + STATS_MS;
    while (run_now (self) < begun + CONVERGE_MS && !self->fault[0]) {
        int64_t now = run_now (self);
        report_read (self, LOOK_MS);
        s_check_service (self);
        if (s_compare (self, false) || !s_quiet (self, now))
            equal_at = 0;
        else if (!equal_at)
            equal_at = run_now (self);
        else if (run_now (self) >= equal_at + hold) {
            history_say (&self->history, "equal, %" PRId64 " ms after the calm",
                         equal_at - begun);
            return;
        }
    }
    if (!self->fault[0])
        run_fail (self, "no convergence", "%u differences, %s",
                  s_compare (self, true),
                  s_quiet (self, run_now (self) - SLACK_MS) ? "quiet"
                                                            : "not quiet");
}

static void
s_calm (run_t *self)
{
    history_say (&self->history, "calm");
    fault_calm (self);
    plan_settle (self);
    if (!operator_calm (self) && s_any_emptied (self) && !self->fault[0])
        plan_renew (self);
    if (!self->fault[0])
        s_converge (self);
}

//  ---- The end

//  With peers that hang, or in peace
static void
s_stop (run_t *self)
{
    bool trouble = self->seed % 2;
    for (unsigned i = 0; i < self->peer_count && trouble; i++)
        peer_freeze (&self->peers[i]);
    if (trouble)
        plan_burst (self);
    const char *wrong =
        service_stop (&self->service, (int) self->stop_deadline_ms + SLACK_MS);
    run_check (self, "stop", wrong);
    if (!trouble && !self->features[FEATURE_REMOTE] && !wrong &&
        !service_logged (&self->service, "ZPD003"))
        run_fail (self, "stop", "not everything was delivered");
}

static void
s_close (run_t *self)
{
    for (unsigned i = 0; i < self->feeder_count; i++)
        feeder_close (&self->feeders[i]);
    zpeer_watch_destroy (&self->watch);
    for (unsigned i = 0; i < self->peer_count; i++)
        peer_kill (&self->peers[i]);
    const char *left = service_fini (&self->service);
    if (left)
        run_fail (self, "stop", "the socket %s is left", left);
    if (process_any_left ())
        run_fail (self, "stop", "a process is left");
    source_destroy (&self->source);
    plan_fini (self);
}

static void
s_print_result (const run_t *self)
{
    uint64_t accepted = 0;
    for (unsigned i = 0; i < self->feeder_count; i++)
        accepted += self->feeders[i].accepted;
    printf ("seed %" PRIu64 ": %s, %.1f s, %" PRIu64 " events, %" PRIu64
            " faults, %" PRIu64 " outcomes\n",
            self->seed, self->fault[0] ? self->fault : "ok",
            (double) run_now (self) / 1000, accepted, self->faults,
            self->outcomes);
}

bool
run_play (uint64_t seed, const programs_t *programs, bool verbose)
{
    run_t *self = (run_t *) calloc (1, sizeof *self);
    assert (self);
    self->seed = seed;
    self->programs = programs;
    history_open (&self->history, verbose ? stdout : NULL);
    service_init (&self->service, programs->program, programs->zpeerd);
    self->source = source_new ();
    s_choose (self);
    s_say_choice (self);
    s_open (self);
    if (!self->fault[0])
        s_storm (self);
    if (!self->fault[0])
        s_calm (self);
    if (!self->fault[0])
        s_stop (self);
    if (self->fault[0])
        service_print_log (&self->service, stdout);
    s_close (self);
    bool good = !self->fault[0];
    if (!good)
        history_print (&self->history, stdout);
    s_print_result (self);
    fflush (stdout);
    history_close (&self->history);
    free (self);
    return good;
}
