#include <assert.h>
#include <inttypes.h>
#include "caution.h"
#include "probe.h"
#include "source.h"
#include "world.h"
#include "banned.h"

#define NEVER UINT64_MAX

//  Eureka's
#define PEER_LEASE_MS 90000

//  How requests are spread over the servers of a peer
typedef enum {
    SPREAD_IN_TURN,
    SPREAD_AT_RANDOM,
    SPREAD_BY_KIND  //  Heartbeats to one, all else to the other
} spread_t;

static void
s_init_servers (peer_t *self)
{
    world_t *world = self->world;
    //  Who takes so long for each batch may not be in time for all leases
    bool leases =
        world->features[FEATURE_SERVERS] ||
        (world->features[FEATURE_LEASES] && !world->features[FEATURE_LAGGARD]);
    self->server_count = 1;
    if (world->features[FEATURE_SERVERS]) {
        self->server_count =
            RNG_PICK (&world->rng, unsigned, 2, 2, SERVERS_MAX);
        self->spread = RNG_PICK (&world->rng, uint8_t, SPREAD_IN_TURN,
                                 SPREAD_AT_RANDOM, SPREAD_BY_KIND);
    }
    for (unsigned i = 0; leases && i < self->server_count; i++)
        self->servers[i].lease_ms = PEER_LEASE_MS;
}

static void
s_init_dispatchers (peer_t *self)
{
    world_t *world = self->world;
    rng_t *rng = &world->rng;
    unsigned count = RNG_PICK (rng, unsigned, 1, 1, 1, 2, DISPATCHERS_MAX);
    for (unsigned i = 0; i < count; i++) {
        bool remote = world->features[FEATURE_REMOTE] && rng_chance (rng, 800);
        dispatcher_init (&self->dispatchers[i], self, i, remote,
                         RNG_PICK (rng, uint32_t, 6, 6, 6, 1, 12));
    }
}

void
peer_init (peer_t *self, world_t *world, unsigned number)
{
    rng_t *rng = &world->rng;
    *self = (peer_t){.world = world, .number = number};
    health_init (&self->health, world, number, RNG_PICK (rng, uint32_t, 3, 10));
    batcher_init (&self->batcher, self);
    s_init_servers (self);
    s_init_dispatchers (self);
    self->latency_ms = RNG_PICK (rng, uint32_t, 1, 5, 40);
    self->per_item_ms = RNG_PICK (rng, double, 0, 0, 0.2, 5, 1e9, 1e9);
    if (self->per_item_ms > 1e6)  //  Very slow
        self->per_item_ms =
            world->keys < MANY_KEYS && !self->servers[0].lease_ms
                ? world->read_timeout_ms / RNG_PICK (rng, double, 8, 3)
                : 0;
    if (world->features[FEATURE_LAGGARD] && !self->servers[0].lease_ms) {
        self->latency_ms = 0;
        self->per_item_ms = 0;
        self->batch_ms = RNG_PICK (rng, uint32_t, 10, 100, 900, 1100, 3000,
                                   10000, 20000, 29000);
    }
    self->serial = rng_chance (rng, 500);
    self->copies = rng_chance (rng, 900);
    self->max_bytes =
        RNG_PICK (rng, uint32_t, UINT32_MAX, UINT32_MAX, 6000, 3000);
    if (world->features[FEATURE_FIREWALL] || world->features[FEATURE_CROWD])
        self->firewall = RNG_PICK (rng, uint16_t, 403, 406, 415, 422, 500, 501);
    self->fault_rate = RNG_PICK (rng, unsigned, 0, 20, 100, 300);
}

void
peer_fini (peer_t *self)
{
    peer_leave (self);
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++)
        dispatcher_fini (&self->dispatchers[i]);
}

dispatcher_t *
peer_dispatcher (peer_t *self, zpeer_slice_t identity)
{
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++) {
        dispatcher_t *dispatcher = &self->dispatchers[i];
        if (dispatcher->known &&
            zpeer_slice_eq (zpeer_slice_str (dispatcher->identity), identity))
            return dispatcher;
    }
    return NULL;
}

void
peer_lapse (peer_t *self, unsigned key)
{
    for (unsigned i = 0; i < self->server_count; i++) {
        record_t *record = &self->servers[i].records[key];
        if (record->by != BY_OTHER)
            record->there = false;
    }
}

void
peer_restart (peer_t *self)
{
    registry_clear (
        &self->servers[rng_below (&self->world->rng, self->server_count)]);
    self->busy_until = 0;
    self->life++;
    for (unsigned key = 0; key < KEYS_ALL; key++)
        self->keys[key].wiped = true;
    world_count (self->world, TALLY_RESTARTS);
    world_say (self->world, "P%u restarts, empty", self->number);
}

unsigned
peer_next_server (peer_t *self, const item_t *first)
{
    unsigned count = self->server_count;
    switch ((spread_t) self->spread) {
    case SPREAD_AT_RANDOM:
        return (unsigned) rng_below (&self->world->rng, count);
    case SPREAD_BY_KIND: return first->action != ZPEER_HEARTBEAT;
    default: return self->turn++ % count;
    }
}

void
peer_expire (peer_t *self)
{
    for (unsigned i = 0; i < self->server_count; i++)
        registry_expire (&self->servers[i], self->world->now);
}

bool
peer_has (peer_t *self, unsigned key)
{
    bool there = false;
    peer_expire (self);
    for (unsigned i = 0; i < self->server_count; i++)
        there |= self->servers[i].records[key].there;
    return there;
}

//  What a lane says -----------------------------------------------------------

//  A ghost that is newer than all the source has, and at UNKNOWN: the peer answers 404
//  to every Heartbeat, and 200 to every Register, which it does not store
static bool
s_keeps_ghost (const peer_t *self, unsigned number,
               const zpeer_lane_report_t *report)
{
    const record_t *theirs = &self->servers[0].records[number];
    return report->code == 404 && self->keys[number].ghost && theirs->there &&
           theirs->status == ZPEER_UNKNOWN &&
           theirs->timestamp > report->state->top;
}

void
peer_report (peer_t *self, const zpeer_lane_report_t *report)
{
    world_t *world = self->world;
    unsigned number = world_key (report->state);
    peer_key_t *key = &self->keys[number];
    //  It asked with an old timestamp, when a newer one came to the peer by
    //  replication: it is about to be told of that
    bool stale = world_state (world, number) != report->state;
    static const char *const names[] = {"conflict",  "need-register",
                                        "rejected",  "dropped",
                                        "delivered", "released"};
    world->tally->outcomes[report->kind]++;
    world_say (world, "P%u outcome %s %c%u", self->number, names[report->kind],
               key_letter (number), key_number (number));
    switch (report->kind) {
    case ZPEER_LANE_CONFLICT:
        //  No timestamp is known, and these peers do not tell since when they have
        //  theirs
        stale |= !report->state->top;
        //  Nor did the engine before tell this one what it had told
        stale |= key->lost || key->ghost;
        key->conflict |= !stale || key->touched;
        caution_drop (self, number);
        break;
    case ZPEER_LANE_REJECTED:
        key->rejected = true;
        key->refused |=
            !self->by_chance && !s_keeps_ghost (self, number, report);
        key->missed = report->code == 404;
        caution_drop (self, number);
        break;
    //  It cannot be asked for; an ASG update is not tried for ever
    case ZPEER_LANE_DROPPED:
        if (report->ending == ZPEER_ENDED_DROPPED || number >= KEYS_MAX) {
            key->rejected = true;
            key->dropped |= number < KEYS_MAX;
            caution_drop (self, number);
        }
        break;
    case ZPEER_LANE_RELEASED:
        world_count (world, TALLY_RELEASED);
        caution_drop (self, number);
        //  Nobody renews what the peer did not let itself be told, nor what
        //  was let go of before the lane had heard of it
        if ((key->rejected || self->stroll.first) &&
            !world_record (world, number).there)
            peer_lapse (self, number);
        break;
    default: break;
    }
}

void
peer_check (peer_t *self)
{
    for (int i = 0; i < LANES; i++)
        if (!zpeer_lane_check (self->batcher.lanes[i]))
            world_fail (self->world, "accounting", "P%u", self->number);
}

//  What a lane is told --------------------------------------------------------

//  All is told that there is: it replaces what an engine before has left, unless that
//  is newer
static void
s_note_all (peer_t *self, const zpeer_change_t *change,
            const zpeer_state_t *state)
{
    unsigned all =
        ZPEER_CHANGE_OWE | ZPEER_CHANGE_SNAPSHOT | ZPEER_CHANGE_FRESH;
    unsigned number = world_key (state);
    peer_key_t *key = &self->keys[number];
    const record_t *theirs = &self->servers[0].records[number];
    if (!(change->flags & all))
        return;
    if (self->world->now > key->lost_until)
        key->lost = false;
    //  Of several servers only one is told
    key->ghost &= self->server_count > 1 ||
                  (theirs->there && theirs->timestamp > state->top);
}

//  What a change makes good, or ends
static void
s_note (peer_t *self, const zpeer_change_t *change, const zpeer_state_t *state)
{
    unsigned number = world_key (state);
    peer_key_t *key = &self->keys[number];
    bool owes = change->flags & ZPEER_CHANGE_OWE;
    bool replicated = change->flags & ZPEER_CHANGE_REPLICATED;
    bool cancel = change->action == ZPEER_CANCEL;
    bool asg = number >= KEYS_MAX;
    key->questions = 0;
    if (!owes && (replicated || change->action == ZPEER_FORGET))
        caution_drop (self, number);
    //  A replicated event may be from before the peer lost all
    if (replicated) {
        key->wiped |= key->replica_life != self->life;
        return;
    }
    key->wiped = false;
    key->torn &= !owes;
    s_note_all (self, change, state);
    //  A bad item is tried again when it is owed
    if (owes && !asg && zpeer_state_present (state))
        self->world->versions[world_version (state)].bad[self->number] = 0;
    if ((owes && state->top) || cancel || change->action == ZPEER_REGISTER ||
        asg)
        key->rejected = key->dropped = false;
}

//  A change of the source waits: not for long
static void
s_expect (peer_t *self, const zpeer_change_t *change, unsigned key)
{
    unsigned late = ZPEER_CHANGE_OWE | ZPEER_CHANGE_REPLICATED |
                    ZPEER_CHANGE_RELEASE | ZPEER_CHANGE_VERIFY;
    if (!probe_waits (peer_lane (self), change->handle))
        self->keys[key].first = NEVER;
    else if (!(change->flags & late) && self->keys[key].first == NEVER)
        self->keys[key].first = self->world->now;
}

void
peer_change (peer_t *self, const zpeer_change_t *change)
{
    bool asg = change->action == ZPEER_ASG_STATUS_UPDATE;
    zpeer_lane_t *lane = self->batcher.lanes[asg ? LANE_ASGS : LANE_INSTANCES];
    assert (change->handle < KEYS_MAX);
    zpeer_lane_change (lane, self->world->now, change);
    peer_check (self);
    const zpeer_state_t *state = probe_state (lane, change->handle);
    if (!state || (change->flags & ZPEER_CHANGE_RELEASE))
        return;
    s_note (self, change, state);
    if (!asg)
        s_expect (self, change, world_key (state));
}

void
peer_check_linger (peer_t *self)
{
    world_t *world = self->world;
    zpeer_lane_t *lane = peer_lane (self);
    bool free = batcher_may_send (&self->batcher) &&
                probe_free (lane, world->now,
                            zpeer_roster_credit (self->batcher.roster));
    for (unsigned key = 0; key < world->keys; key++) {
        peer_key_t *mine = &self->keys[key];
        if (mine->first == NEVER)
            continue;
        const zpeer_state_t *state = world_state (world, key);
        if (!state || !probe_waits (lane, state->handle))
            mine->first = NEVER;
        else if (free && mine->first + LINGER_MS <= world->now &&
                 probe_live (lane, state->handle))
            world_fail (world, "linger", "P%u: I%u waits since %" PRIu64,
                        self->number, key, mine->first);
    }
}

//  The lanes' life ------------------------------------------------------------

//  Nothing is known of what the lanes before these did
static void
s_begin (peer_t *self)
{
    self->stroll = (stroll_t){0};
    self->quiet_until = 0;
    self->grave = (grave_t){.since = NEVER};
    for (unsigned i = 0; i < LANES; i++)
        self->paces[i] = (pace_t){.grave = {.since = NEVER}};
    for (uint32_t i = 1; i <= self->world->version; i++)
        self->world->versions[i].bad[self->number] = 0;
    for (unsigned i = 0; i < KEYS_ALL; i++) {
        peer_key_t *key = &self->keys[i];
        key->first = NEVER;
        key->flying = key->must_ask = key->late = false;
    }
}

void
peer_join (peer_t *self)
{
    world_t *world = self->world;
    if (peer_joined (self))
        return;
    world_say (world, "P%u gets lanes", self->number);
    source_flush (world);
    s_begin (self);
    batcher_start (&self->batcher);
    self->stroll.first = true;
    source_add_lane (world, self->number);
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++)
        dispatcher_start (&self->dispatchers[i]);
}

void
peer_leave (peer_t *self)
{
    world_t *world = self->world;
    if (!peer_joined (self))
        return;
    source_flush (world);
    batcher_stop (&self->batcher);
    self->stroll = (stroll_t){0};
    source_remove_lane (world, self->number);
    //  The engine ends those that it has started itself
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++)
        if (!self->dispatchers[i].remote)
            dispatcher_stop (&self->dispatchers[i]);
    world_say (world, "P%u has no lanes any more", self->number);
    world_gone (world);
}
