#include <stdlib.h>
#include "answer.h"
#include "lane_impl.h"
#include "banned.h"

//  404 to a Heartbeat, each after a Register the peer confirmed: it does not keep
//  this instance
#define MISSES_MAX 3

//  --------------------------------------------------------------------------
//  Success: item by item

typedef struct {
    const uint16_t *codes;     //  Of the part's items; NULL: all 200
    const zpeer_copy_t *copy;  //  The peer's own, with a 409; or NULL
} answer_t;

static uint16_t
s_code (const answer_t *answer, unsigned index)
{
    return answer->codes ? answer->codes[index] : 200;
}

static bool
s_is_2xx (uint16_t code)
{
    return code >= 200 && code < 300;
}

//  The copy of the part's first item. Both come in the order of the items: *at is
//  where to go on.
static const zpeer_copy_t *
s_copy (const zpeer_result_t *result, size_t *at, const part_t *part)
{
    while (*at < result->copy_count && result->copies[*at].index < part->first)
        ++*at;
    bool found =
        *at < result->copy_count && result->copies[*at].index == part->first;
    return found ? &result->copies[*at] : NULL;
}

static void
s_reject (zpeer_lane_t *self, entry_t *entry, const part_t *part, int code)
{
    lane_flag (entry, REFUSED_ACT, lane_acts (part));
    lane_give_up (
        self, entry,
        (zpeer_lane_report_t){.kind = ZPEER_LANE_REJECTED, .code = code},
        ZPEER_ENDED_REJECTED);
}

//  Whether a status that no rule expects may be that of a peer in trouble, and not
//  the item's: from 500 on; and 404 to a Register, which only somebody in the
//  peer's place says
static bool
s_is_trouble (uint16_t code)
{
    return code >= 500 || code == 404;
}

//  An item status that no rule expects. Of a peer that may be in trouble it is
//  believed the second time, if there was another one in between: for 404 an item
//  must have been taken.
static void
s_bad_item (zpeer_lane_t *self, entry_t *entry, const part_t *part,
            uint16_t code)
{
    uint64_t well = code == 404 ? self->good_before : self->ok_before;
    //  What is refused is not what it is now
    if (part->seq != entry->state->seq) {
        entry->asked = 0;
        lane_fail (self, entry, part->bits);
        return;
    }
    if (!s_is_trouble (code) || lane_confirms (self, entry, part, true, well)) {
        s_reject (self, entry, part, code);
        return;
    }
    entry->asked = 0;
    lane_fail (self, entry, part->bits);
}

static bool
s_is_told (const zpeer_copy_t *copy)
{
    return copy && copy->timestamp;
}

//  It was fetched. A peer that answers, and does not say what it has, cannot be told
//  the Cancel now.
static void
s_fetched (zpeer_lane_t *self, entry_t *entry, const part_t *part,
           const answer_t *answer)
{
    uint16_t code = s_code (answer, 0);
    entry->untold = false;
    if (part->seq != entry->state->seq || !lane_by_age (entry))
        return;
    if (code == 404)
        entry->asked = lane_stamp (self->now);
    else if (!s_is_2xx (code))
        s_bad_item (self, entry, part, code);
    else if (s_is_told (answer->copy))
        lane_cancel_told (self, entry, answer->copy);
    else
        s_reject (self, entry, part, code);
}

//  The peer has something newer than it was asked about. Unless the state has
//  changed since, then it is asked again, it is another's; or of an earlier life of
//  the instance, and then nobody else's.
static void
s_answered_newer (zpeer_lane_t *self, entry_t *entry, const part_t *part,
                  const zpeer_copy_t *copy)
{
    uint64_t top = lane_top (entry);
    bool told = s_is_told (copy);
    if (part->seq != entry->state->seq)
        return;
    lane_flag (entry, CLEAN, false);
    if (!top && told)
        lane_cancel_told (self, entry, copy);
    else if (!top)
        entry->untold = true;
    else if (told ? copy->timestamp > top : part->timestamp >= top)
        lane_give_up (
            self, entry,
            (zpeer_lane_report_t){.kind = ZPEER_LANE_CONFLICT, .copy = copy},
            ZPEER_ENDED_CONFLICT);
    else if (told)
        entry->asked = lane_stamp (self->now);
}

//  The question before a refresh was answered
static void
s_answered (zpeer_lane_t *self, entry_t *entry, const part_t *part,
            const answer_t *answer)
{
    uint16_t code = s_code (answer, 0);
    if (part->actions[0] == ZPEER_ITEM_FETCH)
        s_fetched (self, entry, part, answer);
    else if (code == 409)
        s_answered_newer (self, entry, part, answer->copy);
    else if (s_is_2xx (code) && (entry->flags & RENEW) && !(entry->wait & ~H)) {
        lane_end (self, ZPEER_ENDED_DELIVERED, entry->wait);
        entry->wait = 0;
        lane_take (self, entry);
        lane_pay (self, entry, PAID_OTHERWISE);
    }
    else if (s_is_2xx (code) || code == 404) {
        entry->asked = lane_stamp (self->now);
        if (!(entry->flags & REFUSED_ACT))
            entry->suspect = 0;
    }
    else
        s_bad_item (self, entry, part, code);
}

//  The peer has confirmed the Register of an instance, and does not have it, again
//  and again: that is reported, and from now on it is told once each renewal
//  interval. Returns whether that is now.
static bool
s_keeps_missing (zpeer_lane_t *self, entry_t *entry)
{
    if (!(entry->flags & REFUSED))
        lane_report (self, entry,
                     (zpeer_lane_report_t){.kind = ZPEER_LANE_REJECTED,
                                           .ending = ZPEER_ENDED_MISSING,
                                           .code = 404});
    lane_refuse (self, entry, true);
    return !(entry->flags & RESTING);
}

//  404: the peer does not have it, or has it older, or at UNKNOWN
static void
s_missing (zpeer_lane_t *self, entry_t *entry, const part_t *part)
{
    if (entry->wait & C)
        return;
    bool beat = part->actions[0] == ZPEER_HEARTBEAT;
    //  The view itself would answer 404
    bool beyond = beat && part->timestamp > entry->state->timestamp;
    if (beyond)
        lane_report (self, entry,
                     (zpeer_lane_report_t){.kind = ZPEER_LANE_NEED_REGISTER});
    else if (beat && (entry->flags & STORED) && entry->misses < MISSES_MAX)
        entry->misses++;
    if (!zpeer_state_present (entry->state) || (entry->flags & HELD))
        return;
    if (entry->misses >= MISSES_MAX && !s_keeps_missing (self, entry))
        return;
    lane_end (self, ZPEER_ENDED_SUPERSEDED, entry->wait & H);
    entry->wait = (uint8_t) ((entry->wait & ~H) | FULL);
    lane_stand (self, entry, true);
}

//  A newer copy at the peer; or one of an earlier life of the instance, which
//  is nobody else's. A peer that sends no copy says only that it is newer than
//  what it was sent. If the state has changed meanwhile, it is asked about that.
static void
s_newer (zpeer_lane_t *self, entry_t *entry, const part_t *part,
         const zpeer_copy_t *copy)
{
    const zpeer_state_t *state = entry->state;
    bool told = s_is_told (copy);
    uint64_t known = told ? copy->timestamp : part->timestamp + 1;
    if (known > state->top && part->seq == state->seq) {
        lane_report (
            self, entry,
            (zpeer_lane_report_t){.kind = ZPEER_LANE_CONFLICT, .copy = copy});
        if (!(entry->flags & RESTING))
            lane_rest (self, entry);
    }
    else if (state->top) {
        lane_flag (entry, CLEAN, false);
        lane_owe (self, entry);
    }
}

static bool
s_is_wrong (uint16_t code, unsigned action)
{
    if (code == 404)
        return action == ZPEER_REGISTER;
    return !s_is_2xx (code) && !(code == 409 && action == ZPEER_HEARTBEAT);
}

//  The first status that no rule below expects (an entry without one has 0);
//  -1: there is none
static int
s_wrong (const part_t *part, const answer_t *answer)
{
    for (unsigned i = 0; i < part->count; i++)
        if (s_is_wrong (s_code (answer, i), part->actions[i]))
            return s_code (answer, i);
    return -1;
}

//  What the peer was told is not to be tried again; but of what it keeps missing
//  its word is not enough
static void
s_told (zpeer_lane_t *self, entry_t *entry, const part_t *part)
{
    //  Of two items the second always is one
    bool registers = part->count > 1 || part->actions[0] == ZPEER_REGISTER;
    bool cancels = part->actions[0] == ZPEER_CANCEL;
    //  What went with the Cancel may be newer than what has come since
    if (cancels && (part->count == 1 || part->seq == entry->state->seq))
        entry->flags |= CLEAN;
    if ((cancels || registers) && !(entry->wait & C))
        lane_flag (entry, CANCELLED, false);
    if (lane_poison (entry))  //  So the next that was refused may be taken, too
        lane_rest_hurry (self);
    entry->suspect = 0;
    if (registers)
        entry->flags |= STORED;
    if (entry->misses < MISSES_MAX) {
        lane_refuse (self, entry, false);
        lane_rest_end (self, entry);
    }
    else if (registers)
        lane_rest_told (self, entry);
}

//  known: the peer did not have what was cancelled
static void
s_delivered (zpeer_lane_t *self, entry_t *entry, const part_t *part, bool known)
{
    if (part->phase == PHASE_ACT) {
        lane_pay (self, entry, known ? PAID_OTHERWISE : PAID_REPAIRED);
        lane_flag (entry, ASK, false);
        entry->asked = 0;
    }
    else if (part->bits & C)
        lane_flag (entry, ASK, false);
    lane_end (self, ZPEER_ENDED_DELIVERED, part->bits);
    if (lane_acts (part))
        s_told (self, entry, part);
    if (self->options.delivered)
        lane_report (self, entry,
                     (zpeer_lane_report_t){.kind = ZPEER_LANE_DELIVERED,
                                           .ending = ZPEER_ENDED_DELIVERED,
                                           .bits = part->bits});
}

//  Whether the peer did not take something of it that a Heartbeat is not, and has not
//  been told that since: it is held, or was when the Heartbeat went
static bool
s_is_tried (const entry_t *entry)
{
    return (entry->flags & HELD) || (entry->tries && (entry->flags & AGAIN));
}

static void
s_confirmed (zpeer_lane_t *self, entry_t *entry, const part_t *part,
             const answer_t *answer)
{
    int wrong = s_wrong (part, answer);
    if (wrong >= 0) {
        lane_merge (self, entry, part->bits);
        s_bad_item (self, entry, part, (uint16_t) wrong);
        return;
    }
    uint16_t code = s_code (answer, 0);
    bool cancel = part->actions[0] == ZPEER_CANCEL;
    bool alone = part->count == 1 && !cancel;
    if (alone && code == 404) {
        lane_end (self, ZPEER_ENDED_MISSING, part->bits);
        s_missing (self, entry, part);
    }
    else if (code == 409) {
        lane_end (self, ZPEER_ENDED_CONFLICT, part->bits);
        s_newer (self, entry, part, answer->copy);
    }
    else {
        s_delivered (self, entry, part,
                     cancel && part->count == 1 && code == 404);
        if (part->actions[0] == ZPEER_HEARTBEAT && !s_is_tried (entry))
            lane_take (self, entry);
    }
}

//  An ASG update has no state to fall back to: what is not taken is gone. A peer
//  that knows no ASGs answers 400 to each, and is well otherwise: no pause.
static void
s_asg_refused (zpeer_lane_t *self, entry_t *entry, const part_t *part, int code)
{
    lane_end (self, ZPEER_ENDED_REJECTED, part->bits);
    lane_report (self, entry,
                 (zpeer_lane_report_t){.kind = ZPEER_LANE_REJECTED,
                                       .ending = ZPEER_ENDED_REJECTED,
                                       .bits = part->bits,
                                       .code = code});
}

static void
s_asg_answered (zpeer_lane_t *self, entry_t *entry, const part_t *part,
                const answer_t *answer)
{
    uint16_t code = s_code (answer, 0);
    if (s_is_2xx (code))
        s_delivered (self, entry, part, false);
    else
        s_asg_refused (self, entry, part, code);
}

bool
zpeer_lane_asg_refused (const zpeer_result_t *result)
{
    return result->end == ZPEER_END_STATUS && result->status >= 400 &&
           result->status < 500;
}

//  What a batch was answered, at best: 2xx, or 409; anything below 500; or not
//  even that
typedef enum { BEST_TAKEN, BEST_SANE, BEST_NONE } best_t;

static best_t
s_best (const flight_t *flight, const uint16_t *codes)
{
    best_t best = codes ? BEST_NONE : BEST_TAKEN;
    for (uint32_t i = 0; codes && i < flight->items; i++) {
        if (s_is_2xx (codes[i]) || codes[i] == 409)
            return BEST_TAKEN;
        if (codes[i] < 500)
            best = BEST_SANE;
    }
    return best;
}

//  What it said of something as a peer does that is in trouble; 0: nothing
static uint16_t
s_trouble (const part_t *parts, uint32_t count, const uint16_t *codes)
{
    for (uint32_t i = 0; i < count; i++) {
        answer_t answer = {codes + parts[i].first, NULL};
        int wrong = s_wrong (&parts[i], &answer);
        if (wrong > 0 && s_is_trouble ((uint16_t) wrong))
            return (uint16_t) wrong;
    }
    return 0;
}

void
zpeer_lane_evidence (const zpeer_lane_t *self, zpeer_lane_evidence_t *evidence)
{
    *evidence = self->evidence;
}

static void
s_newest (uint64_t *newest, uint64_t id)
{
    if (*newest < id)
        *newest = id;
}

//  What a success says of the peer
static void
s_well (zpeer_lane_t *self, uint64_t now, const flight_t *flight, best_t best)
{
    self->answering = true;
    self->reached = false;
    self->probe_all = false;
    self->probe_all_at = now + PROBE_ALL_FIRST_MS;
    self->probe_all_from = self->accepted;
    self->splittable = true;
    self->barren = self->failures = 0;
    if (best == BEST_TAKEN) {
        self->backoff_ms = 0;
        self->taken_at = now;
    }
    lane_follow (self, now, flight);
    lane_settle_all (self, now);
}

//  What was asked about goes in the very next batch, in the order it was asked:
//  so it is put in front from the last to the first
static void
s_stand_answered (zpeer_lane_t *self, const flight_t *flight,
                  const part_t *parts, uint32_t count)
{
    if (flight->split) {
        lane_split_answered (self, flight, parts, count);
        return;
    }
    for (uint32_t i = count; i-- > 0;) {
        entry_t *entry = &self->entries[parts[i].handle];
        if (parts[i].phase == PHASE_ASK && lane_answered (self, entry))
            lane_stand_answered (self, entry,
                                 parts[i].live ||
                                     parts[i].seq != entry->state->seq);
    }
}

static void
s_success (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
           const part_t *parts, uint32_t count, const zpeer_result_t *result)
{
    best_t best = s_best (flight, result->codes);
    self->evidence.taken = best == BEST_TAKEN;
    if (self->options.asg_life_ms)
        best = BEST_TAKEN;
    if (best != BEST_TAKEN)
        self->evidence.trouble = s_trouble (parts, count, result->codes);
    if (best != BEST_NONE)
        s_newest (&self->last_ok, flight->id);
    if (best == BEST_TAKEN)
        s_newest (&self->last_good, flight->id);
    if (self->evidence.trouble) {
        zpeer_result_t failed = *result;
        failed.verdict = ZPEER_PERMANENT_ERROR;
        lane_pace (self, now, &failed);
    }
    else
        s_well (self, now, flight, best);
    size_t copy = 0;
    bool asked = false;
    for (uint32_t i = 0; i < count; i++) {
        const part_t *part = &parts[i];
        entry_t *entry = &self->entries[part->handle];
        answer_t answer = {NULL, NULL};
        if (result->codes)
            answer.codes = result->codes + part->first;
        answer.copy = s_copy (result, &copy, part);
        if (self->options.asg_life_ms)
            s_asg_answered (self, entry, part, &answer);
        else if (part->phase == PHASE_ASK)
            s_answered (self, entry, part, &answer);
        else
            s_confirmed (self, entry, part, &answer);
        asked |= part->phase == PHASE_ASK;
    }
    lane_hang_over (self, flight, parts, count);
    if (asked)
        s_stand_answered (self, flight, parts, count);
}

//  --------------------------------------------------------------------------
//  The end of an attempt

static flight_t *
s_land (zpeer_lane_t *self, uint64_t id)
{
    for (uint32_t i = 0; i < self->flight_count; i++) {
        flight_t *flight = self->flights[i];
        if (flight->id != id)
            continue;
        self->flights[i] = self->flights[--self->flight_count];
        return flight;
    }
    return NULL;
}

static bool
s_is_forgotten (const part_t *part)
{
    return part->phase == PHASE_FORGET || part->phase == PHASE_GONE;
}

//  Whether the peer may apply the part late, however it ended: it was sent twice, or
//  nobody waited for it. What failed otherwise is lane_failed's.
static bool
s_may_come_late (const part_t *part, const zpeer_result_t *result)
{
    return (result->repeated && lane_acts (part)) ||
           (result->ambiguous && s_is_forgotten (part));
}

//  Takes every part out of its flight, and moves those that nobody waits for
//  behind the others. Returns how many others there are.
static uint32_t
s_unload (zpeer_lane_t *self, flight_t *flight, const zpeer_result_t *result)
{
    uint32_t kept = 0;
    uint16_t second = lane_second (self->now);
    for (uint32_t i = 0; i < flight->count; i++) {
        part_t *part = &flight->parts[i];
        entry_t *entry = &self->entries[part->handle];
        part->bits = entry->flight;
        part->phase = entry->phase;
        if (lane_acts (part))
            entry->acted = second;
        self->in_flight -= lane_tasks (entry->flight);
        entry->flight = 0;
        entry->phase = PHASE_NONE;
        bool gone = part->phase == PHASE_GONE && (entry->flags & LEAVING);
        if (!gone && s_may_come_late (part, result))
            lane_doubt (self, entry, lane_late_seq (self, part));
        if (s_is_forgotten (part))
            continue;
        if (kept != i) {
            part_t other = flight->parts[kept];
            flight->parts[kept] = *part;
            *part = other;
        }
        kept++;
    }
    return kept;
}

bool
zpeer_lane_done (zpeer_lane_t *self, uint64_t now, const zpeer_result_t *result)
{
    flight_t *flight = s_land (self, result->id);
    if (!flight)
        return false;
    self->now = now;
    self->idle = false;
    self->batch = result->id;
    self->evidence = (zpeer_lane_evidence_t){0};
    self->ok_before = flight->last_ok;
    self->good_before = flight->last_good;
    uint32_t count = s_unload (self, flight, result);
    bool refused = lane_is_refusal (self, result);
    self->refused = lane_is_status (result);
    if (result->verdict == ZPEER_SUCCESS)
        s_success (self, now, flight, flight->parts, count, result);
    else if (self->options.asg_life_ms && zpeer_lane_asg_refused (result)) {
        for (uint32_t i = 0; i < count; i++)
            s_asg_refused (self, &self->entries[flight->parts[i].handle],
                           &flight->parts[i], result->status);
    }
    else if (refused)
        lane_refused (self, now, flight, count, result);
    else
        lane_failed (self, now, flight, flight->parts, count, result);
    if (flight->split)
        lane_split_step (self, now, flight, result, refused);
    for (uint32_t i = 0; i < flight->count; i++) {
        entry_t *entry = &self->entries[flight->parts[i].handle];
        if (entry->flags & AGAIN) {
            lane_flag (entry, AGAIN, false);
            lane_owe (self, entry);
        }
        //  What waits after a success has come meanwhile, but for what was
        //  asked about and stands already
        if (entry->queue == QUEUE_OWED)
            continue;
        if (entry->wait && result->verdict == ZPEER_SUCCESS)
            lane_stand_live (self, entry);
        else
            lane_stand (self, entry, false);
        lane_release (self, entry);
    }
    lane_owed_follow (self, flight,
                      result->verdict == ZPEER_SUCCESS ? now - flight->sent_at
                                                       : NEVER);
    self->batch = 0;
    free (flight);
    return true;
}
