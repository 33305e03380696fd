/*  test_engine_peers.c - peers that come late, and what is asked for one
*/
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "scripted_peer.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

//  Nobody listens there
#define NOBODY "http://127.0.0.1:9/eureka/"

#define INSTANCES 600

static zpeer_engine_t *s_engine;
static zpeer_feed_t *s_feed;
static witness_t *s_witness;
static speer_t *s_peer;

static void
s_setup (void)
{
    s_witness = witness_new ();
    s_engine = stage_engine_new (NULL);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK, "%s",
                  zpeer_engine_error (s_engine));
    s_feed = stage_feed (s_engine);
    s_peer = speer_new (0, -1);
}

static void
s_teardown (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
    witness_destroy (&s_witness);
}

TestSuite (engine_peers, .init = s_setup, .fini = s_teardown, .timeout = 120);

//  An event about the instance "0"
static void
s_send (zpeer_action_t action, zpeer_status_t status)
{
    zpeer_event_t *event = zpeer_event_new (action);
    zpeer_event_set_app (event, STAGE_APP);
    zpeer_event_set_id (event, "0");
    zpeer_event_set_timestamp (event, STAGE_AT);
    if (status != ZPEER_UNKNOWN)
        zpeer_event_set_status (event, status);
    stage_send (s_feed, event);
    zpeer_event_destroy (&event);
}

static void
s_add (void)
{
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
}

static void
s_expect_instances (uint64_t count)
{
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, count, STAGE_WAIT_MS));
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), count);
}

static bool
s_is_out_of_service (speer_t *peer, void *arg)
{
    (void) arg;
    speer_lease_t lease;
    return speer_lease (peer, STAGE_APP, "0", &lease) &&
           !strcmp (lease.status, "OUT_OF_SERVICE") &&
           !strcmp (lease.held, "OUT_OF_SERVICE");
}

Test (engine_peers, they_are_listed)
{
    cr_assert_null (zpeer_engine_peer (s_engine, 0));
    zpeer_engine_add_peer (s_engine, "http://u:secret@A/1");
    zpeer_engine_add_peer (s_engine, "http://a/2/");
    zpeer_engine_add_peer (s_engine, "http://a/3");
    zpeer_engine_remove_peer (s_engine, "http://a/2");
    cr_assert_str_eq (zpeer_engine_peer (s_engine, 0), "http://a/1/");
    cr_assert_str_eq (zpeer_engine_peer (s_engine, 1), "http://a/3/");
    cr_assert_null (zpeer_engine_peer (s_engine, 2));
    zpeer_engine_stop (s_engine);
    cr_assert_null (zpeer_engine_peer (s_engine, 0));
}

typedef int (s_ask_fn) (zpeer_engine_t *engine, const char *url);

Test (engine_peers, only_a_peer_of_a_running_engine_is_asked_about)
{
    s_ask_fn *const asks[] = {zpeer_engine_resync_peer,
                              zpeer_engine_verify_peer,
                              zpeer_engine_retry_peer};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq (asks[i](s_engine, NOBODY), ZPEER_E_UNKNOWN);
        cr_assert_str_eq (zpeer_engine_error (s_engine),
                          "there is no peer " NOBODY);
        cr_assert_eq (asks[i](s_engine, "nonsense"), ZPEER_E_UNKNOWN);
        cr_assert (strstr (zpeer_engine_error (s_engine), "nonsense"));
    }
    zpeer_engine_stop (s_engine);
    for (int i = 0; i < 3; i++)
        cr_assert_eq (asks[i](s_engine, NOBODY), ZPEER_E_STATE);
}

Test (engine_peers, one_added_late_is_told_the_whole_view)
{
    stage_registers (s_feed, INSTANCES);
    s_send (ZPEER_STATUS_UPDATE, ZPEER_OUT_OF_SERVICE);
    s_add ();
    s_expect_instances (INSTANCES);
    cr_assert (
        speer_wait_until (s_peer, s_is_out_of_service, NULL, STAGE_WAIT_MS));
}

//  It holds an instance that is cancelled by now
Test (engine_peers, one_added_late_is_told_of_cancellations)
{
    s_add ();
    stage_registers (s_feed, 2);
    s_expect_instances (2);
    cr_assert_eq (zpeer_engine_remove_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_send (ZPEER_CANCEL, ZPEER_UNKNOWN);
    s_add ();
    cr_assert (speer_wait_at_most (s_peer, SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    cr_assert (speer_lease (s_peer, STAGE_APP, "1", NULL));
}

Test (engine_peers, one_that_came_back_empty_is_filled_by_a_verify)
{
    s_add ();
    stage_registers (s_feed, INSTANCES);
    s_expect_instances (INSTANCES);
    speer_reset (s_peer);
    cr_assert_eq (zpeer_engine_verify_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    s_expect_instances (INSTANCES);
}

Test (engine_peers, one_that_others_wrote_to_is_put_right_by_a_resync)
{
    s_add ();
    stage_registers (s_feed, 2);
    s_send (ZPEER_STATUS_UPDATE, ZPEER_OUT_OF_SERVICE);
    cr_assert (
        speer_wait_until (s_peer, s_is_out_of_service, NULL, STAGE_WAIT_MS));
    cr_assert_eq (
        speer_apply (s_peer,
                     "{\"replicationList\":[{\"appName\":\"" STAGE_APP
                     "\",\"id\":\"0\",\"lastDirtyTimestamp\":1718271499871,"
                     "\"status\":\"DOWN\",\"action\":\"StatusUpdate\"}]}"),
        200);
    cr_assert_not (s_is_out_of_service (s_peer, NULL));
    cr_assert_eq (zpeer_engine_resync_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    cr_assert (
        speer_wait_until (s_peer, s_is_out_of_service, NULL, STAGE_WAIT_MS));
}

//  The peer asks for a pause longer than the test waits
Test (engine_peers, one_that_pauses_is_tried_at_once_when_asked)
{
    speer_rule_t busy = {
        .status = 503, .count = 1, .headers = "Retry-After: 30\r\n"};
    speer_rule (s_peer, &busy);
    s_add ();
    stage_registers (s_feed, 1);
    cr_assert (witness_wait (s_witness, "ZPR030", 1, STAGE_WAIT_MS));
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    cr_assert_eq (zpeer_engine_retry_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    s_expect_instances (1);
}
