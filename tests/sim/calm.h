/*  calm.h - the calm after the storm: who renews, and when a run ends

    No more changes, no more faults. In runs with HEAL all that peers refused they
    take from now on: the source renews its leases, as in life, until no lane has
    anything left that its peer did not take.
*/
#ifndef SIM_CALM_H_INCLUDED
#define SIM_CALM_H_INCLUDED

#include "world.h"

//  It will be calm at this time
void calm_plan (world_t *world, uint64_t at);

#endif
