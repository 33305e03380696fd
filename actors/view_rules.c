#include <assert.h>
#include <stdlib.h>
#include "event.h"
#include "view_impl.h"
#include "banned.h"

#define ASGS_MIN 16

//  One event on its way through the rules
typedef struct {
    zpeer_view_t *view;
    const zpeer_parsed_t *event;
    zpeer_applied_t *applied;
    uint64_t now;
    uint32_t handle;  //  ZPEER_NO_HANDLE: the view does not know the instance
    entry_t *entry;   //  NULL: the same
    bool present;
} turn_t;

static uint64_t
s_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

//  Makes the instance known, if it is not
static void
s_enter (turn_t *turn)
{
    if (turn->entry)
        return;
    turn->handle = zpeer_view_enter (turn->view, turn->event->app,
                                     turn->event->id, turn->now);
    turn->entry = &turn->view->entries[turn->handle];
}

static void
s_stand_present (const turn_t *turn)
{
    zpeer_view_stand (turn->view, turn->handle, PRESENT, turn->now);
}

//  A change is accepted, which a snapshot of before must not undo
static void
s_stamp (const turn_t *turn)
{
    turn->entry->changed = zpeer_view_second (turn->now);
}

//  Whether the view says of the instance what the event says, no less and no
//  more. Of a Heartbeat that is only that it lives, and in which state.
static bool
s_is_exact (const turn_t *turn)
{
    const zpeer_parsed_t *event = turn->event;
    const zpeer_state_t *state = turn->entry->state;
    if (event->action == ZPEER_CANCEL)
        return !zpeer_state_present (state);
    if (!zpeer_state_present (state) || state->timestamp != event->timestamp)
        return false;
    zpeer_status_t fallback = event->has_status ? event->status : ZPEER_UNKNOWN;
    switch (event->action) {
    case ZPEER_REGISTER:
        return state->status == event->status &&
               state->override == event->override;
    case ZPEER_STATUS_UPDATE:
        return state->status == event->status &&
               state->override == event->status;
    case ZPEER_DELETE_STATUS_OVERRIDE:
        return state->status == fallback && state->override == ZPEER_UNKNOWN;
    default: return true;
    }
}

static void
s_tell (turn_t *turn, zpeer_action_t action, unsigned flags)
{
    const zpeer_parsed_t *event = turn->event;
    if (event->replicated)
        flags |= ZPEER_CHANGE_REPLICATED;
    if ((event->replicated || event->from) && s_is_exact (turn))
        flags |= ZPEER_CHANGE_EXACT;
    turn->applied->tell = true;
    zpeer_view_tell (turn->view, turn->handle, action, flags,
                     &turn->applied->change);
    turn->applied->change.origin = event->from;
}

//  Status rules 1, 2 and 5 of EUREKA.md 3.4
static uint8_t
s_effective (zpeer_status_t status, zpeer_status_t held)
{
    bool yields = status == ZPEER_UP || status == ZPEER_OUT_OF_SERVICE;
    return (uint8_t) (yields && held != ZPEER_UNKNOWN ? held : status);
}

//  Older than what the view has: it renews, and changes nothing. For the lanes
//  it is a Heartbeat; peers refuse that of an instance at UNKNOWN. But peers to which
//  it came before what is newer have taken it.
static void
s_outdated (turn_t *turn)
{
    const zpeer_parsed_t *event = turn->event;
    bool beats = turn->entry->state->status != ZPEER_UNKNOWN;
    bool taken = event->replicated || (event->from && !beats);
    turn->view->outdated++;
    s_stand_present (turn);
    if (taken && event->action == ZPEER_REGISTER)
        s_tell (turn, ZPEER_REGISTER, 0);
    else if (beats)
        s_tell (turn, ZPEER_HEARTBEAT, 0);
}

//  The text of a Register: the one held already when it is the same
static zpeer_text_t *
s_info (const turn_t *turn)
{
    zpeer_slice_t info = turn->event->info;
    zpeer_text_t *held = turn->present ? turn->entry->state->info : NULL;
    if (held && zpeer_slice_eq (info, (zpeer_slice_t){held->data, held->size}))
        return zpeer_text_ref (held);
    return zpeer_text_new (info.data, info.size);
}

//  What the instance is after a Register that counts
static zpeer_facts_t
s_registered (const turn_t *turn)
{
    const zpeer_parsed_t *event = turn->event;
    const zpeer_state_t *old = turn->entry->state;
    zpeer_status_t held = event->override;
    //  A held override is never replaced by a Register
    if (old && old->override != ZPEER_UNKNOWN)
        held = (zpeer_status_t) old->override;
    return (zpeer_facts_t){.timestamp = event->timestamp,
                           .top = s_max (event->timestamp, turn->entry->top),
                           .renewal_ms = event->renewal_ms,
                           .status = s_effective (event->status, held),
                           .override = (uint8_t) held};
}

static bool
s_is_older (const turn_t *turn)
{
    return turn->present &&
           turn->event->timestamp < turn->entry->state->timestamp;
}

//  The instance is what facts say from now on
static void
s_become (turn_t *turn, const zpeer_facts_t *facts, unsigned flags)
{
    zpeer_view_publish (turn->view, turn->handle, facts);
    turn->entry->lease_ms = turn->event->duration_ms;
    s_stand_present (turn);
    if (turn->entry->fresh)
        flags |= ZPEER_CHANGE_FRESH;
    s_tell (turn, ZPEER_REGISTER, flags);
    turn->entry->fresh = false;
}

//  What the instance is after a snapshot: all of it is in the event. An override
//  wins over UP and OUT_OF_SERVICE, as it does at every peer.
static zpeer_facts_t
s_shown (const turn_t *turn)
{
    const zpeer_parsed_t *event = turn->event;
    return (zpeer_facts_t){.timestamp = event->timestamp,
                           .top = s_max (event->timestamp, turn->entry->top),
                           .renewal_ms = event->renewal_ms,
                           .status =
                               s_effective (event->status, event->override),
                           .override = (uint8_t) event->override};
}

//  Whether both say the same, but for the text
static bool
s_are_alike (const zpeer_facts_t *a, const zpeer_facts_t *b)
{
    return a->timestamp == b->timestamp && a->status == b->status &&
           a->override == b->override;
}

//  Whether a change was accepted that the snapshot may not know of. If it is of a
//  time that is still to come, it is by another engine's clock: then it may know of
//  none.
static bool
s_is_late (const turn_t *turn)
{
    uint64_t as_of = turn->event->as_of;
    uint32_t changed = turn->entry->changed;
    return as_of && changed &&
           (as_of > turn->now || changed >= zpeer_view_second (as_of));
}

//  A snapshot may be told as a Register like others if that comes to the same: if
//  it is not older, brings no other override, and no peer holds what the view has
//  not
static unsigned
s_snapshot_flags (const turn_t *turn, const zpeer_facts_t *facts)
{
    zpeer_facts_t registered = s_registered (turn);
    bool plain = turn->entry->pictured && !s_is_older (turn) &&
                 s_are_alike (facts, &registered);
    return plain ? 0 : ZPEER_CHANGE_SNAPSHOT;
}

//  All that the source has of the instance. A late one does nothing, unless it says
//  what the view says: then there is nothing else that a peer should hold.
static void
s_snapshot (turn_t *turn)
{
    s_enter (turn);
    entry_t *entry = turn->entry;
    zpeer_facts_t facts = s_shown (turn);
    if (s_is_late (turn)) {
        zpeer_facts_t held = zpeer_facts (entry->state);
        if (!turn->present || !s_are_alike (&facts, &held)) {
            turn->view->outdated++;
            return;
        }
        s_become (turn, &held, s_snapshot_flags (turn, &held));
    }
    else {
        unsigned flags = s_snapshot_flags (turn, &facts);
        uint64_t as_of = turn->event->as_of;
        bool known = as_of && as_of <= turn->now;
        entry->changed = zpeer_view_second (known ? as_of : turn->now);
        facts.info = s_info (turn);
        s_become (turn, &facts, flags);
        zpeer_text_unref (&facts.info);
    }
    entry->pictured = true;
}

static void
s_register (turn_t *turn)
{
    if (turn->event->snapshot) {
        s_snapshot (turn);
        return;
    }
    if (s_is_older (turn)) {
        s_outdated (turn);
        return;
    }
    s_enter (turn);
    s_stamp (turn);
    zpeer_facts_t facts = s_registered (turn);
    facts.info = s_info (turn);
    s_become (turn, &facts, 0);
    zpeer_text_unref (&facts.info);
}

//  The host has a Register that the view has not. A Heartbeat is sent as given
//  meanwhile: peers may know the instance from elsewhere.
static void
s_unknown (turn_t *turn)
{
    turn->applied->need_register = true;
    if (turn->event->action != ZPEER_HEARTBEAT || turn->event->replicated)
        return;
    s_enter (turn);
    const zpeer_state_t *old = turn->entry->state;
    zpeer_view_bury (turn->view, turn->handle, old ? old->top : 0, turn->now);
    zpeer_view_mark_unknown (turn->view, turn->entry, true);
    s_tell (turn, ZPEER_HEARTBEAT, 0);
    turn->applied->change.given = turn->event->timestamp;
}

static void
s_heartbeat (turn_t *turn)
{
    const zpeer_state_t *state = turn->entry->state;
    uint64_t timestamp = turn->event->timestamp;
    if (state->status == ZPEER_UNKNOWN) {
        //  An override was deleted without a status: peers answer 404 until
        //  the instance registers again
        turn->applied->need_register = true;
        s_stand_present (turn);
        return;
    }
    if (timestamp < state->timestamp) {
        s_outdated (turn);
        return;
    }
    s_stand_present (turn);
    s_tell (turn, ZPEER_HEARTBEAT, 0);
    if (timestamp > state->timestamp) {
        turn->applied->need_register = true;
        turn->applied->change.given = timestamp;
    }
}

//  An override operation; changes says whether it does anything. It is never
//  outdated, for receivers do not guard it either.
static void
s_override (turn_t *turn, zpeer_status_t status, zpeer_status_t held,
            bool changes)
{
    if (changes) {
        zpeer_facts_t facts = zpeer_facts (turn->entry->state);
        facts.status = (uint8_t) status;
        facts.override = (uint8_t) held;
        facts.timestamp = s_max (facts.timestamp, turn->event->timestamp);
        facts.top = s_max (facts.top, facts.timestamp);
        zpeer_view_publish (turn->view, turn->handle, &facts);
    }
    s_stamp (turn);
    s_stand_present (turn);
    s_tell (turn, turn->event->action, 0);
}

static void
s_status_update (turn_t *turn)
{
    zpeer_status_t status = turn->event->status;
    s_override (turn, status, status, turn->entry->state->status != status);
}

static void
s_delete_override (turn_t *turn)
{
    zpeer_status_t status =
        turn->event->has_status ? turn->event->status : ZPEER_UNKNOWN;
    s_override (turn, status, ZPEER_UNKNOWN,
                turn->entry->state->override != ZPEER_UNKNOWN);
}

static void
s_cancel (turn_t *turn)
{
    uint64_t timestamp =
        turn->event->has_timestamp ? turn->event->timestamp : 0;
    if (turn->present && turn->event->has_timestamp &&
        timestamp < turn->entry->state->timestamp) {
        //  Of an earlier life: nobody is told. But peers guard it by nothing: those
        //  that were told by others are asked whether they have this life.
        turn->view->outdated++;
        s_stand_present (turn);
        if (turn->event->replicated || turn->event->from)
            s_tell (turn, ZPEER_HEARTBEAT, ZPEER_CHANGE_VERIFY);
        return;
    }
    s_enter (turn);
    s_stamp (turn);
    zpeer_view_bury (turn->view, turn->handle,
                     s_max (timestamp, turn->entry->top), turn->now);
    turn->entry->cancelled = true;
    s_tell (turn, ZPEER_CANCEL, 0);
}

static void
s_forget (turn_t *turn)
{
    //  Whom the view does not know no lane knows. And a Cancel that was accepted
    //  is told, whatever the source says of it later.
    if (!turn->entry || (!turn->present && turn->entry->cancelled))
        return;
    zpeer_view_forget (turn->view, turn->handle, turn->now);
    s_tell (turn, ZPEER_FORGET, 0);
    turn->applied->change.given = turn->entry->top;
}

typedef void (rule_fn) (turn_t *turn);

static const struct {
    rule_fn *present;
    rule_fn *absent;
} s_rules[ZPEER_ACTIONS] = {
    [ZPEER_REGISTER] = {s_register, s_register},
    [ZPEER_HEARTBEAT] = {s_heartbeat, s_unknown},
    [ZPEER_CANCEL] = {s_cancel, s_cancel},
    [ZPEER_STATUS_UPDATE] = {s_status_update, s_unknown},
    [ZPEER_DELETE_STATUS_OVERRIDE] = {s_delete_override, s_unknown},
    [ZPEER_FORGET] = {s_forget, s_forget},
};

//  ASGs

static uint32_t
s_enter_asg (zpeer_view_t *self, zpeer_slice_t name)
{
    uint32_t handle =
        zpeer_directory_add (&self->asg_names, (zpeer_slice_t){0}, name);
    if (handle >= self->asg_capacity) {
        self->asg_capacity =
            self->asg_capacity ? 2 * self->asg_capacity : ASGS_MIN;
        self->asgs = (asg_t *) realloc (self->asgs, self->asg_capacity *
                                                        sizeof *self->asgs);
        assert (self->asgs);
    }
    self->asgs[handle] = (asg_t){0};
    return handle;
}

static void
s_apply_asg (zpeer_view_t *self, const zpeer_parsed_t *event,
             zpeer_applied_t *applied)
{
    uint32_t handle = zpeer_directory_find (&self->asg_names,
                                            (zpeer_slice_t){0}, event->id, 0);
    if (handle == ZPEER_NO_HANDLE)
        handle = s_enter_asg (self, event->id);
    asg_t *asg = &self->asgs[handle];
    zpeer_facts_t facts = {.status = (uint8_t) event->status};
    if (!asg->state || !zpeer_facts_hold (&facts, asg->state)) {
        zpeer_view_replace (self, &asg->state,
                            zpeer_directory_name (&self->asg_names, handle),
                            handle, &facts);
        asg->told = 0;
    }
    applied->tell = true;
    applied->state = asg->state;
    applied->change = (zpeer_change_t){
        .state = asg->told == self->epoch ? NULL : asg->state,
        .handle = handle,
        .action = ZPEER_ASG_STATUS_UPDATE,
        .flags = event->replicated ? ZPEER_CHANGE_REPLICATED : 0,
        .origin = event->from};
    asg->told = self->epoch;
}

void
zpeer_view_apply (zpeer_view_t *self, uint64_t now, const zpeer_parsed_t *event,
                  zpeer_applied_t *applied)
{
    *applied = (zpeer_applied_t){0};
    if (event->action == ZPEER_ASG_STATUS_UPDATE) {
        s_apply_asg (self, event, applied);
        return;
    }
    turn_t turn = {.view = self,
                   .event = event,
                   .applied = applied,
                   .now = now,
                   .handle = zpeer_directory_find (&self->names, event->app,
                                                   event->id, event->tag)};
    if (turn.handle != ZPEER_NO_HANDLE) {
        turn.entry = &self->entries[turn.handle];
        turn.present = turn.entry->standing == PRESENT;
    }
    if (turn.present)
        s_rules[event->action].present (&turn);
    else
        s_rules[event->action].absent (&turn);
    applied->state = turn.entry ? turn.entry->state : NULL;
}
