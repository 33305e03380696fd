#include <assert.h>
#include <stdlib.h>
#include "lane_impl.h"
#include "banned.h"

#define CAPACITY_MIN 64

//  Leases are whole seconds. One of 0 must not have the whole queue swept for
//  every batch.
#define LIFE_MIN_MS 1000

static const uint8_t s_bits[ZPEER_ACTIONS] = {
    [ZPEER_REGISTER] = R,
    [ZPEER_HEARTBEAT] = H,
    [ZPEER_CANCEL] = C,
    [ZPEER_STATUS_UPDATE] = S,
    [ZPEER_DELETE_STATUS_OVERRIDE] = D,
    //  In a lane of ASGs; it can be lost like a Heartbeat
    [ZPEER_ASG_STATUS_UPDATE] = H,
};

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
    self->beat_cursor = NOBODY;
    self->due_at = NEVER;
    self->expire_at = NEVER;
    self->settle_at = NEVER;
    self->shortest_ms =
        options->asg_life_ms ? options->asg_life_ms : UINT32_MAX;
    self->size = options->max_items;
    if (options->first_items && options->first_items < options->max_items)
        self->size = options->first_items;
    self->byte_limit = options->max_bytes;
    self->window = options->first_items ? 1 : UINT32_MAX;
    self->epoch = 1;
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

static entry_t *
s_entry (zpeer_lane_t *self, uint32_t handle)
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
lane_leave (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->queue == QUEUE_LIVE || entry->queue == QUEUE_OWED)
        s_unlink (self, lane_list (self, (queue_t) entry->queue), entry);
    entry->queue = QUEUE_NONE;
}

//  Another change in live: front means that it has waited already
static void
s_due (zpeer_lane_t *self, const entry_t *entry, bool front)
{
    uint64_t at = self->now;
    if (!front)
        at = at - lane_age (at, entry->since) + self->options.linger_ms;
    if (self->due_at > at)
        self->due_at = at;
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
        if (front)
            s_prepend (self, lane_list (self, queue), entry);
        else
            s_append (self, lane_list (self, queue), entry);
    }
}

void
lane_stand (zpeer_lane_t *self, entry_t *entry, bool front)
{
    bool owed = (entry->flags & OWED) && entry->asked != self->epoch && !front;
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
lane_report (zpeer_lane_t *self, entry_t *entry, zpeer_lane_report_t report)
{
    report.state = entry->state;
    report.batch = self->batch;
    if (self->options.report)
        self->options.report (self->options.arg, &report);
}

void
lane_give_up (zpeer_lane_t *self, entry_t *entry, zpeer_lane_report_t report,
              zpeer_ending_t ending)
{
    report.bits = entry->wait & TASKS;
    report.ending = ending;
    lane_report (self, entry, report);
    lane_end (self, ending, entry->wait);
    if (report.kind == ZPEER_LANE_REJECTED)
        lane_refuse (self, entry, true);
    entry->wait = 0;
    entry->asked = 0;
    lane_flag (entry, ASK, false);
    lane_pay (self, entry, PAID_REFUSED);
    lane_leave (self, entry);
}

void
lane_release (zpeer_lane_t *self, entry_t *entry)
{
    if (!(entry->flags & LEAVING) || entry->phase != PHASE_NONE ||
        entry->unsure || lane_wants (entry) || entry->queue != QUEUE_NONE)
        return;
    lane_report (self, entry,
                 (zpeer_lane_report_t){.kind = ZPEER_LANE_RELEASED});
    lane_refuse (self, entry, false);
    zpeer_state_unref (&entry->state);
    *entry = (entry_t){0};
    self->instances--;
}

//  --------------------------------------------------------------------------
//  Ambiguous attempts: the peer may yet apply them

void
lane_doubt (zpeer_lane_t *self, entry_t *entry, uint64_t seq)
{
    //  What counts is the first state it may fall back to, and the last attempt
    //  that may do it: a new doubt puts the settling off
    if (!entry->unsure) {
        entry->unsure = seq;
        if (self->unsure_count == self->unsure_capacity) {
            self->unsure_capacity = self->unsure_capacity
                                        ? 2 * self->unsure_capacity
                                        : CAPACITY_MIN;
            self->unsure = (doubt_t *) realloc (
                self->unsure, self->unsure_capacity * sizeof (doubt_t));
            assert (self->unsure);
        }
        self->unsure[self->unsure_count++].handle =
            (uint32_t) (entry - self->entries);
        self->doubtful++;
    }
    else if (entry->flags & SETTLING)
        self->doubtful++;
    if (seq == SEQ_NONE)
        entry->unsure = seq;
    lane_flag (entry, SETTLING, false);
}

void
lane_sure (zpeer_lane_t *self, uint32_t index)
{
    entry_t *entry = &self->entries[self->unsure[index].handle];
    if (!(entry->flags & SETTLING))
        self->doubtful--;
    lane_flag (entry, SETTLING, false);
    entry->unsure = 0;
    self->unsure[index] = self->unsure[--self->unsure_count];
}

void
lane_settle_all (zpeer_lane_t *self, uint64_t now)
{
    if (!self->doubtful)
        return;
    uint64_t at = now + self->options.read_timeout_ms;
    for (uint32_t i = 0; i < self->unsure_count; i++) {
        entry_t *entry = &self->entries[self->unsure[i].handle];
        if (entry->flags & SETTLING)
            continue;
        self->unsure[i].settle = (uint32_t) at;
        lane_flag (entry, SETTLING, true);
    }
    self->doubtful = 0;
    if (self->settle_at > at)
        self->settle_at = at;
}

//  --------------------------------------------------------------------------
//  Changes in

static void
s_heartbeat (zpeer_lane_t *self, uint64_t now, entry_t *entry)
{
    entry->beat = (uint32_t) now;
    if (self->expire_at > now + self->shortest_ms)
        self->expire_at = now + self->shortest_ms;
    if (entry->wait)  //  Whatever waits renews the lease too
        self->ended[ZPEER_ENDED_SUPERSEDED]++;
    else
        entry->wait = H;
}

//  One more kind of change waits
static void
s_gather (zpeer_lane_t *self, uint64_t now, entry_t *entry, unsigned bit)
{
    if (bit == H)
        s_heartbeat (self, now, entry);
    else if (bit == C) {  //  It stands first, and clears everything else
        lane_end (self, ZPEER_ENDED_SUPERSEDED, entry->wait);
        entry->wait = C;
    }
    else {
        lane_end (self, ZPEER_ENDED_SUPERSEDED, entry->wait & (H | bit));
        //  Two changes of the override: only the pair gives their sum
        if (bit != R && (entry->wait & (S | D)))
            bit |= FULL;
        entry->wait = (uint8_t) ((entry->wait & ~H) | bit);
    }
}

//  Whoever sent it tells the peers. What is still owed to them cannot always be
//  settled by that: what it does at a peer depends on what the peer did not yet
//  get from here.
static bool
s_settles (const entry_t *entry, unsigned bit)
{
    if (bit == C)
        return true;
    //  A Register that waits may have brought the override that is held
    bool override =
        (entry->wait & R) && entry->state->override != ZPEER_UNKNOWN;
    return bit == R && !(entry->wait & ~(R | H)) && !(entry->flags & OWED) &&
           !override;
}

//  What is on its way may arrive after what the other told the peer
static void
s_replicated_asg (zpeer_lane_t *self, entry_t *entry, bool again)
{
    if (!again || entry->wait)
        return;
    self->accepted++;
    entry->wait = H;
    entry->beat = entry->since = (uint32_t) self->now;
}

static void
s_replicated (zpeer_lane_t *self, entry_t *entry, unsigned bit, bool changed)
{
    bool flying = entry->phase != PHASE_NONE;
    if (self->options.asg_life_ms) {
        s_replicated_asg (self, entry, changed && flying);
        return;
    }
    if (bit == H || !(changed || lane_wants (entry) || flying))
        return;
    if (s_settles (entry, bit)) {
        lane_end (self, ZPEER_ENDED_SETTLED, entry->wait);
        entry->wait = 0;
        entry->asked = 0;
        lane_flag (entry, ASK, false);
        //  Nobody else knows of an attempt of ours that may come late
        if (entry->unsure)
            lane_owe (self, entry);
        else
            lane_pay (self, entry, PAID_OTHERWISE);
    }
    else if ((entry->wait & ~H) || (entry->flags & OWED)) {
        lane_end (self, ZPEER_ENDED_SETTLED, entry->wait & H);
        entry->wait = (uint8_t) ((entry->wait & ~H) | FULL);
    }
    lane_flag (entry, AGAIN, flying);  //  That may arrive after it
    lane_stand (self, entry, false);
}

//  Only the mark of an ambiguous attempt stays: what is late may hit a later
//  life
static void
s_forget (zpeer_lane_t *self, entry_t *entry)
{
    lane_end (self, ZPEER_ENDED_FORGOTTEN, entry->wait);
    lane_leave (self, entry);
    entry->wait = 0;
    entry->misses = entry->errors = 0;
    entry->suspect = 0;
    entry->asked = 0;  //  What was asked was another life
    lane_pay (self, entry, PAID_OTHERWISE);
    lane_refuse (self, entry, false);
    entry->flags &= SETTLING | LEAVING;
    if (entry->phase != PHASE_NONE) {
        lane_end (self, ZPEER_ENDED_FORGOTTEN, entry->flight);
        self->in_flight -= lane_tasks (entry->flight);
        entry->flight = 0;
        entry->phase = PHASE_FORGET;
    }
}

//  The oldest that wait with a Heartbeat only give way; state never does
static void
s_overflow (zpeer_lane_t *self)
{
    while (self->live.count > self->options.pool &&
           self->beat_cursor != NOBODY) {
        entry_t *entry = &self->entries[self->beat_cursor];
        if (entry->wait != H || (entry->flags & OWED)) {
            self->beat_cursor = entry->next;
            continue;
        }
        lane_lose_beat (self, entry, ZPEER_ENDED_OVERFLOWED);
        lane_stand (self, entry, false);
        lane_release (self, entry);
    }
}

//  A live change that waits already does not wait with the owed ones
static void
s_stand_owed (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->queue != QUEUE_LIVE)
        lane_stand (self, entry, false);
}

//  The peer may not have been told of something: it is owed all there is
static void
s_owe (zpeer_lane_t *self, entry_t *entry)
{
    if (!entry->state->top)
        return;
    lane_owe (self, entry);
    lane_refuse (self, entry, false);
    lane_flag (entry, AGAIN, entry->phase != PHASE_NONE);
    s_stand_owed (self, entry);
}

//  Whether the peer has it is to be asked. A 404 does not tell an instance that
//  is absent from one that is older, so that one that must be absent is owed.
static void
s_verify (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->flags & REFUSED)
        return;
    if (zpeer_state_present (entry->state))
        lane_renew (self, entry);
    else
        s_owe (self, entry);
    s_stand_owed (self, entry);
}

static void
s_event (zpeer_lane_t *self, uint64_t now, entry_t *entry,
         const zpeer_change_t *change, unsigned bit)
{
    bool refused = entry->flags & REFUSED;
    self->accepted++;
    if (bit & (R | C)) {
        entry->misses = entry->errors = 0;
        entry->suspect = 0;
        lane_refuse (self, entry, false);
    }
    if (entry->flags & REFUSED) {
        self->ended[ZPEER_ENDED_REJECTED]++;
        return;
    }
    bool idle = !entry->wait;
    entry->given = change->given;
    s_gather (self, now, entry, bit);
    if (bit == R && (change->flags & ZPEER_CHANGE_FRESH))
        entry->wait |= FULL;
    //  What changed while the peer refused it was never sent, or a Cancel of it
    //  was not taken: what the peer has is not known
    if (bit == R && refused) {
        lane_owe (self, entry);
        lane_flag (entry, AGAIN, entry->phase != PHASE_NONE);
    }
    if (idle)
        entry->since = (uint32_t) now;
    //  A live change of an owed instance does not wait with the owed ones
    if (entry->queue == QUEUE_OWED)
        lane_stand_live (self, entry);
    else
        lane_stand (self, entry, false);
}

static void
s_learn_life (zpeer_lane_t *self, const zpeer_state_t *state)
{
    uint32_t life_ms = state->renewal_ms;
    if (life_ms < LIFE_MIN_MS)
        life_ms = LIFE_MIN_MS;
    if (!self->options.asg_life_ms && self->shortest_ms > life_ms)
        self->shortest_ms = life_ms;
}

//  The entry of a change, in the change's state; says whether that is another
static entry_t *
s_adopt (zpeer_lane_t *self, const zpeer_change_t *change, bool *changed)
{
    entry_t *entry = s_entry (self, change->handle);
    *changed = false;
    if (change->state && change->state != entry->state) {
        *changed = !entry->state || entry->state->seq != change->state->seq;
        if (!entry->state)
            self->instances++;
        zpeer_state_unref (&entry->state);
        entry->state = zpeer_state_ref (change->state);
        s_learn_life (self, entry->state);
    }
    assert (entry->state);
    return entry;
}

void
zpeer_lane_change (zpeer_lane_t *self, uint64_t now,
                   const zpeer_change_t *change)
{
    bool changed;
    bool leaving = change->flags & ZPEER_CHANGE_RELEASE;
    self->now = now;
    entry_t *entry = s_adopt (self, change, &changed);
    lane_flag (entry, LEAVING, leaving);
    if (change->flags & ZPEER_CHANGE_OWE)
        s_owe (self, entry);
    else if (change->flags & ZPEER_CHANGE_VERIFY)
        s_verify (self, entry);
    else if (leaving)
        lane_release (self, entry);
    else if (change->action == ZPEER_FORGET)
        s_forget (self, entry);
    else if (change->flags & ZPEER_CHANGE_REPLICATED)
        s_replicated (self, entry, s_bits[change->action], changed);
    else
        s_event (self, now, entry, change, s_bits[change->action]);
    if (change->flags & ZPEER_CHANGE_WALK)
        lane_walk (self, entry);
    s_overflow (self);
}
