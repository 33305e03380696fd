#include "lane_impl.h"
#include "banned.h"

//  An item that has the peer hang, or answer a status while it takes nothing else:
//  no answer tells which one it is. Nor does bisection where there are many.
//
//  1. A batch of 64 fails, though the peer answered another just before. Its
//     instances are hung.
//  2. What is hung goes in batches of its own, so that nothing else fails with it;
//     of 17 items at first. What the peer takes is not hung any more.
//  3. If such a batch fails, the next has 5 items, then 2, then 1. They stay as small
//     until nothing is hung; but where a failure is an answer, and costs no timeout,
//     they become larger with each that is taken.
//  4. One that fails alone is a suspect (lane_split.c).
//
//  Such a failure may take as long as the read timeout, and nothing else goes
//  meanwhile. So it is the others' turn for as long as that before the next.

void
lane_hang_entry (zpeer_lane_t *self, entry_t *entry)
{
    self->hanging += !entry->hung;
    entry->hung = true;
}

void
lane_hang_smaller (zpeer_lane_t *self, const flight_t *flight, bool quick)
{
    uint32_t size = flight->items / SHRINK + 1;
    if (self->hanging && self->hung_size > size)
        self->hung_size = size;
    self->hung_quick = quick;
}

void
lane_hang (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
           const part_t *parts, uint32_t count, bool quick)
{
    for (uint32_t i = 0; i < count; i++)
        lane_hang_entry (self, &self->entries[parts[i].handle]);
    lane_hang_smaller (self, flight, quick);
    self->hung_at = now + (now - flight->sent_at);
}

void
lane_hang_end (zpeer_lane_t *self, entry_t *entry)
{
    self->hanging -= entry->hung;
    entry->hung = false;
    if (!self->hanging)
        self->hung_size = self->options.max_items;
}

//  Of what was hung a batch was answered: others may be a little larger
static void
s_grow (zpeer_lane_t *self, const flight_t *flight)
{
    uint32_t size = flight->items + flight->items / 2 + 1;
    uint32_t most = self->options.max_items;
    if (self->hung_size < size)
        self->hung_size = size < most ? size : most;
}

void
lane_hang_over (zpeer_lane_t *self, const flight_t *flight, const part_t *parts,
                uint32_t count)
{
    uint32_t before = self->hanging;
    for (uint32_t i = 0; i < count; i++) {
        entry_t *entry = &self->entries[parts[i].handle];
        //  A question says nothing of the act that follows
        if (parts[i].phase != PHASE_ASK || !lane_wants (entry))
            lane_hang_end (self, entry);
    }
    if (self->hung_quick && self->hanging < before)
        s_grow (self, flight);
}
