/*  stroll.h - what a walk of the view must keep to

    It is posted in order, beside live changes and not in their place, one peer
    after the other; and its lane says when it is over.
*/
#ifndef SIM_STROLL_H_INCLUDED
#define SIM_STROLL_H_INCLUDED

#include "peer.h"

//  A chunk of a walk is about to be offered to the lane
void stroll_check (peer_t *peer, const zpeer_chunk_t *chunk);

//  Its inbox has taken it
void stroll_posted (peer_t *peer, const zpeer_chunk_t *chunk);

//  A turn of the batcher is over. Returns whether the lane's walk has ended.
bool stroll_over (peer_t *peer);

//  The acceptor has heard of the end of that walk
void stroll_walked (peer_t *peer, uint64_t number);

//  In the end no walk is under way
void stroll_compare (struct world *world);

#endif
