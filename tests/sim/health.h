/*  health.h - the counter of one peer, and how it is asked

    The place of the health actor: it answers FAIL and HASREACHEDMAX, and takes
    OK. Here the world checks that the counter counts.
*/
#ifndef SIM_HEALTH_H_INCLUDED
#define SIM_HEALTH_H_INCLUDED

#include "counter.h"
#include "link.h"

typedef struct {
    struct world *world;  //  Borrowed
    unsigned peer;
    zpeer_counter_t counter;
    uint32_t in_row;  //  Failures that were counted, since the last OK
} health_t;

void
health_init (health_t *self, struct world *world, unsigned peer, uint32_t max);

//  A message of a dispatcher, which is answered over back
void health_receive (health_t *self, const message_t *message, link_t *back);

#endif
