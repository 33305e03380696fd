/*  gate.h - an acceptor whose feeders and lanes are played by the test

        gate_begin (NULL);
        gate_lane_t *lane = gate_lane (0);
        gate_event (ZPEER_HEARTBEAT, "A", "1", 7);
        gate_send (feeder);
        gate_is (gate_reply (feeder), "{\"accepted\":1,\"rejected\":[]}");
        gate_is (gate_change (lane), "Heartbeat A/1");

    Events gather in one frame until it is sent. Every wait has a limit and
    fails the test then.
*/
#ifndef GATE_H_INCLUDED
#define GATE_H_INCLUDED

#include <czmq.h>
#include <zpeer/event.h>
#include "buffer.h"
#include "outlets.h"
#include "socket.h"

//  Limit of every wait
#define GATE_WAIT_MS 10000

//  Chunks a lane's inbox takes, and how many it takes until one is refused
#define GATE_LANE_HWM  1
#define GATE_LANE_ROOM (GATE_LANE_HWM + ZPEER_OUTLETS_CHUNKS_MAX)

typedef struct {
    zsock_t *pull;          //  Owned
    zpeer_frames_t frames;  //  The chunk that is being read
    uint32_t next;          //  Of its changes
} gate_lane_t;

extern zactor_t *gate_acceptor;
extern char gate_events[ZPEER_ENDPOINT_MAX];
extern zpeer_buffer_t gate_frame;

//  Starts an acceptor. set: "key=value" that is not the default, or NULL.
void gate_begin (const char *set);

//  Ends it, and what the functions below made
void gate_end (void);

//  A command; returns the answer's value, "" if it has none, or the sentence
const char *gate_call (const char *command, const char *a, const char *b);

//  Returns when everything the acceptor read so far has been handed over
void gate_sync (void);

//  A feeder, DEALER, and how many messages wait at its end each way
zsock_t *gate_feeder_of (int hwm);
zsock_t *gate_feeder (void);

//  Puts an event, or raw bytes, into the frame
void gate_event (zpeer_action_t action, const char *app, const char *id,
                 uint64_t timestamp);
void gate_register (const char *app, const char *id, uint64_t timestamp);
void gate_raw (const void *data, size_t size);

//  Puts an event of the test's into the frame, and destroys it
void gate_add (zpeer_event_t **event);

//  Sends the frame as a request, and empties it
void gate_send (zsock_t *feeder);

//  The next reply as JSON; valid until the next call
const char *gate_reply (zsock_t *feeder);

//  Whether a reply comes within ms
bool gate_replies (zsock_t *feeder, int ms);

//  Sends the frame as a request; it must be accepted whole
void gate_feed (zsock_t *feeder, unsigned accepted);

//  A lane with this number
gate_lane_t *gate_lane (unsigned lane);

//  Stops reading for good
void gate_lane_close (gate_lane_t *self);

//  The next change as text: flags, action, instance, status, and whether it
//  came without state ("Heartbeat #0"). "" if none comes within the limit.
const char *gate_change (gate_lane_t *lane);

//  The same change in full; after gate_change
const zpeer_change_t *gate_last (const gate_lane_t *lane);

//  No change is there, after gate_sync
bool gate_lane_idle (gate_lane_t *lane);

//  The next chunk, whatever is left of the one before; borrowed until the next
//  is read. gate_change goes on with its second change.
const zpeer_chunk_t *gate_chunk (gate_lane_t *lane);

//  Answers a RELEASE
void gate_released (unsigned lane, uint32_t handle, uint64_t seq);

//  Says that a lane is done with the walk of this number
void gate_walked (unsigned lane, uint64_t number);

//  The next outcome of that topic as JSON; valid until the next call or reply
const char *gate_outcome (const char *topic);

//  How many lines with this id were logged
unsigned gate_logged (const char *id);

//  Asserts that two texts are equal
void gate_is (const char *text, const char *expected);

#endif
