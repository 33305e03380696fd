/*  flaw.h - items that a peer, or what stands before it, does not bear */
#ifndef SIM_FLAW_H_INCLUDED
#define SIM_FLAW_H_INCLUDED

#include "batch.h"

typedef enum {
    FLAW_POISON = 1,  //  The batch is answered 400
    FLAW_TOXIC = 2,   //  The item is answered 500
    FLAW_SILENT = 4,  //  It is answered 200, and not stored
    FLAW_BANNED = 8,  //  The batch is answered what the peer's firewall says
    FLAW_HANGS = 16   //  The batch is not answered
} flaw_t;

//  Flaws of the item; none once the world is healed
unsigned flaw_of (const struct world *world, const item_t *item);

//  How many items of the request have one of the flaws. Each is counted as an answer
//  that its version cost.
unsigned flaw_count (const request_t *request, unsigned flaws);

//  How many items stand before the first that has one of the flaws
uint32_t flaw_first (const request_t *request, unsigned flaws);

//  An attempt has ended. An instance that hangs must not take others along again and
//  again.
void flaw_met (const batch_t *batch, const zpeer_result_t *result);

//  Flaws for which a peer may refuse what the view says of the instance
unsigned flaw_stands (const struct world *world, unsigned key);

#endif
