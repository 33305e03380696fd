/*  attempt.h - an attempt to send a batch, as its lane sees it

    Here the world checks that a lane keeps to its window and its pauses, and
    that a dead peer is left in peace.
*/
#ifndef SIM_ATTEMPT_H_INCLUDED
#define SIM_ATTEMPT_H_INCLUDED

#include "peer.h"

//  The lane has made a batch
void attempt_begins (peer_t *peer, which_t which, bool single,
                     const zpeer_lane_batch_t *given);

//  The lane is about to be told how it ended
void attempt_ends (peer_t *peer, batch_t *batch, const zpeer_result_t *result);

//  It has been told. before: when its pause ended then
void attempt_ended (peer_t *peer, const batch_t *batch,
                    const zpeer_result_t *result, uint64_t before);

//  Somebody has ended the pauses
void attempt_retried (peer_t *peer);

#endif
