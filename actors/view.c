#include <assert.h>
#include <stdlib.h>
#include "info.h"
#include "prefetch.h"
#include "view_impl.h"
#include "banned.h"

//  How far an InstanceInfo is fetched: most of one. Beyond a shorter one it does
//  no harm.
#define FETCH_INFO 1024

#define ENTRIES_MIN 64
#define LANES_MAX   64
#define NEVER       UINT64_MAX

//  What an instance costs at most that is being released, but for its state and
//  name: arrays by handle grow to twice of what is in them, slots of the directory
//  to eight in three, and a lane has what lane.h says
#define ARRAYS_BYTES                                                           \
    (2 * (sizeof (entry_t) + sizeof (zpeer_name_t *) + sizeof (uint32_t) +     \
          3 * sizeof (uint32_t) + sizeof (zpeer_heap_item_t)) +                \
     3 * sizeof (zpeer_directory_slot_t))
#define ALLOC_BYTES 16  //  Of the allocator, for each piece
#define LANE_BYTES  64

zpeer_view_t *
zpeer_view_new (const zpeer_view_options_t *options)
{
    zpeer_view_t *self = (zpeer_view_t *) calloc (1, sizeof *self);
    assert (self);
    self->options = *options;
    self->names.seed = self->asg_names.seed = options->seed;
    self->epoch = 1;
    return self;
}

void
zpeer_view_destroy (zpeer_view_t **self_p)
{
    zpeer_view_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (uint32_t i = 0; i < self->names.limit; i++)
        zpeer_state_unref (&self->entries[i].state);
    for (uint32_t i = 0; i < self->asg_names.limit; i++)
        zpeer_state_unref (&self->asgs[i].state);
    zpeer_directory_free (&self->names);
    zpeer_directory_free (&self->asg_names);
    zpeer_heap_free (&self->due[PRESENT]);
    zpeer_heap_free (&self->due[TOMBSTONE]);
    zpeer_heap_free (&self->releasing);
    free (self->entries);
    free (self->asgs);
    free (self);
}

//  States

zpeer_facts_t
zpeer_facts (const zpeer_state_t *state)
{
    return (zpeer_facts_t){.info = state->info,
                           .timestamp = state->timestamp,
                           .top = state->top,
                           .renewal_ms = state->renewal_ms,
                           .status = state->status,
                           .override = state->override};
}

bool
zpeer_facts_hold (const zpeer_facts_t *self, const zpeer_state_t *state)
{
    return state->info == self->info && state->timestamp == self->timestamp &&
           state->top == self->top && state->renewal_ms == self->renewal_ms &&
           state->status == self->status && state->override == self->override;
}

void
zpeer_view_replace (zpeer_view_t *self, zpeer_state_t **state_p,
                    zpeer_name_t *name, uint32_t handle,
                    const zpeer_facts_t *facts)
{
    zpeer_state_t *state = zpeer_state_new (name);
    state->handle = handle;
    state->seq = ++self->seq;
    state->info = facts->info ? zpeer_text_ref (facts->info) : NULL;
    state->timestamp = facts->timestamp;
    state->top = facts->top;
    state->renewal_ms = facts->renewal_ms;
    state->status = facts->status;
    state->override = facts->override;
    zpeer_state_unref (state_p);
    *state_p = state;
}

void
zpeer_view_publish (zpeer_view_t *self, uint32_t handle,
                    const zpeer_facts_t *facts)
{
    entry_t *entry = &self->entries[handle];
    if (entry->state && entry->standing != RELEASING &&
        zpeer_facts_hold (facts, entry->state))
        return;
    zpeer_view_replace (self, &entry->state,
                        zpeer_directory_name (&self->names, handle), handle,
                        facts);
    if (entry->top < facts->top)
        entry->top = facts->top;
    entry->told = 0;
}

//  How instances stand

uint32_t
zpeer_view_enter (zpeer_view_t *self, zpeer_slice_t app, zpeer_slice_t id,
                  uint64_t now)
{
    uint32_t handle = zpeer_directory_add (&self->names, app, id);
    if (handle >= self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : ENTRIES_MIN;
        self->entries = (entry_t *) realloc (
            self->entries, self->capacity * sizeof *self->entries);
        assert (self->entries);
    }
    self->entries[handle] =
        (entry_t){.standing = UNUSED, .fresh = now < self->ghosts_until};
    return handle;
}

void
zpeer_view_mark_unknown (zpeer_view_t *self, entry_t *entry, bool unknown)
{
    if (entry->unknown == unknown)
        return;
    entry->unknown = unknown;
    self->unknown = unknown ? self->unknown + 1 : self->unknown - 1;
}

//  As long as a peer may hold the instance it must be known how high its
//  timestamps were. A lease that was renewed lives twice its duration.
static uint64_t
s_tombstone_ms (const zpeer_view_t *self, const entry_t *entry)
{
    uint64_t least_ms = self->options.tombstone_ms;
    uint32_t lease_ms = entry->lease_ms ? entry->lease_ms : ZPEER_DURATION_MS;
    uint64_t held_ms = UINT64_C (2) * lease_ms + self->options.outlive_ms;
    return self->options.outlive_ms && held_ms > least_ms ? held_ms : least_ms;
}

static uint64_t
s_due_at (const zpeer_view_t *self, const entry_t *entry, standing_t standing,
          uint64_t now)
{
    if (standing == TOMBSTONE)
        return now + s_tombstone_ms (self, entry);
    return self->options.age_out ? now + UINT64_C (2) * entry->lease_ms : NEVER;
}

static uint32_t
s_cost (const zpeer_view_t *self, const entry_t *entry)
{
    const zpeer_name_t *name = entry->state->name;
    size_t name_bytes = sizeof *name + name->app_size + name->id_size +
                        name->item_size + ALLOC_BYTES;
    size_t state_bytes = sizeof *entry->state + ALLOC_BYTES;
    unsigned lanes = (unsigned) __builtin_popcountll (self->lanes);
    return (uint32_t) (ARRAYS_BYTES + state_bytes + name_bytes +
                       lanes * (size_t) LANE_BYTES);
}

//  An instance that was released is back, gone or given up
static void
s_uncount (zpeer_view_t *self, uint32_t handle)
{
    zpeer_heap_remove (&self->releasing, handle);
    self->releasing_bytes -= self->entries[handle].cost;
    self->entries[handle].cost = 0;
}

void
zpeer_view_stand (zpeer_view_t *self, uint32_t handle, standing_t standing,
                  uint64_t now)
{
    entry_t *entry = &self->entries[handle];
    uint64_t due_at = s_due_at (self, entry, standing, now);
    bool moves = entry->standing != standing;
    zpeer_view_mark_unknown (self, entry, false);
    if (moves && entry->standing <= TOMBSTONE)
        zpeer_heap_remove (&self->due[entry->standing], handle);
    if (entry->standing == RELEASING)
        s_uncount (self, handle);
    //  A later time is found out when the earlier one comes
    if (moves || due_at < entry->due_at)
        zpeer_heap_put (&self->due[standing], handle, due_at);
    entry->standing = (uint8_t) standing;
    entry->due_at = due_at;
}

void
zpeer_view_bury (zpeer_view_t *self, uint32_t handle, uint64_t top,
                 uint64_t now)
{
    //  Peers may be sent a Heartbeat of it all the same, and that has a life
    zpeer_facts_t facts = {.top = top, .renewal_ms = ZPEER_RENEWAL_NONE_MS};
    zpeer_view_publish (self, handle, &facts);
    zpeer_view_stand (self, handle, TOMBSTONE, now);
}

void
zpeer_view_forget (zpeer_view_t *self, uint32_t handle, uint64_t now)
{
    entry_t *entry = &self->entries[handle];
    entry->fresh |= entry->standing == PRESENT;
    entry->cancelled = false;
    entry->pictured = false;
    entry->changed = zpeer_view_second (now);
    zpeer_view_bury (self, handle, 0, now);
}

//  The last lane has answered, or none was ever told
static void
s_leave (zpeer_view_t *self, uint32_t handle)
{
    entry_t *entry = &self->entries[handle];
    s_uncount (self, handle);
    zpeer_state_unref (&entry->state);
    entry->standing = UNUSED;
    zpeer_directory_remove (&self->names, handle);
}

//  Lanes

void
zpeer_view_tell (zpeer_view_t *self, uint32_t handle, zpeer_action_t action,
                 unsigned flags, zpeer_change_t *change)
{
    entry_t *entry = &self->entries[handle];
    *change = (zpeer_change_t){
        .state = entry->told == self->epoch ? NULL : entry->state,
        .handle = handle,
        .action = (uint8_t) action,
        .flags = (uint16_t) flags};
    entry->told = self->epoch;
}

void
zpeer_view_tell_all (zpeer_view_t *self)
{
    //  0 means: never told
    if (!++self->epoch)
        self->epoch++;
}

void
zpeer_view_add_lane (zpeer_view_t *self, unsigned lane)
{
    assert (lane < LANES_MAX);
    self->lanes |= UINT64_C (1) << lane;
    zpeer_view_tell_all (self);
}

//  A lane has nothing more to answer
static void
s_let_go (zpeer_view_t *self, uint32_t handle, unsigned lane)
{
    entry_t *entry = &self->entries[handle];
    entry->unanswered &= ~(UINT64_C (1) << lane);
    if (entry->standing == RELEASING && !entry->unanswered)
        s_leave (self, handle);
}

void
zpeer_view_remove_lane (zpeer_view_t *self, unsigned lane)
{
    assert (lane < LANES_MAX);
    self->lanes &= ~(UINT64_C (1) << lane);
    for (uint32_t handle = 0; handle < self->names.limit; handle++)
        s_let_go (self, handle, lane);
}

void
zpeer_view_released (zpeer_view_t *self, unsigned lane, uint32_t handle,
                     uint64_t seq)
{
    if (lane >= LANES_MAX || handle >= self->names.limit)
        return;
    const entry_t *entry = &self->entries[handle];
    if (entry->standing == RELEASING && entry->state->seq == seq)
        s_let_go (self, handle, lane);
}

unsigned
zpeer_view_catch_up (const zpeer_view_t *self, uint32_t handle,
                     zpeer_change_t changes[2])
{
    if (handle >= self->names.limit || !self->entries[handle].state)
        return 0;
    const entry_t *entry = &self->entries[handle];
    changes[0] = changes[1] = (zpeer_change_t){.state = entry->state,
                                               .given = entry->top,
                                               .handle = handle,
                                               .action = ZPEER_FORGET};
    //  Of what was never registered nothing is owed, either
    if (entry->standing == PRESENT || entry->cancelled) {
        changes[0].flags = ZPEER_CHANGE_OWE;
        changes[0].given = UINT64_C (1000) * entry->changed;
    }
    changes[1].flags = ZPEER_CHANGE_RELEASE;
    if (!entry->cost)
        changes[1].flags |= ZPEER_CHANGE_GIVE_UP;
    return entry->standing == RELEASING ? 2 : 1;
}

unsigned
zpeer_view_catch_up_asg (const zpeer_view_t *self, uint32_t handle,
                         zpeer_change_t changes[2])
{
    if (handle >= self->asg_names.limit)
        return 0;
    changes[0] = (zpeer_change_t){.state = self->asgs[handle].state,
                                  .handle = handle,
                                  .action = ZPEER_ASG_STATUS_UPDATE};
    return 1;
}

//  Fetching

void
zpeer_view_expect (const zpeer_view_t *self, zpeer_parsed_t *event)
{
    event->tag = zpeer_directory_tag (&self->names, event->app, event->id);
}

void
zpeer_view_fetch (const zpeer_view_t *self, const zpeer_parsed_t *event,
                  unsigned step)
{
    if (step == 2 && event->action != ZPEER_REGISTER)
        return;
    uint32_t handle = zpeer_directory_guess (&self->names, event->tag);
    if (handle == ZPEER_NO_HANDLE)
        return;
    const entry_t *entry = &self->entries[handle];
    switch (step) {
    case 0:
        __builtin_prefetch (&self->names.names[handle]);
        zpeer_prefetch (entry, 2 * ZPEER_CACHE_LINE);
        break;
    case 1:
        zpeer_prefetch (self->names.names[handle], 2 * ZPEER_CACHE_LINE);
        zpeer_prefetch (entry->state, 2 * ZPEER_CACHE_LINE);
        break;
    default:
        //  What a Register is compared with
        if (entry->state && entry->state->info)
            zpeer_prefetch (entry->state->info, FETCH_INFO);
    }
}

//  Letting go

//  Begins to release a tombstone. Returns whether lanes must be told.
static bool
s_release (zpeer_view_t *self, uint32_t handle, zpeer_change_t *change)
{
    entry_t *entry = &self->entries[handle];
    zpeer_heap_remove (&self->due[TOMBSTONE], handle);
    zpeer_view_mark_unknown (self, entry, false);
    if (!self->lanes) {
        s_leave (self, handle);
        return false;
    }
    entry->standing = RELEASING;
    entry->cost = s_cost (self, entry);
    self->releasing_bytes += entry->cost;
    zpeer_heap_put (&self->releasing, handle, ++self->releases);
    //  With the state: whoever knows nothing of it, having come later, is told
    //  now. A lane may have been caught up without the view's being asked, so
    //  that all have to answer.
    entry->unanswered = self->lanes;
    *change = (zpeer_change_t){.state = entry->state,
                               .handle = handle,
                               .action = ZPEER_FORGET,
                               .flags = ZPEER_CHANGE_RELEASE};
    return true;
}

//  The first that is due by then; one that was renewed goes back in the queue
static bool
s_first_due (zpeer_view_t *self, standing_t standing, uint64_t by,
             uint32_t *handle)
{
    zpeer_heap_t *due = &self->due[standing];
    const zpeer_heap_item_t *first;
    while ((first = zpeer_heap_first (due)) != NULL && first->at <= by) {
        uint64_t due_at = self->entries[first->handle].due_at;
        *handle = first->handle;
        if (due_at <= first->at)
            return true;
        zpeer_heap_put (due, *handle, due_at);
    }
    return false;
}

static bool
s_too_many_tombstones (const zpeer_view_t *self)
{
    uint32_t count = self->due[TOMBSTONE].count;
    return count > ZPEER_VIEW_TOMBSTONES && count > self->due[PRESENT].count;
}

static bool
s_too_many_bytes (const zpeer_view_t *self)
{
    return self->options.cancels_max_bytes &&
           self->releasing_bytes > self->options.cancels_max_bytes;
}

//  Of the one released first the lanes keep nothing
static void
s_give_up (zpeer_view_t *self, uint64_t now, zpeer_change_t *change)
{
    uint32_t handle = zpeer_heap_first (&self->releasing)->handle;
    entry_t *entry = &self->entries[handle];
    uint64_t held_until = now + s_tombstone_ms (self, entry);
    s_uncount (self, handle);
    self->given_up++;
    entry->fresh = true;
    if (self->ghosts_until < held_until)
        self->ghosts_until = held_until;
    *change =
        (zpeer_change_t){.state = entry->state,
                         .handle = handle,
                         .action = ZPEER_FORGET,
                         .flags = ZPEER_CHANGE_RELEASE | ZPEER_CHANGE_GIVE_UP};
}

bool
zpeer_view_expire (zpeer_view_t *self, uint64_t now, zpeer_change_t *change)
{
    uint32_t handle;
    if (s_too_many_bytes (self)) {
        s_give_up (self, now, change);
        return true;
    }
    if (self->options.age_out && s_first_due (self, PRESENT, now, &handle)) {
        self->aged_out++;
        zpeer_view_forget (self, handle, now);
        zpeer_view_tell (self, handle, ZPEER_FORGET, 0, change);
        change->given = self->entries[handle].top;
        return true;
    }
    while (s_first_due (self, TOMBSTONE,
                        s_too_many_tombstones (self) ? NEVER : now, &handle))
        if (s_release (self, handle, change))
            return true;
    return false;
}

uint64_t
zpeer_view_wake (const zpeer_view_t *self)
{
    if (s_too_many_tombstones (self) || s_too_many_bytes (self))
        return 0;
    uint64_t wake = NEVER;
    for (int i = PRESENT; i <= TOMBSTONE; i++) {
        const zpeer_heap_item_t *first = zpeer_heap_first (&self->due[i]);
        if (first && first->at < wake)
            wake = first->at;
    }
    return wake;
}

//  What is known

zpeer_state_t *
zpeer_view_find (const zpeer_view_t *self, zpeer_slice_t app, zpeer_slice_t id)
{
    const zpeer_directory_t *names = app.size ? &self->names : &self->asg_names;
    uint32_t handle = zpeer_directory_find (names, app, id, 0);
    if (handle == ZPEER_NO_HANDLE)
        return NULL;
    return app.size ? self->entries[handle].state : self->asgs[handle].state;
}

uint32_t
zpeer_view_limit (const zpeer_view_t *self)
{
    return self->names.limit;
}

uint32_t
zpeer_view_limit_asgs (const zpeer_view_t *self)
{
    return self->asg_names.limit;
}

void
zpeer_view_stats (const zpeer_view_t *self, zpeer_view_stats_t *stats)
{
    uint32_t present = self->due[PRESENT].count;
    uint32_t tombstones = self->due[TOMBSTONE].count;
    *stats = (zpeer_view_stats_t){.instances = present,
                                  .tombstones = tombstones,
                                  .releasing =
                                      self->names.count - present - tombstones,
                                  .unknown = self->unknown,
                                  .asgs = self->asg_names.count,
                                  .outdated = self->outdated,
                                  .aged_out = self->aged_out,
                                  .given_up = self->given_up,
                                  .releasing_bytes = self->releasing_bytes};
}
