/*  remote.h - what the peer itself does with a request */
#ifndef SIM_REMOTE_H_INCLUDED
#define SIM_REMOTE_H_INCLUDED

#include "batch.h"
#include "buffer.h"

struct peer;

//  A late attempt lands that much before a read timeout after its end, at least
#define LATE_MARGIN_MS 10

//  The request, which is whom, is applied: the first count items. A restart has
//  made an end of it.
void remote_apply (struct world *world, void *whom, uint64_t count);

//  The peer answers: 400, 413, or it works through the items
void remote_answer (request_t *request);

//  How long an answer takes that costs no work; requests are answered in any
//  order
uint64_t remote_latency (struct world *world, const struct peer *peer);

//  reply.c: appends the body of the answer
void reply_write (const request_t *request, zpeer_buffer_t *out);

#endif
