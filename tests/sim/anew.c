#include "anew.h"
#include "late.h"
#include "probe.h"
#include "script.h"
#include "source.h"
#include "banned.h"

//  How late requests of an engine that is gone may be, read timeouts
#define LATE_TIMEOUTS 3

static uint64_t
s_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

//  Until when something may come to the peer that the next engine cannot know of: a
//  request that is on its way; what another engine has not told it yet, of an earlier
//  life; and what the source hears later than its peers, of before what they were told
static uint64_t
s_lost_until (const world_t *world, const peer_t *peer, unsigned key, bool open)
{
    record_t ours = world_record (world, key);
    bool lower = ours.there && ours.timestamp < world->instances[key].top;
    uint64_t until = 0;
    if (open)
        until = world->now + (uint64_t) LATE_TIMEOUTS * world->read_timeout_ms;
    if (lower)
        until = s_max (until, world->twin.told_at[peer->number]);
    if (late_waits (world, key))
        until = s_max (until, world->now + LATE_MAX_MS);
    return until;
}

//  Whether one of its servers has a life that began later
static bool
s_has_higher (const peer_t *peer, unsigned key, uint64_t timestamp)
{
    bool higher = false;
    for (unsigned i = 0; i < peer->server_count; i++) {
        const record_t *theirs = &peer->servers[i].records[key];
        higher |= theirs->there && theirs->timestamp > timestamp;
    }
    return higher;
}

//  What the next engine cannot know; and that the peer has what the source has not, or
//  an earlier life, with a higher timestamp
static void
s_lose (world_t *world, peer_t *peer, unsigned key)
{
    const zpeer_state_t *state = world_state (world, key);
    record_t ours = world_record (world, key);
    peer_key_t *mine = &peer->keys[key];
    bool open = peer->batcher.unsettled;
    if (peer_joined (peer))
        open = state && probe_open (peer_lane (peer), state->handle);
    uint64_t until = s_lost_until (world, peer, key, open);
    if (until > world->now) {
        mine->lost = true;
        mine->lost_until = s_max (mine->lost_until, until);
    }
    mine->ghost |=
        s_has_higher (peer, key, ours.timestamp) || (!ours.there && open);
    mine->rejected = false;
}

static void
s_forget_all (world_t *world)
{
    for (unsigned key = 0; key < KEYS_ALL; key++) {
        instance_t *instance = &world->instances[key];
        instance->known = false;
        if (!world_record (world, key).there)
            source_forgotten (world, key);
    }
}

//  Returns the lanes there were, a bit each
static unsigned
s_end_engine (world_t *world)
{
    unsigned lanes = 0;
    for (unsigned i = 0; i < world->peer_count; i++) {
        peer_t *peer = &world->peers[i];
        lanes |= (unsigned) peer_joined (peer) << i;
        for (unsigned key = 0; key < world->keys; key++)
            s_lose (world, peer, key);
    }
    s_forget_all (world);
    for (unsigned i = 0; i < world->peer_count; i++)
        peer_leave (&world->peers[i]);
    source_fini (world);
    return lanes;
}

//  Its peers are there before it reads feeders, and what the source has comes first.
//  Of what the engine before left unsettled it knows nothing.
static void
s_start_engine (world_t *world, unsigned lanes, const record_t *picture)
{
    source_init (world);
    for (unsigned i = 0; i < world->peer_count; i++) {
        world->peers[i].batcher.unsettled = false;
        if (lanes & (1u << i))
            peer_join (&world->peers[i]);
    }
    for (unsigned key = 0; key < world->keys; key++)
        script_picture (world, key, &picture[key]);
    source_flush (world);
}

void
anew_start (world_t *world, void *whom, uint64_t number)
{
    record_t picture[KEYS_MAX];
    (void) whom;
    (void) number;
    if (world_is_calm (world))
        return;
    world_count (world, TALLY_ANEW);
    world_say (world, "the engine is started anew");
    world->anew = true;
    for (unsigned key = 0; key < world->keys; key++)
        picture[key] = world_record (world, key);
    unsigned lanes = s_end_engine (world);
    s_start_engine (world, lanes, picture);
}
