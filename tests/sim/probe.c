#include "lane_impl.h"
#include "probe.h"
#include "banned.h"

static const entry_t *
s_entry (const zpeer_lane_t *lane, uint32_t handle)
{
    static const entry_t unknown;
    return handle < lane->capacity ? &lane->entries[handle] : &unknown;
}

//  What the peer refuses, or has newer from elsewhere
static bool
s_is_retried (const entry_t *entry)
{
    return (entry->flags & REFUSED) || entry->tries;
}

bool
probe_retried (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_is_retried (s_entry (lane, handle));
}

bool
probe_retries (const zpeer_lane_t *lane)
{
    for (uint32_t handle = 0; handle < lane->capacity; handle++)
        if (s_is_retried (&lane->entries[handle]) &&
            lane->entries[handle].phase != PHASE_NONE)
            return true;
    return false;
}

bool
probe_waits (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->wait;
}

bool
probe_live (const zpeer_lane_t *lane, uint32_t handle)
{
    return s_entry (lane, handle)->queue == QUEUE_LIVE;
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
    uint32_t window = lane->reached ? 1 : lane->window;
    return credit && now >= lane->pause && lane->flight_count < window;
}

uint32_t
probe_unsettled (const zpeer_lane_t *lane)
{
    for (uint32_t handle = 0; handle < lane->capacity; handle++) {
        const entry_t *entry = &lane->entries[handle];
        if (!entry->state)
            continue;
        //  It is tried again for ever, and may keep its doubt for want of traffic
        if (s_is_retried (entry))
            continue;
        bool doubt = entry->unsure && entry->state->top &&
                     entry->unsure != lane_seq (entry->state->seq);
        if (lane_wants (entry) || entry->phase != PHASE_NONE || doubt)
            return handle;
    }
    return UINT32_MAX;
}

bool
probe_busy (const zpeer_lane_t *lane, uint32_t handle)
{
    const entry_t *entry = s_entry (lane, handle);
    return lane_wants (entry) || entry->phase != PHASE_NONE || entry->unsure;
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
