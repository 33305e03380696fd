/*  forwarder.h - a TCP connection that can be cut and joined again

    Passes bytes both ways between whoever connects to its port and another port
    of this machine. How it treats them is changed while it runs. One for HTTP
    reads requests, too, and can be a firewall.

    Threads: a forwarder is a thread of its own; every function may be called
    from any. What speer_forwarder_set changes holds when it returns.
*/
#ifndef SPEER_FORWARDER_H_INCLUDED
#define SPEER_FORWARDER_H_INCLUDED

#include <stdint.h>

typedef enum {
    SPEER_PASS,  //  As if it were not there
    SPEER_HOLD,  //  Connections stay and nothing passes: a pulled cable
    SPEER_CUT    //  Connections are closed, new ones at once
} speer_passage_t;

typedef struct speer_forwarder speer_forwarder_t;

//  Listens on a free port of 127.0.0.1, for what listens on target
speer_forwarder_t *speer_forwarder_new (int target);

//  The same for HTTP: a request is passed on when it is whole
speer_forwarder_t *speer_forwarder_new_http (int target);

//  Closes all connections and waits for the thread. Works twice.
void speer_forwarder_destroy (speer_forwarder_t **self_p);

int speer_forwarder_port (const speer_forwarder_t *self);

//  Bytes that came back from the target so far
uint64_t speer_forwarder_bytes (speer_forwarder_t *self);

void speer_forwarder_set (speer_forwarder_t *self, speer_passage_t passage);

//  Of HTTP: a request whose body holds this text is answered 403, and not passed
//  on. "": each is; NULL: none is.
void speer_forwarder_deny (speer_forwarder_t *self, const char *text);

#endif
