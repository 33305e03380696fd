/*  rig.h - an engine between a feeder and counting peers

    Feeder and engine are threads of this process, peers are processes, of this
    one or of somebody else. What is
    told of here holds for the first of the peers, "the counted ones": one behind
    them may be sick.
*/
#ifndef RIG_H_INCLUDED
#define RIG_H_INCLUDED

#include <zpeer/zpeer.h>
#include "load.h"
#include "peers.h"

#define RIG_PEERS_MAX  64
#define RIG_TRANSPORTS "inproc|ipc|tcp"

typedef struct {
    zpeer_engine_t *engine;        //  Owned
    peer_t peers[RIG_PEERS_MAX];   //  Owned
    unsigned count;                //  Peers
    unsigned counted;              //  Of these
    uint64_t base[RIG_PEERS_MAX];  //  Items each had when the clock was started
    uint64_t known[RIG_PEERS_MAX];  //  Items each had when last asked
    uint64_t ahead_max;             //  Most events on their way; UINT64_MAX
    uint64_t ahead;                 //  The same of this flood
    int64_t silence_ns;             //  Nothing comes any more; 2 s
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

//  The same with peers that run already, "URL,CONTROL" each
void rig_join (rig_t *self, char *const *peers, unsigned count,
               const char *kind, char *const *settings);

//  Stops the engine, and the peers that were started here
void rig_stop (rig_t *self);

//  Sends load rounds times over as fast as the peers take it, and waits until
//  all of it came, or nothing for silence_ns. So that every event becomes a task
//  of its own (an instance told of twice while the first heartbeat waits needs
//  one item only), the feeder stays less than half a round ahead of the slowest.
//  Ends the program when a peer stops taking anything in the middle of it.
rig_flood_t rig_flood (rig_t *self, const load_t *load, unsigned rounds);

//  The same for at least so many events, from a frame on (load_feed_from)
rig_flood_t
rig_flood_from (rig_t *self, const load_t *load, size_t *next, uint64_t events);

//  The same once, for what comes before the first measurement
void rig_warm (rig_t *self, const load_t *load);

//  Sends so many Registers a second, evenly, for so long, over a few thousand
//  instances, one each frame; appends the counted peers' delays to ms (ms, at
//  most max). Returns how many there are.
size_t rig_trickle (rig_t *self, double per_second, double seconds, double *ms,
                    size_t max);

//  For what is sent by other means: starts the clock; waits until so many items
//  came to the counted peers together, or nothing for silence_ns. Returns how
//  many did, and when the last one (ns).
void rig_mark (rig_t *self);
uint64_t rig_settle (const rig_t *self, uint64_t wanted, int64_t *at);

#endif
