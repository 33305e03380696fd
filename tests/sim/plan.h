/*  plan.h - what is to happen in a run, and when */
#ifndef SIM_PLAN_H_INCLUDED
#define SIM_PLAN_H_INCLUDED

#include "world.h"

//  Chooses the features of a run, and its measures
void plan_choose (world_t *world);

//  Puts everything on the agenda; returns when it will be calm
uint64_t plan_make (world_t *world);

#endif
