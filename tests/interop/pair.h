/*  pair.h - an engine whose peer is the Spring server

        pair_t pair;
        pair_open (&pair, NULL);
        pair_register (&pair, "i1", 1000, "");
        pair_await (&pair, "i1", "UP", "UNKNOWN", 1000);
        pair_close (&pair);

    Every test process has an application of its own, and its name before each
    id: Eureka knows overrides by the id alone. What the engine reports paces the waiting: the server is asked again after each outcome. Every wait
    has a limit and fails the test then.
*/
#ifndef PAIR_H_INCLUDED
#define PAIR_H_INCLUDED

#include <zpeer/watch.h>
#include "remote.h"
#include "stage.h"

typedef struct {
    zpeer_engine_t *engine;  //  Owned, as all of these
    zpeer_feed_t *feed;
    zpeer_watch_t *watch;
    remote_t *spring;
    char app[32];
    char id[128];     //  The last one of pair_id
    int limit_ms;     //  Of every wait; STAGE_WAIT_MS unless set
    json_t *outcome;  //  The last one of pair_outcome
} pair_t;

//  set: as stage_engine. The peer is known by the server's own URL, or by
//  pair_open_url's.
void pair_open (pair_t *self, const char *const *set);
void pair_open_url (pair_t *self, const char *const *set, const char *url);

//  Works twice, and on one that was not opened but zeroed
void pair_close (pair_t *self);

//  The id as the server knows it; valid until the next call
const char *pair_id (pair_t *self, const char *id);

//  ---- Events

//  One event; status and overridden as zpeer_event_set_…, at 0: none
typedef struct {
    zpeer_action_t action;
    uint64_t at;
    zpeer_status_t status;
    zpeer_status_t overridden;
} pair_event_t;

//  Sends count events about one instance in one request, so that they gather
void pair_send (pair_t *self, const char *id, const pair_event_t *events,
                size_t count);

//  Sends a Register whose info is the least, and these members: "" or
//  ",\"sid\":\"s\"…"
void
pair_register (pair_t *self, const char *id, uint64_t at, const char *members);

//  ---- What came of it

//  Waits for a state at the server
void pair_await (pair_t *self, const char *id, const char *status,
                 const char *overridden, uint64_t at);
void pair_await_gone (pair_t *self, const char *id);
void pair_await_count (pair_t *self, const char *app, size_t count);

//  Waits for an outcome with this topic, which stays until the next one. key and
//  value: one of its members, or NULL.
json_t *pair_outcome (pair_t *self, const char *topic, const char *key,
                      const char *value);

//  The instance once GET apps has it, which a cache of the server may delay by a
//  second. A new reference.
json_t *pair_listed (pair_t *self, const char *id);

//  Waits until the server confirmed this kind of change of the instance; id as
//  the server knows it
void pair_delivered (pair_t *self, const char *id, const char *action);

//  A number of leaseInfo at the server
json_int_t pair_lease (pair_t *self, const char *id, const char *name);

#endif
