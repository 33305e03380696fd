/*  race_dispatcher.c - dispatchers alone: a batcher that is none gives several of
    them batches for one peer, over inproc and tcp, and they share the real
    health; one ends and begins again while the others work
*/
#include <stdatomic.h>
#include "command.h"
#include "race.h"
#include "scripted_peer.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

#define DISPATCHERS 3
#define ROUNDS      30

typedef struct {
    zsock_t *server;
    zpeer_frames_t frames;
    uint64_t id;
    atomic_uint done;
} batcher_t;

static atomic_ullong s_logged;

static void
s_send_batch (batcher_t *self)
{
    static const char body[] =
        "{\"replicationList\":[{\"appName\":\"A\",\"id\":\"1\","
        "\"action\":\"Cancel\"}]}";
    uint8_t fixed[ZPEER_WIRE_MAX];
    zpeer_wire_batch_t batch = {++self->id, ZPEER_MODE_BATCH, 1};
    size_t size = zpeer_wire_put_batch (fixed, &batch);
    zpeer_slice_t frames[] = {zpeer_frames_at (&self->frames, 0),
                              ZPEER_SLICE ("BATCH"),
                              {(const char *) fixed, size},
                              ZPEER_SLICE (body)};
    zpeer_socket_send (self->server, frames, 4);
}

static void
s_acknowledge (batcher_t *self)
{
    uint8_t fixed[ZPEER_WIRE_MAX];
    zpeer_result_t result;
    zpeer_slice_t fields = zpeer_frames_at (&self->frames, 2);
    if (zpeer_wire_get_done (fields.data, fields.size, &result))
        return;
    size_t size = zpeer_wire_put_id (fixed, result.id);
    zpeer_slice_t frames[] = {zpeer_frames_at (&self->frames, 0),
                              ZPEER_SLICE ("ACK"),
                              {(const char *) fixed, size}};
    zpeer_socket_send (self->server, frames, 3);
    atomic_fetch_add (&self->done, 1);
}

//  Three batches for whoever is ready, one more for each that is done
static void
s_serve (void *arg)
{
    batcher_t *self = (batcher_t *) arg;
    if (zpeer_socket_wait (self->server, ZMQ_POLLIN, 10) ||
        zpeer_socket_recv (self->server, &self->frames))
        return;
    zpeer_slice_t text = zpeer_frames_at (&self->frames, 1);
    switch (zpeer_wire_command (text.data, text.size)) {
    case ZPEER_WIRE_READY:
        for (unsigned i = 0; i < 3; i++)
            s_send_batch (self);
        break;
    case ZPEER_WIRE_DONE:
        s_acknowledge (self);
        s_send_batch (self);
        break;
    default: break;
    }
}

static zactor_t *
s_dispatcher (const char *url, const char *batcher, const char *health)
{
    zpeer_options_t *options = zpeer_options_new ();
    zpeer_options_set (options, "eureka.server.peer-node-read-timeout-ms",
                       "300");
    zpeer_actor_args_t args = {options, race_log, &s_logged};
    zactor_t *actor = zpeer_command_actor (zpeer_dispatcher, &args);
    zpeer_options_destroy (&options);
    RACE_CALL (actor, NULL, "PEER", "5", url);
    RACE_CALL (actor, NULL, "CONNECT", batcher);
    RACE_CALL (actor, NULL, "HEALTH", health);
    RACE_CALL (actor, NULL, "BEAT", "100");
    RACE_CALL (actor, NULL, "START");
    return actor;
}

static void
s_bind (batcher_t *self, char endpoints[2][ZPEER_ENDPOINT_MAX])
{
    char inproc[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (inproc, "batcher");
    self->server = zpeer_socket_new (ZPEER_ROLE_SERVER, 1000, -1);
    RACE_CHECK (zpeer_socket_bind (self->server, inproc, endpoints[0], NULL) ==
                ZPEER_OK);
    RACE_CHECK (zpeer_socket_bind (self->server, "tcp://127.0.0.1:*",
                                   endpoints[1], NULL) == ZPEER_OK);
}

//  The peer fails in three ways, and the newest dispatcher is another
static void
s_round (batcher_t *batcher, speer_t *peer, zactor_t **actor,
         const char *endpoint, const char *health)
{
    unsigned done = atomic_load (&batcher->done);
    speer_rule (peer, &(speer_rule_t){.answer = SPEER_RESET, .count = 3});
    speer_rule (peer, &(speer_rule_t){.status = 503, .count = 3});
    speer_rule (peer, &(speer_rule_t){.answer = SPEER_HANG, .count = 1});
    zactor_destroy (actor);
    *actor = s_dispatcher (speer_url (peer), endpoint, health);
    RACE_UNTIL (atomic_load (&batcher->done) >= done + 50);
}

int
main (void)
{
    static batcher_t batcher;
    zactor_t *actors[DISPATCHERS];
    char endpoints[2][ZPEER_ENDPOINT_MAX], health_at[ZPEER_ENDPOINT_MAX];
    speer_t *peer = speer_new (0, -1);
    zpeer_socket_unique (health_at, "health");
    zactor_t *health = zpeer_command_actor (zpeer_health, NULL);
    RACE_CALL (health, NULL, "BIND", health_at);
    RACE_CALL (health, NULL, "START");
    s_bind (&batcher, endpoints);
    race_t *race = race_new ();
    race_repeat (race, s_serve, &batcher);
    for (unsigned i = 0; i < DISPATCHERS; i++)
        actors[i] =
            s_dispatcher (speer_url (peer), endpoints[i % 2], health_at);

    for (unsigned i = 0; i < ROUNDS; i++)
        s_round (&batcher, peer, &actors[i % DISPATCHERS],
                 endpoints[i % DISPATCHERS % 2], health_at);

    for (unsigned i = 0; i < DISPATCHERS; i++)
        zactor_destroy (&actors[i]);
    race_destroy (&race);
    RACE_CHECK (s_logged > 0);
    zsock_destroy (&batcher.server);
    zpeer_frames_close (&batcher.frames);
    zactor_destroy (&health);
    speer_destroy (&peer);
    return 0;
}
