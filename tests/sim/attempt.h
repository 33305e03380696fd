/*  attempt.h - a batch on its way, and how the attempt ends

    The place of the verdict and the health actor's counter. Here the world
    checks that a lane keeps to the pauses.
*/
#ifndef SIM_ATTEMPT_H_INCLUDED
#define SIM_ATTEMPT_H_INCLUDED

#include "peer.h"
#include "result.h"

//  A batch on its way, or come late. The world keeps it to its end.
typedef struct batch {
    struct batch *next;
    peer_t *peer;  //  Borrowed
    uint64_t id;
    uint32_t bytes;
    uint32_t count;
    unsigned life;       //  Of the peer, when it was sent
    unsigned lane_life;  //  The same, of the lane
    //  How it ends
    zpeer_end_t end;
    uint16_t status;
    uint32_t retry_after_ms;
    bool answered;  //  Each item has its code
    item_t items[];
} batch_t;

//  The batch, which is whom, has ended: judges it and tells the lane
void attempt_end (struct world *world, void *whom, uint64_t number);

//  The same after a delay, ms; status: HTTP, 0: none came
void attempt_end_after (struct world *world, batch_t *batch, uint64_t delay,
                        zpeer_end_t end, uint16_t status);

#endif
