#include "anew.h"
#include "calm.h"
#include "network.h"
#include "plan.h"
#include "script.h"
#include "source.h"
#include "banned.h"

//  A peer in a crash loop restarts so often, at least, and up to so many times more
#define CRASHES_MIN  3
#define CRASHES_MORE 10

//  From a lane's end to the next one, and two read timeouts, ms
#define LEAVE_MS 15000

//  What else happens to peers -------------------------------------------------

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

//  It goes on restarting, so many times
static void
s_crash (world_t *self, void *whom, uint64_t number)
{
    if (world_is_calm (self))
        return;
    s_restart (self, whom, 0);
    if (number)
        world_after (
            self, RNG_PICK (&self->rng, uint64_t, 20, 200, 1500, 6000, 20000),
            s_crash, whom, number - 1);
}

static void
s_crash_loop (world_t *self, void *whom, uint64_t number)
{
    (void) number;
    world_count (self, TALLY_CRASHES);
    s_crash (self, whom, CRASHES_MIN + rng_below (&self->rng, CRASHES_MORE));
}

static void
s_stick (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    if (!world_is_calm (self))
        batcher_stick (&peer->batcher, RNG_PICK (&self->rng, uint64_t, 50, 700,
                                                 1500, 4000, 8000));
}

static void
s_walk (world_t *self, const peer_t *peer, zpeer_walk_kind_t kind)
{
    if (peer_joined (peer))
        source_walk (self, peer->number, kind);
}

static void
s_resync (world_t *self, void *whom, uint64_t number)
{
    (void) number;
    s_walk (self, (const peer_t *) whom, ZPEER_WALK_RESYNC);
}

static void
s_verify (world_t *self, void *whom, uint64_t number)
{
    (void) number;
    s_walk (self, (const peer_t *) whom, ZPEER_WALK_VERIFY);
}

static void
s_retry (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) self;
    (void) number;
    batcher_retry (&peer->batcher);
}

static void
s_join (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    if (peer_joined (peer))
        return;
    if (self->now)
        world_count (self, TALLY_JOINED);
    peer_join (peer);
    world_lapse (peer);
}

static void
s_leave_for (world_t *self, peer_t *peer, uint64_t ms)
{
    if (!peer_joined (peer))
        return;
    world_count (self, TALLY_LEFT);
    peer_leave (peer);
    world_after (self, ms, s_join, peer, 0);
}

//  What the lanes sent that are gone may yet be applied when the new ones are there
static void
s_rejoin (world_t *self, void *whom, uint64_t number)
{
    (void) number;
    if (!world_is_calm (self))
        s_leave_for (self, (peer_t *) whom,
                     RNG_PICK (&self->rng, uint64_t, 0, 0, 5, 100, 3000));
}

//  The peer gets other lanes when nothing of these can come late any more
static void
s_leave (world_t *self, void *whom, uint64_t number)
{
    (void) number;
    s_leave_for (self, (peer_t *) whom,
                 2 * self->read_timeout_ms + LEAVE_MS +
                     rng_below (&self->rng, 5000));
}

//  And to their dispatchers ---------------------------------------------------

static void
s_start_dispatcher (world_t *self, void *whom, uint64_t number)
{
    (void) self;
    (void) number;
    dispatcher_start ((dispatcher_t *) whom);
}

//  A remote dispatcher ends, one way or another, and another comes
static void
s_end_dispatcher (world_t *self, void *whom, uint64_t number)
{
    dispatcher_t *dispatcher = (dispatcher_t *) whom;
    rng_t *rng = &self->rng;
    (void) number;
    if (world_is_calm (self) || !dispatcher->core)
        return;
    if (rng_chance (rng, 300))
        dispatcher_stop (dispatcher);
    else
        dispatcher_die (dispatcher, rng_chance (rng, 500));
    world_after (self, RNG_PICK (rng, uint64_t, 0, 100, 3000, 10000),
                 s_start_dispatcher, dispatcher, 0);
}

static void
s_mend (world_t *self, void *whom, uint64_t life)
{
    dispatcher_t *dispatcher = (dispatcher_t *) whom;
    (void) self;
    if (!dispatcher->core || dispatcher->life != life)
        return;
    dispatcher_cut (dispatcher, &dispatcher->down, CUT_NOT);
    dispatcher_cut (dispatcher, &dispatcher->up, CUT_NOT);
}

//  What comes from the dispatcher is cut, too
static void
s_cut_up (world_t *self, void *whom, uint64_t number)
{
    dispatcher_t *dispatcher = (dispatcher_t *) whom;
    (void) number;
    if (!world_is_calm (self) && dispatcher->core)
        dispatcher_cut (dispatcher, &dispatcher->up, dispatcher->down.cut);
}

static void
s_cut (world_t *self, void *whom, uint64_t number)
{
    dispatcher_t *dispatcher = (dispatcher_t *) whom;
    rng_t *rng = &self->rng;
    (void) number;
    if (world_is_calm (self) || !dispatcher->core)
        return;
    dispatcher_cut (dispatcher, &dispatcher->down,
                    RNG_PICK (rng, cut_t, CUT_LOSES, CUT_HOLDS));
    world_count (self, TALLY_CUTS);
    world_after (self, RNG_PICK (rng, uint64_t, 0, 0, 900, 1900), s_cut_up,
                 dispatcher, 0);
    world_after (self,
                 RNG_PICK (rng, uint64_t, 500, 2500, 3500, 5500, 8500, 12000),
                 s_mend, dispatcher, dispatcher->life);
}

static void
s_hear (world_t *self, void *whom, uint64_t number)
{
    dispatcher_t *dispatcher = (dispatcher_t *) whom;
    (void) self;
    (void) number;
    if (dispatcher->core)
        dispatcher_deafen (dispatcher, CUT_NOT);
}

static void
s_deafen (world_t *self, void *whom, uint64_t number)
{
    dispatcher_t *dispatcher = (dispatcher_t *) whom;
    rng_t *rng = &self->rng;
    (void) number;
    if (world_is_calm (self) || !dispatcher->core)
        return;
    dispatcher_deafen (dispatcher, RNG_PICK (rng, cut_t, CUT_LOSES, CUT_HOLDS));
    world_after (self, RNG_PICK (rng, uint64_t, 200, 900, 1500, 8000), s_hear,
                 dispatcher, 0);
}

//  The plan of a run ----------------------------------------------------------

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

//  Something happens, in runs with the feature: up to so many times
static void
s_plan (world_t *self, feature_t feature, void *whom, uint64_t times,
        uint64_t until, agenda_fn *fn)
{
    if (!self->features[feature])
        return;
    for (times = 1 + rng_below (&self->rng, times); times; times--)
        world_after (self, rng_below (&self->rng, until + 1), fn, whom, 0);
}

static void
s_plan_dispatchers (world_t *self, peer_t *peer, uint64_t until)
{
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++) {
        dispatcher_t *dispatcher = &peer->dispatchers[i];
        if (!dispatcher->used)
            continue;
        s_plan (self, FEATURE_DEAF, dispatcher, 2, until, s_deafen);
        if (!dispatcher->remote)
            continue;
        s_plan (self, FEATURE_DEATH, dispatcher, 3, until, s_end_dispatcher);
        s_plan (self, FEATURE_CUT, dispatcher, 3, until, s_cut);
    }
}

static void
s_plan_peer (world_t *self, peer_t *peer, uint64_t until)
{
    rng_t *rng = &self->rng;
    for (uint64_t at = 0; at < until;) {
        at += RNG_PICK (rng, uint64_t, 20, 500, 5000, 20000);
        world_after (self, at, s_spell, peer, network_random_spell (rng));
    }
    s_plan (self, FEATURE_RESTART, peer, 1, until, s_restart);
    s_plan (self, FEATURE_CRASH, peer, 2, until, s_crash_loop);
    s_plan (self, FEATURE_RESYNC, peer, 2, until, s_resync);
    s_plan (self, FEATURE_VERIFY, peer, 2, until, s_verify);
    s_plan (self, FEATURE_RETRY, peer, 3, until, s_retry);
    s_plan (self, FEATURE_OTHER, peer, 3, until, script_other);
    s_plan (self, FEATURE_STUCK, peer, 4, until, s_stick);
    s_plan (self, FEATURE_LEAVE, peer, 1, until, s_leave);
    s_plan (self, FEATURE_REJOIN, peer, 3, until, s_rejoin);
    s_plan_dispatchers (self, peer, until);
    if (self->features[FEATURE_LATE] && rng_chance (rng, 600))
        s_plan (self, FEATURE_LATE, peer, 1, until, s_join);
    else
        s_join (self, peer, 0);
}

static void
s_choose_features (world_t *self, const wish_t wishes[FEATURE_COUNT])
{
    static const unsigned shares[] = {
#define X(name, percent) percent,
        FEATURES (X)
#undef X
    };
    //  Numbers of their own: a wish changes nothing else
    rng_t rng;
    rng_seed (&rng, ~self->seed);
    for (unsigned i = 0; i < FEATURE_COUNT; i++) {
        bool chosen = rng_chance (&rng, 10 * shares[i]);
        self->features[i] =
            wishes[i] == WISH_SHARE ? chosen : wishes[i] == WISH_ON;
    }
}

//  Some instances have what a peer does not bear in all that is sent of them
static void
s_choose_flaws (world_t *self)
{
    rng_t *rng = &self->rng;
    for (unsigned key = 0; key < self->keys; key++) {
        uint8_t *flaws = &self->instances[key].flaws;
        if (self->features[FEATURE_FIREWALL] && rng_chance (rng, 100))
            *flaws |= FLAW_BANNED;
        if (self->features[FEATURE_CROWD] && rng_chance (rng, 350))
            *flaws |= FLAW_BANNED;
        if (self->features[FEATURE_HANG] && rng_chance (rng, 100))
            *flaws |= FLAW_HANGS;
    }
}

void
plan_choose (world_t *self, const wish_t wishes[FEATURE_COUNT])
{
    rng_t *rng = &self->rng;
    s_choose_features (self, wishes);
    self->read_timeout_ms = RNG_PICK (rng, uint32_t, 1000, 5000, 30000);
    if (self->features[FEATURE_LAGGARD])
        self->read_timeout_ms = 30000;
    self->pool = RNG_PICK (rng, uint32_t, 3, 10000, 10000);
    self->max_items = RNG_PICK (rng, uint32_t, 4, 250, 250);
    self->tombstone_ms = 900000;
    if (self->features[FEATURE_TOMBSTONE])
        self->tombstone_ms = RNG_PICK (rng, uint32_t, 50, 3000, 20000);
    self->keys = rng_chance (rng, 50) ? KEYS_MAX
                                      : RNG_PICK (rng, unsigned, 1, 1, 2, 4, 9);
    self->batch_enabled = !self->features[FEATURE_SINGLE];
    self->busy = (zpeer_statuses_t){.codes = {503}, .count = 1};
    if (rng_chance (rng, 300))
        self->busy.codes[self->busy.count++] = 429;
    self->peer_count = RNG_PICK (rng, unsigned, 1, 1, 2, 3);
    s_choose_flaws (self);
}

void
plan_make (world_t *self)
{
    uint64_t until = s_plan_source (self);
    for (unsigned i = 0; i < self->peer_count; i++)
        s_plan_peer (self, &self->peers[i], until);
    s_plan (self, FEATURE_ENGINE, NULL, 2, until, anew_start);
    calm_plan (self, until);
}
