#include <assert.h>
#include <stdlib.h>
#include "lane_impl.h"
#include "banned.h"

//  A batch of 250 that is answered 400 holds a bad item, or the peer is out of order.
//  Any other status may be somebody's word for one item, too: a firewall's 403, a
//  server's 500. What decides is whether the peer takes others.
//
//  1. Such a batch is halved at instance borders, if the last answer before was a
//     success (for 400, always; never for 429 or Retry-After, which are about time).
//     The parts are sent one at a time.
//  2. A part that is refused is halved again, up to the number of requests that
//     finding one bad item takes. Before its halves the other half of what it is one
//     of goes: is it taken, then the peer takes others.
//  3. What is refused alone becomes a suspect: it is owed, and only sent alone, when
//     something else was taken since. Refused alone again it is rejected.
//     413 alone is treated the same, for a peer in trouble may say that too.
//  4. Four requests refused in a row, or a bisection that does not come to an end:
//     there are many bad items. What is undecided is hung (lane_hang.c), and nothing
//     but one small batch is on its way.
//  5. Seven in a row: the peer refuses everything. It gets a pause, and nothing is
//     halved until the next success.
//  6. Where no status comes (a timeout, a connection lost) batches only become
//     smaller, until an instance fails alone while others do not: a suspect as in
//     3, which then rests, and is rejected when it fails like that again.

//  --------------------------------------------------------------------------
//  The bisection

void
lane_split_free (split_t *split)
{
    free (split->handles);
    free (split->ranges);
    free (split);
}

static uint32_t
s_log2_ceil (uint32_t n)
{
    uint32_t bits = 0;
    while ((1u << bits) < n)
        bits++;
    return bits;
}

static void
s_push (split_t *split, uint32_t from, uint32_t to)
{
    if (from < to)
        split->ranges[split->range_count++] = (range_t){from, to};
}

//  The first half is the next to go
static void
s_halve (split_t *split, uint32_t from, uint32_t to)
{
    uint32_t middle = from + (to - from) / 2;
    range_t other = {0, 0};
    //  But for the other half of what this is one of
    if (split->range_count && split->ranges[split->range_count - 1].from == to)
        other = split->ranges[--split->range_count];
    s_push (split, middle, to);
    s_push (split, from, middle);
    s_push (split, other.from, other.to);
}

static split_t *
s_split_new (zpeer_lane_t *self, const part_t *parts, uint32_t count)
{
    split_t *split = (split_t *) calloc (1, sizeof *split);
    assert (split);
    split->handles = (uint32_t *) malloc (count * sizeof (uint32_t));
    split->ranges = (range_t *) malloc ((count + 1) * sizeof (range_t));
    assert (split->handles && split->ranges);
    for (uint32_t i = 0; i < count; i++)
        split->handles[i] = parts[i].handle;
    split->left = 2 * s_log2_ceil (count) + 1;
    s_halve (split, 0, count);
    if (self->split_count == self->split_capacity) {
        self->split_capacity =
            self->split_capacity ? 2 * self->split_capacity : 8;
        self->splits = (split_t **) realloc (
            self->splits, self->split_capacity * sizeof (split_t *));
        assert (self->splits);
    }
    self->splits[self->split_count++] = split;
    return split;
}

uint32_t
lane_split_next (zpeer_lane_t *self, const uint32_t **handles,
                 split_t **split_p, uint32_t *from)
{
    split_t *split = self->split_count ? self->splits[0] : NULL;
    if (!split || split->flying)
        return 0;
    assert (split->range_count && split->left);
    range_t range = split->ranges[--split->range_count];
    split->left--;
    split->flying = true;
    *from = range.from;
    *handles = split->handles + range.from;
    *split_p = split;
    return range.to - range.from;
}

//  What was asked about is told as the same part: else it would meet others, and
//  the bisection would not come to an end at a peer that is slow to answer
void
lane_split_answered (zpeer_lane_t *self, const flight_t *flight,
                     const part_t *parts, uint32_t count)
{
    split_t *split = flight->split;
    uint32_t to = flight->from;
    for (uint32_t i = 0; i < count; i++) {
        entry_t *entry = &self->entries[parts[i].handle];
        if (parts[i].phase != PHASE_ASK || !lane_answered (self, entry))
            continue;
        lane_leave (self, entry);
        entry->queue = QUEUE_PART;
        split->handles[to++] = parts[i].handle;
    }
    if (to == flight->from)
        return;
    s_push (split, flight->from, to);
    split->left++;
}

static void
s_remove (zpeer_lane_t *self, split_t *split)
{
    uint32_t i = 0;
    while (self->splits[i] != split)
        i++;
    self->split_count--;
    memmove (self->splits + i, self->splits + i + 1,
             (self->split_count - i) * sizeof (split_t *));
    lane_split_free (split);
}

//  --------------------------------------------------------------------------
//  What is refused is owed

bool
lane_confirms (const zpeer_lane_t *self, entry_t *entry, const part_t *part,
               bool troubled, uint64_t well)
{
    bool known = entry->suspect && troubled == !!(entry->flags & TROUBLED);
    if (part->seq != entry->state->seq)
        return false;
    //  A question that fails says nothing of what it was asked for, but of itself
    if (known && (!(entry->flags & REFUSED_ACT) || lane_acts (part)))
        return lane_is_later (well, entry);
    entry->suspect = lane_suspect (self->last_id);
    lane_flag (entry, TROUBLED, troubled);
    lane_flag (entry, REFUSED_ACT, lane_acts (part));
    return false;
}

void
lane_fail (zpeer_lane_t *self, entry_t *entry, unsigned bits)
{
    lane_report (self, entry,
                 (zpeer_lane_report_t){.kind = ZPEER_LANE_DROPPED,
                                       .ending = ZPEER_ENDED_FAILED,
                                       .bits = bits & TASKS});
    lane_end (self, ZPEER_ENDED_FAILED, entry->wait & H);
    if (entry->wait == H)
        lane_renew (self, entry);
    else if (entry->wait)
        lane_owe (self, entry);
    entry->wait &= (uint8_t) ~H;
    lane_stand (self, entry, false);
}

static void
s_reject (zpeer_lane_t *self, entry_t *entry, const zpeer_result_t *result)
{
    lane_give_up (self, entry,
                  (zpeer_lane_report_t){.kind = ZPEER_LANE_REJECTED,
                                        .code = result->status},
                  ZPEER_ENDED_REJECTED);
}

//  Whatever of the bisection has not been sent waits as before, if another failure has
//  stopped it. Else there is more than one bad item: it goes in small batches of its
//  own, behind the others.
static void
s_disband (zpeer_lane_t *self, split_t *split, bool broken)
{
    for (uint32_t r = split->range_count; r-- > 0;) {
        range_t range = split->ranges[r];
        for (uint32_t i = 0; i < range.to - range.from; i++) {
            //  Backwards, where each goes to the front
            uint32_t at = broken ? range.to - 1 - i : range.from + i;
            entry_t *entry = &self->entries[split->handles[at]];
            if (entry->queue != QUEUE_PART)
                continue;
            entry->queue = QUEUE_NONE;
            if (broken)
                lane_stand (self, entry, true);
            else {
                lane_hang_entry (self, entry);
                lane_stand_behind (self, entry);
            }
            lane_release (self, entry);
        }
    }
}

static void
s_end_split (zpeer_lane_t *self, split_t *split, bool broken)
{
    s_disband (self, split, broken);
    s_remove (self, split);
}

//  There are many bad items: what is bisected goes in small batches of its own, but
//  for the part that is on its way
static void
s_end_all (zpeer_lane_t *self, const flight_t *flight)
{
    uint32_t i = 0;
    while (i < self->split_count)
        if (self->splits[i]->flying)
            i++;
        else
            s_end_split (self, self->splits[i], false);
    lane_hang_smaller (self, flight, true);
    if (flight->count > 1)
        lane_shrink (self, flight);
}

//  A request was refused. Of several that were on their way together one counts.
static void
s_count (zpeer_lane_t *self, const flight_t *flight)
{
    if (flight->id <= self->barren_id)
        return;
    self->barren++;
    self->barren_id = self->last_id;
}

//  So many were refused in a row that the peer takes nothing at present: what it is
//  asked next is small
static void
s_slow_down (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
             const zpeer_result_t *result)
{
    if (self->barren < BARREN_ALL)
        return;
    s_end_all (self, flight);
    self->splittable = false;
    lane_pace (self, now, result);
}

void
lane_split_step (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
                 const zpeer_result_t *result, bool refused)
{
    split_t *split = flight->split;
    bool success = result->verdict == ZPEER_SUCCESS;
    bool broken = !success && !refused;
    split->flying = false;
    split->ok |= success;
    if (refused && self->barren >= BARREN_MANY) {
        s_end_all (self, flight);
        s_slow_down (self, now, flight, result);
        return;
    }
    if (split->range_count && split->left && !broken)
        return;
    if (!split->ok && !broken) {
        self->splittable = false;
        lane_pace (self, now, result);
    }
    s_end_split (self, split, broken);
    if (!broken)
        lane_hang_smaller (self, flight, true);
}

void
lane_split_empty (zpeer_lane_t *self, split_t *split)
{
    split->flying = false;
    if (split->range_count && split->left)
        return;
    if (!split->ok)
        self->splittable = false;
    s_end_split (self, split, false);
}

//  --------------------------------------------------------------------------
//  Refused

bool
lane_is_refusal (const zpeer_lane_t *self, const zpeer_result_t *result)
{
    if (self->options.asg_life_ms)
        return false;
    if (result->status == 400 || result->status == 413)
        return true;
    //  Who says that it is too much speaks of time, not of an item
    if (!lane_is_status (result) || result->status == 429 ||
        result->retry_after_ms)
        return false;
    return self->answering && self->splittable && self->last_ok;
}

static void
s_too_large (zpeer_lane_t *self, const flight_t *flight, uint32_t count)
{
    if (self->byte_limit > flight->bytes / 2)
        self->byte_limit = flight->bytes / 2;
    for (uint32_t i = count; i-- > 0;)
        lane_stand (self, &self->entries[flight->parts[i].handle], true);
}

//  Not taken alone again, though others are. 400 and 413 are words on it; anything
//  else may have been chance, so that it rests first.
static void
s_give_up (zpeer_lane_t *self, entry_t *entry, const zpeer_result_t *result)
{
    bool tried = entry->lonely || ((entry->flags & REFUSED) && entry->tries);
    entry->lonely = true;
    if (!(entry->flags & CHANCE) || tried) {
        s_reject (self, entry, result);
        return;
    }
    lane_give_up (self, entry,
                  (zpeer_lane_report_t){.kind = ZPEER_LANE_DROPPED},
                  ZPEER_ENDED_FAILED);
    lane_flag (entry, HELD, true);
    lane_rest_soon (self, entry);
    //  Before it is rejected others must be answered again
    entry->suspect = lane_suspect (self->last_id);
}

bool
lane_lonely (zpeer_lane_t *self, const part_t *part,
             const zpeer_result_t *result)
{
    entry_t *entry = &self->entries[part->handle];
    bool chance = result->status != 400 && result->status != 413;
    bool known = lane_poison (entry);
    bool same = !known || chance == !!(entry->flags & CHANCE);
    lane_flag (entry, CHANCE, chance);
    if (!same) {  //  Neither confirms the other
        entry->suspect = lane_suspect (self->last_id);
        lane_flag (entry, REFUSED_ACT, lane_acts (part));
        return false;
    }
    if (!lane_confirms (self, entry, part, false, self->ok_before))
        return false;
    s_give_up (self, entry, result);
    lane_hang_end (self, entry);  //  It goes alone anyway
    return true;
}

static void
s_alone (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
         const zpeer_result_t *result)
{
    const part_t *part = &flight->parts[0];
    entry_t *entry = &self->entries[part->handle];
    bool vain = lane_poison (entry) && !lane_is_later (self->ok_before, entry);
    bool last = !self->live.count && !self->owed.count && !self->split_count &&
                !self->flight_count;
    if (lane_lonely (self, part, result))
        return;
    s_count (self, flight);
    //  What the others are answered tells. There are none, or none that may go.
    if (vain || last)
        self->barren = BARREN_ALL;
    lane_fail (self, entry, part->bits);
    if (!flight->split)
        s_slow_down (self, now, flight, result);
}

//  Puts the parts of the flight up for bisection
static void
s_bisect (zpeer_lane_t *self, const flight_t *flight, uint32_t count)
{
    split_t *split = flight->split;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t handle = flight->parts[i].handle;
        if (split)  //  What is left of its range, at the range's start
            split->handles[flight->from + i] = handle;
        lane_leave (self, &self->entries[handle]);
        self->entries[handle].queue = QUEUE_PART;
    }
    if (split)
        s_halve (split, flight->from, flight->from + count);
    else
        s_split_new (self, flight->parts, count);
}

//  What comes back. The peer may have done it all the same, or may yet.
static void
s_take_back (zpeer_lane_t *self, const part_t *part,
             const zpeer_result_t *result)
{
    entry_t *entry = &self->entries[part->handle];
    lane_doubt_part (self, entry, part, result);
    if (result->ambiguous) {
        entry->asked = 0;
        entry->flags |= part->bits & C ? ASK : 0;
    }
    lane_merge (self, entry, part->bits);
}

void
lane_refused (zpeer_lane_t *self, uint64_t now, flight_t *flight,
              uint32_t count, const zpeer_result_t *result)
{
    if (!count)
        return;
    if (flight->count > 1 && result->status != 413)
        s_count (self, flight);
    bool hung = self->entries[flight->parts[0].handle].hung && !flight->split;
    for (uint32_t i = count; i-- > 0;)
        s_take_back (self, &flight->parts[i], result);
    if (flight->count == 1)  //  A forgotten one may be the bad one
        s_alone (self, now, flight, result);
    else if (result->status == 413)
        s_too_large (self, flight, count);
    else if (self->splittable && !flight->split &&
             (hung || self->barren >= BARREN_MANY)) {
        if (!hung)
            s_end_all (self, flight);
        lane_hang (self, now, flight, flight->parts, count, true);
        lane_stand_back (self, flight->parts, count, true);
        s_slow_down (self, now, flight, result);
    }
    else if (flight->split || self->splittable)
        s_bisect (self, flight, count);
    else {
        lane_pace (self, now, result);
        for (uint32_t i = 0; i < count; i++)
            lane_fail (self, &self->entries[flight->parts[i].handle],
                       flight->parts[i].bits);
    }
}
