//  The fault this project began with, end to end: a peer that does not answer is
//  tried again, up to a maximum; then its tasks are let go, which is said once.

#include <criterion/criterion.h>
#include "scripted_peer.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

#define ESCALATED "ZPR036"
#define RECOVERED "ZPR037"

#define QUICK "eureka.server.peer-node-read-timeout-ms=100"

static zpeer_engine_t *s_engine;
static speer_t *s_peer;
static witness_t *s_witness;
static zpeer_feed_t *s_feed;

//  An engine with one peer
static void
s_start (const char *retries, const char *timeout)
{
    const char *const set[] = {retries, timeout, "zpeer.stop.deadline-ms=100",
                               NULL};
    s_witness = witness_new ();
    s_peer = speer_new (0, -1);
    s_engine = stage_engine_new (set);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_feed = stage_feed (s_engine);
}

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
    witness_destroy (&s_witness);
}

TestSuite (escalation, .fini = s_stop, .timeout = 60);

//  Requests are read, and nothing comes of them
static void
s_hang (int count)
{
    speer_rule (s_peer, &(speer_rule_t){.answer = SPEER_HANG,
                                        .apply = SPEER_APPLY_NEVER,
                                        .count = count});
}

Test (escalation, the_line_appears_once_a_cycle_and_names_peer_and_count)
{
    s_start ("apiml.discovery.maxPeerRetries=3", QUICK);
    for (unsigned cycle = 1; cycle <= 2; cycle++) {
        s_hang (0);
        stage_register (s_feed, cycle == 1 ? "1" : "2");
        cr_assert (witness_wait (s_witness, ESCALATED, cycle, STAGE_WAIT_MS));
        cr_expect (witness_says (s_witness, ESCALATED, speer_url (s_peer)));
        cr_expect (witness_says (s_witness, ESCALATED, "failed 3+ times"));
        cr_expect (witness_says (s_witness, ESCALATED, "1 task"));
        //  Two more attempts fail, and nothing more is said
        uint64_t tried = speer_get (s_peer, SPEER_REQUESTS);
        cr_assert (
            speer_wait (s_peer, SPEER_REQUESTS, tried + 2, STAGE_WAIT_MS));
        cr_expect_eq (witness_count (s_witness, ESCALATED), cycle);
        speer_clear (s_peer);
        cr_assert (witness_wait (s_witness, RECOVERED, cycle, STAGE_WAIT_MS));
        cr_assert (speer_wait (s_peer, SPEER_INSTANCES, cycle, STAGE_WAIT_MS));
    }
}

Test (escalation, six_requests_that_fail_together_are_one_escalation)
{
    s_start ("apiml.discovery.maxPeerRetries=3",
             "eureka.server.peer-node-read-timeout-ms=2000");
    //  A peer that is known to be quick gets six at once
    stage_registers (s_feed, 1500);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1500, STAGE_WAIT_MS));
    s_hang (0);
    uint64_t before = speer_get (s_peer, SPEER_REQUESTS);
    stage_registers_from (s_feed, 1500, 1500);
    cr_assert (speer_wait (s_peer, SPEER_REQUESTS, before + 6, STAGE_WAIT_MS));
    cr_expect_eq (witness_count (s_witness, ESCALATED), 0);
    cr_assert (witness_wait (s_witness, ESCALATED, 1, STAGE_WAIT_MS));
    uint64_t tried = speer_get (s_peer, SPEER_REQUESTS);
    cr_assert (speer_wait (s_peer, SPEER_REQUESTS, tried + 1, STAGE_WAIT_MS));
    cr_expect_eq (witness_count (s_witness, ESCALATED), 1);
}

Test (escalation, the_line_comes_though_a_503_reached_the_maximum)
{
    s_start ("apiml.discovery.maxPeerRetries=2", QUICK);
    s_hang (0);
    speer_rule (s_peer, &(speer_rule_t){.status = 503, .count = 2});
    stage_register (s_feed, "1");
    //  The second 503 reaches the maximum and is Congestion all the same
    cr_assert (witness_wait (s_witness, ESCALATED, 1, STAGE_WAIT_MS));
    cr_expect_eq (speer_get (s_peer, SPEER_REQUESTS), 3);
    cr_expect (witness_says (s_witness, ESCALATED, "failed 2+ times"));
}

Test (escalation, what_was_let_go_is_told_when_the_peer_answers_again)
{
    s_start ("apiml.discovery.maxPeerRetries=1", QUICK);
    s_hang (1);
    stage_register (s_feed, "1");
    cr_assert (witness_wait (s_witness, ESCALATED, 1, STAGE_WAIT_MS));
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, STAGE_WAIT_MS));
}

Test (escalation, by_default_a_timed_out_register_is_tried_again)
{
    //  Everything but the read timeout as it comes
    const char *const set[] = {"eureka.server.peer-node-read-timeout-ms=200",
                               NULL};
    s_peer = speer_new (0, -1);
    s_engine = stage_engine (set);
    zpeer_engine_add_peer (s_engine, speer_url (s_peer));
    s_feed = stage_feed (s_engine);
    s_hang (2);
    stage_register (s_feed, "1");
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    cr_expect_eq (speer_get (s_peer, SPEER_REQUESTS), 3);
}
