/*  outlets.h - the acceptor's sockets to the lanes' inboxes

    Threads: one, the acceptor's. Blocking: never. A plain struct: zeroed has no
    socket.
*/
#ifndef ZPEER_OUTLETS_H_INCLUDED
#define ZPEER_OUTLETS_H_INCLUDED

#include <czmq.h>
#include "handover.h"

//  Chunks under way to one lane; as many as its inbox takes wait there besides
#define ZPEER_OUTLETS_CHUNKS_MAX 32

typedef struct {
    zsock_t *sockets[ZPEER_LANES_MAX];  //  Owned PUSHes; NULL: no such lane
    unsigned limit;                     //  Lanes from here on have none
} zpeer_outlets_t;

//  Disconnects all lanes
void zpeer_outlets_free (zpeer_outlets_t *self);

//  Connects a lane's inbox. Returns ZPEER_OK, ZPEER_E_RANGE, ZPEER_E_EXISTS,
//  ZPEER_E_BIND or ZPEER_E_RESOURCES.
int
zpeer_outlets_open (zpeer_outlets_t *self, unsigned lane, const char *endpoint);

//  Disconnects a lane: it gets nothing more. Nothing happens if there is none.
void zpeer_outlets_close (zpeer_outlets_t *self, unsigned lane);

//  A zpeer_post_fn; self is a zpeer_outlets_t. The lane must be open.
bool zpeer_outlets_post (void *self, unsigned lane, zpeer_chunk_t *chunk);

//  Fills sockets (room for ZPEER_LANES_MAX) with those of the lanes that handover
//  waits for. Returns how many.
unsigned
zpeer_outlets_full (const zpeer_outlets_t *self,
                    const zpeer_handover_t *handover, zsock_t **sockets);

#endif
