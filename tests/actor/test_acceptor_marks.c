/*  test_acceptor_marks.c - whose word an event is, on its way to the lanes
*/
#include <criterion/criterion.h>
#include "gate.h"
#include "reply.h"
#include "banned.h"

static zsock_t *s_feeder;
static gate_lane_t *s_lane;

static void
s_setup (void)
{
    gate_begin (NULL);
    s_feeder = gate_feeder ();
    s_lane = gate_lane (0);
}

TestSuite (acceptor_marks, .init = s_setup, .fini = gate_end);

static zpeer_event_t *
s_register (zpeer_status_t status)
{
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_app (event, "CART");
    zpeer_event_set_id (event, "1");
    zpeer_event_set_timestamp (event, 7);
    zpeer_event_set_status (event, status);
    zpeer_event_put_str (event, "hostName", "shop02.example.net");
    zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    return event;
}

//  Feeds a Register that came from there; it is told with this origin
static void
s_expect_origin (const char *url, unsigned origin)
{
    zpeer_event_t *event = s_register (ZPEER_UP);
    cr_assert_eq (zpeer_event_set_origin (event, url), ZPEER_OK);
    gate_add (&event);
    gate_feed (s_feeder, 1);
    cr_assert (strstr (gate_change (s_lane), "Register "), "%s", url);
    cr_assert_eq (gate_last (s_lane)->origin, origin, "%s", url);
    cr_assert_eq (gate_last (s_lane)->flags, origin ? ZPEER_CHANGE_EXACT : 0);
}

Test (acceptor_marks, an_origin_is_the_lane_of_that_peer)
{
    gate_is (gate_call ("ORIGIN", "3", "http://b:8761/eureka/"), "");
    gate_is (gate_call ("ORIGIN", "0", "http://a:8761/eureka/"), "");
    gate_is (gate_call ("ORIGIN", "64", "http://a/"),
             "'64' is not a number from 0 to 63");
    cr_assert (strstr (gate_call ("ORIGIN", "1", "nonsense"), "nonsense"));
    s_expect_origin ("http://a:8761/eureka/", 1);
    s_expect_origin ("http://user:secret@B:8761/eureka", 4);
    s_expect_origin ("", 0);
    s_expect_origin ("http://c:8761/eureka", 0);
    s_expect_origin ("no url at all", 0);
    gate_lane_t *other = gate_lane (3);
    gate_is (gate_call ("DELLANE", "3", NULL), "");
    gate_lane_close (other);
    s_expect_origin ("http://b:8761/eureka/", 0);
}

//  A lane takes its peer's own word, the other is told news
Test (acceptor_marks, all_lanes_are_told_of_what_has_an_origin)
{
    gate_lane_t *other = gate_lane (1);
    gate_is (gate_call ("ORIGIN", "0", "http://a/"), "");
    s_expect_origin ("http://a/", 1);
    gate_is (gate_change (other), "Register CART/1 UP");
    cr_assert_eq (gate_last (other)->origin, 1);
}

//  The engine's time
static uint64_t
s_ask (void)
{
    char start[64];
    unsigned long long mark = 0;
    gate_raw ("\x80", 1);
    gate_send (s_feeder);
    const char *reply = gate_reply (s_feeder);
    cr_assert_eq (sscanf (reply, "{\"mark\":%llu,%63s", &mark, start), 2, "%s",
                  reply);
    cr_assert_str_eq (start,
                      "\"accepted\":0,\"rejectedCount\":0,\"rejected\":[]}");
    return mark;
}

Test (acceptor_marks, whoever_asks_is_told_the_engines_time)
{
    uint64_t first = s_ask ();
    uint64_t now = (uint64_t) zclock_time ();
    cr_assert (first + 10000 > now && first < now + 10000);
    cr_assert_geq (s_ask (), first);
    //  Beside events, too, and these have their numbers
    gate_event (ZPEER_HEARTBEAT, "CART", "", 7);
    gate_raw ("\x80", 1);
    gate_event (ZPEER_HEARTBEAT, "CART", "", 7);
    gate_send (s_feeder);
    const char *reply = gate_reply (s_feeder);
    cr_assert (strstr (reply, "{\"mark\":"), "%s", reply);
    cr_assert (strstr (reply, "{\"index\":2,\"error\":\"id is missing\"}"),
               "%s", reply);
}

static void
s_expect_snapshot (uint64_t as_of, const char *change, unsigned flags)
{
    zpeer_event_t *event = s_register (ZPEER_UP);
    zpeer_event_set_snapshot (event, true);
    cr_assert_eq (zpeer_event_set_as_of (event, as_of), ZPEER_OK);
    gate_add (&event);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), change);
    cr_assert_eq (gate_last (s_lane)->flags, flags);
}

//  The mark is by the clock that changes are stamped with
Test (acceptor_marks, a_snapshot_undoes_nothing_that_was_accepted_since)
{
    uint64_t mark = s_ask ();
    zpeer_event_t *event = s_register (ZPEER_DOWN);
    gate_add (&event);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 DOWN");
    event = s_register (ZPEER_UP);
    zpeer_event_set_snapshot (event, true);
    zpeer_event_set_as_of (event, mark);
    gate_add (&event);
    gate_feed (s_feeder, 1);
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Heartbeat #0");
    s_expect_snapshot (0, "Register CART/1 UP", ZPEER_CHANGE_SNAPSHOT);
    s_expect_snapshot (mark, "Register #0", 0);
}
