#include <assert.h>
#include <stdlib.h>
#include "world.h"
#include "banned.h"

#define BATCHES_MIN 256

batch_t *
batch_new (peer_t *peer, which_t which, bool single, uint32_t count)
{
    world_t *world = peer->world;
    if (world->batch_count == world->batch_capacity) {
        world->batch_capacity =
            world->batch_capacity ? 2 * world->batch_capacity : BATCHES_MIN;
        world->batches = (batch_t **) realloc (
            world->batches, world->batch_capacity * sizeof *world->batches);
        assert (world->batches);
    }
    batch_t *self =
        (batch_t *) calloc (1, sizeof *self + count * sizeof (item_t));
    assert (self);
    world->batches[world->batch_count++] = self;
    self->id = world->batch_count;
    self->peer = peer;
    self->which = which;
    self->lane_life = peer->batcher.life;
    self->calm = world_is_calm (world);
    self->single = single;
    self->sent_at = peer->world->now;
    self->count = count;
    return self;
}

batch_t *
batch_find (const world_t *world, uint64_t id)
{
    return id && id <= world->batch_count ? world->batches[id - 1] : NULL;
}

request_t *
request_new (batch_t *batch, uint32_t from, uint32_t bytes, struct job *job)
{
    world_t *world = batch->peer->world;
    request_t *self = (request_t *) calloc (1, sizeof *self);
    assert (self);
    self->next = world->requests;
    world->requests = self;
    self->batch = batch;
    self->job = job;
    self->from = from;
    self->count = batch->single ? 1 : batch->count;
    self->bytes = bytes;
    self->life = batch->peer->life;
    self->server = peer_next_server (batch->peer, &batch->items[from]);
    self->open = true;
    return self;
}

void
request_give_up (request_t *self)
{
    if (self->open)
        self->given_up = self->batch->peer->world->now;
    self->open = false;
    self->job = NULL;
}

void
batch_free_all (world_t *world)
{
    while (world->requests) {
        request_t *request = world->requests;
        world->requests = request->next;
        free (request);
    }
    for (uint64_t i = 0; i < world->batch_count; i++)
        free (world->batches[i]);
    free (world->batches);
}
