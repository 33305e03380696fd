//  Peers that fail, and what the others and the host notice of it

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <czmq.h>
#include <zpeer/watch.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

#define PEERS 3

static zpeer_engine_t *s_engine;
static speer_t *s_peers[PEERS];
static zpeer_feed_t *s_feed;

static void
s_start (unsigned peers, const char *const *set)
{
    s_engine = stage_engine (set);
    for (unsigned i = 0; i < peers; i++) {
        s_peers[i] = speer_new (0, -1);
        cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peers[i])),
                      ZPEER_OK);
    }
    s_feed = stage_feed (s_engine);
}

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    for (int i = 0; i < PEERS; i++)
        speer_destroy (&s_peers[i]);
}

TestSuite (recovery, .fini = s_stop, .timeout = 120);

static const char *const s_quick[] = {
    "eureka.server.peer-node-read-timeout-ms=200",
    "eureka.server.peer-node-connect-timeout-ms=200",
    "apiml.discovery.maxPeerRetries=3", "zpeer.stop.deadline-ms=200", NULL};

static bool
s_is_out (speer_t *peer, void *arg)
{
    speer_lease_t lease;
    (void) arg;
    return speer_lease (peer, STAGE_APP, "1", &lease) &&
           !strcmp (lease.status, "OUT_OF_SERVICE") &&
           !strcmp (lease.held, "OUT_OF_SERVICE");
}

static bool
s_is_gone (speer_t *peer, void *arg)
{
    (void) arg;
    return !speer_lease (peer, STAGE_APP, "1", NULL);
}

//  --------------------------------------------------------------------------

//  What is sent to the sick one hangs longer than all of this may take: whoever
//  waited for it, once, would be late
#define HANGS_MS 30000

Test (recovery, a_black_holed_peer_is_not_noticed_by_the_others)
{
    const char *const set[] = {
        "eureka.server.peer-node-read-timeout-ms=30000",
        "eureka.server.peer-node-connect-timeout-ms=30000",
        "zpeer.stop.deadline-ms=200", NULL};
    s_start (PEERS, set);
    speer_mode (s_peers[0], SPEER_BLACK_HOLE);
    int64_t start = zclock_mono ();
    for (unsigned i = 1; i <= 20; i++) {
        stage_registers (s_feed, 500);
        for (int p = 1; p < PEERS; p++)
            cr_assert (
                speer_wait (s_peers[p], SPEER_ITEMS, 500 * i, STAGE_WAIT_MS));
    }
    cr_expect_lt (zclock_mono () - start, HANGS_MS);
}

Test (recovery, a_peer_that_was_away_gets_what_it_missed)
{
    s_start (1, s_quick);
    stage_register (s_feed, "1");
    cr_assert (speer_wait (s_peers[0], SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    speer_mode (s_peers[0], SPEER_REFUSE);
    stage_change (s_feed, ZPEER_STATUS_UPDATE, "1", ZPEER_OUT_OF_SERVICE);
    zpeer_watch_t *watch =
        zpeer_watch_new (zpeer_engine_outcomes (s_engine), "stats");
    const char *topic;
    const void *data;
    size_t size;
    //  Long enough for its retries to be used up
    for (int i = 0; i < 3; i++)
        cr_assert_eq (
            zpeer_watch_recv (watch, STAGE_WAIT_MS, &topic, &data, &size),
            ZPEER_OK);
    zpeer_watch_destroy (&watch);
    cr_assert (speer_mode (s_peers[0], SPEER_LISTEN));
    cr_assert (speer_wait_until (s_peers[0], s_is_out, NULL, STAGE_WAIT_MS));
}

Test (recovery, a_cancel_that_was_lost_is_not_forgotten)
{
    s_start (1, s_quick);
    stage_register (s_feed, "1");
    cr_assert (speer_wait (s_peers[0], SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    speer_rule (s_peers[0], &(speer_rule_t){.status = 404, .count = 3});
    stage_change (s_feed, ZPEER_CANCEL, "1", ZPEER_UNKNOWN);
    cr_assert (speer_wait (s_peers[0], SPEER_FAULTS, 3, STAGE_WAIT_MS));
    cr_assert (speer_wait_until (s_peers[0], s_is_gone, NULL, STAGE_WAIT_MS));
}

Test (recovery, an_attempt_that_is_applied_late_is_put_right)
{
    s_start (1, s_quick);
    stage_register (s_feed, "1");
    cr_assert (speer_wait (s_peers[0], SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    //  The override is set long after everybody has given it up
    speer_rule (s_peers[0], &(speer_rule_t){.answer = SPEER_HANG,
                                            .apply = SPEER_APPLY_LATE,
                                            .late_ms = 300,
                                            .count = 1});
    stage_change (s_feed, ZPEER_STATUS_UPDATE, "1", ZPEER_OUT_OF_SERVICE);
    cr_assert (speer_wait (s_peers[0], SPEER_FAULTS, 1, STAGE_WAIT_MS));
    stage_change (s_feed, ZPEER_CANCEL, "1", ZPEER_UNKNOWN);
    cr_assert (speer_wait_until (s_peers[0], s_is_gone, NULL, STAGE_WAIT_MS));
}

Test (recovery, without_batching_everything_arrives_too)
{
    const char *const set[] = {"zpeer.batch.enabled=false", NULL};
    s_start (1, set);
    stage_registers (s_feed, 20);
    stage_register (s_feed, "1");
    stage_change (s_feed, ZPEER_STATUS_UPDATE, "1", ZPEER_OUT_OF_SERVICE);
    cr_assert (speer_wait (s_peers[0], SPEER_INSTANCES, 20, STAGE_WAIT_MS));
    cr_assert (speer_wait_until (s_peers[0], s_is_out, NULL, STAGE_WAIT_MS));
    cr_expect_eq (speer_get (s_peers[0], SPEER_BATCHES), 0);
    cr_expect_eq (speer_get (s_peers[0], SPEER_UNMARKED), 0);
    stage_change (s_feed, ZPEER_CANCEL, "1", ZPEER_UNKNOWN);
    cr_assert (speer_wait_until (s_peers[0], s_is_gone, NULL, STAGE_WAIT_MS));
}

//  --------------------------------------------------------------------------

static unsigned
s_descriptors (void)
{
    unsigned count = 0;
    DIR *dir = opendir ("/proc/self/fd");
    while (readdir (dir))
        count++;
    closedir (dir);
    return count;
}

//  4 MiB: what the allocator keeps, and the peer's own records. AddressSanitizer
//  keeps what was freed, so that this says nothing there; it looks for leaks
//  itself.
#if defined __SANITIZE_ADDRESS__
#    define KEPT_PAGES (1ul << 40)
#elif defined __has_feature
#    if __has_feature(address_sanitizer)
#        define KEPT_PAGES (1ul << 40)
#    endif
#endif
#ifndef KEPT_PAGES
#    define KEPT_PAGES 1024
#endif

static unsigned long
s_resident_pages (void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen ("/proc/self/statm", "r");
    cr_assert_eq (fscanf (file, "%lu %lu", &size, &resident), 2);
    fclose (file);
    return resident;
}

//  Fails and recovers so many times
static void
s_cycles (unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t answered = speer_get (s_peers[0], SPEER_ANSWERED);
        speer_rule (s_peers[0],
                    &(speer_rule_t){.answer = SPEER_RESET, .count = 1});
        stage_registers (s_feed, 50);
        cr_assert (speer_wait (s_peers[0], SPEER_ANSWERED, answered + 1,
                               STAGE_WAIT_MS));
        speer_clear (s_peers[0]);
    }
}

Test (recovery, descriptors_and_memory_stay_flat_over_failures)
{
    const char *cycles = getenv ("ZPEER_TEST_CYCLES");
    s_start (1, s_quick);
    //  Once, mostly before this, the allocator takes some 500 pages more; it is no
    //  more after 1000 cycles
    s_cycles (100);
    unsigned descriptors = s_descriptors ();
    unsigned long pages = s_resident_pages ();
    s_cycles (cycles ? (unsigned) strtoul (cycles, NULL, 10) : 100);
    cr_expect_leq (s_descriptors (), descriptors + 8);
    cr_expect_leq (s_resident_pages (), pages + KEPT_PAGES);
}
