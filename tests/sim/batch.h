/*  batch.h - what a lane sent, and the HTTP requests made of it

    The world keeps every batch and every request to its end: something of them
    may come late.
*/
#ifndef SIM_BATCH_H_INCLUDED
#define SIM_BATCH_H_INCLUDED

#include "registry.h"
#include "result.h"

struct world;
struct peer;
struct job;

//  The two lanes of a peer
typedef enum { LANE_INSTANCES, LANE_ASGS, LANES } which_t;

typedef struct {
    struct peer *peer;  //  Borrowed
    uint64_t id;        //  From 1, in this world
    which_t which;
    uint64_t sent_at;
    unsigned lane_life;  //  Of its lane, when it was sent
    bool calm;           //  It was sent when there were no faults any more
    bool well;           //  When it has ended: the peer is not to blame
    bool single;         //  Each item is a request of its own
    uint32_t bytes;
    uint32_t count;
    item_t items[];
} batch_t;

//  What the body of an answer is
typedef enum {
    BODY_NONE,
    BODY_PROPER,
    BODY_GARBAGE,
    BODY_FEWER,
    BODY_MORE
} body_t;

typedef struct request {
    struct request *next;
    batch_t *batch;   //  Borrowed
    struct job *job;  //  Borrowed; whose request it is, while it is open
    uint32_t from;    //  Items of the batch
    uint32_t count;
    uint32_t bytes;
    unsigned server;    //  Of the peer: who gets it
    unsigned life;      //  Of the peer, when it was sent
    bool open;          //  Somebody waits for its end
    uint64_t given_up;  //  When nobody did any more; 0: it has not been
    //  How it ends
    zpeer_end_t end;
    uint16_t status;
    uint32_t retry_after_ms;
    bool first;     //  Of one that went out twice; nobody waits for its end
    bool repeated;  //  This is the second one
    body_t body;
} request_t;

batch_t *
batch_new (struct peer *peer, which_t which, bool single, uint32_t count);

//  NULL: there is none with this id
batch_t *batch_find (const struct world *world, uint64_t id);

//  The next request of a batch, all of it or its next item
request_t *
request_new (batch_t *batch, uint32_t from, uint32_t bytes, struct job *job);

//  Nobody waits for its end any more
void request_give_up (request_t *self);

//  Frees those of a world
void batch_free_all (struct world *world);

#endif
