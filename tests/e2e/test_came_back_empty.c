//  A peer that restarted, and has nothing any more: what is counted as owed to it

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zpeer/watch.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

#define INSTANCES 40u
#define RENEWED   10u

static zpeer_engine_t *s_engine;
static speer_t *s_peer;
static zpeer_feed_t *s_feed;
static zpeer_watch_t *s_watch;

static void
s_setup (void)
{
    const char *const set[] = {"zpeer.stats.interval-ms=20", NULL};
    s_engine = stage_engine (set);
    s_peer = speer_new (0, -1);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_feed = stage_feed (s_engine);
    s_watch = zpeer_watch_new (zpeer_engine_outcomes (s_engine), "stats");
}

static void
s_teardown (void)
{
    zpeer_watch_destroy (&s_watch);
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
}

TestSuite (came_back_empty, .init = s_setup, .fini = s_teardown,
           .timeout = 120);

//  The peer's next figures, as JSON, the caller's
static char *
s_figures (void)
{
    for (;;) {
        const char *topic;
        const void *data;
        size_t size;
        cr_assert_eq (
            zpeer_watch_recv (s_watch, STAGE_WAIT_MS, &topic, &data, &size),
            ZPEER_OK);
        char *json = zpeer_watch_json (data, size);
        if (strstr (json, "\"owed\""))
            return json;
        free (json);
    }
}

static unsigned long
s_figure (const char *json, const char *key)
{
    char text[64];
    snprintf (text, sizeof text, "\"%s\":", key);
    const char *at = strstr (json, text);
    cr_assert (at, "no %s", key);
    return strtoul (at + strlen (text), NULL, 10);
}

//  Nothing is owed, in all figures until so many Heartbeats were answered 404, and in
//  those
static void
s_expect_nothing_owed (unsigned missing)
{
    unsigned long counted = 0;
    do {
        char *json = s_figures ();
        cr_assert_eq (s_figure (json, "owed"), 0, "%s", json);
        counted = s_figure (json, "missing");
        free (json);
    } while (counted < missing);
}

//  What is held, and what comes
static void
s_let_go (void)
{
    speer_clear (s_peer);
    speer_release (s_peer);
}

//  1. The peer has all instances, and comes back without any.
//  2. Some are renewed; it answers 404, and is told them: nothing is owed meanwhile.
//  3. A verify counts the others, and brings them back.
Test (came_back_empty, nothing_is_owed_until_it_is_asked)
{
    stage_registers (s_feed, INSTANCES);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, INSTANCES, STAGE_WAIT_MS));
    speer_reset (s_peer);
    s_expect_nothing_owed (0);
    speer_rule (s_peer, &(speer_rule_t){.skip = 1, .delay_ms = SPEER_HELD});
    stage_heartbeats (s_feed, RENEWED);
    cr_assert (speer_wait (s_peer, SPEER_PENDING, 1, STAGE_WAIT_MS));
    s_expect_nothing_owed (RENEWED);
    s_let_go ();
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, RENEWED, STAGE_WAIT_MS));
    s_expect_nothing_owed (RENEWED);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), RENEWED);
    speer_rule (s_peer, &(speer_rule_t){.delay_ms = SPEER_HELD});
    zpeer_engine_verify_peer (s_engine, speer_url (s_peer));
    unsigned long owed = 0;
    while (!owed) {
        char *json = s_figures ();
        owed = s_figure (json, "owed");
        free (json);
    }
    cr_assert_eq (owed, INSTANCES);
    s_let_go ();
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, INSTANCES, STAGE_WAIT_MS));
}
