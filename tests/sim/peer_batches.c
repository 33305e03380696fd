#include <inttypes.h>
#include "network.h"
#include "probe.h"
#include "world.h"
#include "banned.h"

#define NEVER UINT64_MAX

//  Wake-ups of one lane in a second
#define WAKES_MAX 120

void
peer_expect (peer_t *self, unsigned key, uint32_t handle)
{
    if (self->lane && self->keys[key].first == NEVER &&
        probe_waits (self->lane, handle))
        self->keys[key].first = self->world->now;
}

void
peer_done (peer_t *self, const zpeer_result_t *result)
{
    if (!zpeer_lane_done (self->lane, self->world->now, result))
        world_fail (self->world, "unknown batch", "P%u #%" PRIu64, self->number,
                    result->id);
    peer_check (self);
    peer_poll (self);
}

static unsigned
s_credit (const peer_t *self)
{
    return self->credit > self->flights ? self->credit - self->flights : 0;
}

//  Nothing waits longer than it may, by the world's own memory
static void
s_check_linger (peer_t *self)
{
    world_t *world = self->world;
    bool free = probe_free (self->lane, world->now, s_credit (self));
    for (unsigned key = 0; key < world->keys; key++) {
        peer_key_t *mine = &self->keys[key];
        if (mine->first == NEVER)
            continue;
        const zpeer_state_t *state = world_state (world, key);
        if (!state || !probe_waits (self->lane, state->handle))
            mine->first = NEVER;
        else if (free && mine->first + LINGER_MS <= world->now &&
                 probe_live (self->lane, state->handle))
            world_fail (world, "linger", "P%u: I%u waits since %" PRIu64,
                        self->number, key, mine->first);
    }
}

static void
s_wake (world_t *world, void *whom, uint64_t when)
{
    peer_t *self = (peer_t *) whom;
    if (!self->lane || self->wake != when)
        return;
    self->wake = 0;
    if (self->wake_second != world->now / 1000) {
        self->wake_second = world->now / 1000;
        self->wakes = 0;
    }
    if (++self->wakes > world->tally->most_wakes)
        world->tally->most_wakes = self->wakes;
    if (self->wakes > WAKES_MAX)
        world_fail (world, "spin", "P%u: %" PRIu32 " wake-ups in a second",
                    self->number, self->wakes);
    peer_poll (self);
}

static void
s_schedule (peer_t *self)
{
    world_t *world = self->world;
    uint64_t wake = zpeer_lane_wake (self->lane, world->now, s_credit (self));
    if (wake <= world->now)
        world_fail (world, "spin", "P%u: wake %" PRIu64, self->number, wake);
    else if (wake != NEVER && wake != self->wake) {
        self->wake = wake;
        agenda_put (&world->agenda, wake, s_wake, self, wake);
    }
}

void
peer_poll (peer_t *self)
{
    world_t *world = self->world;
    if (!self->lane)
        return;
    zpeer_lane_batch_t batch;
    while (!world->fault &&
           zpeer_lane_next (self->lane, world->now, s_credit (self),
                            world->last_batch + 1, &batch)) {
        world->last_batch++;
        peer_check (self);
        network_send (self, &batch);
    }
    peer_check (self);
    s_check_linger (self);
    s_schedule (self);
}
