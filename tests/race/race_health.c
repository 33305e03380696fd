/*  race_health.c - health alone: many who count and ask, and a host that has
    counters forgotten
*/
#include "command.h"
#include "race.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

#define CLIENTS   4
#define QUESTIONS 2000

typedef struct {
    zsock_t *socket;
    zpeer_frames_t frames;
    unsigned answers;
} client_t;

static void
s_send (client_t *self, zpeer_wire_command_t command, const uint8_t *fixed,
        size_t size)
{
    zpeer_slice_t frames[] = {
        zpeer_slice_str (zpeer_wire_command_text (command)),
        {(const char *) fixed, size}};
    zpeer_socket_send (self->socket, frames, 2);
}

//  One failure, one question, one success, and the two answers
static void
s_ask (void *arg)
{
    client_t *self = (client_t *) arg;
    uint8_t fixed[ZPEER_WIRE_MAX];
    if (self->answers >= QUESTIONS) {
        zpeer_socket_wait (self->socket, ZMQ_POLLIN, 10);
        return;
    }
    size_t size = zpeer_wire_put_fail (fixed, self->answers, 1, true);
    s_send (self, ZPEER_WIRE_FAIL, fixed, size);
    s_send (self, ZPEER_WIRE_HASREACHEDMAX, fixed, size);
    size = zpeer_wire_put_peer (fixed, 1);
    s_send (self, ZPEER_WIRE_OK, fixed, size);
    for (unsigned i = 0; i < 2; i++) {
        RACE_CHECK (zpeer_socket_wait (self->socket, ZMQ_POLLIN,
                                       RACE_WAIT_MS) == ZPEER_OK);
        RACE_CHECK (zpeer_socket_recv (self->socket, &self->frames) ==
                    ZPEER_OK);
        self->answers++;
    }
}

int
main (void)
{
    char endpoints[2][ZPEER_COMMAND_ANSWER_MAX];
    char inproc[ZPEER_ENDPOINT_MAX];
    client_t clients[CLIENTS] = {0};
    zpeer_socket_unique (inproc, "health");
    zactor_t *health = zpeer_command_actor (zpeer_health, NULL);
    RACE_CALL (health, endpoints[0], "BIND", inproc);
    RACE_CALL (health, endpoints[1], "BIND", "tcp://127.0.0.1:*");
    RACE_CALL (health, NULL, "START");

    race_t *race = race_new ();
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i].socket = zpeer_socket_new (ZPEER_ROLE_CLIENT, 100, -1);
        RACE_CHECK (zpeer_socket_connect (clients[i].socket,
                                          endpoints[i % 2]) == ZPEER_OK);
        race_repeat (race, s_ask, &clients[i]);
    }
    for (unsigned i = 0; i < QUESTIONS; i++)
        RACE_CALL (health, NULL, "FORGET", "1");
    char ignored[ZPEER_COMMAND_ANSWER_MAX];
    RACE_CALL (health, ignored, "IGNORED");
    RACE_CHECK (streq (ignored, "0"));
    race_destroy (&race);

    for (unsigned i = 0; i < CLIENTS; i++) {
        RACE_CHECK (clients[i].answers > 0);
        zpeer_frames_close (&clients[i].frames);
        zsock_destroy (&clients[i].socket);
    }
    zactor_destroy (&health);
    return 0;
}
