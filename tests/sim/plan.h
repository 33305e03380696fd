/*  plan.h - what is to happen in a run, and when */
#ifndef SIM_PLAN_H_INCLUDED
#define SIM_PLAN_H_INCLUDED

#include "world.h"

//  Chooses the features of a run, as somebody wishes, and its measures
void plan_choose (world_t *world, const wish_t wishes[FEATURE_COUNT]);

//  Puts everything on the agenda
void plan_make (world_t *world);

#endif
