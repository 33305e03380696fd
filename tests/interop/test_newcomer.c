//  Servers that become peers of an engine whose view is filled already

#include <criterion/criterion.h>
#include <stdio.h>
#include "pair.h"
#include "banned.h"

#define COUNT  300
#define ID_MAX 16

static pair_t s_pair;

static const char *const s_single[] = {"zpeer.batch.enabled=false", NULL};

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (newcomer, .fini = s_stop, .timeout = 120);

static void
s_act (const char *id, zpeer_action_t action, uint64_t at,
       zpeer_status_t status)
{
    pair_send (&s_pair, id, &(pair_event_t){action, at, status, 0}, 1);
}

//  An earlier engine left an instance at the servers; nobody tells them that it
//  is gone until they are peers again
static void
s_leave_behind (const char *id)
{
    pair_open (&s_pair, NULL);
    pair_register (&s_pair, id, 900, "");
    pair_await (&s_pair, id, "UP", "UNKNOWN", 900);
    pair_close (&s_pair);
}

static void
s_fill_view (void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        char id[ID_MAX];
        snprintf (id, sizeof id, "%u", i);
        pair_register (&s_pair, id, 1000, "");
    }
    s_act ("cancelled", ZPEER_REGISTER, 1000, ZPEER_UP);
    s_act ("cancelled", ZPEER_CANCEL, 0, 0);
    s_act ("7", ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    s_act ("8", ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    s_act ("8", ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_UP);
    s_act ("9", ZPEER_REGISTER, 1003, ZPEER_DOWN);
}

//  No event comes after they were added
static void
s_expect_everything (const char *const *set)
{
    s_leave_behind ("cancelled");
    pair_start (&s_pair, set);
    s_fill_view ();
    pair_add_all (&s_pair);
    pair_outcomes (&s_pair, "resync", "state", "ended");
    pair_await_count (&s_pair, s_pair.app, COUNT);
    pair_await_gone (&s_pair, "cancelled");
    pair_await (&s_pair, "7", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    pair_await (&s_pair, "8", "UP", "UNKNOWN", 1002);
    pair_await (&s_pair, "9", "DOWN", "UNKNOWN", 1003);
}

Test (newcomer, a_peer_added_late_gets_everything_overrides_included)
{
    s_expect_everything (NULL);
}

Test (newcomer, a_peer_added_late_gets_everything_as_calls_too)
{
    s_expect_everything (s_single);
}
