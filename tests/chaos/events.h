/*  events.h - single events, and what they make of an instance
*/
#ifndef CHAOS_EVENTS_H_INCLUDED
#define CHAOS_EVENTS_H_INCLUDED

#include "rng.h"
#include "run.h"

//  What the events are drawn with
typedef struct {
    rng_t *rng;
    uint64_t *clock;  //  The newest timestamp
    int64_t now;      //  ms since the start of the run
    bool forget;      //  Forget is among them
} drawer_t;

//  Whether one more of any kind fits
bool events_fit (const frame_t *frame);

//  Any event that makes sense for the instance, or next to none
void events_any (const drawer_t *drawer, instance_t *instance, frame_t *frame);

//  The same, of what bears repeating after all that came later: Register,
//  Heartbeat and Cancel
void
events_plain (const drawer_t *drawer, instance_t *instance, frame_t *frame);

//  A Register that is newer than all before
void
events_register (const drawer_t *drawer, instance_t *instance, frame_t *frame);

//  A Register, StatusUpdate, DeleteStatusOverride or Cancel of another server,
//  which state is present at the source or has been cancelled. Returns the item
//  that server sends to the peers, the caller's.
char *events_replicated (const drawer_t *drawer, instance_t *instance,
                         const zpeer_state_t *state, frame_t *frame);

//  Exactly this
void events_heartbeat (frame_t *frame, const instance_t *instance,
                       uint64_t timestamp);

//  ASG status; what no engine accepts
void events_asg (const drawer_t *drawer, frame_t *frame);
void events_bad (const instance_t *instance, frame_t *frame);

#endif
