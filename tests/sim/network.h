/*  network.h - what lies between a dispatcher and its peer: faults

    The place of HTTP. Each fault of tests/support/rule.h has its counterpart.
*/
#ifndef SIM_NETWORK_H_INCLUDED
#define SIM_NETWORK_H_INCLUDED

#include "batch.h"
#include "rng.h"

struct peer;

//  What the network does for a while; from SPELL_FAULTS on, each request has
//  that fault
typedef enum {
    SPELL_OK,
    SPELL_ITEM_500,  //  Half of the items are answered 500
    SPELL_ITEM_403,  //  Some are answered 403
    SPELL_400,       //  400 to everything
    SPELL_SLOW,      //  Every answer takes its time
    SPELL_MIX,       //  A fault at random
    SPELL_FAULTS
} spell_t;

//  Any of them; one of five is OK
unsigned network_random_spell (rng_t *rng);

void network_set_spell (struct peer *peer, unsigned spell);

//  Kinds of faults
unsigned network_faults (void);

const char *network_fault_name (unsigned fault);

//  Sends a request on its way
void network_send (request_t *request);

//  The request, which is whom, has ended
void network_end (struct world *world, void *whom, uint64_t number);

//  The same after a delay, ms; status: HTTP, 0: none came
void network_end_after (request_t *request, uint64_t delay, zpeer_end_t end,
                        uint16_t status, body_t body);

#endif
