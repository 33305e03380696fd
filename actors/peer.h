/*  peer.h - one peer of an engine: its batcher and its dispatchers

    Starts and wires these actors, and ends them in order. Decides nothing.

    Threads: one at a time, the engine's caller. Blocking: for the actors'
    answers, each at most ZPEER_PEER_CALL_MS; draining as long as is said.
*/
#ifndef ZPEER_PEER_ACTORS_H_INCLUDED
#define ZPEER_PEER_ACTORS_H_INCLUDED

#include <zpeer/actor.h>
#include "command.h"
#include "socket.h"
#include "url.h"

//  How long an actor may take to answer a command that does not drain
#define ZPEER_PEER_CALL_MS 2000

//  Most dispatchers of a peer in this process
#define ZPEER_PEER_DISPATCHERS_MAX 16

//  Sends a command to an actor and waits for its answer. A value in it is thrown
//  away: error, of ZPEER_COMMAND_ANSWER_MAX bytes, is a sentence, or "".
#define ZPEER_PEER_CALL(actor, error, ...)                                     \
    zpeer_peer_called (zpeer_command_call ((actor), ZPEER_PEER_CALL_MS,        \
                                           (error), __VA_ARGS__,               \
                                           (char *) NULL),                     \
                       (error))

static inline int
zpeer_peer_called (int rc, char *error)
{
    if (rc == ZPEER_OK)
        *error = 0;
    return rc;
}

//  Where the actors of a peer find the others
typedef struct {
    zpeer_actor_args_t args;
    char uplink[ZPEER_ENDPOINT_MAX];  //  Acceptor's
    char report[ZPEER_ENDPOINT_MAX];  //  Reporter's
    char health[ZPEER_ENDPOINT_MAX];
} zpeer_wiring_t;

typedef struct zpeer_peer zpeer_peer_t;

//  A peer without actors. Takes over what url holds.
zpeer_peer_t *zpeer_peer_new (uint32_t id, zpeer_url_t *url);

//  Ends its actors: dispatchers first
void zpeer_peer_destroy (zpeer_peer_t **self_p);

uint32_t zpeer_peer_id (const zpeer_peer_t *self);

//  Its base URL, without credentials; borrowed
const char *zpeer_peer_base (const zpeer_peer_t *self);

//  Its batcher's inbox, for the acceptor's ADDLANE; borrowed
const char *zpeer_peer_inbox (const zpeer_peer_t *self);

//  Before it is started: an earlier one left attempts that it may yet apply
void zpeer_peer_inherit (zpeer_peer_t *self);

//  In all that follow error has ZPEER_COMMAND_ANSWER_MAX bytes, for a sentence
//  when something fails; a failure leaves nothing running that was not before.

//  Starts the batcher. Returns ZPEER_OK, ZPEER_E_RESOURCES, or what an actor
//  refused.
int zpeer_peer_start (zpeer_peer_t *self, const zpeer_wiring_t *wiring,
                      char *error);

//  Starts one more dispatcher. Returns as start does.
int zpeer_peer_add_dispatcher (zpeer_peer_t *self, const zpeer_wiring_t *wiring,
                               char *error);

//  Binds one more endpoint for dispatchers. Returns ZPEER_OK, ZPEER_E_BIND or
//  ZPEER_E_RESOURCES.
int zpeer_peer_open (zpeer_peer_t *self, const char *endpoint, char *error);

//  Ends the batcher's pause: it tries again at once. Returns ZPEER_OK or
//  ZPEER_E_TIMEOUT.
int zpeer_peer_retry (zpeer_peer_t *self, char *error);

//  Has the batcher send what waits, for at most ms. What is left ends as ending
//  says. Several can drain at once: ask all, then wait for each.
void zpeer_peer_drain (zpeer_peer_t *self, int ms, const char *ending);

//  Waits for the end of that. Returns how many tasks were left, 1 if the batcher does
//  not say; unsettled, which may be NULL: whether the peer may yet apply something.
int64_t
zpeer_peer_drained (zpeer_peer_t *self, int timeout_ms, bool *unsettled);

//  Ends the dispatchers: what they have in flight is given up
void zpeer_peer_end_dispatchers (zpeer_peer_t *self);

#endif
