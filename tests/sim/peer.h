/*  peer.h - one peer, and all of the engine that is there for it alone

    Here: what is known of its instances and what its lanes must not be blamed
    for, what the lanes say, and what must hold each time.
*/
#ifndef SIM_PEER_H_INCLUDED
#define SIM_PEER_H_INCLUDED

#include "batcher.h"
#include "dispatcher.h"
#include "health.h"
#include "registry.h"

struct world;

//  Most servers behind the address of one peer
#define SERVERS_MAX 3

//  What is known of an instance, or an ASG, at one peer
typedef struct {
    //  What the lane must not be blamed for
    bool conflict;  //  It has reported a conflict
    bool rejected;  //  It has given it up, and was told nothing new since
    bool missed;    //  That was because it answered 404 again and again
    bool touched;   //  Another writer registered it
    bool silent;    //  Answered 200, and not stored
    bool toxic;     //  Answered 500 though all was well
    bool wiped;     //  Lost in a restart, and nothing told since
    bool dropped;   //  It could not even be asked for
    bool torn;      //  Lost in a restart, before the source heard of it; a
                    //  Heartbeat does not tell an override
    bool ahead;     //  It heard something of it before the source did
    bool lost;      //  Something of an engine that is gone may come late
    bool ghost;   //  When an engine began, it was there and not at the source,
                  //  or had a higher timestamp
    bool late;    //  An ASG: an update of it came late
    uint8_t met;  //  Attempts in a row that failed, for another item hung
    //  What else the world remembers
    bool refused;           //  The lane has given it up, ever
    bool flying;            //  On its way
    bool must_ask;          //  An act of it may come too late
    unsigned turn;          //  Grows when what was owed has ended otherwise
    uint64_t lost_until;    //  When nothing comes late any more
    unsigned replica_life;  //  Of the peer, at the newest replicated event
    uint64_t answered;      //  When the question was answered, plus 1; 0: an
                            //  attempt of it failed since, or never
    unsigned questions;     //  Answered, and nothing came of it yet
    uint64_t asked_at;      //  When the peer applied the last question
    uint64_t first;         //  Since when a change waits; UINT64_MAX: none does
} peer_key_t;

//  How often something dead was tried
typedef struct {
    uint64_t since;  //  UINT64_MAX: it is not dead
    uint64_t tries;  //  Since then
    bool refused;    //  And some answered a status
} grave_t;

//  What a lane must keep to
typedef struct {
    grave_t grave;  //  All that it tries fails for good
    bool failed;    //  The last attempt failed: one at a time
    unsigned flights;
    unsigned refusals;    //  In a row
    uint64_t refused_id;  //  Newest batch when the last of these was counted
    unsigned rounds;  //  Failures in a row, but for those that ended in a pause
} pace_t;

//  A walk, as the acceptor posts it
typedef struct {
    bool open;      //  It has begun, and nobody has said that it is over
    bool complete;  //  All of it is posted
    bool first;     //  The lane is new, and knows nothing before it
    uint64_t number;
    uint64_t posted_at;
} stroll_t;

typedef struct peer {
    struct world *world;              //  Borrowed
    unsigned number;                  //  Of its lane, too
    registry_t servers[SERVERS_MAX];  //  Those behind its address
    unsigned server_count;            //  1, but in runs with SERVERS
    uint8_t spread;                   //  How requests come to them
    unsigned turn;                    //  Whose is the next request
    unsigned life;                    //  Grows when one restarts, empty
    peer_key_t keys[KEYS_ALL];

    batcher_t batcher;
    dispatcher_t dispatchers[DISPATCHERS_MAX];
    health_t health;
    stroll_t stroll;

    //  How it answers
    uint32_t latency_ms;
    double per_item_ms;
    uint32_t batch_ms;  //  For each request, whatever is in it
    bool serial;        //  One request after the other
    bool copies;        //  With a 409 comes what it has
    uint64_t busy_until;
    uint32_t max_bytes;
    uint16_t firewall;    //  What is said of a batch that it does not like
    unsigned fault_rate;  //  Of single faults, per mille
    unsigned spell;       //  What the network does for a while; spell_t
    unsigned spells_400;  //  Times it answered 400 to everything

    bool by_chance;  //  The attempt that ended last failed, and not for an item
    pace_t paces[LANES];
    uint64_t sent;         //  Batches of both lanes
    uint64_t sent_at;      //  The newest of them
    uint64_t idle_since;   //  The same plus 1, when a lane might have sent one
    uint64_t quiet_until;  //  No attempt before
    grave_t grave;         //  Its counter stands at its maximum
} peer_t;

void peer_init (peer_t *self, struct world *world, unsigned number);

void peer_fini (peer_t *self);

//  The peer gets lanes
void peer_join (peer_t *self);

//  Ends the lanes, if there are any
void peer_leave (peer_t *self);

static inline bool
peer_joined (const peer_t *self)
{
    return self->batcher.roster != NULL;
}

//  The lane of instances; NULL: there is none
static inline zpeer_lane_t *
peer_lane (const peer_t *self)
{
    return self->batcher.lanes[LANE_INSTANCES];
}

//  The dispatcher with this routing id, if the batcher's socket knows it; else
//  NULL
dispatcher_t *peer_dispatcher (peer_t *self, zpeer_slice_t identity);

//  Nobody renews an instance there any more, unless it is another's: its lease
//  runs out
void peer_lapse (peer_t *self, unsigned key);

//  A lane is told of a change
void peer_change (peer_t *self, const zpeer_change_t *change);

//  A lane has something to say
void peer_report (peer_t *self, const zpeer_lane_report_t *report);

//  The peer has lost all; of several servers one has
void peer_restart (peer_t *self);

//  The server that gets a request with this item in front
unsigned peer_next_server (peer_t *self, const item_t *first);

//  What nobody has renewed there is gone
void peer_expire (peer_t *self);

//  Whether the registration is at one of its servers
bool peer_has (peer_t *self, unsigned key);

//  What must hold after every call of a lane
void peer_check (peer_t *self);

//  Nothing waits longer than it may, by the world's own memory
void peer_check_linger (peer_t *self);

#endif
