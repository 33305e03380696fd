/*  operator.h - one who interferes through zpeerd's control socket

    Resyncs, verifies, ends pauses, whenever it pleases him; and adds the last of
    the peers while the engine runs.
*/
#ifndef CHAOS_OPERATOR_H_INCLUDED
#define CHAOS_OPERATOR_H_INCLUDED

#include "run.h"

void operator_init (run_t *run);

//  Does what is due
void operator_turn (run_t *run);

//  The faults are over: adds what is still to be added, and has the peers that
//  have been killed verified. Returns whether that is done: else they need a
//  round of heartbeats.
bool operator_calm (run_t *run);

//  Whether what operator_calm began has ended
bool operator_done (const run_t *run);

#endif
