#include <inttypes.h>
#include "calm.h"
#include "network.h"
#include "probe.h"
#include "script.h"
#include "source.h"
#include "twin.h"
#include "banned.h"

//  Calm lasts that long, ms, and so many read timeouts: everything must be
//  settled then
#define CALM_MS       150000
#define CALM_TIMEOUTS 30

//  A peer that takes almost one for each batch needs so many more an instance
#define LAGGARD_TIMEOUTS 8

//  Where most items are refused there may be nothing else that is taken, and each costs
//  a peer two of the longest pauses
#define CROWD_KEY_MS 20000

//  From one checkup to the next
#define CHECKUP_MS       150000
#define CHECKUP_TIMEOUTS 10

//  From calm to the renewals that peers need that restarted, ms
#define RENEWALS_MS 6000

//  Between two renewals of a lease, ms; and from the last one to the end of a
//  run, where all must be settled: a very slow peer needs some read timeouts more
#define RENEWAL_EVERY_MS      30000
#define RENEWAL_LAST_MS       60000
#define RENEWAL_LAST_TIMEOUTS 5

//  A peer is asked about what it refused after half an hour at the latest; and
//  bad items, which go alone, share one request in five minutes
#define HEAL_MS     (40 * 60000)
#define HEAL_KEY_MS (5 * 60000)

//  How long a lane that may send, and has something owed, may not
#define IDLE_MS 10000

//  Where leases run out, registrations live on from so long after calm, ms: the
//  longest pause, and a renewal
#define ALIVE_AFTER_MS 100000
#define ALIVE_EVERY_MS 5000

//  And so many read timeouts more for each item that hangs
#define HANG_TIMEOUTS 3
#define SINGLE_HANGS  4

static uint64_t
s_calm_ms (const world_t *self)
{
    uint64_t timeouts = CALM_TIMEOUTS;
    if (self->features[FEATURE_LAGGARD])
        timeouts += (uint64_t) LAGGARD_TIMEOUTS * self->keys;
    uint64_t crowd_ms = self->features[FEATURE_CROWD] ? CROWD_KEY_MS : 0;
    return CALM_MS + crowd_ms * self->keys + timeouts * self->read_timeout_ms;
}

static void
s_go_on (world_t *self, uint64_t ms)
{
    if (self->end_at < self->now + ms)
        self->end_at = self->now + ms;
}

//  Renewals -------------------------------------------------------------------

//  Where peers' leases run out, the source renews from the start
static bool
s_renews_always (const world_t *self)
{
    return self->peers[0].servers[0].lease_ms > 0;
}

static void
s_renew_all (world_t *self)
{
    uint64_t last_ms = RENEWAL_LAST_MS;
    if (!s_renews_always (self))
        last_ms += (uint64_t) RENEWAL_LAST_TIMEOUTS * self->read_timeout_ms;
    if (self->features[FEATURE_LAGGARD] && !s_renews_always (self))
        last_ms = s_calm_ms (self) / 2;
    if (self->now + last_ms > self->end_at)
        return;
    for (unsigned key = 0; key < self->keys; key++)
        world_after (self, 0, script_renewal, NULL, key);
}

static void
s_renewals (world_t *self, void *whom, uint64_t number)
{
    (void) whom;
    (void) number;
    s_renew_all (self);
    world_after (self, RENEWAL_EVERY_MS, s_renewals, NULL, 0);
}

//  Whether a lane has something that its peer did not take
static bool
s_rests (const world_t *self)
{
    for (unsigned i = 0; i < self->peer_count; i++) {
        const zpeer_lane_t *lane = peer_lane (&self->peers[i]);
        if (!lane)
            return true;
        for (uint32_t handle = 0; handle < KEYS_MAX; handle++)
            if (probe_retried (lane, handle))
                return true;
    }
    return false;
}

//  Goes on until all is well; number: when that must be
static void
s_watch (world_t *self, void *whom, uint64_t number)
{
    (void) whom;
    if (self->now > number)
        return;
    if (s_rests (self))
        s_go_on (self, s_calm_ms (self));
    world_after (self, RENEWAL_EVERY_MS, s_watch, NULL, number);
}

//  Other writers let go of what they registered, or they do not
static void
s_heal (world_t *self)
{
    bool all = rng_chance (&self->rng, 500);
    world_say (self, "healed: nothing is refused any more");
    self->healed = true;
    for (unsigned key = 0; self->features[FEATURE_TWIN] && key < self->keys;
         key++)
        twin_tell (self, key, ZPEER_REGISTER);
    for (unsigned i = 0; all && i < self->peer_count; i++)
        for (unsigned key = 0; key < KEYS_MAX; key++) {
            record_t *record = &self->peers[i].servers[0].records[key];
            record->there &= record->by != BY_OTHER;
        }
    if (!s_renews_always (self))
        s_renewals (self, NULL, 0);
    world_after (self, RENEWALS_MS, s_watch, NULL,
                 self->now + HEAL_MS + (uint64_t) HEAL_KEY_MS * self->keys);
}

static void
s_verify (world_t *self, void *whom, uint64_t number)
{
    const peer_t *peer = (const peer_t *) whom;
    (void) number;
    if (peer_joined (peer))
        source_walk (self, peer->number, ZPEER_WALK_VERIFY);
}

//  Peers that restarted empty are whole after a round of renewals, or after
//  they were asked
static void
s_make_whole (world_t *self)
{
    bool verify = rng_chance (&self->rng, 500);
    for (unsigned key = 0; !verify && key < self->keys; key++)
        world_after (self, RENEWALS_MS, script_renewal, NULL, key);
    for (unsigned i = 0; verify && i < self->peer_count; i++)
        world_after (self, RENEWALS_MS, s_verify, &self->peers[i], 0);
}

//  Checkup --------------------------------------------------------------------

//  The first time a lane may learn that its peer has nothing from an earlier life
static void
s_checkup (world_t *self, void *whom, uint64_t number)
{
    (void) whom;
    self->checkup = number > 0;
    for (unsigned i = 0; i < self->peer_count; i++)
        s_verify (self, &self->peers[i], 0);
}

static void
s_plan_checkup (world_t *self)
{
    uint64_t each_ms =
        CHECKUP_MS + (uint64_t) CHECKUP_TIMEOUTS * self->read_timeout_ms;
    for (uint64_t i = 0; i < 2; i++) {
        agenda_put (&self->agenda, self->end_at, s_checkup, NULL, i);
        self->end_at += each_ms;
    }
}

//  Begins ---------------------------------------------------------------------

//  What is owed is told as soon as the peer's pause is over, which attempt.c bounds
static void
s_begins (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    world_after (self, IDLE_MS, s_begins, peer, 0);
    zpeer_lane_t *lane = peer_lane (peer);
    bool idle = lane && zpeer_lane_owed (lane) && !zpeer_lane_flights (lane) &&
                batcher_may_send (&peer->batcher) &&
                peer->batcher.stuck_until <= self->now &&
                probe_free (lane, self->now,
                            zpeer_roster_credit (peer->batcher.roster));
    if (idle && peer->idle_since == peer->sent + 1)
        world_fail (self, "idle", "P%u: owed %" PRIu32, peer->number,
                    zpeer_lane_owed (lane));
    peer->idle_since = idle ? peer->sent + 1 : 0;
}

//  Leases ------------------------------------------------------------

//  What the lane may tell too late for a lease. What several servers only miss, one
//  after the other, it may not.
static bool
s_given_up (const peer_t *peer, unsigned key)
{
    const peer_key_t *mine = &peer->keys[key];
    bool missed = mine->missed && peer->server_count > 1;
    const zpeer_state_t *state = world_state (peer->world, key);
    //  It is not reported each time
    bool rejected =
        mine->rejected || probe_retried (peer_lane (peer), state->handle);
    return (rejected && !missed) || mine->touched || mine->dropped || mine->met;
}

//  Whether a firewall refuses most of what there is. Then nothing may be taken for so
//  long that the peer seems to refuse everything, and each try costs a long pause.
static bool
s_is_banned (const world_t *self)
{
    unsigned there = 0;
    unsigned banned = 0;
    for (unsigned key = 0; key < self->keys; key++) {
        there += world_record (self, key).there;
        banned += world_record (self, key).there &&
                  (flaw_stands (self, key) & FLAW_BANNED);
    }
    return 2 * banned > there;
}

//  What the source has is at one of the peer's servers, if nothing is wrong with it
static void
s_alive (world_t *self, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    (void) number;
    bool looks = peer_joined (peer) && !s_is_banned (self);
    for (unsigned key = 0; looks && key < self->keys; key++)
        if (world_record (self, key).there && !flaw_stands (self, key) &&
            !s_given_up (peer, key) && !peer_has (peer, key))
            world_fail (self, "not alive", "P%u: I%u", peer->number, key);
    world_after (self, ALIVE_EVERY_MS, s_alive, peer, 0);
}

//  Until the items that hang are found, ms
static uint64_t
s_hang_ms (const world_t *self)
{
    uint64_t timeouts = 0;
    for (unsigned key = 0; key < self->keys; key++)
        if (flaw_stands (self, key) & FLAW_HANGS)
            timeouts += HANG_TIMEOUTS;
    return timeouts * self->read_timeout_ms;
}

static void
s_watch_leases (world_t *self)
{
    uint64_t after_ms =
        ALIVE_AFTER_MS + 2 * self->read_timeout_ms + s_hang_ms (self);
    for (unsigned i = 0; i < self->peer_count; i++)
        world_after (self, after_ms, s_alive, &self->peers[i], 0);
}

//  Calm -----------------------------------------------------------------------

static void
s_calm (world_t *self, void *whom, uint64_t number)
{
    (void) whom;
    (void) number;
    world_say (self, "calm: no more faults, no more changes");
    self->calm_at = self->now;
    //  Where each item is a request of its own, good ones are found out one by one
    self->end_at += (self->batch_enabled ? 1 : SINGLE_HANGS) * s_hang_ms (self);
    for (unsigned i = 0; i < self->peer_count; i++)
        network_set_spell (&self->peers[i], SPELL_OK);
    for (unsigned i = 0; i < self->peer_count; i++)
        s_begins (self, &self->peers[i], 0);
    if (self->restarted && self->features[FEATURE_RENEW])
        s_make_whole (self);
    if (s_renews_always (self))
        s_watch_leases (self);
    if (self->features[FEATURE_HEAL])
        s_heal (self);
    else if (self->features[FEATURE_CHECKUP])
        s_plan_checkup (self);
}

void
calm_plan (world_t *self, uint64_t at)
{
    self->end_at = at + s_calm_ms (self);
    if (s_renews_always (self))
        world_after (self, RENEWAL_EVERY_MS, s_renewals, NULL, 0);
    world_after (self, at, s_calm, NULL, 0);
}
