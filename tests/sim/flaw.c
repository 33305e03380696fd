#include "flaw.h"
#include "network.h"
#include "world.h"
#include "banned.h"

//  How often an instance may be in a batch that is not answered because of another,
//  one after the other: until the batches are so small that both part
#define MET_MAX 5

unsigned
flaw_of (const world_t *world, const item_t *item)
{
    if (world->healed)
        return 0;
    unsigned flaws = world->instances[item->key].flaws;
    if (item->action == ZPEER_REGISTER)
        flaws |= world->versions[item->version].flaws;
    return flaws;
}

unsigned
flaw_count (const request_t *request, unsigned flaws)
{
    const peer_t *peer = request->batch->peer;
    world_t *world = peer->world;
    unsigned count = 0;
    for (uint32_t i = 0; i < request->count; i++) {
        const item_t *item = &request->batch->items[request->from + i];
        if (!(flaw_of (world, item) & flaws))
            continue;
        count++;
        //  Only a Register has a version; and nobody can tell it from its peer
        //  before anything else is taken
        if (item->action == ZPEER_REGISTER && peer->spell != SPELL_400 &&
            !peer->paces[LANE_INSTANCES].failed)
            world->versions[item->version].bad[peer->number]++;
    }
    return count;
}

void
flaw_met (const batch_t *batch, const zpeer_result_t *result)
{
    bool success = result->verdict == ZPEER_SUCCESS;
    peer_t *peer = batch->peer;
    world_t *world = peer->world;
    bool hangs = false;
    if (!success && result->end != ZPEER_END_READ_TIMEOUT)
        return;
    for (uint32_t i = 0; i < batch->count; i++)
        hangs |= (flaw_of (world, &batch->items[i]) & FLAW_HANGS) != 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        const item_t *item = &batch->items[i];
        uint8_t *met = &peer->keys[item->key].met;
        if (success)
            *met = 0;
        if (success || !hangs || !world_is_calm (world) ||
            (i && item[-1].key == item->key) || flaw_stands (world, item->key))
            continue;
        ++*met;
        if (world->tally->most_met < *met)
            world->tally->most_met = *met;
        if (*met > MET_MAX)
            world_fail (world, "neighbour", "P%u: I%u, %u times", peer->number,
                        item->key, *met);
    }
}

uint32_t
flaw_first (const request_t *request, unsigned flaws)
{
    const world_t *world = request->batch->peer->world;
    uint32_t i = 0;
    while (
        i < request->count &&
        !(flaw_of (world, &request->batch->items[request->from + i]) & flaws))
        i++;
    return i;
}

unsigned
flaw_stands (const world_t *world, unsigned key)
{
    record_t record = world_record (world, key);
    unsigned flaws = world->instances[key].flaws;
    if (record.there)
        flaws |= world->versions[record.version].flaws;
    return world->healed ? 0 : flaws;
}
