/*  fault.h - what befalls the peers and the dispatchers

    One fault at a time at each peer, with a rest between two: what a request of
    the one still does must be over before the other, for the engine promises
    nothing about a peer that applies a request later than a read timeout after
    its next answer. How late that is at least depends on how many requests are
    under way at once: two read timeouts, or with one at a time a pause more.
*/
#ifndef CHAOS_FAULT_H_INCLUDED
#define CHAOS_FAULT_H_INCLUDED

#include "run.h"

void fault_init (run_t *run);

//  Begins and ends what is due
void fault_turn (run_t *run);

//  All are over: every peer works as a server does
void fault_calm (run_t *run);

#endif
