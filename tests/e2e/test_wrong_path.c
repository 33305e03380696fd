//  A peer's URL whose path is wrong: it answers 404 to everything, and that is told,
//  however the peer is told of changes

#include <criterion/criterion.h>
#include <stdlib.h>
#include "scripted_peer.h"
#include "socket.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

#define HTTP_STATUS "ZPR035"

static zpeer_engine_t *s_engine;
static speer_t *s_peer;
static witness_t *s_witness;
static zpeer_feed_t *s_feed;
static zpeer_watch_t *s_watch;

static void
s_start (const char *set)
{
    const char *const sets[] = {"zpeer.stop.deadline-ms=100", set, NULL};
    char url[64];
    s_witness = witness_new ();
    s_peer = speer_new (0, -1);
    s_engine = stage_engine_new (sets);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    s_watch = zpeer_watch_new (zpeer_engine_outcomes (s_engine), "peer");
    snprintf (url, sizeof url, "http://127.0.0.1:%d/erueka/",
              speer_port (s_peer));
    cr_assert_eq (zpeer_engine_add_peer (s_engine, url), ZPEER_OK);
    s_feed = stage_feed (s_engine);
}

static void
s_stop (void)
{
    zpeer_watch_destroy (&s_watch);
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
    witness_destroy (&s_witness);
}

TestSuite (wrong_path, .fini = s_stop, .timeout = 60);

//  The peer's next state but "added", which comes before the watch or after
static bool
s_next_is (const char *state)
{
    const char *topic;
    const void *data;
    size_t size;
    bool is = false;
    bool added = true;
    while (added) {
        cr_assert_eq (
            zpeer_watch_recv (s_watch, STAGE_WAIT_MS, &topic, &data, &size), 0);
        char *json = zpeer_watch_json (data, size);
        added = strstr (json, "\"added\"") != NULL;
        is = strstr (json, state) != NULL;
        free (json);
    }
    return is;
}

static void
s_is_told (const char *set)
{
    s_start (set);
    stage_heartbeats (s_feed, 10);
    stage_registers (s_feed, 10);
    cr_assert (witness_wait (s_witness, HTTP_STATUS, 1, STAGE_WAIT_MS));
    cr_expect (witness_says (s_witness, HTTP_STATUS, "HTTP status 404"));
    cr_expect (s_next_is ("\"failing\""));
}

Test (wrong_path, is_told_of_batches)
{
    s_is_told ("zpeer.batch.enabled=true");
}

Test (wrong_path, is_told_of_single_requests)
{
    s_is_told ("zpeer.batch.enabled=false");
}
