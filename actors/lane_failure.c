#include "lane_impl.h"
#include "banned.h"

//  Pauses after a failure, ms
#define PAUSE_CONGESTION_MS 1000
#define PAUSE_TRANSIENT_MS  100
#define BACKOFF_MIN_MS      1000
#define BACKOFF_MAX_MS      8000  //  And what the jitter adds
#define RETRY_AFTER_MAX_MS  30000

//  A peer that has taken something so lately, ms, does not refuse everything: the pause
//  does not grow yet, for what it takes has to be found
#define TAKEN_MS 20000

//  A peer that answered something within so many attempts answers others
#define LATELY 3

void
lane_merge (zpeer_lane_t *self, entry_t *entry, unsigned sent)
{
    unsigned wait = entry->wait;
    if (wait & C) {
        lane_end (self, ZPEER_ENDED_SUPERSEDED, sent);
        return;
    }
    lane_end (self, ZPEER_ENDED_SUPERSEDED, sent & wait);
    unsigned both = sent | wait;
    if ((sent & (S | D)) && (wait & (S | D)))
        both |= FULL;
    if (both & ~H) {
        lane_end (self, ZPEER_ENDED_SUPERSEDED, both & H);
        both &= ~H;
    }
    entry->wait = (uint8_t) both;
}

//  xorshift64
uint64_t
lane_random (zpeer_lane_t *self)
{
    self->random ^= self->random << 13;
    self->random ^= self->random >> 7;
    self->random ^= self->random << 17;
    return self->random;
}

//  Peers that fail together do not come back together
uint32_t
lane_jitter (zpeer_lane_t *self, uint32_t ms)
{
    return ms + (uint32_t) (lane_random (self) % (ms / 4 + 1));
}

void
lane_pace (zpeer_lane_t *self, uint64_t now, const zpeer_result_t *result)
{
    uint32_t pause_ms = result->verdict == ZPEER_CONGESTION
                            ? PAUSE_CONGESTION_MS
                            : PAUSE_TRANSIENT_MS;
    if (result->reached || result->verdict == ZPEER_PERMANENT_ERROR) {
        //  Of several that fail together only the first makes it grow; the
        //  pause may still be that of a milder failure
        if (now >= self->pause || !self->backoff_ms) {
            bool taken = lane_is_status (result) && self->taken_at &&
                         now - self->taken_at < TAKEN_MS;
            self->backoff_ms = taken ? BACKOFF_MIN_MS : 2 * self->backoff_ms;
            if (self->backoff_ms < BACKOFF_MIN_MS)
                self->backoff_ms = BACKOFF_MIN_MS;
            if (self->backoff_ms > BACKOFF_MAX_MS)
                self->backoff_ms = BACKOFF_MAX_MS;
        }
        pause_ms = lane_jitter (self, self->backoff_ms);
    }
    uint32_t wish_ms = result->retry_after_ms < RETRY_AFTER_MAX_MS
                           ? result->retry_after_ms
                           : RETRY_AFTER_MAX_MS;
    zpeer_lane_hold (self, now + (pause_ms > wish_ms ? pause_ms : wish_ms));
    self->answering = false;
    self->reached = result->reached;
    self->window = 1;
}

static void
s_lost (zpeer_lane_t *self, entry_t *entry, part_t *part,
        const zpeer_result_t *result)
{
    zpeer_ending_t ending =
        result->escalated ? ZPEER_ENDED_ESCALATED : ZPEER_ENDED_FAILED;
    //  A question in vain leaves what is owed as it is. If nothing was owed yet,
    //  it is lost with what it was asked for.
    bool question = part->phase == PHASE_ASK;
    bool owed = question && (entry->flags & OWED);
    unsigned bits = question && !owed ? entry->wait & ~H : part->bits;
    lane_report (self, entry,
                 (zpeer_lane_report_t){.kind = ZPEER_LANE_DROPPED,
                                       .ending = ending,
                                       .bits = (uint8_t) (bits & TASKS)});
    if (part->bits & H) {
        lane_end (self, ending, H);
        part->bits &= (uint8_t) ~H;
        if (!entry->wait)
            lane_renew (self, entry);
    }
    else if (!owed)
        lane_owe (self, entry);
}

uint64_t
lane_late_seq (const zpeer_lane_t *self, const part_t *part)
{
    return self->options.single && part->count > 1 ? SEQ_NONE : part->seq;
}

//  Whether the peer got it, and there may be something in it that it cannot take
static bool
s_may_be_bad (const zpeer_result_t *result)
{
    bool about_time = result->status == 429 || result->retry_after_ms ||
                      result->verdict == ZPEER_CONGESTION;
    return result->end == ZPEER_END_READ_TIMEOUT ||
           result->end == ZPEER_END_RESET ||
           result->end == ZPEER_END_UNUSABLE ||
           (lane_is_status (result) && !about_time);
}

//  What a failed attempt says of the size
static void
s_size_failed (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
               const zpeer_result_t *result)
{
    bool late = now - flight->sent_at >= self->options.read_timeout_ms;
    //  An answer too large for us, or cut off, is smaller for fewer items
    bool slow = late || result->end == ZPEER_END_UNUSABLE;
    if (slow || lane_is_status (result) || s_may_be_bad (result))
        lane_shrink (self, flight);
    if (!slow)
        return;
    //  An instance alone was too much: so it is not the size. A peer that does
    //  what it is asked, and only answers too late, lets go of no lease as long
    //  as all are renewed.
    self->probe_all = flight->count == 1;
    if (!self->probe_all_at)
        self->probe_all_at = now + PROBE_ALL_FIRST_MS;
}

void
lane_stand_back (zpeer_lane_t *self, const part_t *parts, uint32_t count,
                 bool behind)
{
    for (uint32_t i = 0; i < count; i++) {
        //  Backwards, as each goes to the front
        uint32_t at = behind ? i : count - 1 - i;
        entry_t *entry = &self->entries[parts[at].handle];
        if (behind)
            lane_stand_behind (self, entry);
        else
            lane_stand (self, entry, !(entry->flags & OWED));
    }
}

static void
s_fail (zpeer_lane_t *self, part_t *part, const zpeer_result_t *result)
{
    entry_t *entry = &self->entries[part->handle];
    lane_doubt_part (self, entry, part, result);
    if (part->bits & C)
        entry->flags |= ASK;
    entry->asked = 0;  //  What was answered was before this
    if (result->verdict == ZPEER_PERMANENT_ERROR)
        s_lost (self, entry, part, result);
    lane_merge (self, entry, part->bits);
}

void
lane_failed (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
             part_t *parts, uint32_t count, const zpeer_result_t *result)
{
    bool behind = s_may_be_bad (result) && !self->options.asg_life_ms;
    bool alone = behind && count == 1 && flight->count == 1;
    bool known = alone && lane_poison (&self->entries[parts->handle]);
    bool lately = self->failures++ < LATELY;
    lane_pace (self, now, result);
    if (!known)
        s_size_failed (self, now, flight, result);
    if (behind && (known || lately || lane_is_status (result)))
        lane_hang (self, now, flight, parts, count, lane_is_status (result));
    for (uint32_t i = 0; i < count; i++)
        s_fail (self, &parts[i], result);
    //  It answers others, and not this one
    if (alone && (known || lately) && lane_lonely (self, parts, result))
        return;
    lane_stand_back (self, parts, count, behind);
}
