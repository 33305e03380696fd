/*  peerlog.h - what a batcher has to say of its peer

    Turns what the lanes report, and how attempts end, into outcomes for the
    host and lines for its log: one line per kind in 10 s, but the escalation,
    which is said exactly once a cycle and never held back. It also keeps the
    peer's state, of which the outcome `peer` tells every change; since when it
    fails, and since when it is owed something.

    An example, as a host sees it:

      1. failing, escalated: the row of failures has begun, and goes on.
      2. A success ends the row: recovered tells how long it was, which tasks
         were dropped in it, and how many instances are owed now: what the answer
         was about is not any more. The log tells how many it was before, too.
      3. These are refreshed. When none is owed any more: whole, once.

    Threads: one, the batcher's. Blocking: never. now: monotonic, ms.
*/
#ifndef ZPEER_PEERLOG_H_INCLUDED
#define ZPEER_PEERLOG_H_INCLUDED

#include "lane.h"
#include "options.h"
#include "report.h"
#include "sampler.h"

//  A row of failures
typedef struct {
    bool on;                        //  There is one
    uint64_t since;                 //  Its first failure
    uint64_t kinds[ZPEER_ACTIONS];  //  Tasks dropped in it, by action; while
                                    //  there is none, since the last flush
    uint64_t late;  //  Heartbeats expired or overflowed before it: these are
                    //  not reported one by one, but counted
} zpeer_peerlog_row_t;

//  What has been said of a walk
typedef struct {
    bool verify;  //  Else it is a resync
    bool news;    //  Its figures have changed since
    uint64_t began_at;
    uint64_t said_at;
    zpeer_lane_walk_t said;
} zpeer_peerlog_walk_t;

typedef struct {
    zpeer_report_t report;     //  Owned
    char *url;                 //  Owned; without credentials
    zpeer_sampler_t lines;     //  About the peer
    const zpeer_lane_t *lane;  //  Borrowed; of instances
    const zpeer_lane_t *asgs;  //  Borrowed
    bool conflicts;            //  sync-when-timestamp-differs
    uint32_t pool;             //  max-elements-in-peer-replication-pool
    uint64_t now;
    zpeer_dropped_t dropped[ZPEER_ENDINGS];  //  Of the present attempt
    uint64_t tasks;                          //  Dropped in it
    uint64_t overflowed;                     //  When last looked at
    zpeer_peer_state_t state;
    bool known;      //  state is one the peer has shown
    uint32_t count;  //  Failures in a row, when last heard
    uint32_t max;
    zpeer_peerlog_row_t row;
    bool owes;         //  Something is owed, or was and whole is not yet said
    bool recovered;    //  whole is worth a line, too
    uint64_t owes_at;  //  Since when
    uint32_t owed;     //  Instances, at the end of the last turn
    zpeer_peerlog_walk_t walk;
} zpeer_peerlog_t;

void zpeer_peerlog_init (zpeer_peerlog_t *self, const zpeer_options_t *options,
                         zpeer_log_t log, const char *url);

void zpeer_peerlog_fini (zpeer_peerlog_t *self);

//  The peer's lanes, both borrowed from then on; before anything below
void zpeer_peerlog_watch (zpeer_peerlog_t *self, const zpeer_lane_t *lane,
                          const zpeer_lane_t *asgs);

//  Something a lane reports
void
zpeer_peerlog_report (zpeer_peerlog_t *self, const zpeer_lane_report_t *report);

//  An attempt has ended, and the lane has reported what became of its tasks, and
//  says what it took the answer for
void zpeer_peerlog_attempt (zpeer_peerlog_t *self, uint64_t now,
                            const zpeer_result_t *result,
                            const zpeer_lane_evidence_t *evidence);

//  Outcomes of what was dropped outside an attempt
void zpeer_peerlog_flush (zpeer_peerlog_t *self, uint64_t batch);

//  A walk is about to begin; one that the lane has not ended is replaced
void
zpeer_peerlog_walk_begun (zpeer_peerlog_t *self, uint64_t now, bool verify);

//  Says how far the lane's walk has come, if that is due. Returns true, and has
//  said so, when it has ended: then the lane is to be told.
bool zpeer_peerlog_walk (zpeer_peerlog_t *self, uint64_t now);

//  Looks whether the peer is whole. To be called at the end of every turn.
void zpeer_peerlog_owed (zpeer_peerlog_t *self, uint64_t now);

//  When zpeer_peerlog_walk has something to say; UINT64_MAX: not before
//  something happens
uint64_t zpeer_peerlog_wake (const zpeer_peerlog_t *self);

//  Figures of both lanes and of the dispatchers
void zpeer_peerlog_stats (zpeer_peerlog_t *self, uint64_t now,
                          uint32_t dispatchers, uint64_t unknown_done);

#endif
