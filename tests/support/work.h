/*  work.h - when a request is answered, and when its changes are made

    A request meets a rule, or none; waits as long as that says; is applied and
    answered. Its work goes on when the client has gone, as a servlet's does.
*/
#ifndef SPEER_WORK_H_INCLUDED
#define SPEER_WORK_H_INCLUDED

#include "conn.h"

typedef struct speer_work speer_work_t;

speer_work_t *speer_work_new (speer_core_t *core);
void speer_work_destroy (speer_work_t **self_p);

//  Takes a request from a connection, which may be answered on the spot
void speer_work_request (speer_work_t *self, speer_conns_t *conns,
                         speer_conn_t *conn, speer_http_t *request);

//  The answer of a connection is out; it has gone without one
void speer_work_sent (speer_work_t *self, speer_conn_t *conn);
void speer_work_gone (speer_work_t *self, speer_conn_t *conn, bool left);

//  Does what has become due
void speer_work_turn (speer_work_t *self, speer_conns_t *conns);

//  When to call it; INT64_MAX: not before a request comes
int64_t speer_work_wake_at (const speer_work_t *self);

//  As speer_release
size_t speer_work_release (speer_work_t *self);

//  Forgets what waits; their connections have been closed
void speer_work_drop (speer_work_t *self);

#endif
