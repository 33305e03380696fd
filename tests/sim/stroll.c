#include <inttypes.h>
#include "compare.h"
#include "probe.h"
#include "stroll.h"
#include "world.h"
#include "banned.h"

static unsigned
s_unread (const peer_t *peer)
{
    const batcher_t *batcher = &peer->batcher;
    unsigned count = 0;
    for (unsigned i = 0; i < batcher->inbox_count; i++)
        count += batcher->inbox[i]->walk != ZPEER_WALK_NONE;
    return count;
}

//  Peers are walked for one after the other, but none waits for ever
static void
s_check_others (const peer_t *peer)
{
    world_t *world = peer->world;
    for (unsigned i = 0; i < world->peer_count; i++) {
        const stroll_t *other = &world->peers[i].stroll;
        if (i != peer->number && other->open &&
            world->now < other->posted_at + ZPEER_WALKER_LIMIT_MS)
            world_fail (world, "walk", "of P%u, while P%u has one",
                        peer->number, i);
    }
}

void
stroll_check (peer_t *peer, const zpeer_chunk_t *chunk)
{
    world_t *world = peer->world;
    const stroll_t *mine = &peer->stroll;
    if (s_unread (peer) >= ZPEER_WALKER_UNREAD)
        world_fail (world, "walk", "P%u: it fills the inbox", peer->number);
    if (zpeer_handover_waits (world->handover, peer->number))
        world_fail (world, "walk", "P%u: it overtakes changes", peer->number);
    if (!chunk->first && (!mine->open || mine->complete))
        world_fail (world, "walk", "P%u: it goes on without a begin",
                    peer->number);
    if (mine->open && mine->posted_at == world->now && !chunk->first)
        world_fail (world, "walk", "P%u: two chunks in a ms", peer->number);
    s_check_others (peer);
}

void
stroll_posted (peer_t *peer, const zpeer_chunk_t *chunk)
{
    stroll_t *self = &peer->stroll;
    self->open = true;
    self->number = chunk->number;
    self->complete = chunk->last;
    self->first &= !chunk->last;
    self->posted_at = peer->world->now;
    if (chunk->first)
        world_say (peer->world, "acceptor > P%u batcher: %s", peer->number,
                   chunk->walk == ZPEER_WALK_VERIFY ? "VERIFY" : "RESYNC");
}

bool
stroll_over (peer_t *peer)
{
    world_t *world = peer->world;
    zpeer_lane_walk_t walk;
    zpeer_lane_walk (peer_lane (peer), &walk);
    if (walk.left > walk.instances)
        world_fail (world, "walk", "P%u: %" PRIu32 " left of %" PRIu32,
                    peer->number, walk.left, walk.instances);
    if (!walk.active || !walk.complete || walk.left)
        return false;
    zpeer_lane_walk_end (peer_lane (peer));
    world->tally->counts[TALLY_WALKED] += walk.instances;
    world->tally->counts[TALLY_REPAIRED] += walk.repaired;
    world_say (world,
               "P%u walk of %" PRIu32 " instances is over: %" PRIu32
               " told, %" PRIu32 " refused",
               peer->number, walk.instances, walk.repaired, walk.refused);
    return true;
}

void
stroll_walked (peer_t *peer, uint64_t number)
{
    if (peer->stroll.complete && peer->stroll.number == number)
        peer->stroll.open = false;
}

//  Whether a walk waits for nothing but what its peer refuses
static bool
s_waits_for_ever (const world_t *world, const peer_t *peer)
{
    uint32_t left = 0;
    for (uint32_t handle = 0; handle < KEYS_MAX; handle++) {
        if (!probe_walked (peer_lane (peer), handle))
            continue;
        if (!compare_tried_for_ever (world, peer, handle))
            return false;
        left++;
    }
    return left > 0;
}

void
stroll_compare (world_t *world)
{
    zpeer_walker_stats_t stats;
    bool waits = false;
    for (unsigned i = 0; i < world->peer_count; i++) {
        const peer_t *peer = &world->peers[i];
        zpeer_lane_walk_t walk;
        zpeer_lane_walk (peer_lane (peer), &walk);
        if (walk.active && walk.complete && s_waits_for_ever (world, peer))
            waits = true;
        else if (walk.active)
            world_fail (world, "walk", "P%u: the lane's has not ended", i);
    }
    zpeer_walker_stats (world->walker, &stats);
    if (!waits && (stats.under_way || stats.waiting))
        world_fail (world, "walk", "one has not ended, %" PRIu32 " wait",
                    stats.waiting);
}
