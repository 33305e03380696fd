/*  lane.h - what one peer still has to be told

    Not a list of tasks but, per instance, which kinds of change the peer has
    not confirmed, and a reference to the newest state. What goes over the wire
    is rendered when a batch is built.

    A core: no socket, thread, clock or log. Every function takes now, the
    monotonic time in ms; what the lane has to say comes back through the report
    function, and zpeer_lane_wake says when to call again.

    Threads: one at a time. Units: ms, bytes, items. Memory: at most
    64 bytes per instance the lane knows, and what is in flight.
*/
#ifndef ZPEER_LANE_H_INCLUDED
#define ZPEER_LANE_H_INCLUDED

#include "chunk.h"
#include "item.h"
#include "result.h"

//  How a task ends; each task accepted ends exactly once. name, label, meaning
#define ZPEER_LANE_ENDINGS(X)                                                  \
    X (DELIVERED, "delivered", "the peer confirmed it")                        \
    X (SUPERSEDED, "superseded", "a later change made it unnecessary")         \
    X (EXPIRED, "expired", "a Heartbeat, or an ASG update, too old to send")   \
    X (OVERFLOWED, "overflowed", "a Heartbeat, too many were waiting")         \
    X (ESCALATED, "escalated", "lost while the counter stood at its maximum")  \
    X (FAILED, "failed", "lost to another permanent error")                    \
    X (DROPPED, "dropped",                                                     \
       "the peer cannot be told: nothing is known, or it was given up")        \
    X (REJECTED, "rejected", "the peer does not take it")                      \
    X (MISSING, "missing", "404: the peer does not have the instance")         \
    X (CONFLICT, "conflict", "the peer has a newer registration")              \
    X (SETTLED, "settled",                                                     \
       "the peer has it from elsewhere, or told it itself")                    \
    X (FORGOTTEN, "forgotten", "the source dropped the instance")              \
    X (SHUTDOWN, "shutdown", "still waiting when the engine stopped")          \
    X (PEER_REMOVED, "peer-removed", "still waiting when the peer went")

typedef enum {
#define X(name, label, meaning) ZPEER_ENDED_##name,
    ZPEER_LANE_ENDINGS (X)
#undef X
        ZPEER_ENDINGS
} zpeer_ending_t;

//  What the lane tells its host while it works
typedef enum {
    ZPEER_LANE_CONFLICT,       //  copy: the peer's newer registration
    ZPEER_LANE_NEED_REGISTER,  //  the view has no Register, or an older one
    ZPEER_LANE_REJECTED,       //  code: the item's status, or the HTTP status.
                               //  It is tried again, but not reported again
                               //  before the peer has taken it.
    ZPEER_LANE_DROPPED,        //  ending: ESCALATED or FAILED, once per
    //  instance; DROPPED when it cannot be asked for, or is given up;
    //  EXPIRED or OVERFLOWED of an ASG update
    ZPEER_LANE_DELIVERED,  //  bits: what was confirmed; only when asked
    ZPEER_LANE_RELEASED    //  The lane has dropped the instance; its
                           //  handle is free as far as it is concerned
} zpeer_lane_report_kind_t;

//  Kinds of change, as bits of zpeer_lane_report_t
#define ZPEER_LANE_C 1u   //  Cancel
#define ZPEER_LANE_R 2u   //  Register
#define ZPEER_LANE_S 4u   //  StatusUpdate
#define ZPEER_LANE_D 8u   //  DeleteStatusOverride
#define ZPEER_LANE_H 16u  //  Heartbeat

typedef struct {
    zpeer_lane_report_kind_t kind;
    const zpeer_state_t *state;  //  Borrowed for the call
    const zpeer_copy_t *copy;    //  Borrowed, or NULL
    zpeer_ending_t ending;
    unsigned bits;  //  ZPEER_LANE_x: which kinds of change it is about
    int code;
    uint64_t batch;  //  Id of the batch it happened to; 0: none
} zpeer_lane_report_t;

typedef void (zpeer_lane_report_fn) (void *arg,
                                     const zpeer_lane_report_t *report);

//  first_items for a peer of which nothing is known: one that needs 60 ms an item
//  answers them within a second
#define ZPEER_LANE_FIRST_ITEMS 16

typedef struct {
    uint32_t max_items;        //  Of a batch
    uint32_t first_items;      //  Of the first, which goes alone: how much the
                               //  peer can take is not known yet. 0: max_items,
                               //  and as many batches as the credit allows.
    uint32_t max_bytes;        //  Of a batch's body
    uint32_t linger_ms;        //  How long the oldest change waits for company
    uint32_t read_timeout_ms;  //  How long an ambiguous attempt may come late
    uint32_t pool;             //  Most instances waiting with a Heartbeat
    uint32_t asg_life_ms;      //  0: a lane of instances. Else one of ASGs:
                               //  single items, each worth sending this long
    uint32_t max_in_flight;    //  Batches; 0: as many as the credit allows
    bool single;               //  Each item is a request of its own, so that a
                               //  batch may be done by half
    bool
        inherits;  //  An earlier lane of this peer left attempts that may yet be
                   //  applied: what it is told until two read timeouts after
                   //  the peer's first answer is settled like an ambiguous
                   //  attempt
    bool delivered;  //  Report ZPEER_LANE_DELIVERED
    uint8_t origin;  //  Of changes that this peer told the source; 0:
                     //  none are
    uint64_t seed;   //  For the jitter of the pauses
    zpeer_lane_report_fn *report;  //  May be NULL
    void *arg;
} zpeer_lane_options_t;

//  A batch to send. A ZPEER_ITEM_FETCH is alone in it. The items borrow what the lane keeps: write them down
//  before the lane is called again.
typedef struct {
    uint64_t id;
    uint32_t count;
    uint32_t bytes;  //  Upper bound of the items' JSON
    const zpeer_item_t *items;
} zpeer_lane_batch_t;

//  Gauges and counters
typedef struct {
    uint64_t accepted;              //  Tasks
    uint64_t ended[ZPEER_ENDINGS];  //  Tasks, by ending
    uint64_t waiting;               //  Tasks
    uint64_t in_flight;             //  Tasks
    uint32_t instances;             //  Known to the lane
    uint32_t queued;                //  Instances with a live change waiting
    uint32_t owed;                  //  Instances told in vain
    uint32_t renew;                 //  Of these: only a Heartbeat was lost
    uint32_t unsure;    //  Instances with an unsettled ambiguous attempt
    uint32_t rejected;  //  Instances the peer does not take, or not keep
    uint32_t resting;   //  Instances to be tried again at a time of their own
    uint32_t batches_in_flight;
    uint32_t size;          //  Items a batch may have at present
    uint32_t byte_limit;    //  Bytes a batch may have at present
    uint32_t window;        //  Batches that may be in flight at present
    uint64_t memory_bytes;  //  Of the lane itself, without states
} zpeer_lane_stats_t;

typedef struct zpeer_lane zpeer_lane_t;

zpeer_lane_t *zpeer_lane_new (const zpeer_lane_options_t *options);

void zpeer_lane_destroy (zpeer_lane_t **self_p);

//  Takes one change of the view in. Keeps references of its own.
void zpeer_lane_change (zpeer_lane_t *self, uint64_t now,
                        const zpeer_change_t *change);

//  Builds the next batch if one may go now; credit is how many more the
//  dispatchers can take. id is the number the caller gives it, never used
//  before. Returns false when there is none to send.
bool zpeer_lane_next (zpeer_lane_t *self, uint64_t now, unsigned credit,
                      uint64_t id, zpeer_lane_batch_t *batch);

//  Takes the end of an attempt in; codes, if there are any, must be as many as
//  the batch has items. A batch the lane does not know is ignored: returns
//  false.
bool zpeer_lane_done (zpeer_lane_t *self, uint64_t now,
                      const zpeer_result_t *result);

//  What a success says of the peer, whatever it says of the items
typedef struct {
    bool taken;        //  It took something, or has something newer
    uint16_t trouble;  //  If not: the status of an item that only a peer in
                       //  trouble gives, or somebody in its place; 0: none
} zpeer_lane_evidence_t;

//  Of the attempt that zpeer_lane_done was last told of
void
zpeer_lane_evidence (const zpeer_lane_t *self, zpeer_lane_evidence_t *evidence);

//  Whether the failure of an ASG update is about the ASG and not about its peer:
//  it is rejected, and nothing else has to wait. Any 4xx is.
bool zpeer_lane_asg_refused (const zpeer_result_t *result);

//  When zpeer_lane_next should be called though nothing came in; UINT64_MAX:
//  not before something does. Never in the past.
uint64_t
zpeer_lane_wake (const zpeer_lane_t *self, uint64_t now, unsigned credit);

//  How many batches are on their way
uint32_t zpeer_lane_flights (const zpeer_lane_t *self);

//  How many items a batch on its way has; 0: it is none of this lane's
uint32_t zpeer_lane_items (const zpeer_lane_t *self, uint64_t id);

//  When the pause after a failure ends; 0: there is none. Both lanes of a peer
//  pause together: what one learns, the other is told.
uint64_t zpeer_lane_pause (const zpeer_lane_t *self);

void zpeer_lane_hold (zpeer_lane_t *self, uint64_t until);

//  What waits does not wait for company any more: the lane is about to close
void zpeer_lane_hurry (zpeer_lane_t *self);

//  Ends the pause, however long: if anything waits or is owed, it is tried now
void zpeer_lane_retry_now (zpeer_lane_t *self);

//  How many instances are owed
uint32_t zpeer_lane_owed (const zpeer_lane_t *self);

//  A walk of the whole view begins; the changes with ZPEER_CHANGE_WALK that
//  follow belong to it. One that is under way is given up as a walk: what it
//  owes stays owed.
void zpeer_lane_walk_begin (zpeer_lane_t *self);

//  All changes of the walk have come
void zpeer_lane_walk_complete (zpeer_lane_t *self);

//  How far a walk has come
typedef struct {
    bool active;    //  From its begin to zpeer_lane_walk_end
    bool complete;  //  All its changes have come
    uint32_t instances;
    uint32_t left;      //  Instances still owed
    uint32_t repaired;  //  Told, because the peer was to be told, or differed
    uint32_t refused;   //  Conflict, rejected, or nothing to ask with
} zpeer_lane_walk_t;

void zpeer_lane_walk (const zpeer_lane_t *self, zpeer_lane_walk_t *walk);

//  Its end is known to whom it concerns: the walk is complete and nothing is
//  left
void zpeer_lane_walk_end (zpeer_lane_t *self);

//  Ends every task that has not ended, with this ending; what is in flight is
//  forgotten. For stopping. Returns how many tasks that were, and instances that
//  are owed and have no task.
uint64_t zpeer_lane_close (zpeer_lane_t *self, zpeer_ending_t ending);

//  Whether attempts may yet be applied at the peer that it has not answered
bool zpeer_lane_unsettled (const zpeer_lane_t *self);

//  Nothing waits and nothing is in flight; what is owed remains only if the peer
//  does not answer
bool zpeer_lane_idle (const zpeer_lane_t *self);

void zpeer_lane_stats (const zpeer_lane_t *self, zpeer_lane_stats_t *stats);

//  Walks everything and says whether the accounting sum holds and every
//  instance stands where it belongs. For tests: it is slow.
bool zpeer_lane_check (const zpeer_lane_t *self);

#endif
