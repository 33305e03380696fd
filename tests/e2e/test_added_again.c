//  A peer that is removed with a request on its way, and added again. The request is
//  applied after the new lane has told the peer everything.

#include <criterion/criterion.h>
#include <string.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

//  Nobody listens there
#define NOBODY "http://127.0.0.1:9/eureka/"

static zpeer_engine_t *s_engine;
static zpeer_feed_t *s_feed;
static speer_t *s_peer;

static void
s_add (const char *url)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, url), ZPEER_OK, "%s",
                  zpeer_engine_error (s_engine));
}

static void
s_remove (const char *url)
{
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, url), ZPEER_OK, "%s",
                  zpeer_engine_error (s_engine));
}

//  The read timeout is the time in which an attempt may come late
static void
s_setup (void)
{
    const char *const set[] = {"eureka.server.peer-node-read-timeout-ms=3000",
                               "zpeer.stop.deadline-ms=100", NULL};
    s_engine = stage_engine (set);
    s_feed = stage_feed (s_engine);
    s_peer = speer_new (0, -1);
    s_add (speer_url (s_peer));
    stage_register (s_feed, "1");
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, STAGE_WAIT_MS));
}

static void
s_teardown (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
}

TestSuite (added_again, .init = s_setup, .fini = s_teardown, .timeout = 120);

//  What the peer has: status and override, or ""
static bool
s_has (speer_t *peer, void *arg)
{
    speer_lease_t lease;
    char text[64] = "";
    if (speer_lease (peer, STAGE_APP, "1", &lease))
        snprintf (text, sizeof text, "%s/%s", lease.status, lease.held);
    return !strcmp (text, *(const char *const *) arg);
}

static void
s_await (const char *what)
{
    cr_assert (speer_wait_until (s_peer, s_has, &what, STAGE_WAIT_MS),
               "not \"%s\"", what);
}

//  One that is not answered, and is applied when it is released
static void
s_send_late (zpeer_action_t action, zpeer_status_t status)
{
    uint64_t pending = speer_get (s_peer, SPEER_PENDING);
    speer_rule (s_peer, &(speer_rule_t){.answer = SPEER_HANG,
                                        .apply = SPEER_APPLY_LATE,
                                        .late_ms = SPEER_HELD,
                                        .count = 1});
    stage_change (s_feed, action, "1", status);
    cr_assert (speer_wait (s_peer, SPEER_FAULTS, 1, STAGE_WAIT_MS));
    cr_assert (speer_wait (s_peer, SPEER_PENDING, pending + 1, STAGE_WAIT_MS));
}

//  Registered since then
static bool
s_is_told (speer_t *peer, void *arg)
{
    speer_lease_t lease;
    return speer_lease (peer, STAGE_APP, "1", &lease) &&
           lease.registered > *(const int64_t *) arg;
}

//  The peer is added, and is told everything
static void
s_add_and_await (void)
{
    speer_lease_t before;
    cr_assert (speer_lease (s_peer, STAGE_APP, "1", &before));
    speer_advance (s_peer, 1000);
    s_add (speer_url (s_peer));
    cr_assert (speer_wait_until (s_peer, s_is_told, &before.registered,
                                 STAGE_WAIT_MS));
}

Test (added_again, an_override_that_was_on_its_way_does_not_stay)
{
    s_send_late (ZPEER_STATUS_UPDATE, ZPEER_OUT_OF_SERVICE);
    s_remove (speer_url (s_peer));
    stage_change (s_feed, ZPEER_DELETE_STATUS_OVERRIDE, "1", ZPEER_UP);
    s_add_and_await ();
    s_await ("UP/");
    cr_assert_eq (speer_release (s_peer), 1);
    s_await ("OUT_OF_SERVICE/OUT_OF_SERVICE");
    s_await ("UP/");
}

Test (added_again, a_cancel_that_was_on_its_way_takes_nothing_away)
{
    s_send_late (ZPEER_CANCEL, ZPEER_UNKNOWN);
    s_remove (speer_url (s_peer));
    stage_register (s_feed, "1");
    s_add_and_await ();
    cr_assert_eq (speer_release (s_peer), 1);
    s_await ("");
    s_await ("UP/");
}

//  The first time it is removed before it is told anything: it waits for another
//  peer, which is down
Test (added_again, it_is_remembered_when_it_is_removed_twice)
{
    s_send_late (ZPEER_STATUS_UPDATE, ZPEER_OUT_OF_SERVICE);
    s_remove (speer_url (s_peer));
    stage_change (s_feed, ZPEER_DELETE_STATUS_OVERRIDE, "1", ZPEER_UP);
    s_add (NOBODY);
    s_add (speer_url (s_peer));
    s_remove (speer_url (s_peer));
    s_remove (NOBODY);
    s_add_and_await ();
    cr_assert_eq (speer_release (s_peer), 1);
    s_await ("OUT_OF_SERVICE/OUT_OF_SERVICE");
    s_await ("UP/");
}
