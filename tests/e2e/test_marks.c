/*  test_marks.c - whose word an event is, from the feeder to the peers
*/
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

#define NONE ZPEER_UNKNOWN
#define OUT  ZPEER_OUT_OF_SERVICE

//  The peers: the first tells the source, the second hears of it from here
static speer_t *s_one;
static speer_t *s_two;
static zpeer_engine_t *s_engine;
static zpeer_feed_t *s_feed;

static void
s_start (void)
{
    s_engine = stage_engine (NULL);
    s_feed = stage_feed (s_engine);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_one)),
                  ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_two)),
                  ZPEER_OK);
}

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
}

static void
s_setup (void)
{
    s_one = speer_new (0, -1);
    s_two = speer_new (0, -1);
    s_start ();
}

static void
s_teardown (void)
{
    s_stop ();
    speer_destroy (&s_one);
    speer_destroy (&s_two);
}

TestSuite (marks, .init = s_setup, .fini = s_teardown, .timeout = 120);

typedef struct {
    zpeer_action_t action;
    zpeer_status_t status;
    zpeer_status_t override;
    bool snapshot;
    bool replicated;
    const char *origin;
} word_t;

//  Something about instance "1"; the caller's
static zpeer_event_t *
s_event (word_t word)
{
    zpeer_event_t *event = zpeer_event_new (word.action);
    zpeer_event_set_app (event, STAGE_APP);
    zpeer_event_set_id (event, "1");
    zpeer_event_set_timestamp (event, STAGE_AT);
    if (word.status != NONE)
        zpeer_event_set_status (event, word.status);
    if (word.action == ZPEER_REGISTER) {
        zpeer_event_put_str (event, "hostName", "shop02.example.net");
        zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
        zpeer_event_set_overridden_status (event, word.override);
    }
    zpeer_event_set_snapshot (event, word.snapshot);
    zpeer_event_set_replicated (event, word.replicated);
    if (word.origin)
        zpeer_event_set_origin (event, word.origin);
    return event;
}

static void
s_send (word_t word)
{
    zpeer_event_t *event = s_event (word);
    stage_send (s_feed, event);
    zpeer_event_destroy (&event);
}

#define SEND(...) s_send ((word_t){__VA_ARGS__})

typedef struct {
    const char *status;
    const char *held;
} expected_t;

static bool
s_is (speer_t *peer, void *arg)
{
    const expected_t *expected = (const expected_t *) arg;
    speer_lease_t lease;
    return speer_lease (peer, STAGE_APP, "1", &lease) &&
           !strcmp (lease.status, expected->status) &&
           !strcmp (lease.held, expected->held);
}

static void
s_expect (speer_t *peer, const char *status, const char *held)
{
    expected_t expected = {status, held};
    speer_lease_t lease = {0};
    bool found = speer_wait_until (peer, s_is, &expected, STAGE_WAIT_MS);
    speer_lease (peer, STAGE_APP, "1", &lease);
    cr_assert (found, "%s, held %s", lease.status, lease.held);
}

//  The other writer's own registry
static void
s_write (speer_t *peer, const char *item)
{
    char body[1024];
    snprintf (body, sizeof body,
              "{\"replicationList\":[{\"appName\":\"" STAGE_APP
              "\",\"id\":\"1\",\"lastDirtyTimestamp\":1718271499871,%s}]}",
              item);
    cr_assert_eq (speer_apply (peer, body), 200);
}

#define AS_CLIENTS_REGISTER                                                    \
    "\"action\":\"Register\",\"instanceInfo\":{\"instanceId\":\"1\","          \
    "\"app\":\"" STAGE_APP "\",\"hostName\":\"shop02.example.net\","           \
    "\"ipAddr\":\"192.0.2.52\",\"status\":\"UP\",\"lastDirtyTimestamp\":"      \
    "\"1718271499871\",\"dataCenterInfo\":{\"@class\":"                        \
    "\"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo\","              \
    "\"name\":\"MyOwn\"}}"

static bool
s_knows_other (speer_t *peer, void *arg)
{
    (void) arg;
    return speer_lease (peer, STAGE_APP, "2", NULL);
}

//  Returns when both have got all that waited: a change of another instance, too
static void
s_settle (void)
{
    stage_register (s_feed, "2");
    cr_assert (speer_wait_until (s_one, s_knows_other, NULL, STAGE_WAIT_MS));
    cr_assert (speer_wait_until (s_two, s_knows_other, NULL, STAGE_WAIT_MS));
}

//  1. An operator sets an override, and the peers are told  2. the engine ends, and
//  the override is removed  3. an engine that knows of none is told all there is
Test (marks, an_override_that_was_removed_meanwhile_goes_with_a_snapshot)
{
    SEND (.action = ZPEER_REGISTER);
    SEND (.action = ZPEER_STATUS_UPDATE, .status = OUT);
    s_expect (s_one, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
    s_expect (s_two, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
    s_stop ();
    s_start ();
    SEND (.action = ZPEER_REGISTER, .snapshot = true);
    s_expect (s_one, "UP", "");
    s_expect (s_two, "UP", "");
}

//  A client's Register removes none, nor does a resync then
Test (marks, an_override_goes_with_a_snapshot_only)
{
    SEND (.action = ZPEER_REGISTER, .override = OUT);
    SEND (.action = ZPEER_REGISTER);
    s_settle ();
    s_expect (s_one, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
    s_write (s_one, "\"status\":\"UP\",\"action\":\"DeleteStatusOverride\"");
    zpeer_engine_resync_peer (s_engine, speer_url (s_one));
    s_expect (s_one, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
    SEND (.action = ZPEER_REGISTER, .snapshot = true);
    s_expect (s_one, "UP", "");
    s_expect (s_two, "UP", "");
}

Test (marks, what_came_from_one_peer_is_told_to_the_other)
{
    char url[128];
    snprintf (url, sizeof url, "%s", speer_url (s_one));
    url[strlen (url) - 1] = 0;
    s_write (s_one, AS_CLIENTS_REGISTER);
    SEND (.action = ZPEER_REGISTER, .origin = url);
    s_expect (s_two, "UP", "");
    s_write (s_one, "\"status\":\"DOWN\",\"action\":\"StatusUpdate\"");
    SEND (.action = ZPEER_STATUS_UPDATE, .status = ZPEER_DOWN, .origin = url);
    s_expect (s_two, "DOWN", "DOWN");
    SEND (.action = ZPEER_HEARTBEAT, .origin = url);
    s_settle ();
    cr_assert_eq (speer_get (s_one, SPEER_ITEMS), 1);
    s_expect (s_one, "DOWN", "DOWN");
}

//  It came back empty, and its client registered there anew
Test (marks, the_peer_it_came_from_is_owed_what_the_source_has_besides)
{
    SEND (.action = ZPEER_REGISTER);
    SEND (.action = ZPEER_STATUS_UPDATE, .status = OUT);
    s_expect (s_one, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
    speer_reset (s_one);
    s_write (s_one, AS_CLIENTS_REGISTER);
    SEND (.action = ZPEER_REGISTER, .origin = speer_url (s_one));
    s_expect (s_one, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
    s_expect (s_two, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
}

//  One peer has the instance from elsewhere, and the other was not told
Test (marks, what_is_said_to_be_replicated_reaches_the_peer_that_missed_it)
{
    s_write (s_one, AS_CLIENTS_REGISTER);
    char frame[2048];
    size_t used = 0;
    for (int i = 0; i < 2; i++) {
        zpeer_event_t *event = s_event ((word_t){.replicated = i > 0});
        cr_assert_eq (zpeer_event_encode (event, frame, sizeof frame, &used),
                      ZPEER_OK);
        zpeer_event_destroy (&event);
    }
    cr_assert_eq (
        zpeer_feed_send_frame (s_feed, frame, used, STAGE_WAIT_MS, NULL),
        ZPEER_OK);
    stage_accepted (s_feed, 2);
    s_expect (s_two, "UP", "");
}

//  1. Another server sets an override at the peer  2. a resync from here, which
//  does not know it, takes it away  3. the source hears of 1
Test (marks, an_override_of_another_outlives_our_resync)
{
    SEND (.action = ZPEER_REGISTER);
    s_expect (s_one, "UP", "");
    s_write (s_one,
             "\"status\":\"OUT_OF_SERVICE\",\"action\":\"StatusUpdate\"");
    zpeer_engine_resync_peer (s_engine, speer_url (s_one));
    s_expect (s_one, "UP", "");
    SEND (.action = ZPEER_STATUS_UPDATE, .status = OUT, .replicated = true);
    s_expect (s_one, "OUT_OF_SERVICE", "OUT_OF_SERVICE");
}
