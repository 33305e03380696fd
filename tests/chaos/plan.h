/*  plan.h - the events: bursts and pauses, of all kinds

    What is sent is chosen by what was sent before, never by what came back, so
    that the seed alone decides it.
*/
#ifndef CHAOS_PLAN_H_INCLUDED
#define CHAOS_PLAN_H_INCLUDED

#include "run.h"

//  hostName of what another writer registers
#define PLAN_OTHER "other.example.net"

//  The timestamp of the first event. Those of the source grow from here, one by
//  one, and stay far below what another writer may use.
#define PLAN_EPOCH      UINT64_C (1700000000000)
#define PLAN_OTHER_LEAD 1000000

void plan_init (run_t *run);
void plan_fini (run_t *run);

//  Sends what is due
void plan_turn (run_t *run);

//  Sends at last what feeders left behind that went away
void plan_settle (run_t *run);

//  One round of the source's heartbeats
void plan_renew (run_t *run);

//  Sends a few events more, which nobody waits for
void plan_burst (run_t *run);

#endif
