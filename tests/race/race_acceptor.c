/*  race_acceptor.c - the acceptor alone: feeders, and lanes in threads of their
    own that keep and drop what they are told

    The first lane keeps references to states as a real one does, and answers
    every release; the second comes and goes; the third stops reading, so that
    it falls behind, and begins again.
*/
#include <stdatomic.h>
#include "chunk.h"
#include "command.h"
#include "race.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

#define LANES  3
#define ROUNDS 4

//  Instances and ASGs the feeders speak of, many times over
#define HANDLES 4096

typedef struct {
    unsigned number;
    unsigned turns;
    atomic_bool deaf;
    atomic_uint changes;
    char inbox[ZPEER_ENDPOINT_MAX];
    zsock_t *pull;
    zsock_t *uplink;
    zpeer_frames_t frames;
    zpeer_state_t *states[2][HANDLES];  //  Instances, ASGs
} lane_t;

static void
s_release (lane_t *self, const zpeer_state_t *state)
{
    zpeer_buffer_t message = {0};
    zpeer_wire_put_released (&message, self->number, state->handle, state->seq);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("RELEASED"),
                              {message.data, message.size}};
    zpeer_socket_send (self->uplink, frames, 2);
    zpeer_buffer_free (&message);
}

static void
s_take (lane_t *self, const zpeer_change_t *change)
{
    bool release = (change->flags & ZPEER_CHANGE_RELEASE) != 0;
    bool asg = change->action == ZPEER_ASG_STATUS_UPDATE && !release;
    RACE_CHECK (change->handle < HANDLES);
    zpeer_state_t **slot = &self->states[asg][change->handle];
    if (change->state) {
        zpeer_state_unref (slot);
        *slot = zpeer_state_ref (change->state);
        RACE_CHECK (zpeer_name_id ((*slot)->name).size > 0);
    }
    if (release && *slot) {
        s_release (self, *slot);
        zpeer_state_unref (slot);
    }
    atomic_fetch_add (&self->changes, 1);
}

static void
s_read (void *arg)
{
    lane_t *self = (lane_t *) arg;
    if (zpeer_socket_wait (self->pull,
                           atomic_load (&self->deaf) ? 0 : ZMQ_POLLIN, 10) ||
        zpeer_socket_recv (self->pull, &self->frames))
        return;
    const zpeer_chunk_t *chunk =
        (const zpeer_chunk_t *) zpeer_frames_at (&self->frames, 0).data;
    for (uint32_t i = 0; i < chunk->count; i++)
        s_take (self, &chunk->changes[i]);
}

static void
s_open (lane_t *self, unsigned number, zactor_t *acceptor, const char *uplink)
{
    char digits[16];
    snprintf (digits, sizeof digits, "%u", number);
    self->number = number;
    zpeer_socket_unique (self->inbox, "inbox");
    self->pull = zpeer_socket_new (ZPEER_ROLE_PULL, 1, -1);
    RACE_CHECK (zpeer_socket_bind (self->pull, self->inbox, NULL, NULL) ==
                ZPEER_OK);
    self->uplink = zpeer_socket_new (ZPEER_ROLE_PUSH, 1000, -1);
    RACE_CHECK (zpeer_socket_connect (self->uplink, uplink) == ZPEER_OK);
    RACE_CALL (acceptor, NULL, "ADDLANE", digits, self->inbox);
}

static void
s_close (lane_t *self)
{
    zsock_destroy (&self->pull);
    zsock_destroy (&self->uplink);
    zpeer_frames_close (&self->frames);
    for (unsigned i = 0; i < HANDLES; i++) {
        zpeer_state_unref (&self->states[0][i]);
        zpeer_state_unref (&self->states[1][i]);
    }
}

//  Returns when the lane has been told of more
static void
s_expect_more (lane_t *self, unsigned changes)
{
    unsigned enough = atomic_load (&self->changes) + changes;
    RACE_UNTIL (atomic_load (&self->changes) >= enough);
}

static void
s_round (zactor_t *acceptor, lane_t *lanes)
{
    RACE_CALL (acceptor, NULL, "DELLANE", "1");
    atomic_store (&lanes[2].deaf, true);
    s_expect_more (&lanes[0], 5000);
    RACE_CALL (acceptor, NULL, "RESYNC", "2");
    RACE_CALL (acceptor, NULL, "VERIFY", "0");
    RACE_CALL (acceptor, NULL, "ADDLANE", "1", lanes[1].inbox);
    atomic_store (&lanes[2].deaf, false);
    s_expect_more (&lanes[1], 100);
    s_expect_more (&lanes[2], 100);
}

static zactor_t *
s_acceptor (char *events, const char *uplink)
{
    zpeer_options_t *options = zpeer_options_new ();
    zpeer_options_set (options, "zpeer.tombstone-ms", "0");
    zpeer_actor_args_t args = {.options = options};
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "events");
    zactor_t *acceptor = zpeer_command_actor (zpeer_acceptor, &args);
    zpeer_options_destroy (&options);
    RACE_CALL (acceptor, events, "BIND", endpoint);
    RACE_CALL (acceptor, NULL, "UPLINK", uplink);
    RACE_CALL (acceptor, NULL, "START");
    return acceptor;
}

int
main (void)
{
    static lane_t lanes[LANES];
    char events[ZPEER_COMMAND_ANSWER_MAX];
    char uplink[ZPEER_ENDPOINT_MAX];
    zpeer_socket_init ();
    zpeer_socket_unique (uplink, "uplink");
    zactor_t *acceptor = s_acceptor (events, uplink);
    race_t *race = race_new ();
    for (unsigned i = 0; i < LANES; i++) {
        s_open (&lanes[i], i, acceptor, uplink);
        race_repeat (race, s_read, &lanes[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        race_feed (race, events);
    for (unsigned i = 0; i < ROUNDS; i++)
        s_round (acceptor, lanes);
    RACE_CALL (acceptor, NULL, "CLOSE", "100");
    race_destroy (&race);
    zactor_destroy (&acceptor);
    for (unsigned i = 0; i < LANES; i++)
        s_close (&lanes[i]);
    return 0;
}
