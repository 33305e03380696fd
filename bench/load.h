/*  load.h - frames of events, encoded beforehand

    Instances are named as Spring names them. Loads over equally many instances
    are about the same ones, and those over fewer about the first of them
    (load_scattered has its own order).
*/
#ifndef LOAD_H_INCLUDED
#define LOAD_H_INCLUDED

#include <stdint.h>
#include <zpeer/event.h>

#define LOAD_FRAME_EVENTS 64

//  As many Registers as fit into what an engine takes by default
#define LOAD_FRAME_EVENTS_MAX 1000

typedef struct {
    char *data;  //  Owned
    size_t size;
} load_frame_t;

typedef struct {
    load_frame_t *frames;  //  Owned
    size_t count;
    size_t frame_events;  //  In each of them
} load_t;

//  How many events a frame holds of the loads that are made from now on;
//  LOAD_FRAME_EVENTS, until told
void load_set_frame (size_t events);

//  Registers of 1 kB with 20 members, or heartbeats, one of each instance. Their
//  number is rounded up to whole frames, and is returned.
size_t load_registers (load_t *self, size_t instances);
size_t load_heartbeats (load_t *self, size_t instances);

//  Registers of so many instances from that one on, a whole number of frames
size_t load_registers_from (load_t *self, size_t first, size_t instances);

//  Heartbeats in an order that no cache can guess
size_t load_scattered (load_t *self, size_t instances);

//  Registers as above, but with leases of so many seconds, renewed as often
size_t load_leases (load_t *self, size_t instances, unsigned seconds);

//  StatusUpdates
size_t load_statuses (load_t *self, size_t instances, zpeer_status_t status);

void load_free (load_t *self);

//  Of all its frames together
uint64_t load_events (const load_t *self);

//  Gives a Register of another name all that one of load_registers has
void load_put_info (zpeer_event_t *event, size_t index);

//  Called before each frame with the events sent so far; it may wait
typedef void (load_pace_fn) (void *arg, uint64_t sent);

//  Sends every frame rounds times over to an acceptor and waits for all the
//  answers. pace may be NULL: as fast as it goes. Returns how many events were
//  accepted.
uint64_t load_feed (const load_t *self, const char *endpoint, unsigned rounds,
                    load_pace_fn *pace, void *arg);

//  The same, but at least so many events, from frame *next on, round and round.
//  *next becomes the frame behind the last.
uint64_t load_feed_from (const load_t *self, const char *endpoint, size_t *next,
                         uint64_t events, load_pace_fn *pace, void *arg);

#endif
