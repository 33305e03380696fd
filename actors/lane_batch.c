#include <assert.h>
#include <stdlib.h>
#include "lane_impl.h"
#include "banned.h"

//  While live changes wait, too, every fourth batch is for what is owed; of a peer
//  that takes one batch at a time, every fourth place in it. So neither starves
//  the other.
#define OWED_EVERY 4

//  Of the probes of a peer whose last attempt failed one in so many goes by the order
//  of the queue alone: else what is in question may wait for ever for others that are
//  never taken
#define QUESTION_EVERY 4

//  Handles that are drawn to find one that waits
#define CHANCES 16

//  A Cancel that has waited for so long is late: another's registration may have
//  come to the peer since, which it must not end. ms.
#define LATE_MS 1000

//  How many places ahead states are fetched
#define FETCH_AHEAD 8

//  --------------------------------------------------------------------------
//  Rendering: all items of an instance together, from its newest state

static void
s_item (const entry_t *entry, zpeer_item_t *item, zpeer_action_t action,
        uint64_t timestamp)
{
    const zpeer_state_t *state = entry->state;
    *item = (zpeer_item_t){
        .state = state,
        .timestamp = timestamp,
        .action = (uint8_t) action,
        .status = state->status,
        .override = state->override,
    };
}

static unsigned
s_one (const entry_t *entry, zpeer_item_t *items, zpeer_action_t action)
{
    s_item (entry, &items[0], action,
            action == ZPEER_CANCEL ? 0 : entry->state->timestamp);
    return 1;
}

static unsigned
s_two (const entry_t *entry, zpeer_item_t *items, zpeer_action_t action)
{
    s_one (entry, &items[0], action);
    return 1 + s_one (entry, &items[1], ZPEER_REGISTER);
}

//  What a refresh does once it may
static unsigned
s_render_act (const entry_t *entry, zpeer_item_t *items)
{
    if (!zpeer_state_present (entry->state))
        return s_one (entry, items, ZPEER_CANCEL);
    if (lane_began_lower (entry))
        return s_two (entry, items, ZPEER_CANCEL);
    return s_two (entry, items, ZPEER_DELETE_STATUS_OVERRIDE);
}

//  A refresh acts late, and neither Cancel nor DeleteStatusOverride is guarded
//  by a timestamp at the peer: it asks first, with a Heartbeat.
static unsigned
s_render_refresh (const zpeer_lane_t *self, const entry_t *entry,
                  zpeer_item_t *items, phase_t *phase)
{
    bool asks = !lane_answered (self, entry);
    *phase = asks ? PHASE_ASK : PHASE_ACT;
    if (!asks)
        return s_render_act (entry, items);
    if (lane_fetches (entry))
        return s_one (entry, items, (zpeer_action_t) ZPEER_ITEM_FETCH);
    s_item (entry, &items[0], ZPEER_HEARTBEAT, lane_held_timestamp (entry));
    return 1;
}

static unsigned
s_render_live (const entry_t *entry, zpeer_item_t *items)
{
    unsigned wait = entry->wait;
    bool present = zpeer_state_present (entry->state);
    if (wait & C)
        return present ? s_two (entry, items, ZPEER_CANCEL)
                       : s_one (entry, items, ZPEER_CANCEL);
    if (wait == H && (present || entry->given)) {
        s_one (entry, items, ZPEER_HEARTBEAT);
        if (entry->given)
            items[0].timestamp = entry->given;
        return 1;
    }
    if (!present)
        return 0;
    if ((wait & FULL) || lane_tasks (wait & (R | S | D)) > 1)
        return s_two (entry, items, ZPEER_DELETE_STATUS_OVERRIDE);
    if (wait & S)
        return s_one (entry, items, ZPEER_STATUS_UPDATE);
    return s_one (entry, items,
                  (wait & R) ? ZPEER_REGISTER : ZPEER_DELETE_STATUS_OVERRIDE);
}

//  Returns the number of items, at most two; 0: there is nothing to send, and
//  what waited has ended
static unsigned
s_render (zpeer_lane_t *self, entry_t *entry, zpeer_item_t *items,
          phase_t *phase)
{
    *phase = PHASE_LIVE;
    if (!lane_wants (entry))
        return 0;
    if (self->options.asg_life_ms)
        return s_one (entry, items, ZPEER_ASG_STATUS_UPDATE);
    if ((entry->wait & C) && lane_age (self->now, entry->since) > LATE_MS)
        lane_flag (entry, ASK, true);
    if ((entry->flags & OWED) ||
        ((entry->flags & ASK) && lane_askable (entry))) {
        if (lane_askable (entry))
            return s_render_refresh (self, entry, items, phase);
        lane_give_up (self, entry,
                      (zpeer_lane_report_t){.kind = ZPEER_LANE_DROPPED},
                      ZPEER_ENDED_DROPPED);
        return 0;
    }
    unsigned count = s_render_live (entry, items);
    if (!count)
        lane_give_up (self, entry,
                      (zpeer_lane_report_t){.kind = ZPEER_LANE_NEED_REGISTER},
                      ZPEER_ENDED_DROPPED);
    return count;
}

//  --------------------------------------------------------------------------
//  Building a batch

typedef struct {
    flight_t *flight;
    uint32_t size;  //  Items it may have
    //  What its questions come to, if all are answered so that something is to be
    //  told: that must fit into the batch behind it
    uint32_t act_items;
    uint32_t act_bytes;
    bool split;   //  It is part of a bisection: its size was decided there
    bool all;     //  A probe with all it can have
    bool hung;    //  Of what is hung; if it is not empty
    bool wait;    //  What is hung waits for others
    bool others;  //  So do suspects, of which no more would be known
    bool passed;  //  And some does
    bool alone;   //  Of a suspect
    bool full;
} build_t;

//  What an instance puts into a batch, and what it may put into the next
typedef struct {
    phase_t phase;
    uint32_t items;
    uint32_t bytes;
    uint32_t act_items;
    uint32_t act_bytes;
} load_t;

static flight_t *
s_flight_new (uint64_t id, uint64_t now, uint32_t capacity)
{
    flight_t *flight = (flight_t *) malloc (
        sizeof *flight + (size_t) capacity * sizeof (part_t));
    assert (flight);
    *flight = (flight_t){.id = id, .sent_at = now};
    return flight;
}

//  Of an instance's items, one or two
static uint32_t
s_bytes (const zpeer_item_t *items, unsigned count)
{
    size_t bytes = zpeer_item_bound (&items[0]);
    if (count > 1)
        bytes += zpeer_item_bound (&items[1]);
    return (uint32_t) bytes;
}

//  Puts the entry on its way
static void
s_take (zpeer_lane_t *self, build_t *build, entry_t *entry, const load_t *load)
{
    flight_t *flight = build->flight;
    const zpeer_item_t *items = self->items + flight->items;
    part_t *part = &flight->parts[flight->count++];
    *part = (part_t){
        .handle = (uint32_t) (entry - self->entries),
        .first = flight->items,
        .seq = entry->state->seq,
        .timestamp = items[0].timestamp,
        .count = (uint8_t) load->items,
        .live = entry->queue == QUEUE_LIVE,
        .actions = {items[0].action, load->items > 1 ? items[1].action : 0},
    };
    build->hung = entry->hung;
    lane_leave (self, entry);
    entry->phase = (uint8_t) load->phase;
    if (load->phase != PHASE_ASK) {
        entry->flight = entry->wait;
        entry->wait = 0;
        self->in_flight += lane_tasks (entry->flight);
    }
    flight->items += load->items;
    flight->bytes += load->bytes;
    build->act_items += load->act_items;
    build->act_bytes += load->act_bytes;
    build->full = build->alone = lane_alone (entry);
}

//  Items the batch may have if the entry joins it
static uint32_t
s_room (const zpeer_lane_t *self, const build_t *build, const entry_t *entry)
{
    if (build->split)
        return self->options.max_items;
    uint32_t size = build->size;
    if (size < self->size && lane_answered (self, entry))
        size = self->size;
    bool apart = entry->hung && !build->all && size > self->hung_size;
    return apart ? self->hung_size : size;
}

//  Whether the entry may join those that are in the batch already. A part of a
//  bisection has its size from there; only what has grown since may not fit, in
//  items or in bytes.
static bool
s_fits (const zpeer_lane_t *self, const build_t *build, const entry_t *entry,
        const load_t *load)
{
    const flight_t *flight = build->flight;
    if (!flight->count)
        return true;
    if (build->alone || lane_alone (entry))
        return false;
    uint32_t size = s_room (self, build, entry);
    uint32_t most = build->split ? self->options.max_bytes : self->byte_limit;
    if (flight->items + load->items > size ||
        flight->bytes + load->bytes > most)
        return false;
    return !load->act_items || (build->act_items + load->act_items <= size &&
                                build->act_bytes + load->act_bytes <= most);
}

//  The answer to most that only lost a Heartbeat is that there is nothing to tell:
//  such a question counts for itself
static void
s_weigh (const entry_t *entry, zpeer_item_t *items, load_t *load)
{
    load->bytes = s_bytes (items, load->items);
    if (load->phase != PHASE_ASK)
        return;
    zpeer_item_t acts[2];
    bool renews = entry->flags & RENEW;
    load->act_items = renews ? 1 : s_render_act (entry, acts);
    load->act_bytes = renews ? load->bytes : s_bytes (acts, load->act_items);
}

//  Whether a suspect that is sent now could tell more than that the peer does not take
//  it: others were taken since
static bool
s_is_due (const zpeer_lane_t *self, const entry_t *entry)
{
    return !lane_poison (entry) || lane_is_later (self->last_ok, entry);
}

//  Whether the entry must not be in the batch, for only one of them is hung. After a
//  batch that was not answered the others go first, but an answer does not wait.
static bool
s_passes (const zpeer_lane_t *self, const build_t *build, const entry_t *entry)
{
    if (build->split || build->all)
        return false;
    if (build->others && lane_alone (entry) && !s_is_due (self, entry))
        return true;
    if (build->flight->count)
        return entry->hung != build->hung;
    return entry->hung && build->wait && !lane_answered (self, entry);
}

//  Adds the entry if there is something to send of it, and room
static void
s_add (zpeer_lane_t *self, build_t *build, entry_t *entry)
{
    zpeer_item_t *items = self->items + build->flight->items;
    load_t load = {0};
    if (s_passes (self, build, entry)) {
        build->passed = true;
        return;
    }
    load.items = s_render (self, entry, items, &load.phase);
    if (!load.items) {
        lane_leave (self, entry);
        lane_release (self, entry);
        return;
    }
    s_weigh (entry, items, &load);
    if (s_fits (self, build, entry, &load))
        s_take (self, build, entry, &load);
    else if (!lane_alone (entry))  //  A suspect is passed over
        build->full = true;
}

//  States and names of a large registry lie all over its memory. So they are
//  fetched before they are needed: the state of an entry a few places ahead, and
//  once it must be there, its name. Both return the entry behind it.

static uint32_t
s_fetch_state (const zpeer_lane_t *self, uint32_t handle)
{
    if (handle == NOBODY)
        return NOBODY;
    __builtin_prefetch (self->entries[handle].state);
    return self->entries[handle].next;
}

static uint32_t
s_fetch_name (const zpeer_lane_t *self, uint32_t handle)
{
    if (handle == NOBODY)
        return NOBODY;
    __builtin_prefetch (self->entries[handle].state->name);
    return self->entries[handle].next;
}

static bool
s_is_answered (const zpeer_lane_t *self, uint32_t handle)
{
    return handle != NOBODY && lane_answered (self, &self->entries[handle]);
}

//  From which queue the next comes: an answer does not wait. Turns are counted while
//  there are live changes, so that the first of them does not wait for its own.
static unsigned
s_turn (zpeer_lane_t *self, const uint32_t next[2])
{
    if (s_is_answered (self, next[1]))
        return 1;
    if (next[0] == NOBODY) {
        self->turn = 0;
        return 1;
    }
    return next[1] != NOBODY && ++self->turn % OWED_EVERY == 0;
}

//  One that waits in the queue, anywhere; the first, if none is found by chance
static uint32_t
s_anyone (zpeer_lane_t *self, queue_t queue)
{
    for (int i = 0; i < CHANCES; i++) {
        uint32_t handle =
            (uint32_t) (lane_random (self) % (self->capacity + 1));
        if (handle < self->capacity && self->entries[handle].queue == queue)
            return handle;
    }
    return lane_list (self, queue)->head;
}

//  Where a batch begins. What came together may be refused together: when the last was
//  refused it begins anywhere, so that others are tried soon.
static uint32_t
s_first (zpeer_lane_t *self, queue_t queue, bool anywhere)
{
    uint32_t head = lane_list (self, queue)->head;
    return anywhere && head != NOBODY && !s_is_answered (self, head)
               ? s_anyone (self, queue)
               : head;
}

static void
s_fill_once (zpeer_lane_t *self, build_t *build, bool live, bool owed,
             bool anywhere)
{
    uint32_t next[2] = {live ? s_first (self, QUEUE_LIVE, anywhere) : NOBODY,
                        owed ? s_first (self, QUEUE_OWED, anywhere) : NOBODY};
    uint32_t state = next[!live];
    for (int i = 0; i < FETCH_AHEAD; i++)
        state = s_fetch_state (self, state);
    uint32_t name = next[!live];
    for (int i = 0; i < FETCH_AHEAD / 2; i++)
        name = s_fetch_name (self, name);
    while (!build->full && (next[0] != NOBODY || next[1] != NOBODY)) {
        state = s_fetch_state (self, state);
        name = s_fetch_name (self, name);
        unsigned which = s_turn (self, next);
        entry_t *entry = &self->entries[next[which]];
        next[which] = entry->next;  //  Before it leaves its queue
        s_add (self, build, entry);
    }
    //  All have gone, but for suspects that were passed over
    if (live && next[0] == NOBODY)
        self->due_at = self->live.count ? self->now : NEVER;
}

static void
s_fill_round (zpeer_lane_t *self, build_t *build, bool live, bool owed)
{
    if (self->refused && !build->all)
        s_fill_once (self, build, live, owed, true);
    s_fill_once (self, build, live, owed, false);
}

//  From both queues, or from one
static void
s_fill (zpeer_lane_t *self, build_t *build, bool live, bool owed)
{
    //  At a peer that answers nothing every so many'th probe is of what is in question
    bool others = self->answering || self->launched % QUESTION_EVERY;
    build->wait = self->now < self->hung_at || (others && self->barren);
    build->others = others;
    s_fill_round (self, build, live, owed);
    if (build->flight->count || !build->passed)
        return;
    build->wait = false;
    build->others = others && self->flight_count;
    s_fill_round (self, build, live, owed);
}

static void
s_fill_part (zpeer_lane_t *self, build_t *build, const uint32_t *handles,
             uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        entry_t *entry = &self->entries[handles[i]];
        if (entry->queue != QUEUE_PART)
            continue;
        s_add (self, build, entry);
        if (entry->queue == QUEUE_PART) {  //  It did not fit
            entry->queue = QUEUE_NONE;
            lane_stand (self, entry, true);
        }
    }
}

static void
s_launch (zpeer_lane_t *self, flight_t *flight)
{
    if (self->flight_count == self->flight_capacity) {
        self->flight_capacity =
            self->flight_capacity ? 2 * self->flight_capacity : 8;
        self->flights = (flight_t **) realloc (
            self->flights, self->flight_capacity * sizeof (flight_t *));
        assert (self->flights);
    }
    self->flights[self->flight_count++] = flight;
}

//  The next part of a bisection, if one is under way. Returns false when
//  nothing of it was left to send: then there may be another.
static bool
s_build_part (zpeer_lane_t *self, build_t *build)
{
    const uint32_t *handles;
    uint32_t count = lane_split_next (self, &handles, &build->flight->split,
                                      &build->flight->from);
    if (!count)
        return false;
    build->split = true;
    s_fill_part (self, build, handles, count);
    return true;
}

//  Items a batch may have; live: with live changes
static uint32_t
s_size (const zpeer_lane_t *self, bool live, bool owed)
{
    uint32_t size = owed ? self->owed_size : self->size;
    //  All live changes, and the places between them
    uint32_t least =
        live ? self->live.count + self->live.count / (OWED_EVERY - 1) + 1 : 1;
    if (size < least)
        size = least;
    return size < self->size ? size : self->size;
}

//  How many items a probe is to have beside what follows the peer; 0: none. Mostly
//  it is small: a peer that needs long for each item, and works in turn, must get
//  through with what it was asked before. So it is not asked for more than the
//  source has said meanwhile: when that is silent, no lease lives on anyway.
static uint32_t
s_probe_all (zpeer_lane_t *self, uint64_t now)
{
    uint64_t items = self->accepted - self->probe_all_from;
    if (!self->probe_all || now < self->probe_all_at || !items)
        return 0;
    self->probe_all = false;
    self->probe_all_from = self->accepted;
    self->probe_all_at = now + PROBE_ALL_EVERY_MS;
    uint32_t most = self->options.max_items;
    return items < most ? (uint32_t) items : most;
}

//  Whether a batch may have something of what is owed; live: there are live
//  changes for it, too
static bool
s_owed (const zpeer_lane_t *self, bool live)
{
    //  A peer that does not answer gets one probe: live changes if there are
    //  any that may be answered, else what is owed
    bool probe = !self->flight_count && self->live.count <= self->hanging;
    if (!self->owed.count || !(self->answering || probe))
        return false;
    //  The last place in the window is for live changes
    uint32_t window = lane_window (self, self->credit);
    if (!live && window > 1 && self->flight_count + 1 >= window)
        return false;
    return self->owed_flights < self->owed_window;
}

//  Fills a batch; false: nothing is ready
static bool
s_build (zpeer_lane_t *self, uint64_t now, build_t *build)
{
    if (s_build_part (self, build))
        return true;
    bool live = self->live.count &&
                (self->live.count >= self->size || self->due_at <= now);
    bool answered = s_is_answered (self, self->owed.head);
    bool owed = answered || s_owed (self, live);
    //  Large batches of what is owed, and live changes that do not wait for them
    bool apart = live && owed && lane_window (self, self->credit) > 1;
    if (apart) {
        live = !answered && ++self->batch_turn % OWED_EVERY != 0;
        owed = !live;
    }
    if (!live && !owed)
        return false;
    build->size = s_size (self, live, owed);
    build->flight->owed = !live;
    uint32_t all = s_probe_all (self, now);
    if (all) {
        build->size = all;
        build->all = live = owed = true;
    }
    s_fill (self, build, live, owed);
    if (apart && build->passed && !build->flight->count) {
        build->size = s_size (self, !live, !owed);
        build->flight->owed = live;
        s_fill (self, build, !live, !owed);
    }
    self->idle = build->passed && !build->flight->count;
    return !self->idle;
}

//  Instances the next batch has at most: most batches are far from full
static uint32_t
s_most_parts (const zpeer_lane_t *self)
{
    uint32_t most = self->options.max_items;
    uint32_t waiting = self->live.count + self->owed.count;
    return waiting < most && !self->split_count ? waiting : most;
}

bool
zpeer_lane_next (zpeer_lane_t *self, uint64_t now, unsigned credit, uint64_t id,
                 zpeer_lane_batch_t *batch)
{
    self->now = now;
    lane_settle (self, now);
    lane_rest_over (self, now);
    lane_expire (self, now);
    self->credit = credit + self->flight_count;
    if (!lane_is_free (self, now, credit) ||
        !(self->live.count || self->owed.count || self->split_count))
        return false;
    build_t build = {.flight = s_flight_new (id, now, s_most_parts (self))};
    while (s_build (self, now, &build)) {
        if (!build.flight->count) {  //  All of it was given up
            if (build.split)
                lane_split_empty (self, build.flight->split);
            build = (build_t){.flight = build.flight};
            build.flight->split = NULL;
            build.flight->owed = false;
            continue;
        }
        s_launch (self, build.flight);
        self->launched++;
        self->last_id = id;
        self->owed_flights += build.flight->owed;
        build.flight->last_ok = self->last_ok;
        build.flight->last_good = self->last_good;
        *batch = (zpeer_lane_batch_t){
            .id = id,
            .count = build.flight->items,
            .bytes = build.flight->bytes,
            .items = self->items,
        };
        return true;
    }
    free (build.flight);
    return false;
}
