#include <assert.h>
#include <inttypes.h>
#include "caution.h"
#include "network.h"
#include "probe.h"
#include "world.h"
#include "banned.h"

#define NEVER UINT64_MAX

#define MAX_BYTES (1u << 20)

void
peer_init (peer_t *self, world_t *world, unsigned number)
{
    rng_t *rng = &world->rng;
    *self = (peer_t){.world = world, .number = number, .down_since = NEVER};
    zpeer_counter_init (&self->counter, RNG_PICK (rng, uint32_t, 3, 10));
    self->credit = RNG_PICK (rng, unsigned, 6, 6, 6, 1, 12);
    self->latency_ms = RNG_PICK (rng, uint32_t, 1, 5, 40);
    self->per_item_ms = RNG_PICK (rng, double, 0, 0, 0.2, 5, 1e9, 1e9);
    if (self->per_item_ms > 1e6)  //  Very slow
        self->per_item_ms =
            world->keys < MANY_KEYS
                ? world->read_timeout_ms / RNG_PICK (rng, double, 8, 3)
                : 0;
    self->serial = rng_chance (rng, 500);
    self->max_bytes =
        RNG_PICK (rng, uint32_t, UINT32_MAX, UINT32_MAX, 6000, 3000);
    self->fault_rate = RNG_PICK (rng, unsigned, 0, 20, 100, 300);
}

void
peer_lapse (peer_t *self, unsigned key)
{
    record_t *record = &self->registry.records[key];
    if (record->by != BY_OTHER)
        record->there = false;
}

//  What the lane says ------------------------------------------------------------

static void
s_released (world_t *world, void *whom, uint64_t number)
{
    peer_t *self = (peer_t *) whom;
    if ((number & 0xff) == (self->lane_life & 0xff))
        zpeer_view_released (world->view, self->number, number >> 8 & 0xff,
                             number >> 16);
    world_gone (world);
}

//  The answer takes its time, but none overtakes another of the same lane
static void
s_answer_release (peer_t *self, const zpeer_state_t *state)
{
    world_t *world = self->world;
    uint64_t at = world->now + RNG_PICK (&world->rng, uint64_t, 0, 0, 5, 2000);
    if (self->answers_at < at)
        self->answers_at = at;
    uint64_t number =
        state->seq << 16 | state->handle << 8 | (self->lane_life & 0xff);
    agenda_put (&world->agenda, self->answers_at, s_released, self, number);
}

static void
s_report (void *arg, const zpeer_lane_report_t *report)
{
    peer_t *self = (peer_t *) arg;
    unsigned number = world_key (report->state);
    peer_key_t *key = &self->keys[number];
    static const char *const names[] = {"conflict",  "need-register",
                                        "rejected",  "dropped",
                                        "delivered", "released"};
    self->world->tally->outcomes[report->kind]++;
    world_say (self->world, "P%u outcome %s I%u", self->number,
               names[report->kind], number);
    switch (report->kind) {
    //  A lane that is behind may ask with an old timestamp, when a newer one
    //  came to the peer by replication. It is told of that when it catches up.
    case ZPEER_LANE_CONFLICT:
        key->conflict |= !self->behind || key->touched;
        caution_drop (self, number);
        break;
    case ZPEER_LANE_REJECTED:
        key->rejected = key->refused = true;
        caution_drop (self, number);
        break;
    case ZPEER_LANE_DROPPED:
        //  It cannot be asked for
        if (report->ending == ZPEER_ENDED_DROPPED) {
            key->rejected = true;
            caution_drop (self, number);
        }
        break;
    case ZPEER_LANE_RELEASED:
        world_count (self->world, TALLY_RELEASED);
        caution_drop (self, number);
        //  What the peer did not let itself be told nobody renews
        if (key->rejected)
            peer_lapse (self, number);
        s_answer_release (self, report->state);
        break;
    default: break;
    }
}

void
peer_check (peer_t *self)
{
    if (!zpeer_lane_check (self->lane))
        world_fail (self->world, "accounting", "P%u", self->number);
}

//  What the lane is told -----------------------------------------------------------

//  What a change makes good, or ends
static void
s_note (peer_t *self, const zpeer_change_t *change, const zpeer_state_t *state)
{
    unsigned number = world_key (state);
    peer_key_t *key = &self->keys[number];
    bool owes = change->flags & ZPEER_CHANGE_OWE;
    bool replicated = change->flags & ZPEER_CHANGE_REPLICATED;
    bool cancel = change->action == ZPEER_CANCEL;
    if (!owes && (replicated || change->action == ZPEER_FORGET))
        caution_drop (self, number);
    if (replicated)
        return;
    key->wiped = false;
    if (owes || cancel)
        key->unowed = false;
    //  A bad item is tried again when it is owed
    if (owes && zpeer_state_present (state))
        self->world->versions[world_version (state)].bad[self->number] = 0;
    if ((owes && state->top) || cancel || change->action == ZPEER_REGISTER)
        key->rejected = false;
}

static void
s_change (peer_t *self, const zpeer_change_t *change)
{
    zpeer_lane_change (self->lane, self->world->now, change);
    peer_check (self);
    const zpeer_state_t *state = probe_state (self->lane, change->handle);
    if (state && !(change->flags & ZPEER_CHANGE_RELEASE))
        s_note (self, change, state);
}

void
peer_tell (peer_t *self, const zpeer_change_t *change)
{
    if (!self->lane)
        return;
    assert (change->handle < KEYS_MAX);
    if (self->behind) {
        world_count (self->world, TALLY_MISSED);
        self->keys[change->handle].noted = true;
    }
    else
        s_change (self, change);
}

void
peer_fall_behind (peer_t *self)
{
    if (!self->lane)
        return;
    self->behind = true;
    world_say (self->world, "P%u lane falls behind", self->number);
}

void
peer_catch_up (peer_t *self)
{
    if (!self->behind)
        return;
    self->behind = false;
    world_say (self->world, "P%u lane catches up", self->number);
    for (uint32_t handle = 0; handle < KEYS_MAX; handle++) {
        if (!self->keys[handle].noted)
            continue;
        zpeer_change_t changes[2];
        unsigned count =
            zpeer_view_catch_up (self->world->view, handle, changes);
        for (unsigned i = 0; i < count; i++)
            s_change (self, &changes[i]);
        self->keys[handle].noted = false;
        self->world->tally->counts[TALLY_CAUGHT_UP] += count;
    }
    peer_poll (self);
}

//  Owes the whole view. What the view lets go of is none of it any more, and is
//  not told (see zpeer_view_catch_up).
static void
s_owe_all (peer_t *self)
{
    for (uint32_t handle = 0; handle < KEYS_MAX; handle++) {
        zpeer_change_t changes[2];
        if (zpeer_view_catch_up (self->world->view, handle, changes) != 1)
            continue;
        if (self->behind)
            self->keys[handle].noted = true;
        else
            s_change (self, &changes[0]);
    }
}

void
peer_resync (peer_t *self)
{
    if (!self->lane)
        return;
    world_say (self->world, "P%u resync", self->number);
    world_count (self->world, TALLY_RESYNCS);
    s_owe_all (self);
    peer_poll (self);
}

//  The lane's life ---------------------------------------------------------------

//  What was there before the lane is not its affair, until it owes it
static void
s_owe_nothing (peer_t *self)
{
    for (unsigned key = 0; key < self->world->keys; key++)
        self->keys[key].unowed = world_state (self->world, key) != NULL;
}

void
peer_restart (peer_t *self)
{
    self->registry = (registry_t){0};
    self->busy_until = 0;
    self->life++;
    for (unsigned key = 0; key < KEYS_MAX; key++)
        self->keys[key].wiped = true;
    world_count (self->world, TALLY_RESTARTS);
    world_say (self->world, "P%u restarts, empty", self->number);
}

//  Nothing is known of what the lane before this did
static void
s_begin (peer_t *self)
{
    self->lane_life++;
    self->failed = self->behind = false;
    self->quiet_until = self->wake = self->flights = self->rounds = 0;
    self->down_since = NEVER;
    for (unsigned i = 0; i < KEYS_MAX; i++) {
        peer_key_t *key = &self->keys[i];
        key->first = NEVER;
        key->noted = key->flying = key->must_ask = key->unowed = false;
    }
}

void
peer_join (peer_t *self, bool whole)
{
    world_t *world = self->world;
    if (self->lane)
        return;
    zpeer_lane_options_t options = {
        .max_items = world->max_items,
        .max_bytes = MAX_BYTES,
        .linger_ms = LINGER_MS,
        .read_timeout_ms = world->read_timeout_ms,
        .pool = world->pool,
        .delivered = rng_chance (&world->rng, 500),
        .seed = rng_next (&world->rng),
        .report = s_report,
        .arg = self,
    };
    self->lane = zpeer_lane_new (&options);
    s_begin (self);
    zpeer_view_add_lane (world->view, self->number);
    world_lapse (self);
    world_say (world, "P%u gets a lane", self->number);
    if (whole)
        s_owe_all (self);
    else
        s_owe_nothing (self);
    peer_poll (self);
}

void
peer_leave (peer_t *self)
{
    world_t *world = self->world;
    if (!self->lane)
        return;
    zpeer_lane_stats_t stats;
    zpeer_lane_close (self->lane, ZPEER_ENDED_PEER_REMOVED);
    zpeer_lane_stats (self->lane, &stats);
    uint64_t ended = 0;
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++) {
        ended += stats.ended[i];
        world->tally->ended[i] += stats.ended[i];
    }
    if (stats.accepted != ended || stats.waiting || stats.in_flight)
        world_fail (world, "accounting", "P%u: %" PRIu64 " of %" PRIu64,
                    self->number, ended, stats.accepted);
    zpeer_lane_destroy (&self->lane);
    self->behind = false;
    zpeer_view_remove_lane (world->view, self->number);
    world_say (world, "P%u has no lane any more", self->number);
    world_gone (world);
}
