/*  lane_fixture.h - a lane with a source and a peer's answers, for its tests

    The states are made by hand, so that a test says exactly what the lane is
    told. Batches come out as text, one item after the other:

        "Register a UP/UNKNOWN @5, Heartbeat b @3"
*/
#ifndef LANE_FIXTURE_H_INCLUDED
#define LANE_FIXTURE_H_INCLUDED

#include "lane.h"

typedef struct {
    zpeer_lane_t *lane;
    uint64_t now;
    uint64_t next_id;
    uint64_t seq;
    uint64_t last_id;  //  Of the batch that went last
    char sent[4096];   //  Its items as text
    unsigned items;    //  How many they are
    char said[4096];   //  What the lane reported since it was last cleared
    zpeer_lane_options_t options;
} lane_fixture_t;

//  Default options but for linger 0
void lane_fixture_init (lane_fixture_t *self);

//  The same with options of the test's own; report is set here
void lane_fixture_init_with (lane_fixture_t *self,
                             const zpeer_lane_options_t *options);

void lane_fixture_fini (lane_fixture_t *self);

//  Default options
zpeer_lane_options_t lane_fixture_options (void);

//  What a change leaves the instance in
typedef struct {
    zpeer_status_t status;
    zpeer_status_t override;
    uint64_t timestamp;
    uint64_t top;         //  0: the same as timestamp
    unsigned info_bytes;  //  Of its InstanceInfo; 0: a few
    bool absent;
    bool fresh;
    bool replicated;  //  Exactly so, unless it is vague
    bool vague;       //  The event says something else than the view
    bool snapshot;
    bool given_up;
    uint8_t origin;
    uint64_t given;
} lane_state_t;

//  The source changes instance name (one letter: its handle)
void lane_fixture_change (lane_fixture_t *self, char name,
                          zpeer_action_t action, lane_state_t state);

//  The usual ones: it is registered at UP, cancelled, forgotten. top: the highest
//  timestamp ever known of it; 0 for a Register: its own.
void lane_fixture_register (lane_fixture_t *self, char name, uint64_t timestamp,
                            uint64_t top);
void lane_fixture_cancel (lane_fixture_t *self, char name, uint64_t top);
void lane_fixture_forget (lane_fixture_t *self, char name);

//  The lane gets a change without an event: ZPEER_CHANGE_OWE, _RELEASE
void lane_fixture_flag (lane_fixture_t *self, char name, unsigned flags);

//  The lane missed that an instance was cancelled, then
void
lane_fixture_catch_up (lane_fixture_t *self, char name, uint64_t cancelled_at);

//  The next batch as text, "" if there is none
const char *lane_fixture_next (lane_fixture_t *self);

//  The same when the dispatchers can take so many more; usually that is 6
const char *lane_fixture_next_of (lane_fixture_t *self, unsigned credit);

//  The last batch is answered: 200 for every item, or these codes
void lane_fixture_ok (lane_fixture_t *self);
void lane_fixture_codes (lane_fixture_t *self, const uint16_t *codes);

//  Likewise, but it was sent twice
void lane_fixture_twice (lane_fixture_t *self, const uint16_t *codes);

//  A 409 of its first item, with the peer's copy of that timestamp
void lane_fixture_conflict (lane_fixture_t *self, uint64_t timestamp);

//  The attempt failed
void lane_fixture_fail (lane_fixture_t *self, zpeer_verdict_t verdict,
                        bool ambiguous, uint16_t status);

//  The sum of what ended in one way
uint64_t lane_fixture_ended (const lane_fixture_t *self, zpeer_ending_t ending);

#endif
