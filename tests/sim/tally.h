/*  tally.h - how often what happened, in all runs together

    So that one sees what the histories are made of.
*/
#ifndef SIM_TALLY_H_INCLUDED
#define SIM_TALLY_H_INCLUDED

#include <stdio.h>
#include "lane.h"

#define FAULTS_MAX 32

//  Name, text
#define TALLIES(X)                                                             \
    X (REPLICATED, "replicated events")                                        \
    X (AGED_OUT, "instances aged out")                                         \
    X (RELEASES, "instances released by the view")                             \
    X (RELEASED, "instances dropped by a lane")                                \
    X (GONE, "handles given back")                                             \
    X (UNTOLD, "changes without a state")                                      \
    X (MISSED, "changes missed by a lane")                                     \
    X (CAUGHT_UP, "changes caught up")                                         \
    X (JOINED, "lanes added later")                                            \
    X (LEFT, "lanes removed")                                                  \
    X (RESYNCS, "resyncs")                                                     \
    X (RESTARTS, "restarts of a peer")                                         \
    X (OTHERS, "registrations by another writer")                              \
    X (TOUCHED, "differences for which another writer stands")                 \
    X (HARMED, "newer registrations harmed, not guarded")                      \
    X (SLOW, "answers slower than the read timeout")                           \
    X (BAD_400, "batches with a bad item")                                     \
    X (TOO_LARGE, "batches too large")                                         \
    X (BATCHES, "batches")                                                     \
    X (ITEMS, "items")

typedef enum {
#define X(name, text) TALLY_##name,
    TALLIES (X)
#undef X
        TALLY_COUNT
} tally_kind_t;

typedef struct {
    uint64_t counts[TALLY_COUNT];
    uint64_t events[ZPEER_ACTIONS];
    uint64_t faults[FAULTS_MAX];
    uint64_t verdicts[ZPEER_VERDICTS];
    uint64_t escalated;
    uint64_t outcomes[ZPEER_LANE_RELEASED + 1];
    uint64_t ended[ZPEER_ENDINGS];
    uint64_t steps;
    uint32_t most_400;    //  Answers 400 for one bad item
    uint32_t most_wakes;  //  Of one lane in a second
} tally_t;

void tally_print (const tally_t *self, FILE *out);

#endif
