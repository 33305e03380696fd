//  Connections to a peer come and go, and nobody notices

#include <criterion/criterion.h>
#include "scripted_peer.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

#define NETWORK_FAILURE "ZPR031"
#define NOT_RENEWED     "ZPR053"

static zpeer_engine_t *s_engine;
static speer_t *s_peer;
static witness_t *s_witness;
static zpeer_feed_t *s_feed;

static void
s_start (const char *set)
{
    const char *const sets[] = {"zpeer.stop.deadline-ms=100", set, NULL};
    s_witness = witness_new ();
    s_peer = speer_new (0, -1);
    s_engine = stage_engine_new (sets);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_feed = stage_feed (s_engine);
    stage_registers (s_feed, 10);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 10, STAGE_WAIT_MS));
}

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
    witness_destroy (&s_witness);
}

TestSuite (connections, .fini = s_stop, .timeout = 60);

//  All that was sent has been answered, once
static void
s_all_is_well (void)
{
    uint64_t requests = speer_get (s_peer, SPEER_REQUESTS);
    cr_assert (speer_wait (s_peer, SPEER_ANSWERED, requests, STAGE_WAIT_MS));
    cr_assert_eq (speer_get (s_peer, SPEER_ABANDONED), 0);
    cr_assert_eq (witness_count (s_witness, NETWORK_FAILURE), 0);
    cr_assert_eq (witness_count (s_witness, NOT_RENEWED), 0);
}

Test (connections, old_ones_are_replaced_while_events_go_on)
{
    s_start ("zpeer.connection.max-age-ms=1000");
    while (speer_get (s_peer, SPEER_CONNECTIONS) < 5) {
        uint64_t items = speer_get (s_peer, SPEER_ITEMS);
        stage_heartbeats (s_feed, 10);
        cr_assert (speer_wait (s_peer, SPEER_ITEMS, items + 10, STAGE_WAIT_MS));
    }
    s_all_is_well ();
    cr_assert_leq (speer_get (s_peer, SPEER_OPEN), 3);
}

Test (connections, those_that_nobody_uses_are_closed)
{
    s_start ("eureka.server.peer-node-connection-idle-timeout-seconds=1");
    cr_assert (speer_wait_at_most (s_peer, SPEER_OPEN, 0, STAGE_WAIT_MS));
    stage_heartbeats (s_feed, 10);
    cr_assert (speer_wait (s_peer, SPEER_ITEMS, 20, STAGE_WAIT_MS));
    s_all_is_well ();
}
