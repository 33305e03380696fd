/*  stage.h - an engine and a feed for end-to-end tests

        zpeer_engine_t *engine = stage_engine (NULL);
        zpeer_engine_add_peer (engine, speer_url (peer));
        zpeer_feed_t *feed = stage_feed (engine);
        stage_register (feed, "1");

    Every wait has a limit and fails the test then.
*/
#ifndef STAGE_H_INCLUDED
#define STAGE_H_INCLUDED

#include <zpeer/zpeer.h>

//  Limit of every wait
#define STAGE_WAIT_MS 10000

//  Application of all instances here, and the timestamp of their Registers
#define STAGE_APP "CART"
#define STAGE_AT  1718271499871u

//  A started engine with endpoints of its own. set: "key=value" texts, closed
//  by NULL; or NULL.
zpeer_engine_t *stage_engine (const char *const *set);

//  The same, not started
zpeer_engine_t *stage_engine_new (const char *const *set);

//  A feed connected to the engine
zpeer_feed_t *stage_feed (zpeer_engine_t *engine);

//  Sends an event, waits until it is accepted
void stage_send (zpeer_feed_t *feed, const zpeer_event_t *event);

//  Sends another event about an instance; a status of UNKNOWN: it says none
void stage_change (zpeer_feed_t *feed, zpeer_action_t action, const char *id,
                   zpeer_status_t status);

//  Sends the Register of an instance
void stage_register (zpeer_feed_t *feed, const char *id);

//  Sends one request with the Heartbeats of count instances, which are "0" and
//  so on
void stage_heartbeats (zpeer_feed_t *feed, unsigned count);

//  Sends Registers of count instances, "0" and so on, in one request
void stage_registers (zpeer_feed_t *feed, unsigned count);

//  The same from another number on
void stage_registers_from (zpeer_feed_t *feed, unsigned first, unsigned count);

//  The same without waiting for the answer
void stage_post_registers (zpeer_feed_t *feed, unsigned first, unsigned count);

//  Waits for the answer to the oldest request that has none: all of its events,
//  count, are accepted
void stage_accepted (zpeer_feed_t *feed, unsigned count);

#endif
