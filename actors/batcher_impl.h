/*  batcher_impl.h - what the parts of the batcher actor share

    batcher.c      commands, time, the loop
    batcher_in.c   chunks of the acceptor, messages of dispatchers
    batcher_out.c  batches
*/
#ifndef ZPEER_BATCHER_IMPL_H_INCLUDED
#define ZPEER_BATCHER_IMPL_H_INCLUDED

#include <czmq.h>
#include <zpeer/batcher.h>
#include "command.h"
#include "guard.h"
#include "peerlog.h"
#include "roster.h"
#include "socket.h"
#include "wire.h"

typedef enum { LANE_INSTANCES, LANE_ASGS, LANES } which_t;

typedef struct {
    zpeer_commands_t commands;
    zpeer_options_t *options;  //  Owned
    zpeer_log_t log;
    char *url;      //  Owned; NULL before PEER
    bool inherits;  //  An earlier batcher of the peer left attempts unsettled
    uint32_t id;    //  The peer's number, and its lane's
    zpeer_inlet_t inbox;         //  Of an owned PULL: chunks of the acceptor
    zpeer_inlet_t local;         //  Of an owned ROUTER: dispatchers over inproc
    zpeer_inlet_t remote;        //  The same over ipc and tcp
    zpeer_guard_t guard;         //  Of the remote one
    zpeer_ipc_t files;           //  Owned; of all
    zsock_t *uplink;             //  Owned; PUSH, to the acceptor; may be NULL
    zpeer_lane_t *lanes[LANES];  //  Owned; NULL before START
    zpeer_roster_t *roster;      //  Owned
    zpeer_peerlog_t peerlog;
    zpeer_frames_t frames;    //  Owned; the message being handled
    zpeer_buffer_t released;  //  Owned; RELEASED message being gathered
    uint64_t walk;            //  The number of the newest walk
    bool walked;              //  WALKED is to be sent
    bool closed;              //  The lanes have ended every task: what they
                              //  owed is not paid
    uint64_t next_id;         //  Of the next batch
    uint64_t now;             //  Read once a turn
    uint64_t stats_at;
    bool more;             //  Chunks may be left in the inbox
    uint32_t read;         //  Changes, this turn
    uint64_t drain_until;  //  0: no DRAIN is pending
    zpeer_ending_t drain_ending;
    uint64_t
        unknown_done;      //  DONE of batches that whoever said it did not have
    bool reached;          //  What the newest result said of the counter
    size_t room;           //  Items of the largest batch
    uint16_t *codes;       //  Owned; of a DONE, room for as many
    zpeer_copy_t *copies;  //  Owned; of a DONE, room for as many
} batcher_t;

//  batcher_in.c

//  A bounded number of chunks
void batcher_read_inbox (batcher_t *self);

//  A bounded number of messages of each kind of dispatcher
void batcher_read_servers (batcher_t *self);

//  batcher_out.c

//  Whether a lane may send: of a peer at its maximum there is one probe at a
//  time, whichever lane it comes from
bool batcher_may_send (const batcher_t *self);

//  Sends what may go now
void batcher_send (batcher_t *self);

//  An attempt has ended
void
batcher_done (batcher_t *self, which_t which, const zpeer_result_t *result);

//  A batch came back without an answer of the peer, and may yet be applied
void batcher_take_back (batcher_t *self, which_t which, uint64_t id);

//  The socket over which a dispatcher is spoken to
zpeer_inlet_t *batcher_server (batcher_t *self, int number);

//  Takes back what the roster has lost
void batcher_take_back_lost (batcher_t *self);

//  Tells the acceptor which instances the lanes have dropped, and whether the
//  walk is over. What it does not take is kept for the next call.
void batcher_send_up (batcher_t *self);

//  Whether something is kept for it
bool batcher_keeps (const batcher_t *self);

#endif
