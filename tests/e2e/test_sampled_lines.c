//  Log lines of which one goes in 10 s: how many were held back is said, too

#include <criterion/criterion.h>
#include "scripted_peer.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

//  Longer than a line is held back, ms
#define HELD_MS 20000

#define EVENT_REJECTED "ZPR020"
#define UNREACHABLE    "ZPR031"
#define ESCALATED      "ZPR036"
#define REJECTED       "ZPR040"

#define INSTANCES 20

static witness_t *s_witness;
static speer_t *s_peer;
static zpeer_engine_t *s_engine;
static zpeer_feed_t *s_feed;

static void
s_start (void)
{
    static const char *const set[] = {"zpeer.stop.deadline-ms=200",
                                      "apiml.discovery.maxPeerRetries=3", NULL};
    s_witness = witness_new ();
    s_peer = speer_new (0, -1);
    s_engine = stage_engine_new (set);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    zpeer_engine_add_peer (s_engine, speer_url (s_peer));
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

TestSuite (sampled_lines, .init = s_start, .fini = s_stop, .timeout = 60);

//  Sends what is no event, so many times
static void
s_send_nonsense (unsigned count)
{
    zpeer_reply_t reply = {0};
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq (
            zpeer_feed_send_frame (s_feed, "\xff", 1, STAGE_WAIT_MS, NULL),
            ZPEER_OK);
        cr_assert_eq (zpeer_feed_recv (s_feed, &reply, STAGE_WAIT_MS),
                      ZPEER_OK);
    }
}

static void
s_expect_more (const char *id, const char *text)
{
    cr_assert (witness_wait (s_witness, id, 2, HELD_MS), "%s", id);
    cr_expect (witness_says (s_witness, id, text), "%s", id);
}

Test (sampled_lines, what_is_held_back_is_said_though_nothing_follows)
{
    speer_item_rule (s_peer, &(speer_item_rule_t){.status = 422});
    stage_registers (s_feed, INSTANCES);
    s_send_nonsense (3);
    cr_assert (witness_wait (s_witness, REJECTED, 1, STAGE_WAIT_MS));
    speer_mode (s_peer, SPEER_REFUSE);
    stage_registers_from (s_feed, INSTANCES, 1);
    cr_assert (witness_wait (s_witness, ESCALATED, 1, STAGE_WAIT_MS));
    cr_assert (speer_mode (s_peer, SPEER_LISTEN));
    s_expect_more (EVENT_REJECTED, "2 more held back");
    s_expect_more (REJECTED, " more held back, peer http://");
    s_expect_more (UNREACHABLE, " more held back, peer http://");
}

Test (sampled_lines, what_is_held_back_is_said_at_the_end)
{
    s_send_nonsense (3);
    zpeer_engine_stop (s_engine);
    cr_expect_eq (witness_count (s_witness, EVENT_REJECTED), 2);
    cr_expect (witness_says (s_witness, EVENT_REJECTED, "2 more held back"));
}
