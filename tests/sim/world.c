#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include "compare.h"
#include "script.h"
#include "banned.h"

//  Calm lasts that long, ms, and so many read timeouts: everything must be
//  settled then
#define CALM_MS       150000
#define CALM_TIMEOUTS 30

//  No run has that many steps, unless something goes round and round
#define STEPS_MAX 20000

//  From calm to the renewals that peers need that restarted, ms
#define RENEWALS_MS 6000

//  History -----------------------------------------------------------------------

void
world_say (world_t *self, const char *format, ...)
{
    self->lines++;
    if (!self->history)
        return;
    va_list args;
    va_start (args, format);
    fprintf (self->history, "%8" PRIu64 " ", self->now);
    vfprintf (self->history, format, args);
    fputc ('\n', self->history);
    va_end (args);
}

void
world_fail (world_t *self, const char *kind, const char *format, ...)
{
    if (self->fault)
        return;
    va_list args;
    va_start (args, format);
    vsnprintf (self->detail, sizeof self->detail, format, args);
    va_end (args);
    self->fault = kind;
    world_say (self, "FAULT %s: %s", kind, self->detail);
}

void
world_after (world_t *self, uint64_t delay, agenda_fn *fn, void *whom,
             uint64_t number)
{
    agenda_put (&self->agenda, self->now + delay, fn, whom, number);
}

//  What the view says ------------------------------------------------------------

unsigned
world_key (const zpeer_state_t *state)
{
    return (unsigned) strtoul (zpeer_name_id (state->name).data, NULL, 10);
}

uint32_t
world_version (const zpeer_state_t *state)
{
    return (uint32_t) strtoul (state->info->data + 1, NULL, 10);
}

const zpeer_state_t *
world_state (const world_t *self, unsigned key)
{
    return zpeer_view_find (self->view, ZPEER_SLICE ("APP"),
                            zpeer_slice_str (self->instances[key].id));
}

record_t
world_record (const world_t *self, unsigned key)
{
    const zpeer_state_t *state = world_state (self, key);
    if (!state || !zpeer_state_present (state))
        return (record_t){0};
    return (record_t){.timestamp = state->timestamp,
                      .version = world_version (state),
                      .status = state->status,
                      .override = state->override,
                      .there = true};
}

void
world_lapse (peer_t *peer)
{
    world_t *self = peer->world;
    for (unsigned key = 0; key < self->keys; key++) {
        zpeer_change_t changes[2];
        const zpeer_state_t *state = world_state (self, key);
        if (!state ||
            zpeer_view_catch_up (self->view, state->handle, changes) != 1)
            peer_lapse (peer, key);
    }
}

void
world_gone (world_t *self)
{
    for (unsigned key = 0; key < self->keys; key++) {
        instance_t *instance = &self->instances[key];
        if (!instance->known || world_state (self, key))
            continue;
        instance->known = false;
        world_count (self, TALLY_GONE);
        world_say (self, "I%u is gone", key);
        for (unsigned i = 0; i < self->peer_count; i++) {
            peer_t *peer = &self->peers[i];
            if (instance->forgotten || !peer->lane)
                peer_lapse (peer, key);
            else if (compare_differs (self, peer, key))
                world_fail (self, "released too early", "P%u: I%u",
                            peer->number, key);
        }
    }
}

//  What else happens to peers --------------------------------------------------------

static void
s_spell (world_t *self, void *whom, uint64_t spell)
{
    if (!world_is_calm (self))
        network_set_spell ((peer_t *) whom, (unsigned) spell);
}

static void
s_restart (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    if (world_is_calm (self))
        return;
    peer_restart (peer);
    self->restarted = true;
}

static void
s_resync (world_t *self, void *whom, uint64_t number)
{
    (void) self;
    (void) number;
    peer_resync ((peer_t *) whom);
}

static void
s_catch_up (world_t *self, void *whom, uint64_t number)
{
    (void) self;
    (void) number;
    peer_catch_up ((peer_t *) whom);
}

static void
s_miss (world_t *self, void *whom, uint64_t number)
{
    (void) number;
    if (world_is_calm (self))
        return;
    peer_fall_behind ((peer_t *) whom);
    world_after (self, RNG_PICK (&self->rng, uint64_t, 1, 50, 1500, 8000),
                 s_catch_up, whom, 0);
}

static void
s_join (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    if (!peer->lane && self->now)
        world_count (self, TALLY_JOINED);
    peer_join (peer, rng_chance (&self->rng, 700));
}

//  The peer gets another lane when nothing of this one can come late any more
static void
s_leave (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    if (!peer->lane)
        return;
    world_count (self, TALLY_LEFT);
    peer_leave (peer);
    world_after (self,
                 2 * self->read_timeout_ms + CALM_MS / 10 +
                     rng_below (&self->rng, 5000),
                 s_join, peer, 0);
}

static void
s_credit (world_t *self, void *whom, uint64_t credit)
{
    peer_t *peer = (peer_t *) whom;
    peer->credit = (unsigned) credit;
    world_say (self, "P%u credit %u", peer->number, peer->credit);
    peer_poll (peer);
    (void) self;
}

static void
s_calm (world_t *self, void *whom, uint64_t number)
{
    (void) whom;
    (void) number;
    world_say (self, "calm: no more faults, no more changes");
    for (unsigned i = 0; i < self->peer_count; i++)
        network_set_spell (&self->peers[i], SPELL_OK);
    self->calm_at = self->now;
    if (self->restarted && self->features[FEATURE_RENEW])
        world_after (self, RENEWALS_MS, script_renewals, NULL, 0);
}

//  The plan of a run -------------------------------------------------------------

//  The source's events; returns when the last one is
static uint64_t
s_plan_source (world_t *self)
{
    rng_t *rng = &self->rng;
    bool many = self->keys >= MANY_KEYS;
    uint64_t count = 2 + rng_below (rng, 39) + (many ? 3 * self->keys : 0);
    uint64_t at = 0;
    while (count--) {
        at += many ? RNG_PICK (rng, uint64_t, 0, 0, 0, 0, 0, 1, 5, 2000)
                   : RNG_PICK (rng, uint64_t, 0, 1, 5, 30, 200, 1500, 8000);
        world_after (self, at, script_event, NULL, SCRIPT_ANY);
    }
    if (!self->features[FEATURE_HOT])
        return at;
    uint64_t hot = rng_below (rng, at + 1);
    for (count = 5 + rng_below (rng, 36); count; count--) {
        hot += RNG_PICK (rng, uint64_t, 1, 2, 4);
        world_after (self, hot < at ? hot : at, script_event, NULL, 0);
    }
    return at;
}

//  Something happens to a peer, in runs with the feature: up to so many times
static void
s_plan (world_t *self, feature_t feature, peer_t *peer, uint64_t times,
        uint64_t until, agenda_fn *fn)
{
    if (!self->features[feature])
        return;
    for (times = 1 + rng_below (&self->rng, times); times; times--)
        world_after (self, rng_below (&self->rng, until + 1), fn, peer, 0);
}

static void
s_plan_peer (world_t *self, peer_t *peer, uint64_t until)
{
    rng_t *rng = &self->rng;
    for (uint64_t at = 0; at < until;) {
        at += RNG_PICK (rng, uint64_t, 20, 500, 5000, 20000);
        world_after (self, at, s_spell, peer, network_random_spell (rng));
        if (self->features[FEATURE_CREDIT] && rng_chance (rng, 300))
            world_after (self, at, s_credit, peer,
                         RNG_PICK (rng, uint64_t, 1, 2, 6, 12));
    }
    s_plan (self, FEATURE_RESTART, peer, 1, until, s_restart);
    s_plan (self, FEATURE_RESYNC, peer, 1, until, s_resync);
    s_plan (self, FEATURE_OTHER, peer, 3, until, script_other);
    s_plan (self, FEATURE_LOSS, peer, 3, until, s_miss);
    s_plan (self, FEATURE_LEAVE, peer, 1, until, s_leave);
    if (self->features[FEATURE_LATE] && rng_chance (rng, 600))
        s_plan (self, FEATURE_LATE, peer, 1, until, s_join);
    else
        s_join (self, peer, 0);
}

static void
s_choose (world_t *self)
{
    static const unsigned shares[] = {
#define X(name, percent) percent,
        FEATURES (X)
#undef X
    };
    rng_t *rng = &self->rng;
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        self->features[i] = rng_chance (rng, 10 * shares[i]);
    self->read_timeout_ms = RNG_PICK (rng, uint32_t, 1000, 5000, 30000);
    self->pool = RNG_PICK (rng, uint32_t, 3, 10000, 10000);
    self->max_items = RNG_PICK (rng, uint32_t, 4, 250, 250);
    self->tombstone_ms = 900000;
    if (self->features[FEATURE_TOMBSTONE])
        self->tombstone_ms = RNG_PICK (rng, uint32_t, 50, 3000, 20000);
    self->keys = rng_chance (rng, 50) ? KEYS_MAX
                                      : RNG_PICK (rng, unsigned, 1, 1, 2, 4, 9);
    self->peer_count = RNG_PICK (rng, unsigned, 1, 1, 2, 3);
}

//  Life ------------------------------------------------------------------------------

void
world_init (world_t *self, uint64_t seed, tally_t *tally, FILE *history)
{
    *self = (world_t){.seed = seed,
                      .tally = tally,
                      .history = history,
                      .calm_at = UINT64_MAX};
    rng_seed (&self->rng, seed);
    s_choose (self);
    zpeer_view_options_t options = {.tombstone_ms = self->tombstone_ms,
                                    .age_out = self->features[FEATURE_AGE],
                                    .seed = seed};
    self->view = zpeer_view_new (&options);
    for (unsigned key = 0; key < self->keys; key++)
        snprintf (self->instances[key].id, sizeof self->instances[key].id, "%u",
                  key);
    for (unsigned i = 0; i < self->peer_count; i++)
        peer_init (&self->peers[i], self, i);
}

void
world_run (world_t *self)
{
    uint64_t calm = s_plan_source (self);
    for (unsigned i = 0; i < self->peer_count; i++)
        s_plan_peer (self, &self->peers[i], calm);
    world_after (self, calm, s_calm, NULL, 0);
    uint64_t end =
        calm + CALM_MS + (uint64_t) CALM_TIMEOUTS * self->read_timeout_ms;
    agenda_entry_t entry;
    while (!self->fault && agenda_take (&self->agenda, end, &entry)) {
        self->now = entry.at;
        if (++self->steps > STEPS_MAX)
            world_fail (self, "endless", "%" PRIu64 " steps", self->steps);
        entry.fn (self, entry.whom, entry.number);
    }
    self->now = end;
    if (!self->fault)
        compare_all (self);
}

void
world_fini (world_t *self)
{
    for (unsigned i = 0; i < self->peer_count; i++)
        peer_leave (&self->peers[i]);
    while (self->batches) {
        batch_t *batch = self->batches;
        self->batches = batch->next;
        free (batch);
    }
    zpeer_view_destroy (&self->view);
    agenda_free (&self->agenda);
    free (self->versions);
    self->tally->steps += self->steps;
}
