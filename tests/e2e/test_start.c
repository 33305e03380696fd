/*  test_start.c - what is there already when an engine starts
*/
#include <criterion/criterion.h>
#include <stdlib.h>
#include <czmq.h>
#include "scripted_peer.h"
#include "socket.h"
#include "stage.h"
#include "banned.h"

#define PEERS 6

//  Requests that wait for the engine, below a feed's window, and their events
#define REQUESTS 50u
#define EVENTS   4u

TestSuite (start);

Test (start, what_is_accepted_first_reaches_every_listed_peer)
{
    zpeer_engine_t *engine = stage_engine_new (NULL);
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "early");
    zpeer_engine_set (engine, "zpeer.events.endpoint", endpoint);
    speer_t *peers[PEERS];
    for (int i = 0; i < PEERS; i++) {
        char key[64];
        snprintf (key, sizeof key, "eureka.client.service-url.zone%d", i);
        peers[i] = speer_new (0, -1);
        zpeer_engine_set (engine, key, speer_url (peers[i]));
    }

    zpeer_feed_t *feed = zpeer_feed_new (endpoint, 0);
    for (unsigned i = 0; i < REQUESTS; i++)
        stage_post_registers (feed, i * EVENTS, EVENTS);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK, "%s",
                  zpeer_engine_error (engine));
    for (unsigned i = 0; i < REQUESTS; i++)
        stage_accepted (feed, EVENTS);
    cr_assert_eq (zpeer_engine_stop (engine), 0);
    for (int i = 0; i < PEERS; i++) {
        cr_expect_eq (
            speer_get (peers[i], SPEER_INSTANCES), (uint64_t) REQUESTS * EVENTS,
            "peer %d has %llu", i,
            (unsigned long long) speer_get (peers[i], SPEER_INSTANCES));
        speer_destroy (&peers[i]);
    }
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
}

//  Nobody listens there
#define NOBODY "http://127.0.0.1:9/"
#define SECURE "https://127.0.0.1:9/"

//  Both peers are there once the file need not be
Test (start, with_a_listed_peer_that_cannot_be_nothing_runs)
{
    const char *const set[] = {"apiml.discovery.allPeersUrls=" NOBODY
                               ",https://u:secret@127.0.0.1:9/",
                               "zpeer.tls.ca-file=/nonexistent/ca.pem", NULL};
    zpeer_engine_t *engine = stage_engine_new (set);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_E_INVALID);
    cr_assert_str_eq (zpeer_engine_error (engine),
                      SECURE ": zpeer.tls.ca-file /nonexistent/ca.pem: No such "
                             "file or directory");
    cr_assert_null (zpeer_engine_events (engine));
    cr_assert_null (zpeer_engine_peer (engine, 0));
    cr_assert_eq (zpeer_engine_set (engine, "zpeer.tls.ca-file", ""), ZPEER_OK);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK);
    cr_assert_str_eq (zpeer_engine_peer (engine, 0), NOBODY);
    cr_assert_str_eq (zpeer_engine_peer (engine, 1), SECURE);
    zpeer_engine_destroy (&engine);
}
