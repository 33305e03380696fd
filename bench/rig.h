/*  rig.h - an engine between a feeder and counting peers

    Feeder and engine are threads of this process, peers are processes. What is
    told of here holds for the first of the peers, "the counted ones": one behind
    them may be sick.
*/
#ifndef RIG_H_INCLUDED
#define RIG_H_INCLUDED

#include <zpeer/zpeer.h>
#include "load.h"
#include "peers.h"

#define RIG_PEERS_MAX 16

typedef struct {
    zpeer_engine_t *engine;        //  Owned
    peer_t peers[RIG_PEERS_MAX];   //  Owned
    unsigned count;                //  Peers
    unsigned counted;              //  Of these
    uint64_t base[RIG_PEERS_MAX];  //  Items each had when the clock was started
    uint64_t ahead;                //  Events that may be on their way
    uint64_t known;                //  Items the slowest had when last asked
} rig_t;

//  What a flood came to, the counted peers together
typedef struct {
    uint64_t tasks;      //  Events, each once for every counted peer
    uint64_t received;   //  Of these
    double seconds;      //  From the first sent to the last received
    double cpu_ns;       //  A task: feeder and engine
    double peer_cpu_ns;  //  A task
} rig_flood_t;

//  Starts peers and an engine that knows them, its events at a new endpoint of
//  kind inproc, ipc or tcp. settings: key=value, ended by NULL; may be NULL.
//  Ends the program when something does not start.
void rig_start (rig_t *self, const char *self_path, unsigned peers,
                const char *kind, char *const *settings);

void rig_stop (rig_t *self);

//  Sends load rounds times over as fast as the peers take it, and waits until
//  all of it came, or nothing for 2 s. So that every event becomes a task of
//  its own (an instance told of twice while the first heartbeat waits needs one
//  item only), the feeder stays less than half a round ahead of the slowest.
rig_flood_t rig_flood (rig_t *self, const load_t *load, unsigned rounds);

//  The same once, for what comes before the first measurement
void rig_warm (rig_t *self, const load_t *load);

//  Sends so many Registers a second, evenly, for so long, over a few thousand
//  instances, one each frame; appends the counted peers' delays to ms (ms, at
//  most max). Returns how many there are.
size_t rig_trickle (rig_t *self, double per_second, double seconds, double *ms,
                    size_t max);

#endif
