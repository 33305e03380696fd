/*  batcher.h - one peer's batcher: its lanes, its roster, what it reads

    The place of batcher.c, batcher_in.c and batcher_out.c; a turn does the same
    in the same order. Now and then it is slow to read: what comes in waits.
*/
#ifndef SIM_BATCHER_H_INCLUDED
#define SIM_BATCHER_H_INCLUDED

#include "batch.h"
#include "lane.h"
#include "link.h"
#include "roster.h"

//  How long the oldest change may wait for company
#define LINGER_MS 10

//  Chunks of the acceptor that its inbox can hold
#define INBOX_MAX 32

//  Items of a batch, and a few more: an instance at the end may need one
#define BATCHER_ITEMS_MAX 256

typedef struct {
    struct peer *peer;           //  Borrowed
    zpeer_lane_t *lanes[LANES];  //  Owned; NULL: it is not there
    zpeer_roster_t *roster;      //  Owned
    bool unsettled;  //  The lanes before left attempts that may yet be applied
    unsigned life;   //  Grows with every pair of lanes
    bool reached;    //  What the newest result said of the counter
    zpeer_chunk_t *inbox[INBOX_MAX];  //  Owned
    unsigned inbox_count;
    unsigned inbox_size;      //  Chunks it takes in this run
    queue_t server;           //  Owned; messages of dispatchers
    link_t uplink;            //  To the acceptor
    zpeer_buffer_t released;  //  Owned; RELEASED being gathered
    uint64_t walk;            //  The number of the newest walk
    bool walked;              //  WALKED is to be sent
    uint64_t stuck_until;     //  It reads nothing before
    uint64_t turn_at;         //  The next turn; UINT64_MAX: none is planned
    uint64_t wake_second;     //  Wake-ups in this second
    uint32_t wakes;
    uint16_t codes[BATCHER_ITEMS_MAX];
    zpeer_copy_t copies[BATCHER_ITEMS_MAX];
} batcher_t;

void batcher_init (batcher_t *self, struct peer *peer);

//  Gets lanes, for an acceptor that knows them already
void batcher_start (batcher_t *self);

//  Everything the lanes accepted must end
void batcher_stop (batcher_t *self);

//  A chunk of the acceptor: false if the inbox is full
bool batcher_post (batcher_t *self, zpeer_chunk_t *chunk);

//  A message of a dispatcher: it is the batcher's now
void batcher_receive (batcher_t *self, message_t *message);

//  RETRY-NOW
void batcher_retry (batcher_t *self);

//  It reads nothing for so long, ms
void batcher_stick (batcher_t *self, uint64_t ms);

//  There may be something to do
void batcher_turn_soon (batcher_t *self);

//  batcher_in.c

//  A bounded number of chunks, of messages
void batcher_read_inbox (batcher_t *self);

void batcher_read_server (batcher_t *self);

//  batcher_out.c

//  A peer whose counter stands at its maximum gets one probe at a time
bool batcher_may_send (const batcher_t *self);

//  Sends what may go now
void batcher_send (batcher_t *self);

//  An attempt has ended
void
batcher_done (batcher_t *self, which_t which, const zpeer_result_t *result);

//  A batch came back without an answer of the peer, and may yet be applied
void batcher_take_back (batcher_t *self, which_t which, uint64_t id);

//  Takes back what the roster has lost
void batcher_take_back_lost (batcher_t *self);

//  Tells the acceptor which instances the lanes have dropped, and whether the
//  walk is over
void batcher_send_up (batcher_t *self);

#endif
