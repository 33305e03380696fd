/*  test_engine.c - life of an engine: options, start, peers, stop
*/
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <czmq.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

//  Nobody listens there, and no test sends anything there
#define NOBODY "http://127.0.0.1:9/eureka/"

static zpeer_engine_t *s_engine;
static speer_t *s_peer;

static void
s_setup (void)
{
    s_engine = stage_engine (NULL);
    s_peer = speer_new (0, -1);
}

static void
s_teardown (void)
{
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
}

//  Waits until the peer has the instance
static bool
s_has_instance (speer_t *peer, void *id)
{
    return speer_lease (peer, STAGE_APP, (const char *) id, NULL);
}

static void
s_reaches (zpeer_engine_t *engine, speer_t *peer, const char *id)
{
    zpeer_feed_t *feed = stage_feed (engine);
    stage_register (feed, id);
    cr_assert (
        speer_wait_until (peer, s_has_instance, (void *) id, STAGE_WAIT_MS),
        "%s did not arrive", id);
    zpeer_feed_destroy (&feed);
}

#define ASSERT_ERROR(rc, code, text)                                           \
    do {                                                                       \
        cr_assert_eq (rc, code);                                               \
        cr_assert (strstr (zpeer_engine_error (s_engine), text), "%s",         \
                   zpeer_engine_error (s_engine));                             \
    } while (0)

TestSuite (engine, .init = s_setup, .fini = s_teardown);

Test (engine, an_event_reaches_a_peer)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    cr_assert_str_eq (zpeer_engine_error (s_engine), "");
    s_reaches (s_engine, s_peer, "1");
    cr_assert_eq (zpeer_engine_stop (s_engine), 0);
    cr_assert_str_eq (zpeer_engine_error (s_engine), "");
}

Test (engine, it_can_be_stopped_and_started_again)
{
    for (int i = 0; i < 2; i++) {
        cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                      ZPEER_OK);
        s_reaches (s_engine, s_peer, i ? "2" : "1");
        cr_assert_eq (zpeer_engine_stop (s_engine), 0);
        cr_assert_null (zpeer_engine_events (s_engine));
        cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK, "%s",
                      zpeer_engine_error (s_engine));
    }
}

Test (engine, what_needs_a_running_engine_says_so)
{
    ASSERT_ERROR (zpeer_engine_start (s_engine), ZPEER_E_STATE, "is running");
    ASSERT_ERROR (zpeer_engine_set (s_engine, "zpeer.batch.linger-ms", "1"),
                  ZPEER_E_STATE, "is running");
    cr_assert_eq (zpeer_engine_stop (s_engine), 0);
    ASSERT_ERROR (zpeer_engine_stop (s_engine), ZPEER_E_STATE, "not running");
    ASSERT_ERROR (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_E_STATE,
                  "not running");
    ASSERT_ERROR (zpeer_engine_remove_peer (s_engine, NOBODY), ZPEER_E_STATE,
                  "not running");
}

Test (engine, two_in_one_process_do_not_know_of_each_other)
{
    zpeer_engine_t *other = stage_engine (NULL);
    speer_t *peer = speer_new (0, -1);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (other, speer_url (peer)), ZPEER_OK);
    s_reaches (s_engine, s_peer, "1");
    s_reaches (other, peer, "2");
    cr_assert_not (s_has_instance (s_peer, "2"));
    cr_assert_not (s_has_instance (peer, "1"));
    zpeer_engine_destroy (&other);
    speer_destroy (&peer);
    s_reaches (s_engine, s_peer, "3");
}

Test (engine, a_peer_is_known_whatever_the_spelling_of_its_url)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, "http://localhost:80/e"),
                  ZPEER_OK);
    ASSERT_ERROR (zpeer_engine_add_peer (s_engine, "http://LOCALHOST/e/"),
                  ZPEER_E_EXISTS, "http://localhost/e/ is a peer already");
    cr_assert_eq (zpeer_engine_peer_id (s_engine, "http://u:p@localhost/e"), 0);
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, "http://localhost/e"),
                  ZPEER_OK);
    ASSERT_ERROR (zpeer_engine_remove_peer (s_engine, "http://localhost/e"),
                  ZPEER_E_UNKNOWN, "there is no peer http://localhost/e/");
}

Test (engine, what_is_no_url_is_no_peer)
{
    ASSERT_ERROR (zpeer_engine_add_peer (s_engine, "ftp://u:secret@host/"),
                  ZPEER_E_INVALID, "http");
    cr_assert_not (strstr (zpeer_engine_error (s_engine), "secret"));
    ASSERT_ERROR (zpeer_engine_add_peer_auth (s_engine, NOBODY, "a:b", "c"),
                  ZPEER_E_INVALID, "user");
    cr_assert_eq (zpeer_engine_peer_id (s_engine, NOBODY), -1);
}

Test (engine, the_smallest_free_number_is_given)
{
    static const char *const urls[] = {"http://127.0.0.1:9/a/",
                                       "http://127.0.0.1:9/b/",
                                       "http://127.0.0.1:9/c/"};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq (zpeer_engine_add_peer (s_engine, urls[i]), ZPEER_OK);
        cr_assert_eq (zpeer_engine_peer_id (s_engine, urls[i]), i);
    }
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, urls[1]), ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_OK);
    cr_assert_eq (zpeer_engine_peer_id (s_engine, NOBODY), 1);
}

Test (engine, a_peer_that_was_removed_is_told_nothing)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_reaches (s_engine, s_peer, "1");
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    zpeer_feed_t *feed = stage_feed (s_engine);
    stage_register (feed, "2");
    zpeer_feed_destroy (&feed);
    cr_assert_eq (zpeer_engine_stop (s_engine), 0);
    cr_assert_not (s_has_instance (s_peer, "2"));
}

Test (engine, more_dispatchers_can_work_for_a_peer)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_dispatcher (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_reaches (s_engine, s_peer, "1");
    ASSERT_ERROR (zpeer_engine_add_dispatcher (s_engine, NOBODY),
                  ZPEER_E_UNKNOWN, "no peer");
}

Test (engine, a_peer_can_be_opened_for_dispatchers_elsewhere)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_OK);
    char endpoint[64];
    char health[64];
    snprintf (endpoint, sizeof endpoint, "ipc://@zpeer-test-%d", getpid ());
    snprintf (health, sizeof health, "ipc://@zpeer-health-%d", getpid ());
    cr_assert_eq (zpeer_engine_open_peer (s_engine, NOBODY, endpoint, health),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    ASSERT_ERROR (zpeer_engine_open_peer (s_engine, NOBODY, "nonsense", health),
                  ZPEER_E_BIND, "nonsense");
}

Test (engine, a_port_for_others_must_be_given)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_OK);
    ASSERT_ERROR (zpeer_engine_open_peer (s_engine, NOBODY, "tcp://127.0.0.1:*",
                                          "inproc://health-of-mine"),
                  ZPEER_E_INVALID, "a port must be given");
}

TestSuite (engine_start, .fini = s_teardown);

//  Of no matter to a peer that does not speak TLS
Test (engine_start, an_https_peer_needs_a_ca_file_that_can_be_read)
{
    const char *const set[] = {"zpeer.tls.ca-file=/nonexistent/ca.pem", NULL};
    s_engine = stage_engine (set);
    ASSERT_ERROR (zpeer_engine_add_peer (s_engine, "https://127.0.0.1:9/"),
                  ZPEER_E_INVALID,
                  "zpeer.tls.ca-file /nonexistent/ca.pem: No such file");
    cr_assert_eq (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_OK);
}

Test (engine_start, a_wrong_option_is_named)
{
    s_engine = stage_engine_new (NULL);
    cr_assert_str_eq (zpeer_engine_error (s_engine), "");
    ASSERT_ERROR (zpeer_engine_set (s_engine, "zpeer.batch.max-items", "4097"),
                  ZPEER_E_RANGE, "zpeer.batch.max-items");
    ASSERT_ERROR (zpeer_engine_set (s_engine, "zpeer.nonsense", "1"),
                  ZPEER_E_UNKNOWN, "zpeer.nonsense");
}

Test (engine_start, an_endpoint_that_is_taken_is_named)
{
    s_engine = stage_engine (NULL);
    zpeer_engine_t *taken = s_engine;
    const char *const set[] = {
        "zpeer.events.endpoint=inproc://zpeer-test-taken", NULL};
    s_engine = stage_engine (set);
    zpeer_engine_t *holder = s_engine;
    s_engine = stage_engine_new (set);
    ASSERT_ERROR (zpeer_engine_start (s_engine), ZPEER_E_BIND,
                  "inproc://zpeer-test-taken");
    //  Nothing is left of the attempt
    zpeer_engine_destroy (&holder);
    zpeer_engine_set (s_engine, "zpeer.events.endpoint", "inproc://zpeer-free");
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    zpeer_engine_destroy (&taken);
}

Test (engine_start, listed_peers_are_added_and_this_node_is_not)
{
    const char *const set[] = {
        "eureka.server.my-url=http://127.0.0.1:9/me",
        "eureka.client.service-url.default-zone="
        "http://127.0.0.1:9/a,http://127.0.0.1:9/me/",
        "apiml.discovery.allPeersUrls=http://127.0.0.1:9/b,"
        "http://127.0.0.1:9/a/",
        NULL};
    s_engine = stage_engine (set);
    cr_assert_neq (zpeer_engine_peer_id (s_engine, "http://127.0.0.1:9/a"), -1);
    cr_assert_neq (zpeer_engine_peer_id (s_engine, "http://127.0.0.1:9/b"), -1);
    cr_assert_eq (zpeer_engine_peer_id (s_engine, "http://127.0.0.1:9/me"), -1);
    ASSERT_ERROR (zpeer_engine_add_peer (s_engine, "http://127.0.0.1:9/me"),
                  ZPEER_E_REJECTED, "own");
}

Test (engine_start, a_wrong_url_of_this_node_is_named)
{
    s_engine = stage_engine_new (NULL);
    ASSERT_ERROR (zpeer_engine_set (s_engine, "eureka.server.my-url", "me"),
                  ZPEER_E_RANGE, "eureka.server.my-url: URL \"me\"");
}

Test (engine_start, what_happens_to_peers_comes_out)
{
    s_engine = stage_engine (NULL);
    zpeer_watch_t *watch =
        zpeer_watch_new (zpeer_engine_outcomes (s_engine), "peer,stats");
    const char *topic;
    const void *data;
    size_t size;
    //  Something came: it is subscribed
    cr_assert_eq (zpeer_watch_recv (watch, STAGE_WAIT_MS, &topic, &data, &size),
                  ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_OK);
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, NOBODY), ZPEER_OK);
    static const char *const expected[] = {
        "{\"peer\":\"" NOBODY "\",\"state\":\"added\"}",
        "{\"peer\":\"" NOBODY "\",\"state\":\"removed\"}"};
    for (int i = 0; i < 2;) {
        cr_assert_eq (
            zpeer_watch_recv (watch, STAGE_WAIT_MS, &topic, &data, &size),
            ZPEER_OK);
        if (strcmp (topic, "peer") != 0)
            continue;
        char *json = zpeer_watch_json (data, size);
        cr_assert_str_eq (json, expected[i++]);
        free (json);
    }
    zpeer_watch_destroy (&watch);
}

#define LINES_MAX 256

//  Only the engine's own lines, which come from the thread that calls it
static void
s_on_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) level;
    (void) text;
    char *lines = (char *) arg;
    size_t used = strlen (lines);
    if (strcmp (id, "ZPR020") < 0)
        snprintf (lines + used, LINES_MAX - used, "%s ", id);
}

Test (engine_start, the_host_hears_what_the_engine_does)
{
    const char *const set[] = {"eureka.client.fetch-registry=false",
                               "eureka.client.service-url.z=" NOBODY,
                               "zpeer.tls.ca-file=/nonexistent/ca.pem", NULL};
    char lines[LINES_MAX] = "";
    s_engine = stage_engine_new (set);
    zpeer_engine_set_log (s_engine, s_on_log, lines);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, "https://127.0.0.1:9/"),
                  ZPEER_E_INVALID);
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, NOBODY), ZPEER_OK);
    cr_assert_eq (zpeer_engine_stop (s_engine), 0);
    cr_assert_str_eq (lines, "ZPR003 ZPR010 ZPR001 ZPR012 ZPR011 ZPR002 ");
}

static void
s_on_signal (int number)
{
    (void) number;
}

Test (engine_start, the_hosts_signal_handlers_stay)
{
    struct sigaction mine = {.sa_handler = s_on_signal};
    sigaction (SIGINT, &mine, NULL);
    sigaction (SIGTERM, &mine, NULL);
    s_engine = stage_engine (NULL);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, NOBODY), ZPEER_OK);
    cr_assert_eq (zpeer_engine_stop (s_engine), 0);
    struct sigaction now;
    sigaction (SIGINT, NULL, &now);
    cr_assert_eq (now.sa_handler, s_on_signal);
    sigaction (SIGTERM, NULL, &now);
    cr_assert_eq (now.sa_handler, s_on_signal);
}

//  Everything that can be narrowed: the engine sets its own
static void
s_narrow_czmq (void)
{
    zsys_set_linger (0);
    zsys_set_sndhwm (1);
    zsys_set_rcvhwm (1);
    zsys_set_pipehwm (1);
    zsys_set_max_msgsz (16);
    zsys_set_ipv6 (1);
}

Test (engine_start, the_hosts_czmq_settings_stay_and_do_no_harm)
{
    zsys_init ();
    s_narrow_czmq ();
    s_engine = stage_engine (NULL);
    s_peer = speer_new (0, -1);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    zpeer_feed_t *feed = stage_feed (s_engine);
    stage_registers (feed, 1000);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1000, STAGE_WAIT_MS));
    zpeer_feed_destroy (&feed);
    cr_assert_eq (zpeer_engine_stop (s_engine), 0);
    zsock_t *mine = zsock_new (ZMQ_DEALER);
    cr_assert_eq (zsock_sndhwm (mine), 1);
    cr_assert_eq (zsock_rcvhwm (mine), 1);
    cr_assert_eq (zsock_ipv6 (mine), 1);
    zsock_destroy (&mine);
    cr_assert_eq (zsys_pipehwm (), 1);
    cr_assert_eq (zsys_max_msgsz (), 16);
}

Test (engine_start, nothing_is_written_and_the_environment_stays)
{
    char path[] = "/tmp/zpeer-test-out-XXXXXX";
    int out = mkstemp (path);
    cr_assert_geq (dup2 (out, STDOUT_FILENO), 0);
    cr_assert_geq (dup2 (out, STDERR_FILENO), 0);
    setenv ("EUREKA_SERVER_PEERNODEREADTIMEOUTMS", "nonsense", 1);
    setenv ("http_proxy", "http://127.0.0.1:9/", 1);
    s_engine = stage_engine (NULL);
    s_peer = speer_new (0, -1);
    cr_expect_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_reaches (s_engine, s_peer, "1");
    cr_expect_eq (zpeer_engine_stop (s_engine), 0);
    cr_expect_eq (lseek (out, 0, SEEK_END), 0, "something was written");
    cr_expect_str_eq (getenv ("http_proxy"), "http://127.0.0.1:9/");
    unlink (path);
    close (out);
}
