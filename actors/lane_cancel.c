#include "answer.h"
#include "lane_impl.h"
#include "banned.h"

//  A Cancel of which no timestamp is known: the engine was started anew, and the event
//  named none.
//
//  1. The peer is asked with a timestamp that any registration is above. 404: it has
//     nothing. 409: with that comes what it has.
//  2. If it does not, what the peer has is fetched, in a request of its own.
//  3. What it had before the Cancel was accepted is what that was about. By the
//     peer's own clock: how long ago it was registered there.

//  How far two points in time may be apart that were measured for the same, ms
#define CLOCKS_MS 2000

void
lane_cancel_learn (entry_t *entry, const zpeer_change_t *change)
{
    if (zpeer_state_present (entry->state) || lane_askable (entry) ||
        !change->given)
        return;
    lane_flag (entry, CANCELLED, true);
    entry->given = 0;  //  A Heartbeat's says nothing of what was cancelled
    entry->since = (uint32_t) change->given;
}

void
lane_cancel_told (zpeer_lane_t *self, entry_t *entry, const zpeer_copy_t *copy)
{
    int64_t age_ms = zpeer_copy_age_ms (copy);
    uint32_t waited_ms = lane_age (self->now, entry->since);
    if (age_ms > (int64_t) waited_ms + CLOCKS_MS) {
        entry->given = copy->timestamp;
        entry->asked = lane_stamp (self->now);
    }
    else
        lane_give_up (
            self, entry,
            (zpeer_lane_report_t){.kind = ZPEER_LANE_CONFLICT, .copy = copy},
            ZPEER_ENDED_CONFLICT);
}
