/*  peerlog_fixture.h - what a batcher says of its peer, with real lanes

    Lanes, peerlog and clock are put together as the batcher does it, but without
    actor and dispatcher: the test takes batches and ends attempts.

        peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
        peerlog_fixture_fail (&s, ZPEER_END_UNSENT, 1);
        peerlog_fixture_said (&s, "peer")

    The peer's URL is "p".
*/
#ifndef PEERLOG_FIXTURE_H_INCLUDED
#define PEERLOG_FIXTURE_H_INCLUDED

#include "peerlog.h"
#include "socket.h"

typedef struct {
    zpeer_peerlog_t log;
    zpeer_lane_t *lane;
    zpeer_lane_t *asgs;
    zpeer_options_t *options;
    zsock_t *reports;
    zpeer_frames_t frames;
    zpeer_buffer_t json;
    uint64_t now;
    uint64_t seq;
    uint64_t id;       //  Of the last batch
    char lines[4096];  //  Log lines, each with its id before it
} peerlog_fixture_t;

void peerlog_fixture_init (peerlog_fixture_t *self);

void peerlog_fixture_fini (peerlog_fixture_t *self);

//  The source changes instance handle, or the ASG of that handle; with flags
//  the change is no event
void peerlog_fixture_change (peerlog_fixture_t *self, uint32_t handle,
                             zpeer_action_t action);
void
peerlog_fixture_flag (peerlog_fixture_t *self, uint32_t handle, unsigned flags);

//  Takes the next batch of instances, and ends its attempt: well, or badly with
//  so many failures in a row, of 10; the first 10 announces the escalation. False,
//  and no attempt: there is no batch.
bool peerlog_fixture_ok (peerlog_fixture_t *self);
bool
peerlog_fixture_fail (peerlog_fixture_t *self, zpeer_end_t end, uint32_t count);

//  Likewise, but as single requests, or as a batch whose items have this status
bool peerlog_fixture_single (peerlog_fixture_t *self, uint16_t status);
bool peerlog_fixture_items (peerlog_fixture_t *self, uint16_t status);

//  The same for the next ASG update
bool peerlog_fixture_asg (peerlog_fixture_t *self, uint16_t status);

//  What the batcher does at the end of every turn; true: a walk has ended
bool peerlog_fixture_turn (peerlog_fixture_t *self);

//  Instances told by a walk, in one chunk; the test begins and completes it
void peerlog_fixture_walk (peerlog_fixture_t *self, uint32_t from, uint32_t to);

//  The next outcome of a topic as JSON, "" if there is none. Others before it
//  are passed over. Valid until the next call.
const char *peerlog_fixture_said (peerlog_fixture_t *self, const char *topic);

//  How many log lines have this id
unsigned peerlog_fixture_lines (const peerlog_fixture_t *self, const char *id);

#endif
