#include "lane_impl.h"
#include "probe.h"
#include "banned.h"

static const entry_t *
s_entry (const zpeer_lane_t *lane, uint32_t handle)
{
    static const entry_t unknown;
    return handle < lane->capacity ? &lane->entries[handle] : &unknown;
}

bool
probe_retried (const zpeer_lane_t *lane, uint32_t handle)
{
    const entry_t *entry = s_entry (lane, handle);
    return (entry->flags & REFUSED) || entry->tries;
}

bool
probe_answers (const zpeer_lane_t *lane)
{
    return lane->answering;
}

bool
probe_walked (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->flags & WALKED;
}

bool
probe_waits (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->wait;
}

bool
probe_live (const zpeer_lane_t *lane, uint32_t handle)
{
    const entry_t *entry = s_entry (lane, handle);
    //  A suspect may wait for what others are answered
    bool waits = lane_alone (entry) && lane->flight_count;
    return entry->queue == QUEUE_LIVE && !waits;
}

bool
probe_acts (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->phase == PHASE_ACT;
}

bool
probe_asks (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->phase == PHASE_ASK;
}

bool
probe_free (const zpeer_lane_t *lane, uint64_t now, unsigned credit)
{
    return lane_is_free (lane, now, credit);
}

bool
probe_settled (const zpeer_lane_t *lane, uint32_t handle)
{
    const entry_t *entry = s_entry (lane, handle);
    //  Before the peer's next answer nothing can be settled; and a lane that has
    //  nothing to tell gets none
    bool doubt = entry->state && entry->unsure && (entry->flags & SETTLING) &&
                 entry->state->top &&
                 entry->unsure != lane_seq (entry->state->seq);
    return !lane_wants (entry) && entry->phase == PHASE_NONE && !doubt;
}

bool
probe_open (const zpeer_lane_t *lane, uint32_t handle)
{
    const entry_t *entry = s_entry (lane, handle);
    return entry->phase != PHASE_NONE || entry->unsure ||
           lane->now < lane->inherit_until;
}

bool
probe_unanswered (const zpeer_lane_t *lane)
{
    return lane->inherit_until == NEVER;
}

const zpeer_state_t *
probe_state (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->state;
}

bool
probe_unsure (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->unsure != 0;
}
