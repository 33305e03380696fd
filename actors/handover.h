/*  handover.h - hands every lane what changed

    The changes of one turn are gathered in one chunk, which all lanes get. A
    lane whose inbox is full must neither stop the others for long nor lose
    anything:

      1. Its chunk is kept, and the acceptor reads no feeders, who feel it.
      2. After ZPEER_HANDOVER_PATIENCE_MS the lane is *behind*, and feeders go
         on. Of the chunk that was kept, and of all that changes from now on,
         only the handles are noted.
      3. When its inbox has room again it gets, for each handle noted, what the
         view says by now (OWE, FORGET, RELEASE; see zpeer_view_catch_up).
         Then it is a lane like any other.

    A lane that is behind gets no newer change before it has caught up, so the
    order of the changes of an instance holds, and it never misses a state.

    A core: no socket, thread or clock. What a lane is told goes through the post
    function. now: monotonic, ms.
*/
#ifndef ZPEER_HANDOVER_H_INCLUDED
#define ZPEER_HANDOVER_H_INCLUDED

#include "log.h"
#include "view.h"

//  Lanes are numbered from 0
#define ZPEER_LANES_MAX 64

//  How long one lane may hold up the feeders
#define ZPEER_HANDOVER_PATIENCE_MS 1000

//  Puts a chunk into a lane's inbox. Returns true if it took a reference of its
//  own, false if there is no room.
typedef bool (zpeer_post_fn) (void *arg, unsigned lane, zpeer_chunk_t *chunk);

typedef struct {
    uint64_t chunks;   //  Taken by lanes, in all
    uint64_t refused;  //  Not taken at once, in all
    uint64_t owed;     //  Changes a lane was told of as owed, in all
    uint32_t lanes;
    uint32_t behind;  //  Lanes
    uint32_t noted;   //  Handles, all lanes together
} zpeer_handover_stats_t;

typedef struct zpeer_handover zpeer_handover_t;

//  View, log and arg are borrowed, and must live as long
zpeer_handover_t *
zpeer_handover_new (const zpeer_view_t *view, const zpeer_log_t *log,
                    zpeer_post_fn *post, void *arg);

void zpeer_handover_destroy (zpeer_handover_t **self_p);

//  Returns ZPEER_OK, ZPEER_E_RANGE or ZPEER_E_EXISTS
int zpeer_handover_add (zpeer_handover_t *self, unsigned lane);

//  Lets go of a lane: nothing more is posted to it. Returns ZPEER_OK or
//  ZPEER_E_UNKNOWN.
int zpeer_handover_remove (zpeer_handover_t *self, unsigned lane);

//  Whether there is such a lane
bool zpeer_handover_has (const zpeer_handover_t *self, unsigned lane);

//  How many more changes the present chunk takes; 0 while feeders wait
uint32_t zpeer_handover_room (const zpeer_handover_t *self);

//  Adds a change for all lanes, and a reference to its state. There must be
//  room.
void zpeer_handover_put (zpeer_handover_t *self, const zpeer_change_t *change);

//  Ends a turn: posts the present chunk, and what lanes did not take earlier, a
//  bounded number of chunks
void zpeer_handover_send (zpeer_handover_t *self, uint64_t now);

//  Whether zpeer_handover_send must be called as soon as the lane's inbox has
//  room again. Until then nothing else may be posted to it.
bool zpeer_handover_waits (const zpeer_handover_t *self, unsigned lane);

//  When zpeer_handover_send must be called though no lane got room; UINT64_MAX:
//  not before
uint64_t zpeer_handover_wake (const zpeer_handover_t *self);

void zpeer_handover_stats (const zpeer_handover_t *self,
                           zpeer_handover_stats_t *stats);

#endif
