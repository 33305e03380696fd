/*  compare.h - whether a peer equals the source

    Presence, info, status, override, timestamp. Exempt is what the engine cannot
    do, and has said: what the peer rejected and was not registered anew since;
    what another writer registered there; and what a peer still holds of an
    instance that the source forgot.
*/
#ifndef CHAOS_COMPARE_H_INCLUDED
#define CHAOS_COMPARE_H_INCLUDED

#include "run.h"

//  How many instances differ. With say, the history tells how.
unsigned compare_peer (run_t *run, peer_t *peer, bool say);

#endif
