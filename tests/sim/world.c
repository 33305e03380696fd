#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include "compare.h"
#include "late.h"
#include "plan.h"
#include "source.h"
#include "banned.h"

//  No run has that many steps, unless something goes round and round
#define STEPS_MAX      200000
#define STEPS_MAX_LONG 2000000

//  History --------------------------------------------------------------------

bool
world_tells (const world_t *self)
{
    return self->history && self->steps >= self->from;
}

void
world_say (world_t *self, const char *format, ...)
{
    self->lines++;
    if (!world_tells (self))
        return;
    va_list args;
    va_start (args, format);
    fprintf (self->history, "%6" PRIu64 " %8" PRIu64 " ", self->steps,
             self->now);
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
    world_say (self, "FAULT %s, seed %" PRIu64 ": %s", kind, self->seed,
               self->detail);
}

void
world_after (world_t *self, uint64_t delay, agenda_fn *fn, void *whom,
             uint64_t number)
{
    agenda_put (&self->agenda, self->now + delay, fn, whom, number);
}

//  What the view says ---------------------------------------------------------

unsigned
world_key (const zpeer_state_t *state)
{
    bool asg = !zpeer_name_app (state->name).size;
    return (unsigned) strtoul (zpeer_name_id (state->name).data, NULL, 10) +
           (asg ? KEYS_MAX : 0);
}

uint32_t
world_version (const zpeer_state_t *state)
{
    return (uint32_t) strtoul (state->info->data + 1, NULL, 10);
}

const zpeer_state_t *
world_state (const world_t *self, unsigned key)
{
    const instance_t *instance = &self->instances[key];
    return zpeer_view_find (self->view,
                            key < KEYS_MAX ? ZPEER_SLICE ("APP")
                                           : (zpeer_slice_t){"", 0},
                            zpeer_slice_str (instance->id));
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
        //  Who told the peers of it renews it
        if (late_waits (self, key))
            continue;
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
        instance->gone_at = self->now;
        world_count (self, TALLY_GONE);
        world_say (self, "I%u is gone", key);
        for (unsigned i = 0; i < self->peer_count; i++) {
            peer_t *peer = &self->peers[i];
            if (late_waits (self, key))
                continue;
            if (instance->forgotten || !peer_joined (peer))
                peer_lapse (peer, key);
            //  Another engine may yet tell it something old
            else if (!self->features[FEATURE_TWIN] &&
                     compare_differs (self, peer, key))
                world_fail (self, "released too early", "P%u: I%u",
                            peer->number, key);
        }
    }
}

//  Life -----------------------------------------------------------------------

void
world_init (world_t *self, uint64_t seed, tally_t *tally, FILE *history,
            const wish_t wishes[FEATURE_COUNT])
{
    *self = (world_t){.seed = seed,
                      .tally = tally,
                      .history = history,
                      .calm_at = UINT64_MAX,
                      .held_up_at = UINT64_MAX};
    rng_seed (&self->rng, seed);
    plan_choose (self, wishes);
    source_init (self);
    for (unsigned key = 0; key < KEYS_ALL; key++)
        snprintf (self->instances[key].id, sizeof self->instances[key].id, "%u",
                  key_number (key));
    for (unsigned i = 0; i < self->peer_count; i++)
        peer_init (&self->peers[i], self, i);
}

//  Somebody looks on: Enter goes on, the end of the input goes on without
static void
s_wait_for_line (world_t *self)
{
    int c;
    fflush (self->history);
    do
        c = getchar ();
    while (c != '\n' && c != EOF);
    self->by_hand = c != EOF;
}

void
world_run (world_t *self)
{
    agenda_entry_t entry;
    bool whole = true;
    plan_make (self);
    while (!self->fault && whole &&
           agenda_take (&self->agenda, self->end_at, &entry)) {
        self->now = entry.at;
        if (++self->steps >
            (self->features[FEATURE_HEAL] || self->features[FEATURE_LAGGARD]
                 ? STEPS_MAX_LONG
                 : STEPS_MAX))
            world_fail (self, "endless", "%" PRIu64 " steps", self->steps);
        uint64_t lines = self->lines;
        entry.fn (self, entry.whom, entry.number);
        if (self->by_hand && world_tells (self) && lines != self->lines)
            s_wait_for_line (self);
        whole = !self->until || self->steps < self->until;
    }
    if (whole)
        self->now = self->end_at;
    if (whole && !self->fault)
        compare_all (self);
}

void
world_fini (world_t *self)
{
    zpeer_handover_stats_t stats;
    zpeer_handover_stats (self->handover, &stats);
    self->tally->counts[TALLY_CAUGHT_UP] += stats.owed;
    self->tally->steps += self->steps;
    for (unsigned i = 0; i < self->peer_count; i++)
        peer_fini (&self->peers[i]);
    source_fini (self);
    source_free (self);
    batch_free_all (self);
    agenda_free (&self->agenda);
    free (self->versions);
}
