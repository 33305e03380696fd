#include "flaw.h"
#include "network.h"
#include "world.h"
#include "banned.h"

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
        //  Only a Register has a version
        if (item->action == ZPEER_REGISTER && peer->spell != SPELL_400)
            world->versions[item->version].bad[peer->number]++;
    }
    return count;
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

bool
flaw_stands (const world_t *world, unsigned key)
{
    record_t record = world_record (world, key);
    return !world->healed &&
           (world->instances[key].flaws ||
            (record.there && world->versions[record.version].flaws));
}
