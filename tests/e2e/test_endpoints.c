//  The engine's endpoints over tcp and ipc: whom they cut off, and what is left of
//  them

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "scripted_peer.h"
#include "socket.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

#define FEEDER_CUT "ZPR024"

#define CLIENT_CUT "ZPR055"

#define FRAME_BYTES 100000

Test (endpoints, a_feeder_that_is_cut_off_is_told_in_the_log)
{
    static const char *const set[] = {"zpeer.events.endpoint=tcp://127.0.0.1:*",
                                      "zpeer.events.max-frame-bytes=20000",
                                      NULL};
    static char bytes[FRAME_BYTES];
    zpeer_slice_t frame = {bytes, sizeof bytes};
    witness_t *witness = witness_new ();
    zpeer_engine_t *engine = stage_engine_new (set);
    zpeer_engine_set_log (engine, witness_log, witness);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK);
    zpeer_feed_t *good = stage_feed (engine);
    stage_register (good, "1");
    zsock_t *feeder = zpeer_socket_new (ZPEER_ROLE_FEED, 10, -1);
    cr_assert_eq (zpeer_socket_connect (feeder, zpeer_engine_events (engine)),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (feeder, ZMQ_POLLOUT, STAGE_WAIT_MS),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (feeder, &frame, 1), ZPEER_OK);
    cr_assert (witness_wait (witness, FEEDER_CUT, 1, STAGE_WAIT_MS));
    cr_expect (witness_says (witness, FEEDER_CUT, "more than 40000 bytes"));
    cr_expect (
        witness_says (witness, FEEDER_CUT, zpeer_engine_events (engine)));
    stage_register (good, "2");
    zsock_destroy (&feeder);
    zpeer_feed_destroy (&good);
    zpeer_engine_destroy (&engine);
    cr_expect_eq (witness_count (witness, FEEDER_CUT), 1);
    witness_destroy (&witness);
}

static zsock_t *s_clients[2];
static unsigned s_client_count;

//  Sends a frame that is larger than any of these endpoints takes
static void
s_send_too_much (const char *endpoint)
{
    static char bytes[90 * 1048576];
    zpeer_slice_t frame = {bytes, sizeof bytes};
    zsock_t *client = zpeer_socket_new (ZPEER_ROLE_FEED, 10, -1);
    cr_assert_eq (zpeer_socket_connect (client, endpoint), ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (client, ZMQ_POLLOUT, STAGE_WAIT_MS),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (client, &frame, 1), ZPEER_OK);
    s_clients[s_client_count++] = client;
}

static void
s_expect_cut (witness_t *witness, const char *endpoint)
{
    cr_assert (
        witness_wait (witness, CLIENT_CUT, s_client_count, STAGE_WAIT_MS), "%s",
        endpoint);
    cr_expect (witness_says (witness, CLIENT_CUT, endpoint), "%s", endpoint);
}

//  Whoever connects to the endpoints of batcher and health
Test (endpoints, a_client_that_is_cut_off_is_told_in_the_log)
{
    char endpoints[2][64];
    witness_t *witness = witness_new ();
    speer_t *peer = speer_new (0, -1);
    zpeer_engine_t *engine = stage_engine_new (NULL);
    zpeer_engine_set_log (engine, witness_log, witness);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK);
    zpeer_engine_add_peer (engine, speer_url (peer));
    for (int i = 0; i < 2; i++)
        snprintf (endpoints[i], sizeof endpoints[i], "ipc://@zpeer-cut-%ld-%d",
                  (long) getpid (), i);
    cr_assert_eq (zpeer_engine_open_peer (engine, speer_url (peer),
                                          endpoints[0], endpoints[1]),
                  ZPEER_OK);
    for (int i = 0; i < 2; i++) {
        s_send_too_much (endpoints[i]);
        s_expect_cut (witness, endpoints[i]);
    }
    while (s_client_count)
        zsock_destroy (&s_clients[--s_client_count]);
    zpeer_engine_destroy (&engine);
    speer_destroy (&peer);
    witness_destroy (&witness);
}

//  A subscription that is longer than any topic
Test (endpoints, a_subscriber_that_is_cut_off_is_told_in_the_log)
{
    static const char *const set[] = {
        "zpeer.outcomes.endpoint=tcp://127.0.0.1:*", NULL};
    char topic[2000] = "";
    witness_t *witness = witness_new ();
    zpeer_engine_t *engine = stage_engine_new (set);
    zpeer_engine_set_log (engine, witness_log, witness);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK);
    memset (topic, 'a', sizeof topic - 1);
    zsock_t *client = zpeer_socket_new (ZPEER_ROLE_SUB, 10, -1);
    zpeer_socket_subscribe (client, topic);
    cr_assert_eq (zpeer_socket_connect (client, zpeer_engine_outcomes (engine)),
                  ZPEER_OK);
    cr_assert (witness_wait (witness, CLIENT_CUT, 1, STAGE_WAIT_MS));
    cr_expect (
        witness_says (witness, CLIENT_CUT, zpeer_engine_outcomes (engine)));
    zsock_destroy (&client);
    zpeer_engine_destroy (&engine);
    witness_destroy (&witness);
}

//  Files --------------------------------------------------------------------

static char s_directory[] = "/tmp/zpeer-endpoints-XXXXXX";
static char s_events[128];
static char s_outcomes[128];

static void
s_setup (void)
{
    cr_assert (mkdtemp (s_directory));
    snprintf (s_events, sizeof s_events,
              "zpeer.events.endpoint=ipc://%s/events", s_directory);
    snprintf (s_outcomes, sizeof s_outcomes,
              "zpeer.outcomes.endpoint=ipc://%s/outcomes", s_directory);
}

static unsigned
s_files (void)
{
    unsigned count = 0;
    const struct dirent *entry;
    DIR *directory = opendir (s_directory);
    while ((entry = readdir (directory)))
        count += entry->d_name[0] != '.';
    closedir (directory);
    return count;
}

static void
s_teardown (void)
{
    cr_expect_eq (rmdir (s_directory), 0, "something is left");
}

TestSuite (endpoint_files, .init = s_setup, .fini = s_teardown);

Test (endpoint_files, none_is_left_when_the_engine_stops)
{
    const char *const set[] = {s_events, s_outcomes, NULL};
    zpeer_engine_t *engine = stage_engine (set);
    cr_expect_eq (s_files (), 2);
    zpeer_engine_stop (engine);
    cr_expect_eq (s_files (), 0);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_OK);
    cr_expect_eq (s_files (), 2);
    zpeer_engine_destroy (&engine);
}

//  The outcomes' endpoint is bound first
Test (endpoint_files, none_is_left_when_the_engine_cannot_start)
{
    const char *const set[] = {"zpeer.events.endpoint=ipc:///nonexistent/x",
                               s_outcomes, NULL};
    zpeer_engine_t *engine = stage_engine_new (set);
    cr_assert_eq (zpeer_engine_start (engine), ZPEER_E_BIND);
    cr_expect_eq (s_files (), 0);
    zpeer_engine_destroy (&engine);
}

Test (endpoint_files, none_is_left_of_a_peer_that_is_removed)
{
    char batches[128], health[128];
    speer_t *peer = speer_new (0, -1);
    zpeer_engine_t *engine = stage_engine (NULL);
    snprintf (batches, sizeof batches, "ipc://%s/batches", s_directory);
    snprintf (health, sizeof health, "ipc://%s/health", s_directory);
    zpeer_engine_add_peer (engine, speer_url (peer));
    cr_assert_eq (
        zpeer_engine_open_peer (engine, speer_url (peer), batches, health),
        ZPEER_OK);
    cr_expect_eq (s_files (), 2);
    zpeer_engine_remove_peer (engine, speer_url (peer));
    cr_expect_eq (s_files (), 1, "health is there for the other peers");
    zpeer_engine_destroy (&engine);
    cr_expect_eq (s_files (), 0);
    speer_destroy (&peer);
}

//  Another engine has it: what it listens on is not touched
Test (endpoint_files, those_of_another_engine_stay)
{
    const char *const set[] = {s_events, s_outcomes, NULL};
    zpeer_engine_t *engine = stage_engine (set);
    zpeer_engine_t *other = stage_engine_new (set);
    cr_assert_eq (zpeer_engine_start (other), ZPEER_E_BIND);
    zpeer_engine_destroy (&other);
    cr_expect_eq (s_files (), 2);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_register (feed, "1");
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
}
