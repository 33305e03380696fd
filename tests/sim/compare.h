/*  compare.h - what must be true when all is calm

    And what is excused, because no sender can do it: a registration by another
    writer stands; what a peer answered 200 without storing it; what it refuses;
    what peers hold of an instance that was forgotten.
*/
#ifndef SIM_COMPARE_H_INCLUDED
#define SIM_COMPARE_H_INCLUDED

#include "world.h"

//  How the peer differs from the view in an instance, static; NULL: it does
//  not, or is excused
const char *compare_differs (world_t *world, const peer_t *peer, unsigned key);

//  Whether what the lane still has to tell of the instance is tried for ever: the
//  peer refuses it. While the peer takes nothing else, it is not even rejected.
bool compare_tried_for_ever (const world_t *world, const peer_t *peer,
                             uint32_t handle);

//  Checks everything, at the end of a run
void compare_all (world_t *world);

#endif
