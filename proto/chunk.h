/*  chunk.h - what the acceptor tells the lanes in one turn

    A chunk is built by one thread, then frozen and counted: every lane gets the
    same one. It travels as a message that holds a pointer and a free function,
    so that nothing leaks when a socket closes unread.

    A change carries the instance's state only when some lane may not have it;
    NULL means: as you were told last. A lane that keeps the state takes a
    reference of its own.
*/
#ifndef ZPEER_CHUNK_H_INCLUDED
#define ZPEER_CHUNK_H_INCLUDED

#include "state.h"

//  Most changes in a chunk
#define ZPEER_CHUNK_MAX 1024

typedef enum {
    //  The event came from a peer, which tells the others: it is not sent on
    ZPEER_CHANGE_REPLICATED = 1,
    //  A Register of an instance that is back after Forget: peers may still
    //  hold something of its earlier life
    ZPEER_CHANGE_FRESH = 2,
    //  The view has let go of the instance: the lane drops it once it owes
    //  nothing, and says so, for then its handle can be used again. No event:
    //  the action means nothing.
    ZPEER_CHANGE_RELEASE = 4,
    //  The lane was not told of a change it should have been: it owes the
    //  instance its present state. No event: the action means nothing.
    ZPEER_CHANGE_OWE = 8,
    //  A peer is verified: the lane asks it with a Heartbeat, and repairs what
    //  differs; with an origin only that one. No event: the action means nothing.
    ZPEER_CHANGE_VERIFY = 16,
    //  Part of a walk; with OWE or VERIFY
    ZPEER_CHANGE_WALK = 32,
    //  With REPLICATED or an origin: the view says exactly what the event says
    ZPEER_CHANGE_EXACT = 64,
    //  A Register that is all the source has: whatever else the peer holds of the
    //  instance, an override or an earlier life, has to go
    ZPEER_CHANGE_SNAPSHOT = 128,
    //  With RELEASE: whatever of the instance has not been told is not told any
    //  more. The change carries the state, for a lane may have dropped it already.
    ZPEER_CHANGE_GIVE_UP = 256
} zpeer_change_flag_t;

//  A walk tells one lane of the whole view, in chunks of its own
typedef enum {
    ZPEER_WALK_NONE,    //  Changes as they come, for every lane
    ZPEER_WALK_RESYNC,  //  The lane owes its peer every instance
    ZPEER_WALK_VERIFY   //  The lane asks its peer about every instance
} zpeer_walk_kind_t;

typedef struct {
    zpeer_state_t *state;  //  Owned reference, or NULL: unchanged
    //  Timestamp of a Heartbeat that the view cannot vouch for; of a Forget, the
    //  highest ever known, which its state has not; with OWE or VERIFY of what was
    //  cancelled, when that was accepted, ms; 0: none
    uint64_t given;
    uint32_t handle;  //  Of the instance, or of the ASG
    uint8_t action;   //  zpeer_action_t
    uint8_t
        origin;  //  Number of the lane whose peer told the source, and 1; 0:
                 //  none did
    uint16_t flags;  //  zpeer_change_flag_t
} zpeer_change_t;

//  A chunk is most of what is copied on the hot path
_Static_assert(sizeof (zpeer_change_t) == 24, "memory a change");

typedef struct {
    atomic_uint refs;
    uint32_t count;
    uint64_t number;  //  Of the walk, which WALKED names; each has the next
    uint8_t walk;     //  zpeer_walk_kind_t
    bool first;       //  Of the walk
    bool last;        //  Of the walk; such a chunk may be empty
    zpeer_change_t changes[ZPEER_CHUNK_MAX];
} zpeer_chunk_t;

//  An empty chunk of no walk, with one reference, the caller's
zpeer_chunk_t *zpeer_chunk_new (void);

zpeer_chunk_t *zpeer_chunk_ref (zpeer_chunk_t *self);

//  Whether anybody has a reference beside the caller
bool zpeer_chunk_shared (const zpeer_chunk_t *self);

//  Drops a reference; the last one drops those of the states too
void zpeer_chunk_unref (zpeer_chunk_t **self_p);

//  For zmq_msg_init_data: data is the chunk, hint is not used
void zpeer_chunk_free (void *data, void *hint);

#endif
