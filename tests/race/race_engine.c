/*  race_engine.c - the whole engine under load while its parts come and go

    Feeders, watchers, peers that fail and recover, a peer that is added and
    removed, dispatchers more in this process and over tcp; it is stopped while
    all that goes on.
*/
#include <stdatomic.h>
#include "command.h"
#include "port.h"
#include "race.h"
#include "scripted_peer.h"
#include "socket.h"
#include "banned.h"

#define PEERS  3
#define ROUNDS 3

static zpeer_engine_t *s_engine;
static speer_t *s_peers[PEERS];
static char s_batcher[ZPEER_ENDPOINT_MAX];
static char s_health[ZPEER_ENDPOINT_MAX];

static void
s_add (speer_t *peer)
{
    RACE_CHECK (zpeer_engine_add_peer (s_engine, speer_url (peer)) == ZPEER_OK);
}

static void
s_start (void)
{
    for (unsigned i = 0; i < PEERS; i++) {
        s_peers[i] = speer_new (0, -1);
        s_add (s_peers[i]);
    }
    snprintf (s_batcher, sizeof s_batcher, "tcp://127.0.0.1:%d",
              speer_free_port ());
    snprintf (s_health, sizeof s_health, "tcp://127.0.0.1:%d",
              speer_free_port ());
    RACE_CHECK (zpeer_engine_open_peer (s_engine, speer_url (s_peers[0]),
                                        s_batcher, s_health) == ZPEER_OK);
}

//  A dispatcher for the first peer, as in another process
static zactor_t *
s_remote (atomic_ullong *logged)
{
    zpeer_actor_args_t args = {.log = race_log, .log_arg = logged};
    zactor_t *actor = zpeer_command_actor (zpeer_dispatcher, &args);
    RACE_CHECK (actor);
    RACE_CALL (actor, NULL, "PEER", "0", speer_url (s_peers[0]));
    RACE_CALL (actor, NULL, "CONNECT", s_batcher);
    RACE_CALL (actor, NULL, "HEALTH", s_health);
    RACE_CALL (actor, NULL, "BEAT", "500");
    RACE_CALL (actor, NULL, "START");
    return actor;
}

static void
s_expect_more (speer_t *peer, uint64_t items)
{
    RACE_CHECK (speer_wait (peer, SPEER_ITEMS,
                            speer_get (peer, SPEER_ITEMS) + items,
                            RACE_WAIT_MS));
}

//  One peer refuses, another hangs for a while
static void
s_fail (unsigned round)
{
    speer_mode (s_peers[1], round % 2 ? SPEER_LISTEN : SPEER_REFUSE);
    speer_rule (s_peers[2], &(speer_rule_t){.answer = SPEER_HANG, .count = 4});
    speer_rule (s_peers[0], &(speer_rule_t){.status = 503, .count = 1});
    speer_item_rule (s_peers[0],
                     &(speer_item_rule_t){.status = 404, .count = 20});
}

static void
s_round (unsigned round, speer_t *guest, atomic_ullong *logged)
{
    s_add (guest);
    zactor_t *remote = s_remote (logged);
    s_fail (round);
    RACE_CHECK (zpeer_engine_add_dispatcher (
                    s_engine, speer_url (s_peers[round % PEERS])) == ZPEER_OK);
    s_expect_more (guest, 300);
    s_expect_more (s_peers[0], 300);
    zactor_destroy (&remote);
    RACE_CHECK (zpeer_engine_remove_peer (s_engine, speer_url (guest)) ==
                ZPEER_OK);
}

int
main (void)
{
    atomic_ullong logged = 0;
    s_engine = race_engine (race_log, &logged);
    s_start ();
    speer_t *guest = speer_new (0, -1);
    race_t *race = race_new ();
    for (unsigned i = 0; i < 3; i++)
        race_feed (race, zpeer_engine_events (s_engine));
    for (unsigned i = 0; i < 2; i++)
        race_watch (race, zpeer_engine_outcomes (s_engine));

    for (unsigned round = 0; round < ROUNDS; round++)
        s_round (round, guest, &logged);

    RACE_CHECK (zpeer_engine_stop (s_engine) >= 0);
    RACE_CHECK (logged > 0);
    race_destroy (&race);
    zpeer_engine_destroy (&s_engine);
    for (unsigned i = 0; i < PEERS; i++)
        speer_destroy (&s_peers[i]);
    speer_destroy (&guest);
    return 0;
}
