#include <assert.h>
#include <stdlib.h>
#include "lane_impl.h"
#include "banned.h"

#define CAPACITY_MIN 64

//  --------------------------------------------------------------------------
//  Life

void
zpeer_lane_destroy (zpeer_lane_t **self_p)
{
    zpeer_lane_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (uint32_t i = 0; i < self->capacity; i++)
        zpeer_state_unref (&self->entries[i].state);
    for (uint32_t i = 0; i < self->flight_count; i++)
        free (self->flights[i]);
    for (uint32_t i = 0; i < self->split_count; i++)
        lane_split_free (self->splits[i]);
    zpeer_heap_free (&self->resting[TOGETHER]);
    zpeer_heap_free (&self->resting[ALONE]);
    free (self->entries);
    free (self->unsure);
    free (self->flights);
    free (self->splits);
    free (self->items);
    free (self);
}

zpeer_lane_t *
zpeer_lane_new (const zpeer_lane_options_t *options)
{
    zpeer_lane_t *self = (zpeer_lane_t *) calloc (1, sizeof *self);
    assert (self && options->max_items > 0);
    self->options = *options;
    self->live = (list_t){NOBODY, NOBODY, 0};
    self->owed = (list_t){NOBODY, NOBODY, 0};
    lane_owed_begin (self);
    self->beat_cursor = NOBODY;
    self->due_at = NEVER;
    self->expire_at = NEVER;
    self->settle_at = NEVER;
    self->inherit_until =
        options->inherits && !options->asg_life_ms ? NEVER : 0;
    self->shortest_ms =
        options->asg_life_ms ? options->asg_life_ms : UINT32_MAX;
    self->size = options->max_items;
    self->hung_size = options->max_items;
    if (options->first_items && options->first_items < options->max_items)
        self->size = options->first_items;
    self->byte_limit = options->max_bytes;
    self->window = options->first_items ? 1 : UINT32_MAX;
    self->random = options->seed ? options->seed : 1;
    self->answering = true;
    self->splittable = true;
    //  An instance may need two items, though a batch has room for one
    self->items = (zpeer_item_t *) calloc (options->max_items + ITEMS_BEYOND,
                                           sizeof *self->items);
    assert (self->items);
    return self;
}

//  --------------------------------------------------------------------------
//  Entries and queues: an entry stands in one, or is in flight, or wants
//  nothing

entry_t *
lane_entry (zpeer_lane_t *self, uint32_t handle)
{
    assert (handle != NOBODY);
    if (handle >= self->capacity) {
        //  In small steps: the array of a large registry is most of the memory
        uint32_t capacity = self->capacity + self->capacity / 8 + CAPACITY_MIN;
        if (capacity <= handle)
            capacity = handle + 1;
        self->entries =
            (entry_t *) realloc (self->entries, capacity * sizeof (entry_t));
        assert (self->entries);
        memset (self->entries + self->capacity, 0,
                (capacity - self->capacity) * sizeof (entry_t));
        self->capacity = capacity;
    }
    return &self->entries[handle];
}

static void
s_unlink (zpeer_lane_t *self, list_t *list, entry_t *entry)
{
    uint32_t handle = (uint32_t) (entry - self->entries);
    if (self->beat_cursor == handle)
        self->beat_cursor = entry->next;
    if (entry->prev == NOBODY)
        list->head = entry->next;
    else
        self->entries[entry->prev].next = entry->next;
    if (entry->next == NOBODY)
        list->tail = entry->prev;
    else
        self->entries[entry->next].prev = entry->prev;
    list->count--;
    if (!self->live.count)
        self->due_at = NEVER;
}

static void
s_append (zpeer_lane_t *self, list_t *list, entry_t *entry)
{
    uint32_t handle = (uint32_t) (entry - self->entries);
    entry->next = NOBODY;
    entry->prev = list->tail;
    if (list->tail == NOBODY)
        list->head = handle;
    else
        self->entries[list->tail].next = handle;
    list->tail = handle;
    list->count++;
    if (list == &self->live && self->beat_cursor == NOBODY)
        self->beat_cursor = handle;
}

static void
s_prepend (zpeer_lane_t *self, list_t *list, entry_t *entry)
{
    uint32_t handle = (uint32_t) (entry - self->entries);
    entry->prev = NOBODY;
    entry->next = list->head;
    if (list->head == NOBODY)
        list->tail = handle;
    else
        self->entries[list->head].prev = handle;
    list->head = handle;
    list->count++;
    if (list == &self->live)
        self->beat_cursor = handle;
}

void
lane_take_out (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->queue != QUEUE_PART)
        s_unlink (self, lane_list (self, (queue_t) entry->queue), entry);
    entry->queue = QUEUE_NONE;
}

//  Another change in live: front means that it has waited already
static void
s_due (zpeer_lane_t *self, const entry_t *entry, bool front)
{
    uint64_t at = self->now;
    self->idle = false;
    if (!front)
        at = at - lane_age (at, entry->since) + self->options.linger_ms;
    if (self->due_at > at)
        self->due_at = at;
}

//  A Heartbeat that waits, perhaps again, and will not be worth sending for ever
static void
s_expires (zpeer_lane_t *self, const entry_t *entry)
{
    uint64_t at =
        self->now - lane_age (self->now, entry->beat) + self->shortest_ms;
    if (self->expire_at > at)
        self->expire_at = at;
}

static void
s_stand_in (zpeer_lane_t *self, entry_t *entry, queue_t queue, bool front)
{
    if (entry->phase != PHASE_NONE || entry->queue == QUEUE_PART)
        return;
    if (!lane_wants (entry))
        lane_leave (self, entry);
    else if (entry->queue != queue) {
        lane_leave (self, entry);
        entry->queue = (uint8_t) queue;
        if (queue == QUEUE_LIVE)
            s_due (self, entry, front);
        if (queue == QUEUE_LIVE && entry->wait == H)
            s_expires (self, entry);
        if (front)
            s_prepend (self, lane_list (self, queue), entry);
        else
            s_append (self, lane_list (self, queue), entry);
    }
}

void
lane_stand (zpeer_lane_t *self, entry_t *entry, bool front)
{
    bool owed = (entry->flags & OWED) && !lane_answered (self, entry) && !front;
    s_stand_in (self, entry, owed ? QUEUE_OWED : QUEUE_LIVE, front);
}

void
lane_stand_answered (zpeer_lane_t *self, entry_t *entry, bool live)
{
    s_stand_in (self, entry, live ? QUEUE_LIVE : QUEUE_OWED, true);
}

void
lane_stand_live (zpeer_lane_t *self, entry_t *entry)
{
    s_stand_in (self, entry, QUEUE_LIVE, false);
}

void
lane_stand_behind (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->flags & OWED)
        lane_stand (self, entry, false);
    else
        lane_stand_live (self, entry);
}

bool
lane_acted_lately (const zpeer_lane_t *self, const entry_t *entry)
{
    uint16_t now = lane_second (self->now);
    unsigned age = (now + UINT16_MAX - entry->acted) % UINT16_MAX;
    return entry->acted && age <= ACTED_MS / 1000;
}

void
lane_report (zpeer_lane_t *self, entry_t *entry, zpeer_lane_report_t report)
{
    report.state = entry->state;
    report.batch = self->batch;
    if (self->options.report)
        self->options.report (self->options.arg, &report);
}

//  What was reported before, and not well since, is no news, if no change is lost
//  by it. Of what was to be cancelled a conflict is the end, whatever came before.
static bool
s_is_news (const entry_t *entry, zpeer_lane_report_kind_t kind)
{
    if (entry->wait & TASKS & ~H)
        return true;
    if (kind == ZPEER_LANE_REJECTED)
        return !(entry->flags & REFUSED);
    return kind != ZPEER_LANE_CONFLICT || !entry->tries ||
           !zpeer_state_present (entry->state);
}

//  Nothing is to be cancelled any more, nor refused that was
static void
s_end_cancel (zpeer_lane_t *self, entry_t *entry)
{
    lane_flag (entry, CANCELLED, false);
    if (zpeer_state_present (entry->state))
        return;
    lane_refuse (self, entry, false);
    lane_rest_end (self, entry);
}

void
lane_give_up (zpeer_lane_t *self, entry_t *entry, zpeer_lane_report_t report,
              zpeer_ending_t ending)
{
    report.bits = entry->wait & TASKS;
    report.ending = ending;
    if (s_is_news (entry, report.kind))
        lane_report (self, entry, report);
    lane_end (self, ending, entry->wait);
    entry->wait = 0;
    entry->asked = 0;
    lane_flag (entry, ASK, false);
    lane_pay (self, entry, PAID_REFUSED);
    lane_leave (self, entry);
    //  Another's registration ends what was to be cancelled here
    if (report.kind == ZPEER_LANE_CONFLICT ||
        (report.kind == ZPEER_LANE_DROPPED && ending == ZPEER_ENDED_DROPPED))
        s_end_cancel (self, entry);
    if (report.kind == ZPEER_LANE_REJECTED) {
        entry->misses = 0;
        lane_refuse (self, entry, true);
        lane_flag (entry, HELD, true);
        lane_rest (self, entry);
    }
    else if (report.kind == ZPEER_LANE_CONFLICT &&
             zpeer_state_present (entry->state))
        lane_rest (self, entry);
}

void
lane_release (zpeer_lane_t *self, entry_t *entry)
{
    if (!(entry->flags & LEAVING) || entry->phase != PHASE_NONE ||
        entry->unsure || lane_wants (entry) || entry->queue != QUEUE_NONE)
        return;
    if (entry->flags & HELD)  //  The peer did not take its Cancel
        return;
    lane_report (self, entry,
                 (zpeer_lane_report_t){.kind = ZPEER_LANE_RELEASED});
    lane_refuse (self, entry, false);
    lane_rest_end (self, entry);
    lane_hang_end (self, entry);
    zpeer_state_unref (&entry->state);
    *entry = (entry_t){0};
    self->instances--;
}
