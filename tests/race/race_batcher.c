/*  race_batcher.c - the batcher alone: an acceptor that sends chunks and keeps
    what is in them, and dispatchers that answer at once, or end with batches in
    their hands
*/
#include <stdatomic.h>
#include "chunk.h"
#include "command.h"
#include "race.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

#define DISPATCHERS 3
#define CHUNKS      200
#define INSTANCES   200

typedef struct {
    zsock_t *socket;
    zpeer_frames_t frames;
    unsigned batches;  //  Since it came by its present name
    char endpoint[ZPEER_COMMAND_ANSWER_MAX];
} dispatcher_t;

static atomic_uint s_batches;

static void
s_say (zsock_t *socket, const char *command, const uint8_t *fields, size_t size)
{
    zpeer_slice_t frames[6] = {zpeer_slice_str (command),
                               {(const char *) fields, size}};
    zpeer_socket_send (socket, frames, streq (command, "DONE") ? 5 : 2);
}

static void
s_connect (dispatcher_t *self)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    self->socket = zpeer_socket_new (ZPEER_ROLE_CLIENT, 100, -1);
    RACE_CHECK (zpeer_socket_connect (self->socket, self->endpoint) ==
                ZPEER_OK);
    s_say (self->socket, "READY", fields,
           zpeer_wire_put_ready (fields, 4, false));
}

static void
s_leave (dispatcher_t *self)
{
    s_say (self->socket, "GOODBYE", NULL, 0);
    zsock_destroy (&self->socket);
}

//  Confirms a batch; every 20th is the last thing it gets, and it comes back
//  under another name
static void
s_work (void *arg)
{
    dispatcher_t *self = (dispatcher_t *) arg;
    if (zpeer_socket_wait (self->socket, ZMQ_POLLIN, 10) ||
        zpeer_socket_recv (self->socket, &self->frames))
        return;
    zpeer_slice_t fields = zpeer_frames_at (&self->frames, 1);
    zpeer_wire_batch_t batch;
    if (zpeer_wire_get_batch (fields.data, fields.size, &batch))
        return;
    RACE_CHECK (zpeer_frames_at (&self->frames, 2).data[0] == '{');
    atomic_fetch_add (&s_batches, 1);
    if (++self->batches == 20) {
        self->batches = 0;
        s_leave (self);
        s_connect (self);
        return;
    }
    uint8_t out[ZPEER_WIRE_MAX];
    zpeer_result_t result = {
        .id = batch.id, .verdict = ZPEER_SUCCESS, .status = 200};
    s_say (self->socket, "DONE", out, zpeer_wire_put_done (out, &result));
}

//  --------------------------------------------------------------------------
//  The acceptor

static zpeer_state_t *
s_state (zpeer_name_t *name, uint32_t handle, uint64_t seq)
{
    zpeer_state_t *state = zpeer_state_new (name);
    state->handle = handle;
    state->seq = seq;
    state->timestamp = state->top = 1718271499871u + seq;
    state->status = ZPEER_UP;
    state->renewal_ms = 30000;
    state->info = zpeer_text_new ("{\"app\":\"APP\"", 12);
    return state;
}

static void
s_tell (zsock_t *lane, zpeer_name_t *name, uint64_t *seq)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    for (uint32_t i = 0; i < INSTANCES; i++)
        chunk->changes[chunk->count++] = (zpeer_change_t){
            .state = s_state (name, i, ++*seq),
            .handle = i,
            .action = ZPEER_REGISTER,
        };
    zmq_msg_t message;
    zmq_msg_init_data (&message, zpeer_chunk_ref (chunk), sizeof *chunk,
                       zpeer_chunk_free, NULL);
    RACE_CHECK (zpeer_socket_wait (lane, ZMQ_POLLOUT, RACE_WAIT_MS) ==
                ZPEER_OK);
    RACE_CHECK (zpeer_socket_send_msg (lane, NULL, 0, &message) == ZPEER_OK);
    //  The view reads on and lets go when it likes
    RACE_CHECK (chunk->changes[INSTANCES - 1].state->seq == *seq);
    zpeer_chunk_unref (&chunk);
}

static zactor_t *
s_batcher (const char *inbox, dispatcher_t *dispatchers)
{
    char inproc[ZPEER_ENDPOINT_MAX], endpoints[2][ZPEER_COMMAND_ANSWER_MAX];
    zpeer_socket_unique (inproc, "batcher");
    zactor_t *batcher = zpeer_command_actor (zpeer_batcher, NULL);
    RACE_CALL (batcher, NULL, "PEER", "3", "http://peer/eureka/");
    RACE_CALL (batcher, NULL, "INBOX", inbox);
    RACE_CALL (batcher, endpoints[0], "BIND", inproc);
    RACE_CALL (batcher, endpoints[1], "BIND", "tcp://127.0.0.1:*");
    RACE_CALL (batcher, NULL, "START");
    for (unsigned i = 0; i < DISPATCHERS; i++) {
        snprintf (dispatchers[i].endpoint, sizeof dispatchers[i].endpoint, "%s",
                  endpoints[i % 2]);
        s_connect (&dispatchers[i]);
    }
    return batcher;
}

int
main (void)
{
    dispatcher_t dispatchers[DISPATCHERS] = {0};
    char inbox[ZPEER_ENDPOINT_MAX], left[ZPEER_COMMAND_ANSWER_MAX];
    zpeer_socket_init ();
    zpeer_socket_unique (inbox, "inbox");
    zactor_t *batcher = s_batcher (inbox, dispatchers);
    zsock_t *lane = zpeer_socket_new (ZPEER_ROLE_PUSH, 10, -1);
    RACE_CHECK (zpeer_socket_connect (lane, inbox) == ZPEER_OK);
    race_t *race = race_new ();
    for (unsigned i = 0; i < DISPATCHERS; i++)
        race_repeat (race, s_work, &dispatchers[i]);

    uint64_t seq = 0;
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("APP"), ZPEER_SLICE ("1"));
    for (unsigned i = 0; i < CHUNKS; i++) {
        s_tell (lane, name, &seq);
        RACE_UNTIL (atomic_load (&s_batches) >= i);
    }
    zpeer_name_unref (&name);
    RACE_CALL (batcher, left, "DRAIN", "500", "shutdown");
    zsock_destroy (&lane);
    zactor_destroy (&batcher);
    race_destroy (&race);
    for (unsigned i = 0; i < DISPATCHERS; i++) {
        zsock_destroy (&dispatchers[i].socket);
        zpeer_frames_close (&dispatchers[i].frames);
    }
    return 0;
}
