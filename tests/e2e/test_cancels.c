//  Instances that come and go while a peer is away: what is kept has a bound

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <czmq.h>
#include "buffer.h"
#include <zpeer/watch.h>
#include "scripted_peer.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

//  Known to the peer before it is away
#define KNOWN 100u

//  Cancelled meanwhile, a thousand at a time: each takes some 400 bytes
#define ROUND  1000u
#define ROUNDS 12u
#define BOUND  1048576

#define CANCEL_GIVEN_UP "ZPR025"

static zpeer_engine_t *s_engine;
static witness_t *s_witness;
static speer_t *s_peer;
static zpeer_feed_t *s_feed;
static zpeer_watch_t *s_watch;

static void
s_start (void)
{
    const char *const set[] = {
        "zpeer.cancels.max-bytes=1048576", "zpeer.tombstone-ms=0",
        "zpeer.stats.interval-ms=50",      "apiml.discovery.maxPeerRetries=2",
        "zpeer.stop.deadline-ms=200",      NULL};
    s_witness = witness_new ();
    s_engine = stage_engine_new (set);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    s_peer = speer_new (0, -1);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_feed = stage_feed (s_engine);
    s_watch =
        zpeer_watch_new (zpeer_engine_outcomes (s_engine), "dropped,stats");
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

TestSuite (cancels, .init = s_start, .fini = s_stop, .timeout = 120);

//  Cancels these in one request
static void
s_cancel (unsigned first, unsigned count)
{
    zpeer_buffer_t frame = {0};
    for (unsigned i = first; i < first + count; i++) {
        char id[16];
        snprintf (id, sizeof id, "%u", i);
        zpeer_buffer_reserve (&frame, 256);
        zpeer_event_encode_simple (frame.data, frame.capacity, &frame.size,
                                   ZPEER_CANCEL, STAGE_APP, id, STAGE_AT);
    }
    cr_assert_eq (zpeer_feed_send_frame (s_feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    zpeer_buffer_free (&frame);
    stage_accepted (s_feed, count);
}

//  The next outcome, as JSON, if it has this text; else NULL
static char *
s_next (const char *text)
{
    const char *topic;
    const void *data;
    size_t size;
    cr_assert_eq (
        zpeer_watch_recv (s_watch, STAGE_WAIT_MS, &topic, &data, &size),
        ZPEER_OK);
    char *json = zpeer_watch_json (data, size);
    if (strstr (json, text))
        return json;
    free (json);
    return NULL;
}

static unsigned long
s_figure (const char *json, const char *key)
{
    char text[64];
    snprintf (text, sizeof text, "\"%s\":", key);
    const char *at = strstr (json, text);
    return at ? strtoul (at + strlen (text), NULL, 10) : 0;
}

//  Waits until the acceptor has given up so many, all of which were reported by the
//  lane; it never holds more than the bound, but for one instance
static void
s_expect_given_up (unsigned least)
{
    unsigned long given_up = 0, dropped = 0;
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    while (given_up < least || dropped != given_up) {
        cr_assert_lt (zclock_mono (), until, "%lu given up, %lu dropped",
                      given_up, dropped);
        char *json = s_next ("");
        if (strstr (json, "\"cancels-given-up\"")) {
            given_up = s_figure (json, "cancels-given-up");
            cr_assert_leq (s_figure (json, "releasing-bytes"), BOUND + 1000);
        }
        else if (strstr (json, "\"reason\":\"dropped\""))
            dropped += s_figure (json, "instances");
        free (json);
    }
}

static bool
s_is_gone (speer_t *peer, void *arg)
{
    return !speer_lease (peer, STAGE_APP, (const char *) arg, NULL);
}

//  1. The peer knows two hundred instances, and is away  2. one hundred are cancelled
//  3. twelve thousand come and go  4. the others are cancelled  5. the peer is back
Test (cancels, beyond_the_bound_the_oldest_are_given_up_and_reported)
{
    //  From here on no outcome is missed
    for (char *json = NULL; !json; json = s_next ("\"cancels-given-up\":0"))
        continue;
    stage_registers (s_feed, 2 * KNOWN);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, UINT64_C (2) * KNOWN,
                           STAGE_WAIT_MS));
    speer_mode (s_peer, SPEER_REFUSE);
    s_cancel (0, KNOWN);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        stage_registers_from (s_feed, round * ROUND, ROUND);
        s_cancel (round * ROUND, ROUND);
    }
    s_cancel (KNOWN, KNOWN);
    s_expect_given_up (ROUNDS * ROUND / 2);
    cr_assert (speer_mode (s_peer, SPEER_LISTEN));
    //  Each of the newest is told, and of the first hundred none
    for (unsigned i = KNOWN; i < 2 * KNOWN; i++) {
        char id[16];
        snprintf (id, sizeof id, "%u", i);
        cr_assert (speer_wait_until (s_peer, s_is_gone, id, STAGE_WAIT_MS));
    }
    cr_expect_eq (speer_get (s_peer, SPEER_INSTANCES), KNOWN);
    //  The first of those given up has a line, the end says how many more
    cr_expect_geq (witness_count (s_witness, CANCEL_GIVEN_UP), 1);
    zpeer_engine_stop (s_engine);
    cr_expect_geq (witness_count (s_witness, CANCEL_GIVEN_UP), 2);
    cr_expect (witness_says (s_witness, CANCEL_GIVEN_UP, " more held back"));
}
