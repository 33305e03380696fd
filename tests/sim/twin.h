/*  twin.h - another engine, which is fed the same events

    It tells each peer after every change what the view says then: some time later,
    in the order of the changes.
*/
#ifndef SIM_TWIN_H_INCLUDED
#define SIM_TWIN_H_INCLUDED

#include "world.h"

//  Something happened to an instance
void twin_tell (world_t *world, unsigned key, zpeer_action_t action);

void twin_free (twin_t *self);

#endif
