#include <inttypes.h>
#include "world.h"
#include "banned.h"

void
health_init (health_t *self, world_t *world, unsigned peer, uint32_t max)
{
    *self = (health_t){.world = world, .peer = peer};
    zpeer_counter_init (&self->counter, max);
}

//  Counting and comparing is one step
static void
s_question (health_t *self, zpeer_slice_t fields, bool counts, link_t *back)
{
    zpeer_wire_failed_t failed = {0};
    uint32_t peer;
    bool gated;
    if (zpeer_wire_get_fail (fields.data, fields.size, &failed.token, &peer,
                             &gated) ||
        peer != self->peer) {
        world_fail (self->world, "health", "P%u: a bad question", self->peer);
        return;
    }
    self->in_row += counts;
    failed.reached =
        counts ? zpeer_counter_fail (&self->counter, gated, &failed.announce)
               : zpeer_counter_reached (&self->counter);
    failed.count = self->counter.count;
    failed.max = self->counter.max;
    if (failed.reached != (self->in_row >= failed.max))
        world_fail (self->world, "counter",
                    "P%u: %" PRIu32 " failures in a row", self->peer,
                    self->in_row);
    uint8_t fixed[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_failed (fixed, &failed);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("FAILED"),
                              {(const char *) fixed, size}};
    link_send (back, frames, 2);
}

void
health_receive (health_t *self, const message_t *message, link_t *back)
{
    zpeer_slice_t fields = message->frames[1];
    switch (message_command (message, 0)) {
    case ZPEER_WIRE_FAIL: s_question (self, fields, true, back); break;
    case ZPEER_WIRE_HASREACHEDMAX:
        s_question (self, fields, false, back);
        break;
    case ZPEER_WIRE_OK:
        self->in_row = 0;
        zpeer_counter_reset (&self->counter);
        break;
    default:
        world_fail (self->world, "health", "P%u: a message of no sense",
                    self->peer);
    }
}
