#include <stdlib.h>
#include "lane_impl.h"
#include "banned.h"

uint64_t
zpeer_lane_pause (const zpeer_lane_t *self)
{
    return self->pause;
}

void
zpeer_lane_hold (zpeer_lane_t *self, uint64_t until)
{
    if (self->pause < until)
        self->pause = until;
}

uint32_t
zpeer_lane_flights (const zpeer_lane_t *self)
{
    return self->flight_count;
}

uint32_t
zpeer_lane_items (const zpeer_lane_t *self, uint64_t id)
{
    for (uint32_t i = 0; i < self->flight_count; i++)
        if (self->flights[i]->id == id)
            return self->flights[i]->items;
    return 0;
}

bool
zpeer_lane_unsettled (const zpeer_lane_t *self)
{
    return self->unsure_count || self->flight_count ||
           self->now < self->inherit_until;
}

bool
zpeer_lane_idle (const zpeer_lane_t *self)
{
    bool owes = self->owed.count && self->answering;
    return !self->live.count && !self->flight_count && !self->split_count &&
           !owes;
}

void
zpeer_lane_retry_now (zpeer_lane_t *self)
{
    self->pause = 0;
    self->backoff_ms = 0;
}

void
zpeer_lane_hurry (zpeer_lane_t *self)
{
    if (self->live.count)
        self->due_at = 0;
}

uint64_t
zpeer_lane_close (zpeer_lane_t *self, zpeer_ending_t ending)
{
    uint64_t before = self->ended[ending];
    uint64_t owed = 0;
    for (uint32_t i = 0; i < self->capacity; i++) {
        entry_t *entry = &self->entries[i];
        owed += (entry->flags & OWED) && !lane_tasks (entry->wait) &&
                !lane_tasks (entry->flight);
        lane_end (self, ending, entry->wait);
        lane_end (self, ending, entry->flight);
        lane_leave (self, entry);
        entry->wait = entry->flight = 0;
        entry->flags &= (uint16_t) ~(ASK | AGAIN);
        lane_pay (self, entry, PAID_OTHERWISE);
        lane_rest_end (self, entry);
        entry->phase = PHASE_NONE;
    }
    for (uint32_t i = 0; i < self->flight_count; i++)
        free (self->flights[i]);
    for (uint32_t i = 0; i < self->split_count; i++)
        lane_split_free (self->splits[i]);
    self->flight_count = self->split_count = self->owed_flights = 0;
    self->in_flight = 0;
    return self->ended[ending] - before + owed;
}

//  Tasks that wait: what was accepted and has not ended
static uint64_t
s_waiting (const zpeer_lane_t *self)
{
    uint64_t waiting = self->accepted - self->in_flight;
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++)
        waiting -= self->ended[i];
    return waiting;
}

static uint64_t
s_heap_bytes (const zpeer_heap_t *heap)
{
    return heap->capacity * sizeof *heap->items +
           heap->limit * sizeof *heap->places;
}

void
zpeer_lane_stats (const zpeer_lane_t *self, zpeer_lane_stats_t *stats)
{
    *stats = (zpeer_lane_stats_t){
        .accepted = self->accepted,
        .waiting = s_waiting (self),
        .in_flight = self->in_flight,
        .owed = self->owing,
        .renew = self->renewing,
        .rejected = self->refusing,
        .resting = self->resting[TOGETHER].count + self->resting[ALONE].count,
        .instances = self->instances,
        .queued = self->live.count,
        .unsure = self->unsure_count,
        .batches_in_flight = self->flight_count,
        .size = self->size,
        .byte_limit = self->byte_limit,
        .window = self->window < self->credit ? self->window : self->credit,
    };
    memcpy (stats->ended, self->ended, sizeof stats->ended);
    stats->memory_bytes =
        sizeof *self + self->capacity * sizeof (entry_t) +
        self->unsure_capacity * sizeof (doubt_t) +
        s_heap_bytes (&self->resting[TOGETHER]) +
        s_heap_bytes (&self->resting[ALONE]) +
        (self->options.max_items + ITEMS_BEYOND) * sizeof (zpeer_item_t);
    for (uint32_t i = 0; i < self->flight_count; i++)
        stats->memory_bytes +=
            sizeof (flight_t) + self->flights[i]->count * sizeof (part_t);
}

//  --------------------------------------------------------------------------
//  Checking it

static bool
s_list_holds (const zpeer_lane_t *self, const list_t *list, queue_t queue)
{
    uint32_t count = 0, prev = NOBODY, at = list->head;
    for (; at != NOBODY; prev = at, at = self->entries[at].next, count++)
        if (self->entries[at].queue != queue || self->entries[at].prev != prev)
            return false;
    return prev == list->tail && count == list->count;
}

//  Every instance stands where it belongs
static bool
s_entry_holds (const zpeer_lane_t *self, const entry_t *entry)
{
    bool flying = entry->phase != PHASE_NONE;
    bool queued = entry->queue != QUEUE_NONE;
    if (!entry->state)
        return !flying && !queued && !lane_wants (entry);
    if (entry->flight && !flying)
        return false;
    //  What is held is not owed, and has a time when it will be
    if ((entry->flags & HELD) &&
        (!(entry->flags & RESTING) || (entry->flags & OWED)))
        return false;
    if (entry->queue == QUEUE_PART)
        return !flying && self->split_count > 0;
    return queued == (!flying && lane_wants (entry));
}

//  What the cursor promises: no Heartbeat alone before it
static bool
s_cursor_holds (const zpeer_lane_t *self)
{
    for (uint32_t at = self->live.head; at != self->beat_cursor;
         at = self->entries[at].next) {
        if (at == NOBODY)
            return false;
        if (self->entries[at].wait == H && !(self->entries[at].flags & OWED))
            return false;
    }
    return true;
}

bool
zpeer_lane_check (const zpeer_lane_t *self)
{
    uint64_t waiting = 0, in_flight = 0;
    uint32_t used = 0, unsure = 0;
    uint32_t owed = 0, renew = 0, refused = 0, walked = 0, resting = 0;
    uint32_t hanging = 0;
    for (uint32_t i = 0; i < self->capacity; i++) {
        const entry_t *entry = &self->entries[i];
        if (!s_entry_holds (self, entry))
            return false;
        waiting += lane_tasks (entry->wait);
        in_flight += lane_tasks (entry->flight);
        used += entry->state != NULL;
        unsure += entry->unsure != 0;
        owed += (entry->flags & OWED) != 0;
        renew += (entry->flags & RENEW) != 0;
        refused += (entry->flags & REFUSED) != 0;
        walked += (entry->flags & WALKED) != 0;
        resting += (entry->flags & RESTING) != 0;
        hanging += entry->hung;
    }
    return waiting == s_waiting (self) && in_flight == self->in_flight &&
           used == self->instances && unsure == self->unsure_count &&
           s_list_holds (self, &self->live, QUEUE_LIVE) &&
           s_list_holds (self, &self->owed, QUEUE_OWED) &&
           s_cursor_holds (self) && owed == self->owing &&
           renew == self->renewing && refused == self->refusing &&
           walked == self->walk.left && hanging == self->hanging &&
           resting ==
               self->resting[TOGETHER].count + self->resting[ALONE].count;
}
