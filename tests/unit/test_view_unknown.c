/*  test_view_unknown.c - instances of which the view has heartbeats only
*/
#include "view_fixture.h"
#include "banned.h"

TestSuite (view_unknown, .init = s_setup, .fini = s_teardown);

Test (view_unknown, each_is_counted_once_however_often_it_renews)
{
    s_register ("a", 10, ZPEER_UP);
    for (int i = 0; i < 3; i++) {
        s_heartbeat ("a", 10);
        s_heartbeat ("b", 10);
        s_heartbeat ("c", 10);
    }
    cr_assert_eq (s_stats ().unknown, 2);
    cr_assert_eq (s_stats ().instances, 1);
}

Test (view_unknown, a_register_makes_it_known)
{
    s_heartbeat ("a", 10);
    s_heartbeat ("b", 10);
    s_register ("a", 10, ZPEER_UP);
    cr_assert_eq (s_stats ().unknown, 1);
    s_heartbeat ("a", 10);
    cr_assert_eq (s_stats ().unknown, 1);
}

Test (view_unknown, a_cancel_and_a_forget_end_it)
{
    s_heartbeat ("a", 10);
    s_heartbeat ("b", 10);
    s_cancel ("a", 11);
    s_forget ("b");
    cr_assert_eq (s_stats ().unknown, 0);
    cr_assert_eq (s_stats ().tombstones, 2);
}

Test (view_unknown, an_instance_that_renews_after_its_cancel_is_unknown)
{
    s_register ("a", 10, ZPEER_UP);
    s_cancel ("a", 11);
    cr_assert_eq (s_stats ().unknown, 0);
    s_heartbeat ("a", 12);
    cr_assert_eq (s_stats ().unknown, 1);
}

//  With a lane, which answers, and without one
static void
s_assert_it_goes (unsigned lanes)
{
    zpeer_change_t change;
    if (lanes)
        zpeer_view_add_lane (s_view, 0);
    s_heartbeat ("a", 10);
    s_now += TOMBSTONE_MS;
    cr_assert_eq (zpeer_view_expire (s_view, s_now, &change), lanes > 0);
    cr_assert_eq (s_stats ().unknown, 0);
    s_heartbeat ("a", 10);
    cr_assert_eq (s_stats ().unknown, 1);
}

Test (view_unknown, what_renews_no_more_is_not_counted_when_it_is_let_go_of)
{
    s_assert_it_goes (0);
    s_teardown ();
    s_setup ();
    s_assert_it_goes (1);
}

Test (view_unknown, an_event_from_a_peer_names_nobody)
{
    s_replicated (s_event (ZPEER_HEARTBEAT, "a", 10));
    cr_assert_eq (s_stats ().unknown, 0);
}
