#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "events.h"
#include "plan.h"
#include "report.h"
#include "banned.h"

#define APPS         7
#define VISITS_MAX   8
#define VISIT_FRAMES 3
#define VISITORS     6   //  Instances a visit
#define BURST_FRAME  40  //  Events a frame at most
#define LAST_BURST   30
#define HOT          4  //  Instances of a feeder
#define HOT_TURNS    6
#define MOST         20  //  Events a turn, mostly

//  When what a feeder left behind is sent again: the engine has had time to read
//  whatever came of it
#define VISIT_MS    1500
#define VISIT_STATS 5

//  A feeder that goes away; his frames are then sent by one who waits
typedef struct {
    frame_t frames[VISIT_FRAMES];
    unsigned count;
    int64_t left_at;
    uint64_t stats;  //  Messages of the acceptor when he left
    bool told;
} visit_t;

struct plan {
    rng_t rng;
    rng_t other;  //  For the other server, who waits until all peers run
    uint64_t clock;
    unsigned turns;
    int64_t next_at;
    int64_t visit_at;
    visit_t *visits[VISITS_MAX];  //  Owned
    unsigned visit_count;
};

static drawer_t
s_drawer (run_t *run)
{
    return (drawer_t){.rng = &run->plan->rng,
                      .clock = &run->plan->clock,
                      .now = run_now (run),
                      .forget = run->features[FEATURE_FORGET]};
}

static instance_t *
s_add_instance (run_t *run, const char *app, const char *prefix)
{
    assert (run->instance_count < INSTANCES_MAX);
    unsigned number = run->instance_count++;
    instance_t *instance = &run->instances[number];
    snprintf (instance->app, sizeof instance->app, "%s%u", app, number % APPS);
    snprintf (instance->id, sizeof instance->id, "%s-%u", prefix, number);
    instance->feeder = number % run->feeder_count;
    return instance;
}

void
plan_init (run_t *run)
{
    run->plan = (plan_t *) calloc (1, sizeof *run->plan);
    assert (run->plan);
    rng_seed (&run->plan->rng, run->seed ^ 0x706c616e);
    rng_seed (&run->plan->other, run->seed ^ 0x6f74686572);
    run->plan->clock = PLAN_EPOCH;
    run->plan->visit_at = 500;
    for (unsigned i = 0; i < run->base_count; i++)
        s_add_instance (run, "APP", "i");
}

void
plan_fini (run_t *run)
{
    for (unsigned i = 0; run->plan && i < run->plan->visit_count; i++)
        free (run->plan->visits[i]);
    free (run->plan);
    run->plan = NULL;
}

//  ---- Sending

static void
s_send (run_t *run, unsigned feeder, const frame_t *frame)
{
    if (frame->events && !run->fault[0])
        run_check (run, "feeder", feeder_send (&run->feeders[feeder], frame));
}

static void
s_say_events (run_t *run, const frame_t *frame, const char *who)
{
    char reason[64];
    for (size_t offset = 0; offset < frame->size;) {
        zpeer_event_t *event;
        int rc = zpeer_event_decode (frame->data, frame->size, &offset, &event,
                                     reason, sizeof reason);
        if (rc == ZPEER_E_PARSE)
            return;
        if (rc != ZPEER_OK) {
            history_say (&run->history, "%s: a bad event", who);
            continue;
        }
        char *info = zpeer_event_info_json (event);
        const char *version = info ? strstr (info, "\"version\":") : NULL;
        history_say (&run->history, "%s: %s %s %" PRIu64 " %s %s%.*s", who,
                     zpeer_action_name (zpeer_event_action (event)),
                     zpeer_event_id (event), zpeer_event_timestamp (event),
                     zpeer_status_name (zpeer_event_status (event)),
                     zpeer_status_name (zpeer_event_overridden_status (event)),
                     version ? (int) strcspn (version, "}") : 0,
                     version ? version : "");
        free (info);
        zpeer_event_destroy (&event);
    }
}

//  One of a feeder's instances. A few change all the time, and then others do;
//  every second that has had its time is left alone until it comes again, for a
//  later event would repair what went wrong. NULL: it is one of those.
static instance_t *
s_pick (run_t *run, unsigned feeder)
{
    rng_t *rng = &run->plan->rng;
    unsigned count = run->base_count / run->feeder_count;
    unsigned first = run->plan->turns / HOT_TURNS * HOT;
    unsigned number = (unsigned) rng_below (rng, count);
    if (rng_chance (rng, 500))
        number = (first + (unsigned) rng_below (rng, HOT)) % count;
    else if (number % 2 && (number < first % count || first >= count))
        return NULL;
    return &run->instances[feeder + number * run->feeder_count];
}

//  So many events of one feeder
static void
s_burst (run_t *run, unsigned events)
{
    rng_t *rng = &run->plan->rng;
    frame_t frame = {.size = 0};
    drawer_t drawer = s_drawer (run);
    unsigned feeder = (unsigned) rng_below (rng, run->feeder_count);
    for (unsigned i = 0; i < events; i++) {
        instance_t *instance = s_pick (run, feeder);
        if (!instance || instance->retired)
            continue;
        if (rng_chance (rng, 15))
            events_bad (instance, &frame);
        if (rng_chance (rng, 15))
            events_asg (&drawer, &frame);
        events_any (&drawer, instance, &frame);
        if (frame.events >= BURST_FRAME || !events_fit (&frame)) {
            s_say_events (run, &frame, "source");
            s_send (run, feeder, &frame);
            frame.size = frame.events = 0;
        }
    }
    s_say_events (run, &frame, "source");
    s_send (run, feeder, &frame);
}

void
plan_burst (run_t *run)
{
    s_burst (run, LAST_BURST);
}

//  ---- Events of other servers

static bool
s_all_run (const run_t *run)
{
    for (unsigned i = 0; i < run->peer_count; i++)
        if (run->peers[i].state != PEER_RUNS)
            return false;
    return true;
}

static bool
s_touched (const run_t *run, unsigned number)
{
    for (unsigned i = 0; i < run->peer_count; i++)
        if (run->peers[i].marks[number].touched)
            return true;
    return false;
}

//  The other server tells every peer
static void
s_tell_peers (run_t *run, const char *item)
{
    char *script = NULL;
    int size =
        asprintf (&script, "{\"apply\":{\"replicationList\":[%s]}}", item);
    assert (size > 0);
    for (unsigned i = 0; i < run->peer_count; i++) {
        char *wrong = peer_script (&run->peers[i], script);
        if (wrong)
            run_fail (run, "control", "P%u: %s", i, wrong);
        free (wrong);
    }
    free (script);
}

//  One event, of an instance of which nothing else is under way: the engine
//  first, then the peers, and only then anything else
static void
s_replicate (run_t *run)
{
    rng_t *rng = &run->plan->other;
    unsigned number = (unsigned) rng_below (rng, run->base_count);
    instance_t *instance = &run->instances[number];
    feeder_t *feeder = &run->feeders[instance->feeder];
    frame_t frame = {.size = 0};
    drawer_t drawer = s_drawer (run);
    drawer.rng = rng;
    if (!s_all_run (run) || s_touched (run, number) || instance->forgotten ||
        instance->retired)
        return;
    run_check (run, "feeder", feeder_flush (feeder));
    const zpeer_state_t *state =
        source_find (run->source, instance->app, instance->id);
    if (!state || run->fault[0])
        return;
    char *item = events_replicated (&drawer, instance, state, &frame);
    s_say_events (run, &frame, "another server");
    s_send (run, instance->feeder, &frame);
    run_check (run, "feeder", feeder_flush (feeder));
    s_tell_peers (run, item);
    free (item);
}

//  ---- Feeders that go away

//  His instances come, change, and some go; nobody else speaks of them
static void
s_visit (run_t *run)
{
    plan_t *plan = run->plan;
    drawer_t drawer = s_drawer (run);
    feeder_t guest;
    unsigned first = run->instance_count;
    if (plan->visit_count == VISITS_MAX || first + VISITORS > INSTANCES_MAX)
        return;
    visit_t *visit = (visit_t *) calloc (1, sizeof *visit);
    assert (visit);
    plan->visits[plan->visit_count++] = visit;
    for (unsigned i = 0; i < VISITORS; i++)
        s_add_instance (run, "GUEST", "g");
    visit->count = 1 + (unsigned) rng_below (&plan->rng, VISIT_FRAMES);
    run_check (run, "feeder",
               feeder_open (&guest, run->service.events, run->source));
    for (unsigned f = 0; f < visit->count && !run->fault[0]; f++) {
        for (unsigned i = first; i < first + VISITORS; i++)
            if (f == 0 || rng_chance (&plan->rng, 500))
                events_plain (&drawer, &run->instances[i], &visit->frames[f]);
        s_say_events (run, &visit->frames[f], "guest");
        run_check (run, "feeder", feeder_send (&guest, &visit->frames[f]));
    }
    feeder_close (&guest);
    visit->left_at = run_now (run);
    visit->stats = run->acceptor_stats;
}

//  Sends again what is old enough
static void
s_revisit (run_t *run)
{
    for (unsigned i = 0; i < run->plan->visit_count; i++) {
        visit_t *visit = run->plan->visits[i];
        if (visit->told || run_now (run) < visit->left_at + VISIT_MS ||
            run->acceptor_stats < visit->stats + VISIT_STATS)
            continue;
        visit->told = true;
        history_say (&run->history, "what guest %u left is sent again", i);
        for (unsigned f = 0; f < visit->count; f++)
            s_send (run, 0, &visit->frames[f]);
    }
}

void
plan_settle (run_t *run)
{
    int64_t deadline = run_now (run) + INT64_C (10) * VISIT_MS;
    for (bool waits = true; waits && run_now (run) < deadline;) {
        s_revisit (run);
        waits = false;
        for (unsigned i = 0; i < run->plan->visit_count; i++)
            waits = waits || !run->plan->visits[i]->told;
        report_read (run, waits ? 20 : 0);
    }
    for (unsigned i = 0; i < run->feeder_count; i++)
        run_check (run, "feeder", feeder_flush (&run->feeders[i]));
}

//  ---- The turn

static void
s_turn (run_t *run)
{
    plan_t *plan = run->plan;
    rng_t *rng = &plan->rng;
    unsigned pick = (unsigned) rng_below (rng, 100);
    plan->turns++;
    s_burst (run, pick < 5 ? 2 * run->base_count
                           : 1 + (unsigned) rng_below (rng, MOST));
    if (run->features[FEATURE_REPLICATED] && rng_chance (rng, 250))
        s_replicate (run);
    plan->next_at += pick < 85 ? 5 + (int64_t) rng_below (rng, 60)
                               : 100 + (int64_t) rng_below (rng, 500);
}

void
plan_turn (run_t *run)
{
    plan_t *plan = run->plan;
    int64_t now = run_now (run);
    s_revisit (run);
    if (now >= plan->next_at) {
        s_turn (run);
        //  What a slow machine has missed is not caught up with
        if (plan->next_at < now - 200)
            plan->next_at = now;
    }
    if (run->features[FEATURE_VISITS] && now >= plan->visit_at) {
        s_visit (run);
        plan->visit_at += 500 + (int64_t) rng_below (&plan->rng, 1500);
    }
}

//  The client of an instance at UNKNOWN is told 404: it registers
void
plan_renew (run_t *run)
{
    drawer_t drawer = s_drawer (run);
    for (unsigned i = 0; i < run->instance_count; i++) {
        instance_t *instance = &run->instances[i];
        const zpeer_state_t *state =
            source_find (run->source, instance->app, instance->id);
        frame_t frame = {.size = 0};
        if (!state || !zpeer_state_present (state))
            continue;
        if (state->status == ZPEER_UNKNOWN)
            events_register (&drawer, instance, &frame);
        else
            events_heartbeat (&frame, instance, state->timestamp);
        s_send (run, instance->feeder, &frame);
    }
    history_say (&run->history, "one round of heartbeats");
    for (unsigned i = 0; i < run->feeder_count; i++)
        run_check (run, "feeder", feeder_flush (&run->feeders[i]));
}
