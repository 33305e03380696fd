/*  routes.h - which call a request is, and its proper answer (EUREKA.md 1) */
#ifndef SPEER_ROUTES_H_INCLUDED
#define SPEER_ROUTES_H_INCLUDED

#include "batch.h"
#include "core.h"
#include "reply.h"

//  The request is a batch
bool speer_routes_is_batch (const speer_http_t *request);

//  A call for one instance comes from a peer, not from a client
bool speer_routes_is_replication (const speer_http_t *request);

//  Makes the changes a request asks for and sets the answer. With way.apply off
//  nothing is changed and the answer is that of a success.
void speer_routes_handle (speer_core_t *core, const speer_http_t *request,
                          speer_batch_way_t way, speer_reply_t *reply);

#endif
