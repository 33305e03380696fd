//  A Cancel without a timestamp of an instance that the engine does not know: it was
//  started anew. The servers cannot be reached when it comes.

#include <criterion/criterion.h>
#include <stdlib.h>
#include <czmq.h>
#include "pair.h"
#include "banned.h"

//  So much older than the Cancel a registration must be, that it was before it: the
//  clocks are not one. ms.
#define OLDER_MS 2500

static pair_t s_pair;

static const char *const s_set[] = {"apiml.discovery.maxPeerRetries=3", NULL};
static const char *const s_single[] = {"apiml.discovery.maxPeerRetries=3",
                                       "zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (unknown_cancel, .fini = s_stop, .timeout = 120);

//  Waits until every peer has had the instance for so long
static void
s_await_age (const char *id)
{
    for (size_t i = 0; i < s_pair.count; i++) {
        int64_t from = pair_lease (&s_pair, i, id, "registrationTimestamp");
        cr_assert_gt (from, 0);
        while (zclock_time () < from + OLDER_MS)
            pair_tick (&s_pair);
    }
}

static void
s_cancel (const char *id)
{
    pair_send (&s_pair, id, &(pair_event_t){ZPEER_CANCEL, 0, 0, 0}, 1);
}

//  1. The servers have two instances.  2. The engine is started anew.
//  3. They are away, and it is told that both are cancelled.
//  4. Another server registers one of them anew at the servers.
static void
s_begin (const char *const *set)
{
    pair_open (&s_pair, set);
    pair_register (&s_pair, "gone", 1000, "");
    pair_register (&s_pair, "back", 1000, "");
    pair_await (&s_pair, "gone", "UP", "UNKNOWN", 1000);
    pair_await (&s_pair, "back", "UP", "UNKNOWN", 1000);
    s_await_age ("gone");
    s_await_age ("back");
    s_stop ();
    pair_start (&s_pair, set);
    pair_add_apart (&s_pair);
    pair_set_passage (&s_pair, SPEER_CUT);
    s_cancel ("gone");
    s_cancel ("back");
    pair_outcomes (&s_pair, "peer", "state", "escalated");
    pair_other_registers (&s_pair, "back", 2000);
}

static void
s_join (void)
{
    pair_set_passage (&s_pair, SPEER_PASS);
    pair_retry (&s_pair);
}

static void
s_expect_end (void)
{
    pair_await_gone (&s_pair, "gone");
    pair_outcomes (&s_pair, "conflict", "id", pair_id (&s_pair, "back"));
    pair_expect (&s_pair, "back", "DOWN", "UNKNOWN", 2000);
}

static void
s_resync (void)
{
    for (size_t i = 0; i < s_pair.count; i++)
        cr_assert_eq (
            zpeer_engine_resync_peer (s_pair.engine, s_pair.peers[i].url),
            ZPEER_OK);
}

//  And a resync later does it no harm either
Test (unknown_cancel, ends_what_was_there_and_nothing_that_came_later)
{
    s_begin (s_set);
    s_join ();
    s_expect_end ();
    pair_outcomes (&s_pair, "peer", "state", "whole");
    s_await_age ("back");
    s_resync ();
    pair_outcomes (&s_pair, "resync", "state", "ended");
    pair_expect (&s_pair, "back", "DOWN", "UNKNOWN", 2000);
}

//  Though its walk tells nothing of what was never registered here
Test (unknown_cancel, outlives_a_resync)
{
    s_begin (s_set);
    s_resync ();
    s_join ();
    s_expect_end ();
    pair_outcomes (&s_pair, "resync", "state", "ended");
    pair_await_gone (&s_pair, "gone");
    pair_expect (&s_pair, "back", "DOWN", "UNKNOWN", 2000);
}

Test (unknown_cancel, ends_nothing_that_came_later_in_calls_either)
{
    s_begin (s_single);
    s_join ();
    s_expect_end ();
}
