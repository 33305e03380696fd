/*  remote.h - what the peer itself does with a batch */
#ifndef SIM_REMOTE_H_INCLUDED
#define SIM_REMOTE_H_INCLUDED

#include "world.h"

//  A late attempt lands that much before a read timeout after its end, at least
#define LATE_MARGIN_MS 10

//  The batch, which is whom, is applied: the first count items. A restart has
//  made an end of it.
void remote_apply (world_t *world, void *whom, uint64_t count);

//  The peer answers: 400, 413, or it works through the items
void remote_answer (world_t *world, peer_t *peer, batch_t *batch);

//  How long an answer takes that costs no work; requests are answered in any
//  order
uint64_t remote_latency (world_t *world, const peer_t *peer);

#endif
