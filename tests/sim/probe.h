/*  probe.h - looks into a lane, for what the simulation must know

    What a lane does is checked from outside; this is for what it means.
*/
#ifndef SIM_PROBE_H_INCLUDED
#define SIM_PROBE_H_INCLUDED

#include "dispatch.h"
#include "lane.h"

//  The peer refuses the instance, or has it newer from elsewhere: it is tried again
//  for ever, at times of its own
bool probe_retried (const zpeer_lane_t *lane, uint32_t handle);

//  The last attempt was a success
bool probe_answers (const zpeer_lane_t *lane);

//  The instance is what a walk waits for
bool probe_walked (const zpeer_lane_t *lane, uint32_t handle);

//  A change of the instance waits
bool probe_waits (const zpeer_lane_t *lane, uint32_t handle);

//  It waits among the live changes, not with what is owed or split
bool probe_live (const zpeer_lane_t *lane, uint32_t handle);

//  The instance is on its way as an act that a question preceded
bool probe_acts (const zpeer_lane_t *lane, uint32_t handle);

//  The instance is on its way as a question
bool probe_asks (const zpeer_lane_t *lane, uint32_t handle);

//  The lane may send: no pause, and room in its window
bool probe_free (const zpeer_lane_t *lane, uint64_t now, unsigned credit);

//  Nothing of the instance is still to be done, and it has no unsettled doubt that
//  counts
bool probe_settled (const zpeer_lane_t *lane, uint32_t handle);

//  Something of the instance is on its way, or unsettled, or may be of an earlier lane
bool probe_open (const zpeer_lane_t *lane, uint32_t handle);

//  The lane took over from another one, and the peer has answered nothing since
bool probe_unanswered (const zpeer_lane_t *lane);

//  The state the lane has of the instance, borrowed; NULL: it does not know it
const zpeer_state_t *probe_state (const zpeer_lane_t *lane, uint32_t handle);

//  An ambiguous attempt is not settled
bool probe_unsure (const zpeer_lane_t *lane, uint32_t handle);

//  Batches the dispatcher holds
size_t probe_held (const zpeer_dispatch_t *dispatch);

#endif
