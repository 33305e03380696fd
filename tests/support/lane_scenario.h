/*  lane_scenario.h - what peers in trouble cost a lane, in virtual time

    A lane, a counter, and a peer that is a function: it says what becomes of a
    batch, and when.
*/
#ifndef LANE_SCENARIO_H_INCLUDED
#define LANE_SCENARIO_H_INCLUDED

#include "counter.h"
#include "lane.h"
#include "verdict.h"

#define SCENARIO_INSTANCES    1500
#define SCENARIO_REQUESTS_MAX 4000
#define SCENARIO_TIMEOUT_MS   1000
#define SCENARIO_CREDIT       6

//  The maximum of the counter
#define SCENARIO_RETRIES 10

typedef struct {
    uint64_t at;  //  When it ends; 0: not in use
    zpeer_end_t end;
    zpeer_result_t result;
} scenario_attempt_t;

typedef struct lane_scenario lane_scenario_t;

//  Sets the attempt's end, and when it comes
typedef void (scenario_peer_fn) (lane_scenario_t *self,
                                 const zpeer_lane_batch_t *batch,
                                 scenario_attempt_t *attempt);

struct lane_scenario {
    zpeer_lane_t *lane;  //  Owned
    zpeer_counter_t counter;
    zpeer_state_t *states[SCENARIO_INSTANCES];  //  Owned
    scenario_attempt_t attempts[SCENARIO_CREDIT];
    uint32_t timeout_ms;  //  The read timeout
    uint64_t now;
    uint64_t last_id;
    uint64_t last_seq;
    unsigned in_flight;

    //  The peer, for whom the test is
    scenario_peer_fn *peer;
    uint32_t item_ms;     //  What an item costs it
    bool serial;          //  One batch after the other, given up or not
    uint64_t busy_until;  //  If it is serial
    bool bad[SCENARIO_INSTANCES];  //  It answers 400 when it sees one of these

    //  What happened
    unsigned requests;
    uint64_t times[SCENARIO_REQUESTS_MAX];  //  When they began
    unsigned ends[ZPEER_END_COUNT];
    unsigned escalations;
    unsigned rejected;
    unsigned found_after;  //  Requests, until the first item became a suspect
    unsigned with_bad;     //  Requests answered 400
    uint32_t most_items;   //  Of a batch
};

void lane_scenario_begin (lane_scenario_t *self, scenario_peer_fn *peer);

//  The same with another read timeout than SCENARIO_TIMEOUT_MS
void lane_scenario_begin_with (lane_scenario_t *self, scenario_peer_fn *peer,
                               uint32_t timeout_ms);

void lane_scenario_end (lane_scenario_t *self);

//  The source registers the instances from, up to not including to
void lane_scenario_register (lane_scenario_t *self, uint32_t from, uint32_t to);

//  The source renews their leases
void lane_scenario_renew (lane_scenario_t *self, uint32_t from, uint32_t to);

//  The lane missed changes of them
void lane_scenario_owe (lane_scenario_t *self, uint32_t from, uint32_t to);

//  Goes on until so many ms have passed, or nothing is left to do
void lane_scenario_run (lane_scenario_t *self, uint64_t ms);

zpeer_lane_stats_t lane_scenario_stats (const lane_scenario_t *self);

//  Nothing waits, nothing is owed, nothing was lost
void lane_scenario_expect_all_told (const lane_scenario_t *self);

#endif
