#include "lane_impl.h"
#include "banned.h"

//  What the peer does not take now is tried again: nothing is final while the
//  source says that the instance lives.
//
//  1. The peer answers 404 to an instance, though it has confirmed its Register
//     three times. It restarts again and again, or there are two servers behind
//     its address. The instance is told again, once each renewal interval.
//  2. It refuses an item, or another has registered the instance there. That is
//     looked at again after a minute, then two, four and so on up to half an hour.
//  3. A batch is refused as a whole because of one item. That one is tried alone,
//     and all such tries together make at most one request in a hundred; one in
//     five minutes, where there are not so many. What is new of one is tried first,
//     and after half a minute.

#define REST_SOON_MS  30000
#define REST_FIRST_MS 60000
#define REST_TIMES    5  //  It is doubled so often

//  A try is a question and what follows the answer, two requests
#define ALONE_EVERY    200
#define ALONE_EVERY_MS 300000
#define ALONE_NEWS_MS  30000
#define AT_ONCE        0  //  Before all that rests for its time

static uint32_t
s_handle (const zpeer_lane_t *self, const entry_t *entry)
{
    return (uint32_t) (entry - self->entries);
}

static void
s_rest_with (zpeer_lane_t *self, entry_t *entry, rest_t with, uint64_t at)
{
    uint32_t handle = s_handle (self, entry);
    zpeer_heap_remove (&self->resting[!with], handle);
    zpeer_heap_put (&self->resting[with], handle, at);
    lane_flag (entry, RESTING, true);
}

static void
s_rest (zpeer_lane_t *self, entry_t *entry, uint64_t at)
{
    s_rest_with (self, entry, lane_poison (entry) ? ALONE : TOGETHER, at);
}

void
lane_rest_told (zpeer_lane_t *self, entry_t *entry)
{
    s_rest (self, entry, self->now + entry->state->renewal_ms);
}

void
lane_rest (zpeer_lane_t *self, entry_t *entry)
{
    unsigned times = entry->tries < REST_TIMES ? entry->tries : REST_TIMES;
    entry->tries = (uint8_t) (times + 1);
    s_rest (self, entry,
            self->now + lane_jitter (self, REST_FIRST_MS << times));
}

void
lane_rest_soon (zpeer_lane_t *self, entry_t *entry)
{
    if (!entry->tries)
        entry->tries = 1;
    s_rest_with (self, entry, TOGETHER, self->now + REST_SOON_MS);
}

void
lane_rest_now (zpeer_lane_t *self, entry_t *entry)
{
    entry->tries = 1;
    s_rest (self, entry, AT_ONCE);
}

void
lane_rest_hurry (zpeer_lane_t *self)
{
    self->alone_from = 0;
}

void
lane_rest_end (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->flags & RESTING) {
        uint32_t handle = s_handle (self, entry);
        zpeer_heap_remove (&self->resting[TOGETHER], handle);
        zpeer_heap_remove (&self->resting[ALONE], handle);
    }
    entry->tries = entry->lonely = 0;
    entry->flags &= (uint16_t) ~(RESTING | HELD);
}

//  It is owed: what the peer has is to be asked first, as always
static void
s_wake (zpeer_lane_t *self, rest_t with, uint32_t handle)
{
    entry_t *entry = &self->entries[handle];
    bool held = entry->flags & HELD;
    zpeer_heap_remove (&self->resting[with], handle);
    entry->flags &= (uint16_t) ~(RESTING | HELD);
    //  A peer that only misses it need not be told more than that it is there
    if (entry->misses && !held)
        lane_renew (self, entry);
    else if (lane_askable (entry))
        lane_owe (self, entry);
    lane_flag (entry, AGAIN, entry->phase != PHASE_NONE);
    if (entry->queue != QUEUE_LIVE)
        lane_stand (self, entry, false);
    lane_release (self, entry);
}

//  When the first may be tried of those that go alone
static uint64_t
s_alone_at (const zpeer_lane_t *self, const zpeer_heap_item_t *first)
{
    if (self->launched >= self->alone_from)
        return first->at;
    uint64_t every_ms = first->at == AT_ONCE ? ALONE_NEWS_MS : ALONE_EVERY_MS;
    uint64_t at = self->alone_at + every_ms;
    return at > first->at ? at : first->at;
}

void
lane_rest_over (zpeer_lane_t *self, uint64_t now)
{
    const zpeer_heap_item_t *first;
    while ((first = zpeer_heap_first (&self->resting[TOGETHER])) &&
           first->at <= now)
        s_wake (self, TOGETHER, first->handle);
    first = zpeer_heap_first (&self->resting[ALONE]);
    if (!first || s_alone_at (self, first) > now)
        return;
    self->alone_from = self->launched + ALONE_EVERY;
    self->alone_at = now;
    s_wake (self, ALONE, first->handle);
}

uint64_t
lane_rest_wake (const zpeer_lane_t *self)
{
    const zpeer_heap_item_t *first =
        zpeer_heap_first (&self->resting[TOGETHER]);
    uint64_t at = first ? first->at : NEVER;
    first = zpeer_heap_first (&self->resting[ALONE]);
    if (first) {
        uint64_t alone_at = s_alone_at (self, first);
        if (at > alone_at)
            at = alone_at;
    }
    return at;
}
