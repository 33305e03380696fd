/*  peer.h - one peer, and the lane that brings it to the view

    Here: what the lane is told and asked, and what must hold each time. What
    lies between the two is in network.h.
*/
#ifndef SIM_PEER_H_INCLUDED
#define SIM_PEER_H_INCLUDED

#include "counter.h"
#include "lane.h"
#include "registry.h"

//  How long the oldest change may wait for company
#define LINGER_MS 10

struct world;

//  What is known of an instance at one peer
typedef struct {
    //  What the lane must not be blamed for
    bool conflict;  //  It has reported a conflict
    bool rejected;  //  It has given it up, and was told nothing new since
    bool touched;   //  Another writer registered it
    bool silent;    //  Answered 200, and not stored
    bool toxic;     //  Answered 500 though all was well
    bool wiped;     //  Lost in a restart, and nothing told since
    bool unowed;    //  There before the lane, which does not owe it
    //  What else the world remembers
    bool refused;       //  The lane has given it up, ever
    bool flying;        //  On its way
    bool noted;         //  By handle: the lane missed a change
    bool must_ask;      //  An act of it may come too late
    unsigned turn;      //  Grows when what was owed has ended otherwise
    uint64_t answered;  //  The peer's failures plus 1 when the question was
                        //  answered
    uint64_t asked_at;  //  When the peer applied the last question
    uint64_t first;     //  Since when a change waits; UINT64_MAX: none does
} peer_key_t;

typedef struct {
    struct world *world;  //  Borrowed
    unsigned number;      //  Of its lane, too
    registry_t registry;
    unsigned life;  //  Grows when it restarts, empty
    peer_key_t keys[KEYS_MAX];

    zpeer_lane_t *lane;  //  Owned; NULL: there is none
    unsigned lane_life;  //  Grows with every lane
    zpeer_counter_t counter;
    unsigned credit;
    unsigned flights;
    bool behind;           //  The lane misses what changes
    uint64_t answers_at;   //  When its last RELEASED arrives
    uint64_t wake;         //  The next wake-up of the lane; 0: none
    uint64_t wake_second;  //  Wake-ups in this second
    uint32_t wakes;

    //  How it answers
    uint32_t latency_ms;
    double per_item_ms;
    bool serial;  //  One request after the other
    uint64_t busy_until;
    uint32_t max_bytes;
    unsigned fault_rate;  //  Of single faults, per mille
    unsigned spell;       //  What the network does for a while; spell_t
    unsigned spells_400;  //  Times it answered 400 to everything

    //  What the lane must keep to
    uint64_t quiet_until;  //  No attempt before
    bool failed;           //  The last attempt failed: one at a time
    uint64_t failures;     //  In all
    unsigned rounds;       //  In a row, but for those that ended in a pause
    uint32_t in_row;       //  In a row, of those that count
    uint64_t down_since;   //  UINT64_MAX: it is not
    uint64_t tries;        //  Since then
} peer_t;

void peer_init (peer_t *self, struct world *world, unsigned number);

//  Ends the lane, if there is one: everything it accepted must end, too
void peer_leave (peer_t *self);

//  The peer gets a lane; whole: which owes it the whole view
void peer_join (peer_t *self, bool whole);

//  Nobody renews an instance there any more, unless it is another's: its lease
//  runs out
void peer_lapse (peer_t *self, unsigned key);

//  The lane is told of a change, or misses it
void peer_tell (peer_t *self, const zpeer_change_t *change);

//  A change of the instance was for the lane: it may not wait for long
void peer_expect (peer_t *self, unsigned key, uint32_t handle);

//  From now on the lane misses what changes
void peer_fall_behind (peer_t *self);

//  The lane is told of what it missed
void peer_catch_up (peer_t *self);

//  The peer is owed the whole view
void peer_resync (peer_t *self);

//  The peer has lost all
void peer_restart (peer_t *self);

//  What must hold after every call of the lane
void peer_check (peer_t *self);

//  The end of an attempt
void peer_done (peer_t *self, const zpeer_result_t *result);

//  Sends what the lane has to send, and sees to its next wake-up
void peer_poll (peer_t *self);

#endif
