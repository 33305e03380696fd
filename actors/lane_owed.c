#include "lane_impl.h"
#include "banned.h"

//  How long a batch of what is owed may keep the peer busy, ms. At one that works
//  in turn live changes wait behind all that are on their way: so they begin
//  small, and one at a time.
#define OWED_MS    500
#define OWED_FIRST 64

//  The sweep for expired Heartbeats walks the whole queue: not more often than
//  this, ms
#define SWEEP_MS 1000

//  What is owed is a bit in each entry, and a count of them; so is what belongs
//  to a walk. All that sets or clears these bits is here.

void
lane_owe (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->flags & HELD) {  //  It will be owed when it has rested
        lane_pay (self, entry, PAID_REFUSED);
        return;
    }
    self->owing += !(entry->flags & OWED);
    self->renewing -= (entry->flags & RENEW) != 0;
    entry->flags = (uint16_t) ((entry->flags | OWED) & ~RENEW);
}

void
lane_renew (zpeer_lane_t *self, entry_t *entry)
{
    //  Without a timestamp there is nothing to ask with
    if ((entry->flags & (OWED | HELD)) || !lane_top (entry))
        return;
    self->owing++;
    self->renewing++;
    entry->flags |= OWED | RENEW;
}

void
lane_lose_beat (zpeer_lane_t *self, entry_t *entry, zpeer_ending_t ending)
{
    if (self->options.asg_life_ms)
        lane_report (self, entry,
                     (zpeer_lane_report_t){.kind = ZPEER_LANE_DROPPED,
                                           .ending = ending,
                                           .bits = H});
    lane_end (self, ending, H);
    entry->wait = 0;
    lane_renew (self, entry);
}

static uint32_t
s_life_ms (const zpeer_lane_t *self, const entry_t *entry)
{
    return self->options.asg_life_ms ? self->options.asg_life_ms
                                     : entry->state->renewal_ms;
}

void
lane_expire (zpeer_lane_t *self, uint64_t now)
{
    if (!self->live.count)
        self->expire_at = NEVER;
    if (now < self->expire_at)
        return;
    uint64_t next_at = NEVER;
    uint32_t after;
    for (uint32_t at = self->live.head; at != NOBODY; at = after) {
        entry_t *entry = &self->entries[at];
        after = entry->next;
        if (entry->wait != H)
            continue;
        uint32_t life_ms = s_life_ms (self, entry);
        uint32_t age = lane_age (now, entry->beat);
        if (age < life_ms) {
            if (next_at > now + life_ms - age)
                next_at = now + life_ms - age;
            continue;
        }
        lane_lose_beat (self, entry, ZPEER_ENDED_EXPIRED);
        lane_stand (self, entry, false);
        lane_release (self, entry);
    }
    if (next_at != NEVER && next_at < now + SWEEP_MS)
        next_at = now + SWEEP_MS;
    self->expire_at = next_at;
}

void
lane_pay (zpeer_lane_t *self, entry_t *entry, payment_t how)
{
    self->owing -= (entry->flags & OWED) != 0;
    self->renewing -= (entry->flags & RENEW) != 0;
    entry->flags &= (uint16_t) ~(OWED | RENEW);
    //  It will be owed again as soon as its flight has landed
    if (!(entry->flags & WALKED) || (entry->flags & AGAIN))
        return;
    lane_flag (entry, WALKED, false);
    self->walk.left--;
    self->walk.repaired += how == PAID_REPAIRED;
    self->walk.refused += how == PAID_REFUSED;
}

void
lane_refuse (zpeer_lane_t *self, entry_t *entry, bool refused)
{
    if (!(entry->flags & REFUSED) && !refused)
        return;
    self->refusing -= (entry->flags & REFUSED) != 0;
    self->refusing += refused;
    lane_flag (entry, REFUSED, refused);
}

void
lane_take (zpeer_lane_t *self, entry_t *entry)
{
    if (!(entry->flags & (STORED | REFUSED | RESTING)) && !entry->misses &&
        !entry->tries)
        return;
    entry->misses = 0;
    lane_flag (entry, STORED, false);
    lane_refuse (self, entry, false);
    lane_rest_end (self, entry);
}

void
lane_owed_begin (zpeer_lane_t *self)
{
    self->owed_size = OWED_FIRST;
    self->owed_window = 1;
}

void
lane_owed_follow (zpeer_lane_t *self, const flight_t *flight, uint64_t took_ms)
{
    if (!flight->owed)
        return;
    self->owed_flights--;
    if (took_ms > OWED_MS) {
        self->owed_window = 1;
        self->owed_size =
            (uint32_t) ((uint64_t) flight->items * OWED_MS / took_ms + 1);
    }
    else {
        self->owed_window++;
        if (self->owed_size < self->options.max_items)
            self->owed_size *= 2;
    }
    if (took_ms == NEVER || (!self->owed.count && !self->owed_flights))
        lane_owed_begin (self);
}

uint32_t
zpeer_lane_owed (const zpeer_lane_t *self)
{
    return self->owing;
}

//  --------------------------------------------------------------------------
//  Walks

void
lane_walk (zpeer_lane_t *self, entry_t *entry)
{
    self->walk.instances++;
    if (!(entry->flags & OWED) || (entry->flags & WALKED))
        return;
    self->walk.left++;
    entry->flags |= WALKED;
}

void
zpeer_lane_walk_begin (zpeer_lane_t *self)
{
    for (uint32_t i = 0; self->walk.left && i < self->capacity; i++) {
        self->walk.left -= (self->entries[i].flags & WALKED) != 0;
        lane_flag (&self->entries[i], WALKED, false);
    }
    self->walk = (zpeer_lane_walk_t){.active = true};
}

void
zpeer_lane_walk_complete (zpeer_lane_t *self)
{
    self->walk.complete = true;
}

void
zpeer_lane_walk (const zpeer_lane_t *self, zpeer_lane_walk_t *walk)
{
    *walk = self->walk;
}

void
zpeer_lane_walk_end (zpeer_lane_t *self)
{
    self->walk.active = false;
}
