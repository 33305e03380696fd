/*  engine.h - the engine: starts, wires and stops the actors

    A host that embeds zpeer needs this, a feed (feed.h) to put its registry's
    events in, and a watch (watch.h) to read outcomes.

        zpeer_engine_t *engine = zpeer_engine_new ();
        zpeer_engine_set (engine, "zpeer.events.endpoint", "inproc://events");
        zpeer_engine_start (engine);
        zpeer_engine_add_peer (engine, "http://peer1:8761/eureka/");
        …
        zpeer_engine_stop (engine);
        zpeer_engine_destroy (&engine);

    Threads: one at a time calls an engine; the actors run in threads of their
    own. Several engines in one process do not know of each other, as long as
    their endpoints differ.

    Blocking: start, and whatever is asked of a peer, wait for the actors'
    answers, which takes milliseconds; remove and stop wait for what is in
    flight, at most zpeer.stop.deadline-ms plus 100 ms.

    A stopped engine can be started again: it begins with an empty view, and
    with the peers of its options.

    Destroy the engine before the process exits, on every path.

    The host's signal handlers, stdout, environment and czmq settings are left
    as they are.
*/
#ifndef ZPEER_ENGINE_H_INCLUDED
#define ZPEER_ENGINE_H_INCLUDED

#include <zpeer/log.h>
#include <zpeer/options.h>

#ifdef __cplusplus
extern "C" {
#endif

//  Most peers of one engine
#define ZPEER_PEERS_MAX 64

typedef struct zpeer_engine zpeer_engine_t;

//  A new engine with default options, not started. Never NULL.
ZPEER_EXPORT zpeer_engine_t *zpeer_engine_new (void);

//  Stops it if it runs, frees it, sets the pointer to NULL. Before the process
//  exits: while an engine runs, czmq aborts in its handler for exit.
ZPEER_EXPORT void zpeer_engine_destroy (zpeer_engine_t **self_p);

//  Who gets the messages; before start
ZPEER_EXPORT void
zpeer_engine_set_log (zpeer_engine_t *self, zpeer_log_fn *log, void *arg);

//  Sets an option by name (options.h); before start. Returns ZPEER_OK, or
//  ZPEER_E_UNKNOWN, ZPEER_E_RANGE, ZPEER_E_STATE; zpeer_engine_error says what
//  is wrong, with key, value and range.
ZPEER_EXPORT int
zpeer_engine_set (zpeer_engine_t *self, const char *key, const char *value);

//  Takes over a whole table of options; before start
ZPEER_EXPORT int
zpeer_engine_set_options (zpeer_engine_t *self, const zpeer_options_t *options);

//  What was wrong with the last call that returns an error; "" if nothing was.
//  Valid until the next one.
ZPEER_EXPORT const char *zpeer_engine_error (const zpeer_engine_t *self);

//  Starts acceptor, health and reporter, binds both endpoints, and adds the
//  peers that eureka.client.service-url and apiml.discovery.allPeersUrls list,
//  but for this node itself. Feeders are read only then: every event that is
//  accepted is told to every listed peer. A listed peer for which descriptors or
//  sockets ran out is logged and does not keep the others from running. Returns
//  ZPEER_OK, or ZPEER_E_BIND (an endpoint is in use or none; what lies at the
//  path of an ipc endpoint is replaced only if it is a socket that nobody listens
//  on), ZPEER_E_RESOURCES, ZPEER_E_INVALID (eureka.server.my-url is no single
//  URL; a listed peer is https, and a file of zpeer.tls cannot be used),
//  ZPEER_E_STATE, and then nothing runs.
ZPEER_EXPORT int zpeer_engine_start (zpeer_engine_t *self);

//  The endpoints as bound (with the port that was chosen, if it was "*").
//  Valid until stop; NULL before start.
ZPEER_EXPORT const char *zpeer_engine_events (const zpeer_engine_t *self);
ZPEER_EXPORT const char *zpeer_engine_outcomes (const zpeer_engine_t *self);

//  Adds a peer by its base URL, as Eureka's clients write it; with credentials
//  in the URL, or as user and password (both may be NULL). From now on it is
//  told of every change; and of all that the view holds already, overrides and
//  recent cancellations included, by a resync that begins by itself: it misses
//  nothing. Returns ZPEER_OK, ZPEER_E_INVALID (not a URL; or https, and a file of
//  zpeer.tls cannot be used), ZPEER_E_EXISTS (whatever the spelling),
//  ZPEER_E_RESOURCES (descriptors, sockets, too many peers: the engine goes on
//  as before), ZPEER_E_REJECTED (it is this node's own URL), ZPEER_E_STATE (not
//  started), as do the functions that follow.
ZPEER_EXPORT int zpeer_engine_add_peer (zpeer_engine_t *self, const char *url);
ZPEER_EXPORT int
zpeer_engine_add_peer_auth (zpeer_engine_t *self, const char *url,
                            const char *user, const char *password);

//  Removes a peer: no more changes for it, what is in flight may end within
//  zpeer.stop.deadline-ms. Returns ZPEER_OK or ZPEER_E_UNKNOWN.
ZPEER_EXPORT int
zpeer_engine_remove_peer (zpeer_engine_t *self, const char *url);

//  Resync: whatever the peer holds, it is brought to the view's state of every
//  instance and ASG; each instance is asked about first, so that a newer copy of
//  another server is not harmed. Verify is cheaper, one heartbeat an instance,
//  and repairs what the peer answers it does not hold, or holds an older copy
//  of; an override that alone differs it does not see. When: a peer came back
//  empty, or was written to behind the engine's back.
//
//  Both only ask, and return at once. What comes of it are outcomes of the topic
//  "resync": begun, progress, ended. Several peers take turns; live changes are
//  not held up. Return ZPEER_OK or ZPEER_E_UNKNOWN.
ZPEER_EXPORT int
zpeer_engine_resync_peer (zpeer_engine_t *self, const char *url);
ZPEER_EXPORT int
zpeer_engine_verify_peer (zpeer_engine_t *self, const char *url);

//  Ends the pause after failures: what waits for the peer is tried at once, for
//  instance because it is known to be back. Returns ZPEER_OK or ZPEER_E_UNKNOWN.
ZPEER_EXPORT int
zpeer_engine_retry_peer (zpeer_engine_t *self, const char *url);

//  Adds one more dispatcher for a peer, in this process: its window doubles,
//  triples, … Returns ZPEER_OK, ZPEER_E_UNKNOWN or ZPEER_E_RESOURCES.
ZPEER_EXPORT int
zpeer_engine_add_dispatcher (zpeer_engine_t *self, const char *url);

//  Lets dispatchers of other processes or machines (dispatcher.h) work for a
//  peer: binds endpoint (ipc or tcp) on its batcher, and health's on
//  health_endpoint unless that is bound already. A tcp endpoint needs a port:
//  "*" is ZPEER_E_INVALID. Returns ZPEER_OK, that, ZPEER_E_UNKNOWN or
//  ZPEER_E_BIND.
ZPEER_EXPORT int
zpeer_engine_open_peer (zpeer_engine_t *self, const char *url,
                        const char *endpoint, const char *health_endpoint);

//  The number a peer has in health and in dispatchers' PEER command; -1: no
//  such peer
ZPEER_EXPORT int
zpeer_engine_peer_id (const zpeer_engine_t *self, const char *url);

//  The base URLs of the peers, without credentials; NULL behind the last. Valid
//  until that peer is removed or the engine stops.
ZPEER_EXPORT const char *
zpeer_engine_peer (const zpeer_engine_t *self, size_t index);

//  Stops in order: intake closes, all batchers drain at once within
//  zpeer.stop.deadline-ms, then dispatchers, health, reporter. Returns how many
//  tasks were not delivered, and instances were still owed besides (0: all was
//  told), or a negative error.
ZPEER_EXPORT int64_t zpeer_engine_stop (zpeer_engine_t *self);

#ifdef __cplusplus
}
#endif

#endif
