/*  figures.h - what the engine has counted for one of its peers

    Statistics as they are published (actors/FIGURES.md): of the time of the call,
    or later. Waits for the next ones, as long as a pair waits.
*/
#ifndef FIGURES_H_INCLUDED
#define FIGURES_H_INCLUDED

#include "pair.h"

//  All figures of a source: "peer", "dispatcher". A new reference.
json_t *figures_of (pair_t *pair, size_t peer, const char *source);

//  One of them; 0 if the source has none of this name
json_int_t
figure_of (pair_t *pair, size_t peer, const char *source, const char *name);

//  The peer has answered batches, and never refused one as a whole, or in an answer
//  that says nothing
void figures_expect_peace (pair_t *pair, size_t peer);

#endif
