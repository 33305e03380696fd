#include <assert.h>
#include <stdlib.h>
#include "lane_impl.h"
#include "banned.h"

#define DOUBTS_MIN 64

//  Ambiguous attempts: the peer may yet apply them. They are remembered until that
//  is settled: an attempt that ends without an answer is applied within a read
//  timeout of the peer's next success, or never. One of an earlier lane may be under way
//  for a read timeout before that, in a dispatcher of another process.

void
lane_doubt (zpeer_lane_t *self, entry_t *entry, uint64_t seq)
{
    //  What counts is the first state it may fall back to, and the last attempt
    //  that may do it: a new doubt puts the settling off
    if (!entry->unsure) {
        entry->unsure = lane_seq (seq);
        if (self->unsure_count == self->unsure_capacity) {
            self->unsure_capacity =
                self->unsure_capacity ? 2 * self->unsure_capacity : DOUBTS_MIN;
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
        entry->unsure = lane_seq (seq);
    lane_flag (entry, SETTLING, false);
}

void
lane_doubt_part (zpeer_lane_t *self, entry_t *entry, const part_t *part,
                 const zpeer_result_t *result)
{
    if (result->ambiguous && (part->phase == PHASE_ACT || part->bits & ~H))
        lane_doubt (self, entry, lane_late_seq (self, part));
}

//  One doubt less
static void
s_sure (zpeer_lane_t *self, uint32_t index)
{
    entry_t *entry = &self->entries[self->unsure[index].handle];
    if (!(entry->flags & SETTLING))
        self->doubtful--;
    lane_flag (entry, SETTLING, false);
    entry->unsure = 0;
    self->unsure[index] = self->unsure[--self->unsure_count];
}

void
lane_sure (zpeer_lane_t *self, entry_t *entry)
{
    uint32_t handle = (uint32_t) (entry - self->entries);
    for (uint32_t i = 0; entry->unsure; i++)
        if (self->unsure[i].handle == handle)
            s_sure (self, i);
}

void
lane_settle_all (zpeer_lane_t *self, uint64_t now)
{
    uint64_t at = now + self->options.read_timeout_ms;
    if (self->inherit_until == NEVER)
        self->inherit_until = at + self->options.read_timeout_ms;
    if (!self->doubtful)
        return;
    if (at < self->inherit_until)
        at = self->inherit_until;
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

//  One read timeout after the peer's next success an ambiguous attempt has been
//  applied or never will be. If the state has changed since, what the peer has
//  now is anybody's guess.
void
lane_settle (zpeer_lane_t *self, uint64_t now)
{
    if (now < self->settle_at)
        return;
    self->settle_at = NEVER;
    for (uint32_t i = self->unsure_count; i-- > 0;) {
        entry_t *entry = &self->entries[self->unsure[i].handle];
        if (!(entry->flags & SETTLING))
            continue;
        int32_t left = (int32_t) (self->unsure[i].settle - (uint32_t) now);
        if (left > 0) {
            if (self->settle_at > now + (uint32_t) left)
                self->settle_at = now + (uint32_t) left;
            continue;
        }
        if (lane_seq (entry->state->seq) != entry->unsure &&
            lane_askable (entry)) {
            lane_flag (entry, CLEAN, false);  //  It may be an earlier life
            lane_owe (self, entry);
            lane_flag (entry, AGAIN, entry->phase != PHASE_NONE);
        }
        s_sure (self, i);
        lane_stand (self, entry, false);
        lane_release (self, entry);
    }
}
