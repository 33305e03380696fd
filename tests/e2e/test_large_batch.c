/*  test_large_batch.c - batches larger than Eureka's own, answered item by item
*/
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <czmq.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

//  Items of the largest batch; a third each has one fate
#define ITEMS 1500

//  Items of the first batch to a peer of which nothing is known
#define FIRST 16

//  Only full batches go, one after the other
static const char *const s_set[] = {
    "eureka.server.max-threads-for-peer-replication=1",
    "zpeer.batch.max-items=1500",
    "zpeer.batch.max-bytes=4194304",
    "zpeer.batch.linger-ms=60000",
    "zpeer.stats.interval-ms=100",
    NULL};

static speer_t *s_peer;
static zpeer_engine_t *s_engine;
static zpeer_watch_t *s_watch;
static zpeer_feed_t *s_feed;

static void
s_setup (void)
{
    s_peer = speer_new (0, -1);
    s_engine = stage_engine (s_set);
    s_watch =
        zpeer_watch_new (zpeer_engine_outcomes (s_engine), "conflict,stats");
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    s_feed = stage_feed (s_engine);
}

static void
s_teardown (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    zpeer_watch_destroy (&s_watch);
    speer_destroy (&s_peer);
}

TestSuite (large_batch, .init = s_setup, .fini = s_teardown);

//  The items of so many batches have been answered
static void
s_wait_batches (uint64_t batches)
{
    cr_assert (speer_wait (s_peer, SPEER_ANSWERED, batches, STAGE_WAIT_MS),
               "%" PRIu64 " of %" PRIu64 " batches",
               speer_get (s_peer, SPEER_ANSWERED), batches);
}

//  Batches double with each success. Returns how many there were.
static uint64_t
s_register_all (void)
{
    uint64_t batches = 0;
    for (unsigned items = FIRST; items < ITEMS; items *= 2) {
        stage_registers (s_feed, items);
        s_wait_batches (++batches);
    }
    stage_registers (s_feed, ITEMS);
    s_wait_batches (++batches);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), ITEMS);
    return batches;
}

//  Somebody else cancels every third instance, and registers the one behind it
//  anew
static void
s_interfere (void)
{
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream (&body, &size);
    cr_assert_not_null (out);
    fputs ("{\"replicationList\":[", out);
    for (unsigned i = 0; i < ITEMS; i += 3)
        fprintf (out,
                 "%s{\"appName\":\"" STAGE_APP
                 "\",\"id\":\"%u\",\"action\":\"Cancel\"},"
                 "{\"appName\":\"" STAGE_APP
                 "\",\"id\":\"%u\",\"lastDirtyTimestamp\":1718271500000,"
                 "\"status\":\"DOWN\",\"action\":\"StatusUpdate\"}",
                 i ? "," : "", i, i + 1);
    fputs ("]}", out);
    fclose (out);
    cr_assert_eq (speer_apply (s_peer, body), 200);
    free (body);
}

//  The next message of a topic, as JSON
static char *
s_next (const char *wanted)
{
    const char *topic = "";
    const void *data = NULL;
    size_t size = 0;
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    while (strcmp (topic, wanted) != 0) {
        int left_ms = (int) (until - zclock_mono ());
        cr_assert (left_ms > 0 && zpeer_watch_recv (s_watch, left_ms, &topic,
                                                    &data, &size) == ZPEER_OK,
                   "no %s", wanted);
    }
    return zpeer_watch_json (data, size);
}

//  The next conflict is about an instance of which there was none yet, and brings
//  its copy
static void
s_expect_conflict (bool seen[ITEMS])
{
    static const char key[] = "\"id\":\"";
    char copy[64];
    char *json = s_next ("conflict");
    const char *id = strstr (json, key);
    cr_assert_not_null (id, "%s", json);
    unsigned long number = strtoul (id + strlen (key), NULL, 10);
    cr_assert (number < ITEMS && number % 3 == 1 && !seen[number], "%s", json);
    seen[number] = true;
    snprintf (copy, sizeof copy, "\\\"instanceId\\\":\\\"%lu\\\"", number);
    cr_assert_not_null (strstr (json, copy), "%s", json);
    free (json);
}

Test (large_batch, each_item_gets_what_the_peer_says_of_it)
{
    free (s_next ("stats"));  //  From here on no outcome is missed
    uint64_t batches = s_register_all ();
    s_interfere ();
    stage_heartbeats (s_feed, ITEMS);
    s_wait_batches (batches + 1);
    bool seen[ITEMS] = {false};
    for (unsigned i = 0; i < ITEMS / 3; i++)
        s_expect_conflict (seen);
    //  404: the peer gets it again
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, ITEMS, STAGE_WAIT_MS));
    s_wait_batches (batches + 2);
    cr_expect_eq (speer_get (s_peer, SPEER_FAULTS), 0);
}
