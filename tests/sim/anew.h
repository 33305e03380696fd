/*  anew.h - the engine is started anew

    View and lanes are gone, and what was on its way may yet arrive. The source
    feeds its picture: a Register for each instance that it has.
*/
#ifndef SIM_ANEW_H_INCLUDED
#define SIM_ANEW_H_INCLUDED

#include "world.h"

//  For the agenda
void anew_start (world_t *world, void *whom, uint64_t number);

#endif
