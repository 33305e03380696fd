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
    X (STUCK, "times a batcher read nothing for a while")                      \
    X (REFUSED, "chunks refused by an inbox")                                  \
    X (CAUGHT_UP, "changes told to lanes that were behind")                    \
    X (HELD_UP, "events that had to wait for a lane")                          \
    X (LOST, "messages lost")                                                  \
    X (TWICE, "messages that came twice")                                      \
    X (CUTS, "connections cut")                                                \
    X (DEATHS, "dispatchers that died")                                        \
    X (TAKEN_BACK, "batches taken back")                                       \
    X (UNSENT, "batches refused by a socket")                                  \
    X (UNKNOWN_DONE, "reports of batches nobody knows")                        \
    X (UNHEARD, "failures that health did not judge")                          \
    X (NO_BATCHER, "times a dispatcher missed its batcher")                    \
    X (JOINED, "lanes added later")                                            \
    X (LEFT, "lanes removed")                                                  \
    X (RESYNCS, "walks: resync")                                               \
    X (VERIFIES, "walks: verify")                                              \
    X (WALKED, "walks: instances")                                             \
    X (REPAIRED, "walks: instances told")                                      \
    X (RESTARTS, "restarts of a peer")                                         \
    X (OTHERS, "registrations by another writer")                              \
    X (TOUCHED, "differences for which another writer stands")                 \
    X (HARMED, "newer registrations harmed, not guarded")                      \
    X (SLOW, "answers slower than the read timeout")                           \
    X (BAD_400, "batches with a bad item")                                     \
    X (BANNED, "batches that a firewall did not like")                         \
    X (HUNG, "batches with an item that hangs")                                \
    X (AHEAD, "replicated events that peers heard of before")                  \
    X (ECHOES, "changes that another engine told")                             \
    X (ANEW, "engines started anew")                                           \
    X (CRASHES, "crash loops")                                                 \
    X (TOO_LARGE, "batches too large")                                         \
    X (REQUESTS, "requests")                                                   \
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
    uint32_t most_met;    //  Attempts in a row in vain, for a neighbour hung
    uint32_t most_wakes;  //  Of one lane in a second
} tally_t;

void tally_print (const tally_t *self, FILE *out);

#endif
