/*  late.h - what the source hears later than its peers

    A replicated event goes to all servers at once, and comes to each when it
    does. Those of an instance come in their order.
*/
#ifndef SIM_LATE_H_INCLUDED
#define SIM_LATE_H_INCLUDED

#include "source.h"

//  How long after its peers it hears of something, at most
#define LATE_MAX_MS 5000

//  The source hears of a replicated event: at once, or after all that it has not
//  yet heard of the instance. Returns whether it is later than its peers.
bool late_hear (world_t *world, const event_t *event);

//  Whether something of the instance is still to come
bool late_waits (const world_t *world, unsigned key);

void late_free (world_t *world);

#endif
