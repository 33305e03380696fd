#include <inttypes.h>
#include "attempt.h"
#include "network.h"
#include "verdict.h"
#include "world.h"
#include "banned.h"

//  Whether the items go one by one
static bool
s_single (const batcher_t *self, which_t which, const zpeer_lane_batch_t *batch)
{
    return which == LANE_ASGS || !self->peer->world->batch_enabled ||
           batch->items[0].action == ZPEER_ITEM_FETCH;
}

static void
s_write (zpeer_buffer_t *body, const zpeer_lane_batch_t *batch, bool single)
{
    if (!single) {
        zpeer_item_write_all (batch->items, batch->count, body);
        return;
    }
    for (uint32_t i = 0; i < batch->count; i++)
        zpeer_wire_put_request (body, &batch->items[i]);
}

//  The pause of one lane is the peer's, and holds for the other
static void
s_share_pause (batcher_t *self)
{
    for (int i = 0; i < LANES; i++)
        zpeer_lane_hold (self->lanes[i],
                         zpeer_lane_pause (self->lanes[LANES - 1 - i]));
}

void
batcher_done (batcher_t *self, which_t which, const zpeer_result_t *result)
{
    world_t *world = self->peer->world;
    zpeer_lane_t *lane = self->lanes[which];
    batch_t *batch = batch_find (world, result->id);
    attempt_ends (self->peer, batch, result);
    uint64_t before = zpeer_lane_pause (lane);
    if (!zpeer_lane_done (lane, world->now, result))
        world_fail (world, "unknown batch", "P%u #%" PRIu64, self->peer->number,
                    result->id);
    attempt_ended (self->peer, batch, result, before);
    s_share_pause (self);
    peer_check (self->peer);
}

void
batcher_take_back (batcher_t *self, which_t which, uint64_t id)
{
    zpeer_result_t result = {.id = id, .detail = ""};
    zpeer_verdict_judge (ZPEER_END_TAKEN_BACK, self->reached, false, &result);
    batcher_done (self, which, &result);
}

void
batcher_take_back_lost (batcher_t *self)
{
    uint64_t id;
    unsigned lane;
    while (zpeer_roster_lost (self->roster, &id, &lane)) {
        world_count (self->peer->world, TALLY_TAKEN_BACK);
        batcher_take_back (self, (which_t) lane, id);
    }
}

//  Sends a batch to a dispatcher; false: it is not there any more
static bool
s_send (batcher_t *self, which_t which, int number,
        const zpeer_lane_batch_t *batch)
{
    dispatcher_t *dispatcher = peer_dispatcher (
        self->peer, zpeer_roster_identity (self->roster, number));
    if (!dispatcher)
        return false;
    zpeer_wire_batch_t wire = {
        .id = batch->id,
        .mode = s_single (self, which, batch) ? ZPEER_MODE_SINGLE
                                              : ZPEER_MODE_BATCH,
        .items = batch->count,
    };
    zpeer_buffer_t body = {0};
    s_write (&body, batch, wire.mode == ZPEER_MODE_SINGLE);
    if (wire.mode == ZPEER_MODE_BATCH &&
        body.size >
            batch->bytes + sizeof ZPEER_BATCH_HEAD + sizeof ZPEER_BATCH_TAIL)
        world_fail (self->peer->world, "size", "P%u #%" PRIu64 ": %zu bytes",
                    self->peer->number, batch->id, body.size);
    uint8_t header[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_batch (header, &wire);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("BATCH"),
                              {(const char *) header, size},
                              {body.data, body.size}};
    link_send (&dispatcher->down, frames, 3);
    zpeer_buffer_free (&body);
    return true;
}

//  The dispatcher refused the batch: it is gone, with all it has
static void
s_unsent (batcher_t *self, which_t which, int number, uint64_t id)
{
    zpeer_result_t result = {
        .id = id,
        .end = ZPEER_END_TAKEN_BACK,
        .verdict = ZPEER_TRANSIENT_ERROR,
        .reached = self->reached,
        .detail = "",
    };
    world_count (self->peer->world, TALLY_UNSENT);
    zpeer_roster_gone (self->roster, number);
    batcher_done (self, which, &result);
    batcher_take_back_lost (self);
}

bool
batcher_may_send (const batcher_t *self)
{
    return !self->reached ||
           (!zpeer_lane_flights (self->lanes[LANE_INSTANCES]) &&
            !zpeer_lane_flights (self->lanes[LANE_ASGS]));
}

static void
s_send_lane (batcher_t *self, which_t which)
{
    world_t *world = self->peer->world;
    zpeer_lane_batch_t batch;
    while (!world->fault && batcher_may_send (self)) {
        int number = zpeer_roster_pick (self->roster);
        uint32_t credit = zpeer_roster_credit (self->roster);
        if (!zpeer_lane_next (self->lanes[which], world->now, credit,
                              world->batch_count + 1, &batch))
            return;
        if (number < 0) {
            world_fail (world, "window", "P%u: nobody can take a batch",
                        self->peer->number);
            return;
        }
        attempt_begins (self->peer, which, s_single (self, which, &batch),
                        &batch);
        peer_check (self->peer);
        if (s_send (self, which, number, &batch))
            zpeer_roster_sent (self->roster, number, batch.id, which,
                               UINT64_MAX);
        else
            s_unsent (self, which, number, batch.id);
    }
}

void
batcher_send (batcher_t *self)
{
    for (int i = 0; i < LANES; i++)
        s_send_lane (self, (which_t) i);
}

static void
s_send_released (batcher_t *self)
{
    if (!self->released.size)
        return;
    zpeer_slice_t frames[] = {
        ZPEER_SLICE ("RELEASED"),
        {self->released.data, self->released.size},
    };
    link_send (&self->uplink, frames, 2);
    zpeer_buffer_reset (&self->released);
    self->peer->world->released_at = self->peer->world->now;
}

static void
s_send_walked (batcher_t *self)
{
    if (!self->walked)
        return;
    uint8_t fields[ZPEER_WIRE_MAX];
    size_t size =
        zpeer_wire_put_walked (fields, self->peer->number, self->walk);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("WALKED"),
                              {(const char *) fields, size}};
    link_send (&self->uplink, frames, 2);
    self->walked = false;
}

void
batcher_send_up (batcher_t *self)
{
    s_send_released (self);
    s_send_walked (self);
}
