/*  pair.h - an engine whose peers are real servers

        pair_t pair;
        pair_open (&pair, NULL);
        pair_register (&pair, "i1", 1000, "");
        pair_await (&pair, "i1", "UP", "UNKNOWN", 1000);
        pair_close (&pair);

    The peers are the servers that ZPEER_PEERS names, as run.sh knows them, with
    blanks between: "spring" if it is not set. What holds of a peer must hold of
    each: a wait is over when all of them have it.

    Every test process has an application of its own, and its name before each
    id: Eureka knows overrides by the id alone. What the engine reports paces the
    waiting: a server is asked again after each outcome. Every wait has a limit
    and fails the test then.
*/
#ifndef PAIR_H_INCLUDED
#define PAIR_H_INCLUDED

#include <zpeer/watch.h>
#include "forwarder.h"
#include "remote.h"
#include "stage.h"

#define PAIR_PEERS_MAX 8

//  Instead of the number of a peer: any of them, or the engine itself
#define PAIR_ANY SIZE_MAX

typedef struct {
    remote_t *remote;              //  Owned, as the next two
    speer_forwarder_t *forwarder;  //  Of pair_add_apart, else NULL
    char *url;                     //  By which the engine knows it
} pair_peer_t;

typedef struct {
    zpeer_engine_t *engine;  //  Owned, as all of these
    zpeer_feed_t *feed;
    zpeer_watch_t *watch;
    pair_peer_t peers[PAIR_PEERS_MAX];
    size_t count;
    char app[32];
    char id[128];     //  The last one of pair_id
    int limit_ms;     //  Of every wait; STAGE_WAIT_MS unless set
    json_t *heard;    //  Outcomes nobody asked for yet, but for stats
    json_t *outcome;  //  The last one of pair_outcome
} pair_t;

//  ---- The engine and its peers

//  set: as stage_engine. Each server is a peer from the beginning.
void pair_open (pair_t *self, const char *const *set);

//  The Spring server alone is the peer, under this URL
void pair_open_url (pair_t *self, const char *const *set, const char *url);

//  No server is a peer yet
void pair_start (pair_t *self, const char *const *set);

//  Adds one peer: a server, which is taken, under a URL; NULL: its own
void pair_add (pair_t *self, remote_t *remote, const char *url);

//  Adds each server. Apart: what the engine says passes a forwarder first.
void pair_add_all (pair_t *self);
void pair_add_apart (pair_t *self);

//  How the forwarders of all peers treat what they get
void pair_set_passage (pair_t *self, speer_passage_t passage);

//  A firewall before all peers answers 403 to what holds this text, as
//  speer_forwarder_deny
void pair_deny (pair_t *self, const char *text);

//  Ends the pause after failures at all peers
void pair_retry (pair_t *self);

//  Begins a verify of all peers
void pair_verify (pair_t *self);

//  Works twice, and on one that was not opened but zeroed
void pair_close (pair_t *self);

//  ---- Events

//  The id as the servers know it; valid until the next call
const char *pair_id (pair_t *self, const char *id);

//  One event; status and overridden as zpeer_event_set_…, at 0: none
typedef struct {
    zpeer_action_t action;
    uint64_t at;
    zpeer_status_t status;
    zpeer_status_t overridden;
} pair_event_t;

//  Such an event about an instance; a Register with the least there can be. The
//  caller's.
zpeer_event_t *
pair_event (pair_t *self, const char *id, const pair_event_t *from);

//  Sends count events about one instance in one request, so that they gather
void pair_send (pair_t *self, const char *id, const pair_event_t *events,
                size_t count);

//  Sends a Register whose info is the least, and these members: "" or
//  ",\"sid\":\"s\"…"
void
pair_register (pair_t *self, const char *id, uint64_t at, const char *members);

//  ---- A second writer

//  Posts one item about the instance to every peer; members: all but its app and
//  id
void pair_other_sends (pair_t *self, const char *id, const char *members);

//  A Register of an instance that is DOWN on a host "other"
void pair_other_registers (pair_t *self, const char *id, uint64_t at);

//  ---- What came of it

//  Waits until GET apps of every peer has the instance in this state, or not at
//  all, or so many of an application
void pair_await (pair_t *self, const char *id, const char *status,
                 const char *overridden, uint64_t at);
void pair_await_gone (pair_t *self, const char *id);
void pair_await_count (pair_t *self, const char *app, size_t count);

//  The same for one peer
void pair_await_at (pair_t *self, size_t peer, const char *id,
                    const char *status, const char *overridden, uint64_t at);

//  Every peer has it so at this moment. GET apps may be a second behind when
//  others read and write at the same time, so it is not what is asked here.
void pair_expect (pair_t *self, const char *id, const char *status,
                  const char *overridden, uint64_t at);

//  Waits for one outcome, whatever it is: statistics come often. What is waited for
//  otherwise is looked at again then.
void pair_tick (pair_t *self);

//  Waits until every server answers
void pair_await_answers (pair_t *self);

//  Takes the first outcome of a peer, or PAIR_ANY, with this topic, waiting for
//  it if need be. key and value: one of its members, or NULL. It stays until the
//  next one is taken.
json_t *pair_outcome (pair_t *self, size_t peer, const char *topic,
                      const char *key, const char *value);

//  Takes one of every peer
void pair_outcomes (pair_t *self, const char *topic, const char *key,
                    const char *value);

//  Waits until every peer confirmed this kind of change of the instance; id as
//  the servers know it
void pair_delivered (pair_t *self, const char *id, const char *action);

//  The instance once GET apps of the peer has it. A new reference.
json_t *pair_listed (pair_t *self, size_t peer, const char *id);

//  A number of leaseInfo at the peer
json_int_t
pair_lease (pair_t *self, size_t peer, const char *id, const char *name);

#endif
