#include "anew.h"
#include "compare.h"
#include "probe.h"
#include "script.h"
#include "source.h"
#include "banned.h"

//  What an engine that was not told has still to tell is lost
static void
s_lose (world_t *world, peer_t *peer)
{
    if (!peer_joined (peer))
        return;
    for (unsigned key = 0; key < world->keys; key++) {
        const zpeer_state_t *state = world_state (world, key);
        peer_key_t *mine = &peer->keys[key];
        mine->lost |= !state || compare_differs (world, peer, key) ||
                      probe_busy (peer_lane (peer), state->handle);
        mine->rejected = false;
    }
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
    for (unsigned i = 0; i < world->peer_count; i++)
        s_lose (world, &world->peers[i]);
    for (unsigned key = 0; key < world->keys; key++)
        picture[key] = world_record (world, key);
    s_forget_all (world);
    for (unsigned i = 0; i < world->peer_count; i++)
        peer_leave (&world->peers[i]);
    source_fini (world);
    source_init (world);
    for (unsigned i = 0; i < world->peer_count; i++)
        peer_join (&world->peers[i]);
    for (unsigned key = 0; key < world->keys; key++)
        script_picture (world, key, &picture[key]);
    source_flush (world);
}
