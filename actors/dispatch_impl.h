/*  dispatch_impl.h - what the files of the dispatch core share

    dispatch.c takes in what happens and notes what is to be done; dispatch_
    action.c turns these notes into actions, one at a time. Nobody else includes
    this.
*/
#ifndef ZPEER_DISPATCH_IMPL_H_INCLUDED
#define ZPEER_DISPATCH_IMPL_H_INCLUDED

#include "dispatch.h"

typedef enum {
    WAITING,  //  For its turn: as many run as there is credit
    RUNNING,  //  Its request is on the way
    ASKING,   //  Health is to answer by due_at
    ENDED     //  Reported; again at due_at, until it is acknowledged
} phase_t;

//  A batch held
typedef struct {
    zpeer_attempt_t *attempt;  //  Owned
    void *owner;               //  Borrowed
    phase_t phase;
    bool released;                 //  RELEASE has been noted
    zpeer_wire_request_t request;  //  The newest
    uint64_t started_at;
    uint64_t due_at;
    uint64_t token;  //  Of the question to health
} job_t;

//  What becomes an action when its turn comes
typedef struct {
    zpeer_dispatch_kind_t kind;
    zpeer_wire_command_t command;  //  Of a message
    bool about;                    //  Only while batch id is held
    uint64_t id;
    void *owner;  //  Borrowed
    uint32_t aborted;
} todo_t;

struct zpeer_dispatch {
    zpeer_dispatch_options_t options;
    job_t *jobs;  //  Owned array, room for ZPEER_WIRE_HELD_MAX
    size_t job_count;
    zpeer_attempt_t *last;  //  Owned; what the last action points into
    todo_t *todos;          //  Owned array; those from next on are to be done
    size_t todo_count;
    size_t todo_room;
    size_t todo_next;
    uint64_t token;     //  Last one used
    uint64_t echo;      //  last of the batcher's newest HEARTBEAT
    uint64_t heard_at;  //  When the newest HEARTBEAT that was answered went
    uint64_t beat_at;   //  When HEARTBEAT is due
    bool gone;          //  The batcher has been silent for too long
    bool closed;
    zpeer_dispatch_stats_t stats;
    uint8_t fixed[ZPEER_WIRE_MAX];  //  Frames of the last action
    zpeer_buffer_t codes;           //  Owned
    zpeer_buffer_t rest;            //  Owned; copies, or ids held
};

static inline uint64_t
zpeer_dispatch_job_id (const job_t *job)
{
    return zpeer_attempt_result (job->attempt)->id;
}

//  NULL: it holds no such batch
job_t *zpeer_dispatch_job (zpeer_dispatch_t *self, uint64_t id);

//  Lets go of a batch; its attempt stays readable until the next action
void zpeer_dispatch_drop (zpeer_dispatch_t *self, job_t *job);

//  Notes what the time brings
void zpeer_dispatch_timers (zpeer_dispatch_t *self, uint64_t now);

#endif
