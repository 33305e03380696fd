#include <assert.h>
#include <stdlib.h>
#include <zpeer/batcher.h>
#include <zpeer/dispatcher.h>
#include "options.h"
#include "peer.h"
#include "reserve.h"
#include "banned.h"

//  Sockets of a batcher: both ends of its pipe, inbox, dispatchers, uplink,
//  report; and the acceptor's end of the inbox
#define BATCHER_SOCKETS 7

//  Of a dispatcher: both ends of its pipe, batcher, health, report
#define DISPATCHER_SOCKETS 5

//  Descriptors of a dispatcher besides one per connection: what curl wakes its
//  poll with, a name that is being looked up, and a connection that is to take the
//  place of another
#define DISPATCHER_DESCRIPTORS 5

//  A number in decimal, NUL included
#define DIGITS_MAX 12

//  How much longer an answer is waited for that is late, ms
#define LATE_MS 200

struct zpeer_peer {
    uint32_t id;
    bool inherits;                   //  An earlier one left attempts unsettled
    zpeer_url_t url;                 //  Owned
    zactor_t *batcher;               //  Owned, or NULL
    char inbox[ZPEER_ENDPOINT_MAX];  //  Batcher's, for chunks
    char batches[ZPEER_ENDPOINT_MAX];  //  Batcher's, for dispatchers
    zactor_t *dispatchers[ZPEER_PEER_DISPATCHERS_MAX];  //  Owned
    unsigned count;                                     //  Of dispatchers
};

zpeer_peer_t *
zpeer_peer_new (uint32_t id, zpeer_url_t *url)
{
    zpeer_peer_t *self = (zpeer_peer_t *) calloc (1, sizeof *self);
    assert (self);
    self->id = id;
    self->url = *url;
    *url = (zpeer_url_t){0};
    return self;
}

void
zpeer_peer_inherit (zpeer_peer_t *self)
{
    self->inherits = true;
}

void
zpeer_peer_end_dispatchers (zpeer_peer_t *self)
{
    while (self->count)
        zactor_destroy (&self->dispatchers[--self->count]);
}

void
zpeer_peer_destroy (zpeer_peer_t **self_p)
{
    zpeer_peer_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    zpeer_peer_end_dispatchers (self);
    zactor_destroy (&self->batcher);
    zpeer_url_free (&self->url);
    free (self);
}

uint32_t
zpeer_peer_id (const zpeer_peer_t *self)
{
    return self->id;
}

const char *
zpeer_peer_base (const zpeer_peer_t *self)
{
    return self->url.base;
}

const char *
zpeer_peer_inbox (const zpeer_peer_t *self)
{
    return self->inbox;
}

static int
s_start_batcher (const zpeer_peer_t *self, zactor_t *actor,
                 const zpeer_wiring_t *wiring, char *error)
{
    char id[DIGITS_MAX];
    snprintf (id, sizeof id, "%u", self->id);
    int rc = ZPEER_PEER_CALL (actor, error, "PEER", id, self->url.base);
    if (rc == ZPEER_OK && self->inherits)
        rc = ZPEER_PEER_CALL (actor, error, "INHERIT");
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "INBOX", self->inbox);
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "BIND", self->batches);
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "UPLINK", wiring->uplink);
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "REPORT", wiring->report);
    return rc ? rc : ZPEER_PEER_CALL (actor, error, "START");
}

static int
s_start_dispatcher (const zpeer_peer_t *self, zactor_t *actor,
                    const zpeer_wiring_t *wiring, char *error)
{
    char id[DIGITS_MAX];
    snprintf (id, sizeof id, "%u", self->id);
    int rc = ZPEER_PEER_CALL (actor, error, "PEER", id, self->url.base);
    if (rc == ZPEER_OK && self->url.user)
        rc = ZPEER_PEER_CALL (actor, error, "AUTH", self->url.user,
                              self->url.password);
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "CONNECT", self->batches);
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "HEALTH", wiring->health);
    if (rc == ZPEER_OK)
        rc = ZPEER_PEER_CALL (actor, error, "REPORT", wiring->report);
    return rc ? rc : ZPEER_PEER_CALL (actor, error, "START");
}

typedef int (start_fn) (const zpeer_peer_t *self, zactor_t *actor,
                        const zpeer_wiring_t *wiring, char *error);

//  Creates an actor and gives it its commands, if there is room for it
static int
s_create (const zpeer_peer_t *self, zactor_t **actor_p, zactor_fn *fn,
          start_fn *start, const zpeer_wiring_t *wiring, char *error)
{
    zpeer_actor_args_t args = wiring->args;
    zactor_t *actor = zpeer_command_actor (fn, &args);
    if (!actor) {
        snprintf (error, ZPEER_COMMAND_ANSWER_MAX, "%s",
                  zpeer_strerror (ZPEER_E_RESOURCES));
        return ZPEER_E_RESOURCES;
    }
    int rc = start (self, actor, wiring, error);
    if (rc)
        zactor_destroy (&actor);
    else
        *actor_p = actor;
    return rc;
}

static int
s_reserve (unsigned descriptors, unsigned sockets, char *error)
{
    if (descriptors > ZPEER_RESERVE_MAX)
        descriptors = ZPEER_RESERVE_MAX;
    int rc = zpeer_reserve (descriptors, sockets);
    if (rc)
        snprintf (error, ZPEER_COMMAND_ANSWER_MAX,
                  "no room for %u sockets and %u more descriptors", sockets,
                  descriptors);
    return rc;
}

int
zpeer_peer_start (zpeer_peer_t *self, const zpeer_wiring_t *wiring, char *error)
{
    zpeer_socket_unique (self->inbox, "inbox");
    zpeer_socket_unique (self->batches, "batches");
    int rc = s_reserve (0, BATCHER_SOCKETS, error);
    return rc ? rc
              : s_create (self, &self->batcher, zpeer_batcher, s_start_batcher,
                          wiring, error);
}

int
zpeer_peer_add_dispatcher (zpeer_peer_t *self, const zpeer_wiring_t *wiring,
                           char *error)
{
    if (self->count == ZPEER_PEER_DISPATCHERS_MAX) {
        snprintf (error, ZPEER_COMMAND_ANSWER_MAX,
                  "a peer has at most %d dispatchers in one process",
                  ZPEER_PEER_DISPATCHERS_MAX);
        return ZPEER_E_RESOURCES;
    }
    const zpeer_options_t *options = wiring->args.options;
    int rc = s_reserve (DISPATCHER_DESCRIPTORS +
                            options->max_threads_for_peer_replication,
                        DISPATCHER_SOCKETS, error);
    if (rc == ZPEER_OK)
        rc = s_create (self, &self->dispatchers[self->count], zpeer_dispatcher,
                       s_start_dispatcher, wiring, error);
    self->count += rc == ZPEER_OK;
    return rc;
}

int
zpeer_peer_open (zpeer_peer_t *self, const char *endpoint, char *error)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    int rc = zpeer_command_call (self->batcher, ZPEER_PEER_CALL_MS, answer,
                                 "BIND", endpoint, (char *) NULL);
    if (rc)
        snprintf (error, ZPEER_COMMAND_ANSWER_MAX, "%.128s: %.256s", endpoint,
                  answer);
    return rc;
}

int
zpeer_peer_retry (zpeer_peer_t *self, char *error)
{
    return ZPEER_PEER_CALL (self->batcher, error, "RETRY-NOW");
}

void
zpeer_peer_drain (zpeer_peer_t *self, int ms, const char *ending)
{
    char digits[DIGITS_MAX];
    snprintf (digits, sizeof digits, "%d", ms);
    zpeer_command_send (self->batcher, "DRAIN", digits, ending, (char *) NULL);
}

int64_t
zpeer_peer_drained (zpeer_peer_t *self, int timeout_ms, bool *unsettled)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    char *rest = answer;
    int rc = zpeer_command_await (self->batcher, timeout_ms, answer);
    //  A machine that stood still has let the time go by for both
    if (rc == ZPEER_E_TIMEOUT)
        rc = zpeer_command_await (self->batcher, LATE_MS, answer);
    //  Who does not answer may have left something, and may have sent something
    int64_t left = rc ? 1 : strtoll (answer, &rest, 10);
    if (unsettled)
        *unsettled = rc || strtol (rest, NULL, 10);
    return left;
}
