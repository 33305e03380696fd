#include <assert.h>
#include "lane_impl.h"
#include "banned.h"

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
        lane_flag (entry, CANCELLED, true);
        lane_flag (entry, CLEAN, false);
    }
    else {
        lane_end (self, ZPEER_ENDED_SUPERSEDED, entry->wait & (H | bit));
        //  Two changes of the override: only the pair gives their sum
        if (bit != R && (entry->wait & (S | D)))
            bit |= FULL;
        entry->wait = (uint8_t) ((entry->wait & ~H) | bit);
    }
}

//  Nothing of it that waits is to be told
static void
s_clear (zpeer_lane_t *self, entry_t *entry, payment_t how)
{
    lane_leave (self, entry);
    entry->suspect = 0;
    lane_hang_end (self, entry);
    lane_pay (self, entry, how);
    lane_refuse (self, entry, false);
    lane_rest_end (self, entry);
    entry->flags &= SETTLING | LEAVING;
}

//  What is on its way: nobody waits for the result, but of a Cancel
static void
s_forget_flight (zpeer_lane_t *self, entry_t *entry, unsigned kept)
{
    unsigned gone = entry->flight & ~kept;
    if (entry->phase == PHASE_NONE)
        return;
    lane_end (self, ZPEER_ENDED_FORGOTTEN, gone);
    self->in_flight -= lane_tasks (gone);
    entry->flight &= (uint8_t) kept;
    if (!entry->flight && !(kept && entry->phase == PHASE_ASK))
        entry->phase = PHASE_FORGET;
}

//  Only the mark of an ambiguous attempt stays, for what is late may hit a later
//  life; and a Cancel that the peer was not told of, for that was accepted
static void
s_forget (zpeer_lane_t *self, entry_t *entry, uint64_t top)
{
    bool cancelled = entry->flags & CANCELLED;
    entry->given = cancelled ? top : 0;
    unsigned kept = cancelled ? C : 0;
    lane_end (self, ZPEER_ENDED_FORGOTTEN, entry->wait & ~kept);
    entry->wait &= (uint8_t) kept;
    entry->misses = 0;
    entry->asked = 0;  //  What was asked was another life
    entry->flags &= (uint16_t) ~(AGAIN | STORED | CLEAN);
    if (!cancelled)
        s_clear (self, entry, PAID_OTHERWISE);
    else if (entry->flags & OWED)
        lane_owe (self, entry);  //  The Cancel, and not only a Heartbeat
    s_forget_flight (self, entry, kept);
    lane_stand (self, entry, false);
}

//  What the peer has still to be told of an instance that the view has let go of
static unsigned
s_untold (const entry_t *entry)
{
    unsigned bits = (entry->wait | entry->flight) & TASKS;
    if (bits)
        return bits;
    if (entry->flags & RENEW)
        return H;
    return entry->flags & (OWED | HELD) ? C : 0;
}

//  The view cannot remember it any longer: what was not told is not told any more
static void
s_give_up (zpeer_lane_t *self, entry_t *entry)
{
    unsigned bits = s_untold (entry);
    if (bits)
        lane_report (self, entry,
                     (zpeer_lane_report_t){.kind = ZPEER_LANE_DROPPED,
                                           .ending = ZPEER_ENDED_DROPPED,
                                           .bits = bits});
    lane_end (self, ZPEER_ENDED_DROPPED, entry->wait);
    lane_end (self, ZPEER_ENDED_DROPPED, entry->flight);
    self->in_flight -= lane_tasks (entry->flight);
    entry->wait = entry->flight = 0;
    lane_flag (entry, AGAIN, false);
    s_clear (self, entry, PAID_REFUSED);
    lane_sure (self, entry);
    if (entry->phase != PHASE_NONE)
        entry->phase = PHASE_GONE;
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

//  What the peer did not take is tried again, and reported again if it is refused
static void
s_try_now (zpeer_lane_t *self, entry_t *entry)
{
    entry->misses = 0;
    lane_refuse (self, entry, false);
    lane_rest_end (self, entry);
}

//  The peer may not have been told of something: it is owed all there is
static void
s_owe (zpeer_lane_t *self, entry_t *entry)
{
    if (!lane_askable (entry)) {
        //  There is nothing to ask with; what waits is of the past, but a Cancel
        lane_end (self, ZPEER_ENDED_SUPERSEDED, entry->wait & ~C);
        entry->wait &= C;
        lane_stand (self, entry, false);
        return;
    }
    s_try_now (self, entry);
    lane_owe (self, entry);
    lane_flag (entry, AGAIN, entry->phase != PHASE_NONE);
    s_stand_owed (self, entry);
}

//  Whether the peer has it is to be asked. A 404 does not tell an instance that
//  is absent from one that is older, so that one that must be absent is owed.
static void
s_verify (zpeer_lane_t *self, entry_t *entry)
{
    bool held = entry->flags & HELD;
    s_try_now (self, entry);
    if (zpeer_state_present (entry->state) && !held) {
        lane_renew (self, entry);
        //  What is on its way for what was owed may have been applied before it was
        //  asked for; a live change leaves the question to come
        if (entry->phase == PHASE_ASK || entry->phase == PHASE_ACT)
            entry->flags |= AGAIN;
    }
    else
        s_owe (self, entry);
    s_stand_owed (self, entry);
}

//  The view holds what others did not know when they cancelled it. What is held is
//  asked about when it has rested, unless somebody walks.
static void
s_ask (zpeer_lane_t *self, entry_t *entry, const zpeer_change_t *change,
       bool own)
{
    bool whose = own || !change->origin;
    if ((change->flags & ZPEER_CHANGE_WALK) ||
        (whose && !(entry->flags & HELD)))
        s_verify (self, entry);
}

//  Whether the peer is settled by what another tells all peers. Only if the view
//  says exactly that; and what is still owed to the peer cannot always be settled
//  by it: what it does there depends on what the peer did not yet get from here.
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

//  Ends these kinds, which wait, for somebody else has told the peer
static void
s_settle (zpeer_lane_t *self, entry_t *entry, unsigned bits)
{
    lane_end (self, ZPEER_ENDED_SETTLED, entry->wait & bits);
    entry->wait = (uint8_t) (entry->wait & ~bits);
    if (entry->wait)
        return;
    entry->asked = 0;
    lane_flag (entry, ASK, false);
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

//  What waits is told in full, for the peer has not only what it had from here
static void
s_widen (zpeer_lane_t *self, entry_t *entry)
{
    if (!(entry->wait & ~H) && !(entry->flags & OWED))
        return;
    s_settle (self, entry, H);
    entry->wait |= FULL;
}

//  A Register of ours that waited is not told any more, and whether the peer got
//  the other's nobody knows here: it is asked. A Cancel of ours is told.
static void
s_trust (zpeer_lane_t *self, entry_t *entry, unsigned bit)
{
    bool ours = entry->wait & R;
    s_settle (self, entry, bit == C ? ~C : ~0u);
    //  Nobody else knows of an attempt of ours that may come late
    if (entry->unsure)
        lane_owe (self, entry);
    else if (bit == R && ours)
        lane_renew (self, entry);
}

//  Another has told all peers
static void
s_replicated (zpeer_lane_t *self, entry_t *entry, const zpeer_change_t *change,
              bool changed)
{
    unsigned bit = s_bits[change->action];
    bool flying = entry->phase != PHASE_NONE;
    if (self->options.asg_life_ms) {
        s_replicated_asg (self, entry, changed && flying);
        return;
    }
    bool lately = lane_acted_lately (self, entry);
    bool exact = change->flags & ZPEER_CHANGE_EXACT;
    //  A Register that changes nothing here, and says something else, has come late.
    //  The peer had it in its turn, and took an override behind it for none if it was
    //  in that status already.
    bool late = bit == R && !changed && !exact;
    //  What changes nothing here may have changed the peer before it got what was
    //  sent from here
    bool news =
        changed || lane_wants (entry) || flying || (lately && !exact) || late;
    if (bit == H || !news)
        return;
    //  What was sent from here may have come to the peer after it; or the peer may
    //  hold what was forgotten here, or had it newer, so that it was not told
    bool unknown =
        lately || late || (change->flags & ZPEER_CHANGE_FRESH) || entry->tries;
    if (unknown && !(entry->flags & HELD)) {
        //  The other's Cancel may have been there before what was sent from here
        if (bit == C)
            lane_flag (entry, CLEAN, false);
        s_owe (self, entry);
        return;
    }
    if (exact && s_settles (entry, bit))
        s_trust (self, entry, bit);
    else
        s_widen (self, entry);
    lane_flag (entry, AGAIN, flying);  //  That may arrive after it
    lane_stand (self, entry, false);
}

//  The peer says that the instance lives as the view has it: that is what a Heartbeat
//  from here would tell
static void
s_origin_beat (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->wait == H)
        s_settle (self, entry, H);
    if ((entry->flags & RENEW) && entry->phase == PHASE_NONE)
        lane_pay (self, entry, PAID_OTHERWISE);
    lane_stand (self, entry, false);
}

//  The peer has what the view says, whatever it refused before: nothing newer of an
//  earlier life, and nothing that is to be cancelled
static void
s_origin_exact (zpeer_lane_t *self, entry_t *entry)
{
    s_settle (self, entry, ~0u);
    s_try_now (self, entry);
    entry->suspect = 0;
    lane_flag (entry, CANCELLED, false);
    lane_flag (entry, CLEAN, true);
    lane_pay (self, entry, PAID_OTHERWISE);
    if (entry->unsure)
        lane_owe (self, entry);
}

//  The peer has told the source, and nobody else has. It has what the view says, if
//  that is exactly what it told; else it is owed the difference.
static void
s_origin (zpeer_lane_t *self, entry_t *entry, const zpeer_change_t *change)
{
    unsigned bit = s_bits[change->action];
    bool flying = entry->phase != PHASE_NONE;
    bool exact = change->flags & ZPEER_CHANGE_EXACT;
    if (self->options.asg_life_ms) {
        s_replicated_asg (self, entry, flying);
        return;
    }
    //  What is newer there is left alone. What is older has other data: an override
    //  that comes meanwhile would make it as new, and leave them.
    if (change->given || (!exact && (entry->flags & HELD)))
        return;
    if (bit == H && exact) {
        s_origin_beat (self, entry);
        return;
    }
    if (!exact || flying || lane_acted_lately (self, entry)) {
        s_owe (self, entry);
        return;
    }
    //  An override says nothing of the data; nor has it been set or deleted if the
    //  peer was in that status, for another one waits
    if ((bit & (S | D)) && ((entry->wait & ~H) || (entry->flags & OWED)))
        s_widen (self, entry);
    else
        s_origin_exact (self, entry);
    lane_stand (self, entry, false);
}

//  A Register or a Cancel of what the peer did not take. One that takes the others
//  of its batch along goes on going alone, and not more often than such may.
static void
s_try_anew (zpeer_lane_t *self, entry_t *entry, unsigned bit)
{
    bool tried = (entry->flags & REFUSED) || entry->tries;
    if (bit == R && lane_poison (entry) && tried) {
        if (entry->flags & HELD)
            lane_rest_now (self, entry);
        return;
    }
    entry->suspect = 0;
    s_try_now (self, entry);
}

//  Of what is held Heartbeats go on, if it was not one that the peer did not take
static bool
s_is_held (const entry_t *entry, unsigned bit)
{
    bool goes = bit == H && (entry->flags & REFUSED_ACT);
    return (entry->flags & HELD) && !goes;
}

static void
s_event (zpeer_lane_t *self, uint64_t now, entry_t *entry,
         const zpeer_change_t *change, unsigned bit)
{
    bool held = entry->flags & HELD;
    self->accepted++;
    if (bit & (R | C))
        s_try_anew (self, entry, bit);
    if (s_is_held (entry, bit)) {
        self->ended[ZPEER_ENDED_REJECTED]++;
        return;
    }
    bool idle = !entry->wait;
    //  While a Cancel is to be told, what was known stays known
    if (!(entry->flags & CANCELLED) || bit != H || entry->state->top)
        entry->given = change->given;
    s_gather (self, now, entry, bit);
    if (bit == R && (change->flags & ZPEER_CHANGE_FRESH))
        entry->wait |= FULL;
    //  What changed while it was held was never sent, or a Cancel of it was not
    //  taken: what the peer has is not known. Nor is it when all is told, and it may
    //  keep an earlier life: a Cancel on its way may be told as that.
    bool snapshot = change->flags & ZPEER_CHANGE_SNAPSHOT;
    bool lower = bit == R && lane_began_lower (entry) && !(entry->wait & C);
    bool untold = (bit & (R | C)) && held && lane_askable (entry);
    if (snapshot || untold || lower) {
        lane_owe (self, entry);
        lane_flag (entry, AGAIN, entry->phase != PHASE_NONE);
    }
    if (idle && !(bit == H && lane_by_age (entry)))
        entry->since = (uint32_t) now;
    //  A live change of an owed instance does not wait with the owed ones. The
    //  snapshots of a whole registry do.
    if (entry->queue == QUEUE_OWED && !snapshot)
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

//  What was known of an instance before a change
static uint64_t
s_known_top (const zpeer_lane_t *self, uint32_t handle)
{
    bool known = handle < self->capacity && self->entries[handle].state;
    return known ? lane_top (&self->entries[handle]) : 0;
}

//  The entry of a change, in the change's state; says whether that is another
static entry_t *
s_adopt (zpeer_lane_t *self, const zpeer_change_t *change, bool *changed)
{
    entry_t *entry = lane_entry (self, change->handle);
    *changed = false;
    if (change->state && change->state != entry->state) {
        *changed = !entry->state || entry->state->seq != change->state->seq;
        if (!entry->state)
            self->instances++;
        //  The peer may hold what came before in this very life
        else if (zpeer_state_present (change->state) &&
                 change->state->timestamp < entry->state->timestamp)
            lane_flag (entry, CLEAN, false);
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
    bool own = change->origin && change->origin == self->options.origin;
    self->now = now;
    uint64_t top =
        change->action == ZPEER_FORGET ? s_known_top (self, change->handle) : 0;
    entry_t *entry = s_adopt (self, change, &changed);
    lane_flag (entry, LEAVING, leaving);
    //  In what state a late attempt leaves it nobody knows
    if (now < self->inherit_until && entry->unsure != lane_seq (SEQ_NONE))
        lane_doubt (self, entry, SEQ_NONE);
    if (change->flags & (ZPEER_CHANGE_OWE | ZPEER_CHANGE_VERIFY))
        lane_cancel_learn (entry, change);
    if (change->flags & ZPEER_CHANGE_OWE)
        s_owe (self, entry);
    else if (change->flags & ZPEER_CHANGE_VERIFY)
        s_ask (self, entry, change, own);
    else if (leaving) {
        if (change->flags & ZPEER_CHANGE_GIVE_UP)
            s_give_up (self, entry);
        lane_release (self, entry);
    }
    else if (change->action == ZPEER_FORGET)
        s_forget (self, entry, change->given > top ? change->given : top);
    else if (change->flags & ZPEER_CHANGE_REPLICATED)
        s_replicated (self, entry, change, changed);
    else if (own)
        s_origin (self, entry, change);
    else
        s_event (self, now, entry, change, s_bits[change->action]);
    if (change->flags & ZPEER_CHANGE_WALK)
        lane_walk (self, entry);
    s_overflow (self);
}
