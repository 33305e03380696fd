/*  control.h - the same control over HTTP, on a port of its own

    On its own port, so that a peer told to refuse or to hang can still be told
    to stop that.

        POST /script         a document of script.h; 204, or 400 and why
        GET  /counters       {"requests": 3, …}, by the names of SPEER_COUNTERS
        GET  /requests?from=0  records from that number on, at most 100
        GET  /samples        takes up to 4096: [[received_ns, timestamp], …]
        GET  /apps           as the peer's own GET apps, in whatever mode
*/
#ifndef SPEER_CONTROL_H_INCLUDED
#define SPEER_CONTROL_H_INCLUDED

#include "http.h"
#include "reply.h"
#include "scripted_peer.h"

//  Does what the request says and sets the answer
void speer_control_handle (speer_t *peer, const speer_http_t *request,
                           speer_reply_t *reply);

#endif
