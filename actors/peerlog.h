/*  peerlog.h - what a batcher has to say of its peer

    Turns what the lanes report, and how attempts end, into outcomes for the
    host and lines for its log: one line per kind in 10 s, but the escalation,
    which is said exactly once a cycle and never held back. It also keeps the
    peer's state, of which the outcome `peer` tells every change.

    Threads: one, the batcher's. Blocking: never. now: monotonic, ms.
*/
#ifndef ZPEER_PEERLOG_H_INCLUDED
#define ZPEER_PEERLOG_H_INCLUDED

#include "lane.h"
#include "log.h"
#include "options.h"
#include "report.h"
#include "throttle.h"

typedef enum {
    ZPEER_PEERLOG_CONGESTED,
    ZPEER_PEERLOG_STATUS,
    ZPEER_PEERLOG_REJECTED,
    ZPEER_PEERLOG_CONFLICT,
    ZPEER_PEERLOG_OVERFLOW,
    ZPEER_PEERLOG_KINDS
} zpeer_peerlog_kind_t;

typedef struct {
    zpeer_report_t report;  //  Owned
    char *url;              //  Owned; without credentials
    zpeer_log_t log;
    bool conflicts;  //  sync-when-timestamp-differs
    uint32_t pool;   //  max-elements-in-peer-replication-pool
    uint64_t now;
    zpeer_throttle_t throttles[ZPEER_PEERLOG_KINDS];
    zpeer_dropped_t dropped[ZPEER_ENDINGS];  //  Of the present attempt
    uint64_t tasks;                          //  Dropped in it
    uint64_t overflowed;                     //  When last looked at
    zpeer_peer_state_t state;
    bool known;      //  state is one the peer has shown
    uint32_t count;  //  Failures in a row, when last heard
    uint32_t max;
} zpeer_peerlog_t;

void zpeer_peerlog_init (zpeer_peerlog_t *self, const zpeer_options_t *options,
                         zpeer_log_t log, const char *url);

void zpeer_peerlog_fini (zpeer_peerlog_t *self);

//  Something a lane reports
void
zpeer_peerlog_report (zpeer_peerlog_t *self, const zpeer_lane_report_t *report);

//  An attempt has ended, and the lane has reported what became of its tasks
void zpeer_peerlog_attempt (zpeer_peerlog_t *self, uint64_t now,
                            const zpeer_result_t *result);

//  Outcomes of what was dropped outside an attempt
void zpeer_peerlog_flush (zpeer_peerlog_t *self, uint64_t batch);

//  Figures of both lanes and of the dispatchers
void zpeer_peerlog_stats (zpeer_peerlog_t *self, uint64_t now,
                          const zpeer_lane_t *lane, const zpeer_lane_t *asgs,
                          uint32_t dispatchers, uint64_t unknown_done);

#endif
