/*  network.h - what lies between a lane and its peer: faults, and the peer

    The place of the dispatchers and their HTTP.
*/
#ifndef SIM_NETWORK_H_INCLUDED
#define SIM_NETWORK_H_INCLUDED

#include "peer.h"
#include "rng.h"

//  What the network does for a while; from SPELL_FAULTS on, each attempt has
//  that fault
typedef enum {
    SPELL_OK,
    SPELL_ITEM_500,  //  Half of the items are answered 500
    SPELL_400,       //  400 to everything
    SPELL_MIX,       //  A fault at random
    SPELL_FAULTS
} spell_t;

//  Any of them; one of five is OK
unsigned network_random_spell (rng_t *rng);

void network_set_spell (peer_t *peer, unsigned spell);

//  Kinds of faults
unsigned network_faults (void);

const char *network_fault_name (unsigned fault);

//  Sends a batch on its way
void network_send (peer_t *peer, const zpeer_lane_batch_t *given);

#endif
