/*  batcher_fixture.h - the batcher between a fake acceptor and a fake dispatcher

        fixture_start (false);
        fixture_ready (6, false);
        fixture_tell (ZPEER_REGISTER, 3, 0);
        fixture_done ((zpeer_result_t){.id = fixture_batch ().id});

    The peer's number is 3. Every wait has a limit and fails the test then.
*/
#ifndef BATCHER_FIXTURE_H_INCLUDED
#define BATCHER_FIXTURE_H_INCLUDED

#include "chunk.h"
#include "command.h"
#include "options.h"
#include "socket.h"
#include "wire.h"

//  How long anything may take, ms
#define LIMIT_MS 5000

typedef struct {
    zactor_t *batcher;
    zsock_t *acceptor;  //  Chunks to it
    zsock_t *uplink;    //  What it tells the acceptor; it has little room
    zsock_t *reports;   //  Outcomes
    zsock_t *dispatcher;
    zpeer_options_t *options;
    zpeer_frames_t frames;
    uint64_t seq;
    char server[ZPEER_COMMAND_ANSWER_MAX];  //  Where dispatchers connect
    char answer[ZPEER_COMMAND_ANSWER_MAX];
} fixture_t;

extern fixture_t fixture;

void fixture_setup (void);
void fixture_teardown (void);

//  Before the start
void fixture_set (const char *key, const char *value);

//  remote: dispatchers connect over tcp
void fixture_start (bool remote);

//  A command that must succeed; the value of its answer is in fixture.answer
void fixture_call (const char *command, const char *one, const char *two);

//  The fake acceptor

//  Tells the batcher of count instances from handle 0
void fixture_tell (zpeer_action_t action, uint32_t count, unsigned flags);

//  Adds such changes to a chunk; or a disabled ASG, asg-1
void fixture_add (zpeer_chunk_t *chunk, zpeer_action_t action, uint32_t from,
                  uint32_t count, unsigned flags);
void fixture_add_asg (zpeer_chunk_t *chunk);

//  Takes the chunk, and sends it
void fixture_send (zpeer_chunk_t *chunk);

//  The fake dispatcher

void fixture_say (const char *command, const void *fields, size_t size);
void fixture_ready (uint32_t credit, bool remote);

//  The next message of the batcher must be a BATCH
zpeer_wire_batch_t fixture_batch (void);

void fixture_done (zpeer_result_t result);

//  Whether a message comes in time; it is in fixture.frames then
bool fixture_receive (zsock_t *socket, int timeout_ms);

//  Waits for an outcome of a topic whose map holds text
void fixture_expect_outcome (const char *topic, const char *text);

#endif
