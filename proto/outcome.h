/*  outcome.h - what the engine reports to its host, as msgpack maps

    One function per topic, so that every key is written in one place; the keys
    and their meaning are in PROTOCOL.md. A map is appended to a buffer, which
    the caller resets and uses again: nothing is allocated per outcome.

    Peers are named by their URL as it was parsed: without credentials.

    Threads: one at a time per buffer. Units: timestamps are lastDirtyTimestamp.
*/
#ifndef ZPEER_OUTCOME_H_INCLUDED
#define ZPEER_OUTCOME_H_INCLUDED

#include "buffer.h"
#include "result.h"
#include "state.h"

//  topic, text, when
#define ZPEER_TOPICS(X)                                                        \
    X (CONFLICT, "conflict", "a peer has a newer registration")                \
    X (REJECTED, "rejected", "a peer does not take an instance")               \
    X (DROPPED, "dropped", "tasks of a batch were not delivered")              \
    X (NEED_REGISTER, "need-register", "the host has a Register we do not")    \
    X (PEER, "peer", "a peer's state has changed")                             \
    X (RESYNC, "resync", "a peer is told of the whole view, or verified")      \
    X (DELIVERED, "delivered", "a peer confirmed an instance's changes")       \
    X (STATS, "stats", "figures of one part of the engine, each second")

typedef enum {
#define X(topic, text, when) ZPEER_TOPIC_##topic,
    ZPEER_TOPICS (X)
#undef X
        ZPEER_TOPIC_COUNT
} zpeer_topic_t;

//  The text that is sent as topic; static, "?" when out of range
const char *zpeer_topic_text (zpeer_topic_t topic);

//  state, text, when
#define ZPEER_PEER_STATES(X)                                                   \
    X (ADDED, "added", "it is told of changes from now on")                    \
    X (REMOVED, "removed", "it is told of nothing any more")                   \
    X (HEALTHY, "healthy", "its first answer came")                            \
    X (CONGESTED, "congested", "it is busy, or too slow to answer")            \
    X (FAILING, "failing", "it cannot be reached, or answers nonsense")        \
    X (ESCALATED, "escalated", "it failed as often in a row as is allowed")    \
    X (RECOVERED, "recovered", "it answers again")                             \
    X (WHOLE, "whole", "it is owed nothing any more")

typedef enum {
#define X(state, text, when) ZPEER_PEER_##state,
    ZPEER_PEER_STATES (X)
#undef X
        ZPEER_PEER_STATE_COUNT
} zpeer_peer_state_t;

//  The state's text; static, "?" when out of range
const char *zpeer_peer_state_text (zpeer_peer_state_t state);

//  A set of actions: which kinds of change an outcome is about
#define ZPEER_ACTION_BIT(action) (1u << (action))

//  Writes one map, key by key. For outcomes that have no function of their own.
typedef struct {
    zpeer_buffer_t *out;  //  Borrowed
    size_t head;          //  Where the map's header is
    uint32_t count;       //  Entries so far, at most 65,535
} zpeer_outcome_t;

void zpeer_outcome_begin (zpeer_outcome_t *self, zpeer_buffer_t *out);

void
zpeer_outcome_str (zpeer_outcome_t *self, const char *key, zpeer_slice_t value);

void
zpeer_outcome_uint (zpeer_outcome_t *self, const char *key, uint64_t value);

//  Without it the map is not complete
void zpeer_outcome_end (zpeer_outcome_t *self);

//  What an outcome says about an instance. peer is empty where none is meant;
//  copy is NULL when the peer sent none.
void
zpeer_outcome_conflict (zpeer_buffer_t *out, zpeer_slice_t peer,
                        const zpeer_state_t *state, const zpeer_copy_t *copy);

//  status: of the item, or of HTTP. batch: its id.
void zpeer_outcome_rejected (zpeer_buffer_t *out, zpeer_slice_t peer,
                             const zpeer_state_t *state, uint32_t status,
                             uint64_t batch);

//  timestamp: of the Heartbeat, or whatever is known; 0: nothing is
void zpeer_outcome_need_register (zpeer_buffer_t *out, zpeer_slice_t peer,
                                  zpeer_slice_t app, zpeer_slice_t id,
                                  uint64_t timestamp);

void zpeer_outcome_delivered (zpeer_buffer_t *out, zpeer_slice_t peer,
                              const zpeer_state_t *state, unsigned actions,
                              uint64_t batch);

//  What a row of failures has come to when a success ends it
typedef struct {
    uint64_t ms;                    //  Since the first of them
    uint64_t kinds[ZPEER_ACTIONS];  //  Tasks dropped meanwhile, by action
    uint32_t owed;                  //  Instances owed now
} zpeer_absence_t;

//  A change of a peer's state. What is 0 or empty is left out, but for count
//  and max when max is given.
typedef struct {
    zpeer_slice_t peer;
    zpeer_peer_state_t state;
    uint32_t count;        //  Failures in a row
    uint32_t max;          //  How many are allowed; 0: neither is written
    uint32_t status;       //  HTTP
    uint64_t tasks;        //  Kept, dropped or left, as the state has it
    zpeer_slice_t end;     //  zpeer_end_text
    zpeer_slice_t detail;  //  A sentence
    const zpeer_absence_t *absence;  //  Borrowed for the call; NULL: none ended
    uint64_t whole_ms;  //  WHOLE: since the first instance became owed
} zpeer_peer_change_t;

void
zpeer_outcome_peer (zpeer_buffer_t *out, const zpeer_peer_change_t *change);

//  state, text, when
#define ZPEER_RESYNC_STATES(X)                                                 \
    X (BEGUN, "begun", "the first of it has come")                             \
    X (PROGRESS, "progress", "its figures have changed")                       \
    X (ENDED, "ended", "nothing of it is left")                                \
    X (REPLACED, "replaced", "another began before it ended")

typedef enum {
#define X(state, text, when) ZPEER_RESYNC_##state,
    ZPEER_RESYNC_STATES (X)
#undef X
        ZPEER_RESYNC_STATE_COUNT
} zpeer_resync_state_t;

//  The state's text; static, "?" when out of range
const char *zpeer_resync_state_text (zpeer_resync_state_t state);

//  How it stands with a walk of the view for one peer. BEGUN has no numbers.
typedef struct {
    zpeer_slice_t peer;
    bool verify;  //  The peer is only asked; else it is told
    zpeer_resync_state_t state;
    uint32_t instances;  //  Come so far
    uint32_t left;       //  Of these: not done with
    uint32_t repaired;   //  The peer had them not, or otherwise
    uint32_t refused;    //  They differ still: conflict, rejected, dropped
    uint64_t ms;         //  Since it began
} zpeer_resync_t;

void zpeer_outcome_resync (zpeer_buffer_t *out, const zpeer_resync_t *resync);

//  Figures: begin, one zpeer_outcome_uint each, end. source: "acceptor",
//  "peer", …; peer: empty where none is meant.
void zpeer_outcome_stats (zpeer_outcome_t *self, zpeer_buffer_t *out,
                          zpeer_slice_t source, zpeer_slice_t peer);

//  Most instances listed in one dropped outcome; the rest is counted
#define ZPEER_DROPPED_LISTED_MAX 100

//  Gathers what was dropped from one batch for one reason. Zeroed is empty; one
//  can be used again and again.
typedef struct {
    uint64_t tasks;
    uint64_t instances;
    uint64_t kinds[ZPEER_ACTIONS];  //  Tasks, by action
    uint32_t listed;
    zpeer_buffer_t keys;  //  Owned; the instances listed
} zpeer_dropped_t;

//  actions: what was dropped of this instance, one task each
void zpeer_dropped_add (zpeer_dropped_t *self, const zpeer_state_t *state,
                        unsigned actions);

//  Appends the outcome and empties self. reason: the ending's label. batch: 0
//  if it is about none.
void zpeer_outcome_dropped (zpeer_buffer_t *out, zpeer_slice_t peer,
                            zpeer_slice_t reason, uint64_t batch,
                            zpeer_dropped_t *dropped);

void zpeer_dropped_free (zpeer_dropped_t *self);

#endif
