#include "lane_impl.h"
#include "banned.h"

//  How much of the read timeout a batch may need by what is known of the peer
#define TIMEOUT_SHARE 3

//  From a halved byte limit back to the whole one, in so many full batches
#define BYTE_STEPS 64

//  A peer that took a batch of nearly the limit may take larger ones again: in
//  small steps, as every step too far costs a request
static void
s_grow_bytes (zpeer_lane_t *self, const flight_t *flight)
{
    uint32_t most = self->options.max_bytes;
    uint32_t step = most / BYTE_STEPS + 1;
    if (flight->bytes < self->byte_limit / 2)
        return;
    self->byte_limit =
        self->byte_limit < most - step ? self->byte_limit + step : most;
}

//  Whether larger batches are to be tried, though the time suggests none: all of it
//  is taken for that of the items, and may be that of a request of any size
static bool
s_may_try (const zpeer_lane_t *self, uint64_t took_ms, uint64_t share_ms)
{
    bool alone = !self->flight_count;
    return took_ms <= share_ms || (alone && took_ms <= 2 * share_ms);
}

//  Batches as large, and as many at once, as the peer can answer in time
void
lane_follow (zpeer_lane_t *self, uint64_t now, const flight_t *flight)
{
    uint64_t share_ms = self->options.read_timeout_ms / TIMEOUT_SHARE;
    uint64_t took_ms = now - flight->sent_at;
    uint32_t more = flight->items + flight->items / 8 + 1;
    double ms = (double) took_ms / flight->items;
    self->per_item_ms =
        self->per_item_ms > 0 ? 0.75 * self->per_item_ms + 0.25 * ms : ms;
    double size = 2.0 * self->size;
    if (self->per_item_ms * size > (double) share_ms)
        size = (double) share_ms / self->per_item_ms;
    //  A peer that works in turn is only slowed by more at once; and not both
    if (took_ms <= share_ms && self->window < self->credit)
        self->window++;
    else if (size < more && s_may_try (self, took_ms, share_ms))
        size = more;
    if (size > self->options.max_items)
        size = self->options.max_items;
    self->size = size > 1 ? (uint32_t) size : 1;
    s_grow_bytes (self, flight);
}

void
lane_shrink (zpeer_lane_t *self, const flight_t *flight)
{
    if (self->size > flight->items / SHRINK)
        self->size = flight->items > SHRINK ? flight->items / SHRINK : 1;
}

uint32_t
lane_window (const zpeer_lane_t *self, uint32_t credit)
{
    bool doubtful = self->reached || self->barren >= BARREN_MANY;
    uint32_t window = doubtful ? 1 : self->window;
    if (self->options.max_in_flight && window > self->options.max_in_flight)
        window = self->options.max_in_flight;
    return window < credit ? window : credit;
}

bool
lane_is_free (const zpeer_lane_t *self, uint64_t now, unsigned credit)
{
    return credit && now >= self->pause &&
           self->flight_count < lane_window (self, credit + self->flight_count);
}

uint64_t
zpeer_lane_wake (const zpeer_lane_t *self, uint64_t now, unsigned credit)
{
    uint64_t at = lane_rest_wake (self);
    if (at > self->settle_at)
        at = self->settle_at;
    if (self->live.count && at > self->expire_at)
        at = self->expire_at;
    if (now < self->pause) {
        if ((self->live.count || self->owed.count || self->split_count) &&
            at > self->pause)
            at = self->pause;
    }
    else if (self->live.count && !self->idle &&
             lane_is_free (self, now, credit)) {
        if (at > self->due_at)
            at = self->due_at;
    }
    return at < now ? now : at;
}
