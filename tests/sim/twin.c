#include <assert.h>
#include <stdlib.h>
#include "twin.h"
#include "banned.h"

//  How far it is behind, at most, ms
#define BEHIND_MS 4000

#define ITEMS_MIN 64

static void
s_arrive (world_t *world, void *whom, uint64_t number)
{
    char text[REGISTRY_TEXT_MAX];
    const item_t *item = &world->twin.items[number];
    peer_t *peer = (peer_t *) whom;
    unsigned server = (unsigned) rng_below (&world->rng, peer->server_count);
    registry_apply (&peer->servers[server], item, BY_US, world->now);
    world_count (world, TALLY_ECHOES);
    world_say (world, "P%u another engine: %s", peer->number,
               item_text (item, text));
}

static void
s_keep (twin_t *self, const item_t *item)
{
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : ITEMS_MIN;
        self->items = (item_t *) realloc (self->items,
                                          self->capacity * sizeof *self->items);
        assert (self->items);
    }
    self->items[self->count++] = *item;
}

static void
s_tell (world_t *world, const item_t *item)
{
    twin_t *self = &world->twin;
    s_keep (self, item);
    for (unsigned i = 0; i < world->peer_count; i++)
        agenda_put (&world->agenda, self->told_at[i], s_arrive,
                    &world->peers[i], self->count - 1);
}

//  What gives any peer exactly this state
static void
s_tell_state (world_t *world, unsigned key, const record_t *record)
{
    item_t item = {.key = (uint16_t) key,
                   .timestamp = record->timestamp,
                   .status = record->status};
    item.action = ZPEER_DELETE_STATUS_OVERRIDE;
    s_tell (world, &item);
    item.action = ZPEER_REGISTER;
    item.version = record->version;
    item.override = record->override;
    s_tell (world, &item);
}

void
twin_tell (world_t *world, unsigned key, zpeer_action_t action)
{
    twin_t *self = &world->twin;
    record_t record = world_record (world, key);
    if (action == ZPEER_HEARTBEAT || action == ZPEER_FORGET ||
        flaw_stands (world, key))
        return;
    for (unsigned i = 0; i < world->peer_count; i++) {
        uint64_t at = world->now + rng_below (&world->rng, BEHIND_MS);
        if (self->told_at[i] < at)
            self->told_at[i] = at;
    }
    //  A life that began lower does not replace the one before
    if (!record.there || record.timestamp < world->instances[key].top)
        s_tell (world,
                &(item_t){.key = (uint16_t) key, .action = ZPEER_CANCEL});
    if (record.there)
        s_tell_state (world, key, &record);
}

void
twin_free (twin_t *self)
{
    free (self->items);
}
