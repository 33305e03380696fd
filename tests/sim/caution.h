/*  caution.h - what acts late must ask first

    Neither Cancel nor DeleteStatusOverride is guarded by a timestamp at the
    peer. An attempt of either that failed, and whatever is owed, may meet a
    newer registration there: so a question goes before, and is asked again
    after any failure.
*/
#ifndef SIM_CAUTION_H_INCLUDED
#define SIM_CAUTION_H_INCLUDED

#include "peer.h"

//  A batch goes: whether it asked what it had to
void caution_check (peer_t *peer, const batch_t *batch);

//  A batch has ended
void caution_learn (peer_t *peer, const batch_t *batch,
                    const zpeer_result_t *result);

//  What was owed of the instance has ended otherwise
void caution_drop (peer_t *peer, unsigned key);

#endif
