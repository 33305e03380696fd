#include <criterion/criterion.h>
#include <zpeer/watch.h>
#include "outcome.h"
#include "socket.h"
#include "banned.h"

#define WAIT_MS 5000

static zsock_t *s_pub;
static char s_endpoint[ZPEER_ENDPOINT_MAX];
static const char *s_topic;
static const void *s_data;
static size_t s_size;

static void
s_setup (void)
{
    s_pub = zpeer_socket_new (ZPEER_ROLE_PUB, 1000, -1);
    cr_assert_eq (
        zpeer_socket_bind (s_pub, "tcp://127.0.0.1:*", s_endpoint, NULL),
        ZPEER_OK);
}

static void
s_teardown (void)
{
    zsock_destroy (&s_pub);
}

static void
s_publish (const char *topic, const void *data, size_t size)
{
    zpeer_slice_t frames[] = {zpeer_slice_str (topic),
                              {(const char *) data, size}};
    zpeer_socket_send (s_pub, frames, 2);
}

static int
s_recv (zpeer_watch_t *watch, int timeout_ms)
{
    return zpeer_watch_recv (watch, timeout_ms, &s_topic, &s_data, &s_size);
}

//  A watch that the publisher knows of: what is published from now on arrives
static zpeer_watch_t *
s_watch (const char *topics)
{
    zpeer_watch_t *watch = zpeer_watch_new (s_endpoint, topics);
    cr_assert (watch);
    int64_t deadline = zclock_mono () + WAIT_MS;
    int rc = ZPEER_E_TIMEOUT;
    while (rc && zclock_mono () < deadline) {
        s_publish ("peer", "\xc0", 1);
        rc = s_recv (watch, 10);
    }
    cr_assert_eq (rc, ZPEER_OK);
    return watch;
}

//  The next outcome but for the greetings of s_watch
static void
s_next (zpeer_watch_t *watch)
{
    do
        cr_assert_eq (s_recv (watch, WAIT_MS), ZPEER_OK);
    while (s_size == 1);
}

TestSuite (watch, .init = s_setup, .fini = s_teardown);

Test (watch, an_outcome_comes_with_its_topic_and_its_map)
{
    zpeer_watch_t *watch = s_watch (NULL);
    zpeer_buffer_t map = {0};
    zpeer_outcome_need_register (&map, ZPEER_SLICE (""), ZPEER_SLICE ("ORDERS"),
                                 ZPEER_SLICE ("host:1"), 42);
    s_publish ("need-register", map.data, map.size);
    s_next (watch);
    cr_expect_str_eq (s_topic, "need-register");
    cr_expect_eq (s_size, map.size);
    cr_expect_arr_eq ((const char *) s_data, map.data, map.size);

    char *json = zpeer_watch_json (s_data, s_size);
    cr_expect_str_eq (json, "{\"app\":\"ORDERS\",\"id\":\"host:1\","
                            "\"lastDirtyTimestamp\":42}");
    free (json);
    zpeer_buffer_free (&map);
    zpeer_watch_destroy (&watch);
    zpeer_watch_destroy (&watch);
}

Test (watch, only_the_topics_asked_for_come)
{
    zpeer_watch_t *watch = s_watch ("conflict, peer");
    s_publish ("stats", "\x80\x80", 2);
    s_publish ("conflict", "\x81\x01\x02", 3);
    s_next (watch);
    cr_expect_str_eq (s_topic, "conflict");
    zpeer_watch_destroy (&watch);
}

Test (watch, what_is_no_outcome_is_passed_over)
{
    zpeer_watch_t *watch = s_watch ("");
    zpeer_slice_t frames[] = {ZPEER_SLICE ("peer"), ZPEER_SLICE ("a"),
                              ZPEER_SLICE ("b")};
    zpeer_socket_send (s_pub, frames, 1);
    zpeer_socket_send (s_pub, frames, 3);
    s_publish ("a topic that is longer than any topic there is", "\x01\x02", 2);
    s_publish ("stats", "\x81\x01\x02", 3);
    s_next (watch);
    cr_expect_str_eq (s_topic, "stats");
    zpeer_watch_destroy (&watch);
}

Test (watch, waiting_ends_in_time)
{
    zpeer_watch_t *watch = s_watch ("conflict,peer");
    while (s_recv (watch, 0) == ZPEER_OK)
        continue;
    int64_t start = zclock_mono ();
    cr_expect_eq (s_recv (watch, 30), ZPEER_E_TIMEOUT);
    cr_expect_geq (zclock_mono () - start, 29);
    zpeer_watch_destroy (&watch);
}

Test (watch, what_is_no_endpoint_makes_no_watch)
{
    cr_expect_null (zpeer_watch_new ("nonsense", NULL));
    cr_expect_null (zpeer_watch_new ("x://y", NULL));
}

Test (watch, bytes_that_are_not_msgpack_have_no_json)
{
    cr_expect_null (zpeer_watch_json ("\xc1", 1));
    cr_expect_null (zpeer_watch_json ("", 0));
}
