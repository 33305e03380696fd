/*  test_engine_limits.c - an engine that runs out of something, or of time
*/
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <czmq.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

#define DEAD 5

//  All peers together may take one; one after the other they would take five.
//  What lies between is for a busy machine.
#define DEADLINE_MS 1000
#define ENOUGH_MS   (3 * DEADLINE_MS)

TestSuite (engine_limits);

Test (engine_limits, with_64_descriptors_a_peer_too_many_is_refused)
{
    struct rlimit limit = {64, 64};
    cr_assert_eq (setrlimit (RLIMIT_NOFILE, &limit), 0);
    zpeer_engine_t *engine = stage_engine (NULL);
    int rc = ZPEER_OK;
    char url[64];
    unsigned peers = 0;
    for (; rc == ZPEER_OK && peers < ZPEER_PEERS_MAX; peers++) {
        snprintf (url, sizeof url, "http://127.0.0.1:9/%u/", peers);
        rc = zpeer_engine_add_peer (engine, url);
    }
    cr_assert_eq (rc, ZPEER_E_RESOURCES);
    cr_assert (strstr (zpeer_engine_error (engine), "descriptors"), "%s",
               zpeer_engine_error (engine));
    cr_assert_gt (peers, 1, "not even one");
    cr_assert_eq (zpeer_engine_peer_id (engine, url), -1);

    //  The engine goes on as before
    zpeer_feed_t *feed = stage_feed (engine);
    stage_register (feed, "1");
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
}

Test (engine_limits, the_65th_peer_is_refused)
{
    //  As many as there are numbers need no more than czmq's sockets
    zpeer_engine_t *engine = stage_engine (NULL);
    struct rlimit limit = {4096, 4096};
    setrlimit (RLIMIT_NOFILE, &limit);
    char url[64];
    for (unsigned i = 0; i <= ZPEER_PEERS_MAX; i++) {
        snprintf (url, sizeof url, "http://127.0.0.1:9/%u/", i);
        cr_assert_eq (zpeer_engine_add_peer (engine, url),
                      i < ZPEER_PEERS_MAX ? ZPEER_OK : ZPEER_E_RESOURCES,
                      "%u: %s", i, zpeer_engine_error (engine));
    }
    zpeer_engine_destroy (&engine);
}

//  Five peers that are dead in different ways, and much to tell them
static void
s_add_dead (zpeer_engine_t *engine, speer_t *peers[DEAD])
{
    static const speer_mode_t modes[DEAD] = {SPEER_BLACK_HOLE, SPEER_REFUSE,
                                             SPEER_RESET_ALL, SPEER_BLACK_HOLE,
                                             SPEER_LISTEN};
    for (int i = 0; i < DEAD; i++) {
        peers[i] = speer_new (0, -1);
        speer_mode (peers[i], modes[i]);
        cr_assert_eq (zpeer_engine_add_peer (engine, speer_url (peers[i])),
                      ZPEER_OK, "%s", zpeer_engine_error (engine));
    }
    //  The last one reads requests and never answers
    speer_rule_t hang = {.answer = SPEER_HANG};
    speer_rule (peers[DEAD - 1], &hang);
}

Test (engine_limits, stopping_with_five_dead_peers_takes_one_deadline)
{
    const char *const set[] = {"zpeer.stop.deadline-ms=1000", NULL};
    zpeer_engine_t *engine = stage_engine (set);
    speer_t *peers[DEAD];
    s_add_dead (engine, peers);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_registers (feed, 2000);
    cr_assert (speer_wait (peers[DEAD - 1], SPEER_IN_FLIGHT, 1, STAGE_WAIT_MS));

    int64_t since = zclock_mono ();
    int64_t left = zpeer_engine_stop (engine);
    int64_t took = zclock_mono () - since;
    cr_assert_eq (left, DEAD * 2000, "%lld", (long long) left);
    cr_assert_lt (took, ENOUGH_MS, "%lld ms", (long long) took);
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
    for (int i = 0; i < DEAD; i++)
        speer_destroy (&peers[i]);
}

Test (engine_limits, removing_a_dead_peer_takes_one_deadline)
{
    const char *const set[] = {"zpeer.stop.deadline-ms=1000", NULL};
    zpeer_engine_t *engine = stage_engine (set);
    speer_t *peers[DEAD];
    s_add_dead (engine, peers);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_registers (feed, 100);
    int64_t since = zclock_mono ();
    cr_assert_eq (zpeer_engine_remove_peer (engine, speer_url (peers[0])),
                  ZPEER_OK);
    cr_assert_lt (zclock_mono () - since, ENOUGH_MS);
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
    for (int i = 0; i < DEAD; i++)
        speer_destroy (&peers[i]);
}

Test (engine_limits, stopping_delivers_what_waits)
{
    zpeer_engine_t *engine = stage_engine (NULL);
    speer_t *peer = speer_new (0, -1);
    cr_assert_eq (zpeer_engine_add_peer (engine, speer_url (peer)), ZPEER_OK);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_registers (feed, 2000);
    cr_assert_eq (zpeer_engine_stop (engine), 0);
    cr_assert_eq (speer_get (peer, SPEER_INSTANCES), 2000);
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
    speer_destroy (&peer);
}

static unsigned
s_descriptors (void)
{
    unsigned count = 0;
    DIR *directory = opendir ("/proc/self/fd");
    while (readdir (directory))
        count++;
    closedir (directory);
    return count;
}

Test (engine_limits, a_peer_that_comes_and_goes_leaves_no_descriptor)
{
    const char *const set[] = {"zpeer.stop.deadline-ms=50", NULL};
    zpeer_engine_t *engine = stage_engine (set);
    speer_t *peer = speer_new (0, -1);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_register (feed, "1");
    unsigned before = s_descriptors ();
    for (unsigned i = 0; i < 30; i++) {
        cr_assert_eq (zpeer_engine_add_peer (engine, speer_url (peer)),
                      ZPEER_OK);
        stage_register (feed, "1");
        cr_assert_eq (zpeer_engine_remove_peer (engine, speer_url (peer)),
                      ZPEER_OK);
    }
    //  libzmq and the peer close theirs in threads of their own
    cr_assert (speer_wait_at_most (peer, SPEER_OPEN, 0, STAGE_WAIT_MS));
    int64_t deadline = zclock_mono () + STAGE_WAIT_MS;
    while (s_descriptors () > before && zclock_mono () < deadline)
        sched_yield ();
    cr_assert_leq (s_descriptors (), before);
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
    speer_destroy (&peer);
}

static atomic_bool s_enough;

static void *
s_feed_on (void *arg)
{
    zpeer_feed_t *feed = stage_feed ((zpeer_engine_t *) arg);
    while (!atomic_load (&s_enough))
        stage_heartbeats (feed, 100);
    zpeer_feed_destroy (&feed);
    return NULL;
}

Test (engine_limits, peers_come_and_go_under_load)
{
    const char *const set[] = {"zpeer.stop.deadline-ms=50", NULL};
    zpeer_engine_t *engine = stage_engine (set);
    speer_t *peer = speer_new (0, -1);
    speer_t *other = speer_new (0, -1);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_registers (feed, 100);
    cr_assert_eq (zpeer_engine_add_peer (engine, speer_url (peer)), ZPEER_OK);
    pthread_t thread;
    cr_assert_eq (pthread_create (&thread, NULL, s_feed_on, engine), 0);
    for (unsigned i = 0; i < 20; i++) {
        cr_assert_eq (zpeer_engine_add_peer (engine, speer_url (other)),
                      ZPEER_OK, "%s", zpeer_engine_error (engine));
        //  It is told of what changes from now on
        uint64_t items = speer_get (other, SPEER_ITEMS);
        cr_assert (speer_wait (other, SPEER_ITEMS, items + 100, STAGE_WAIT_MS));
        cr_assert_eq (zpeer_engine_remove_peer (engine, speer_url (other)),
                      ZPEER_OK);
    }
    atomic_store (&s_enough, true);
    pthread_join (thread, NULL);
    stage_register (feed, "last");
    cr_assert (speer_wait (peer, SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
    speer_destroy (&peer);
    speer_destroy (&other);
}

//  Feeds whatever comes of it
static void *
s_flood (void *arg)
{
    zpeer_feed_t *feed = stage_feed ((zpeer_engine_t *) arg);
    char frame[65536];
    size_t size = 0;
    while (zpeer_event_encode_simple (frame, sizeof frame, &size,
                                      ZPEER_HEARTBEAT, STAGE_APP, "1",
                                      STAGE_AT) == ZPEER_OK)
        continue;
    while (!atomic_load (&s_enough))
        zpeer_feed_send_frame (feed, frame, size, 10, NULL);
    zpeer_feed_destroy (&feed);
    return NULL;
}

Test (engine_limits, feeders_that_go_on_do_not_keep_it_from_stopping)
{
    const char *const set[] = {"zpeer.stop.deadline-ms=30000", NULL};
    zpeer_engine_t *engine = stage_engine (set);
    speer_t *peer = speer_new (0, -1);
    cr_assert_eq (zpeer_engine_add_peer (engine, speer_url (peer)), ZPEER_OK);
    zpeer_feed_t *feed = stage_feed (engine);
    stage_register (feed, "1");
    pthread_t thread;
    cr_assert_eq (pthread_create (&thread, NULL, s_flood, engine), 0);
    cr_assert (speer_wait (peer, SPEER_BATCHES, 3, STAGE_WAIT_MS));
    int64_t since = zclock_mono ();
    cr_assert_eq (zpeer_engine_stop (engine), 0);
    cr_assert_lt (zclock_mono () - since, 15000, "half of the deadline");
    atomic_store (&s_enough, true);
    pthread_join (thread, NULL);
    zpeer_feed_destroy (&feed);
    zpeer_engine_destroy (&engine);
    speer_destroy (&peer);
}
