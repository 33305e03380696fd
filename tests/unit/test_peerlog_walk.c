//  What a batcher says of a walk of the view

#include <criterion/criterion.h>
#include "peerlog_fixture.h"
#include "banned.h"

static peerlog_fixture_t s;

static void
s_setup (void)
{
    peerlog_fixture_init (&s);
}

static void
s_teardown (void)
{
    peerlog_fixture_fini (&s);
}

TestSuite (peerlog_walk, .init = s_setup, .fini = s_teardown);

static void
s_begin (bool verify)
{
    zpeer_peerlog_walk_begun (&s.log, s.now, verify);
    zpeer_lane_walk_begin (s.lane);
}

//  The question and the refresh of all that is owed
static void
s_tell_all (void)
{
    cr_assert (peerlog_fixture_ok (&s));
    cr_assert (peerlog_fixture_ok (&s));
    cr_assert_eq (zpeer_lane_owed (s.lane), 0);
}

Test (peerlog_walk, of_an_empty_view_ends_at_once)
{
    s_begin (false);
    zpeer_lane_walk_complete (s.lane);
    cr_expect (peerlog_fixture_turn (&s));
    cr_expect_str_eq (
        peerlog_fixture_said (&s, "resync"),
        "{\"peer\":\"p\",\"kind\":\"resync\",\"state\":\"begun\"}");
    cr_expect_str_eq (peerlog_fixture_said (&s, "resync"),
                      "{\"peer\":\"p\",\"kind\":\"resync\",\"state\":\"ended\","
                      "\"instances\":0,\"left\":0,\"repaired\":0,\"refused\":0,"
                      "\"ms\":0}");
    cr_expect_not (peerlog_fixture_turn (&s));
    cr_expect_str_empty (peerlog_fixture_said (&s, "resync"));
    cr_expect_eq (peerlog_fixture_lines (&s, "ZPR043"), 1);
    cr_expect_not_null (strstr (s.lines,
                                "ZPR044 resync of peer p ended after 0 ms: 0 "
                                "instances, 0 repaired, 0 refused"));
}

Test (peerlog_walk, ends_when_it_is_complete_and_nothing_is_left)
{
    s_begin (true);
    peerlog_fixture_walk (&s, 1, 4);
    cr_expect_not (peerlog_fixture_turn (&s));
    s_tell_all ();
    cr_expect_not (peerlog_fixture_turn (&s), "more may come");
    s.now += 70;
    zpeer_lane_walk_complete (s.lane);
    cr_expect (peerlog_fixture_turn (&s));
    peerlog_fixture_said (&s, "resync");
    cr_expect_str_eq (peerlog_fixture_said (&s, "resync"),
                      "{\"peer\":\"p\",\"kind\":\"verify\",\"state\":\"ended\","
                      "\"instances\":3,\"left\":0,\"repaired\":3,\"refused\":0,"
                      "\"ms\":70}");
}

Test (peerlog_walk, does_not_end_while_something_is_left)
{
    s_begin (false);
    peerlog_fixture_walk (&s, 1, 3);
    zpeer_lane_walk_complete (s.lane);
    cr_expect_not (peerlog_fixture_turn (&s));
    s_tell_all ();
    cr_expect (peerlog_fixture_turn (&s));
}

Test (peerlog_walk, tells_its_progress_once_a_second_and_only_if_there_is_some)
{
    s_begin (false);
    peerlog_fixture_said (&s, "resync");
    peerlog_fixture_walk (&s, 1, 3);
    s.now += 999;
    peerlog_fixture_turn (&s);
    cr_expect_str_empty (peerlog_fixture_said (&s, "resync"));
    cr_expect_eq (zpeer_peerlog_wake (&s.log), s.now + 1);
    s.now += 1;
    peerlog_fixture_turn (&s);
    cr_expect_str_eq (
        peerlog_fixture_said (&s, "resync"),
        "{\"peer\":\"p\",\"kind\":\"resync\",\"state\":\"progress\","
        "\"instances\":2,\"left\":2,\"repaired\":0,\"refused\":0,\"ms\":1000}");

    //  Nothing has changed: there is nothing to say, however long
    cr_expect_eq (zpeer_peerlog_wake (&s.log), UINT64_MAX);
    s.now += 5000;
    peerlog_fixture_turn (&s);
    cr_expect_str_empty (peerlog_fixture_said (&s, "resync"));

    //  So the next change is told at once
    s_tell_all ();
    peerlog_fixture_turn (&s);
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "resync"),
                                "\"left\":0,\"repaired\":2,"));
}

Test (peerlog_walk, that_is_replaced_says_how_far_it_came)
{
    s_begin (false);
    peerlog_fixture_walk (&s, 1, 3);
    peerlog_fixture_turn (&s);
    s.now += 30;
    s_begin (true);
    peerlog_fixture_said (&s, "resync");
    cr_expect_str_eq (
        peerlog_fixture_said (&s, "resync"),
        "{\"peer\":\"p\",\"kind\":\"resync\",\"state\":\"replaced\","
        "\"instances\":2,\"left\":2,\"repaired\":0,\"refused\":0,\"ms\":30}");
    cr_expect_str_eq (
        peerlog_fixture_said (&s, "resync"),
        "{\"peer\":\"p\",\"kind\":\"verify\",\"state\":\"begun\"}");
}

Test (peerlog_walk, keeps_the_peer_from_being_whole_before_its_end)
{
    s_begin (false);
    for (uint32_t handle = 1; handle < 4; handle++) {
        peerlog_fixture_walk (&s, handle, handle + 1);
        peerlog_fixture_turn (&s);
        s_tell_all ();
        peerlog_fixture_turn (&s);
    }
    cr_expect_not_null (strstr (peerlog_fixture_said (&s, "peer"), "healthy"));
    cr_expect_str_empty (peerlog_fixture_said (&s, "peer"),
                         "owed nothing between two portions");
    s.now += 10;
    zpeer_lane_walk_complete (s.lane);
    peerlog_fixture_turn (&s);
    cr_expect_str_eq (peerlog_fixture_said (&s, "peer"),
                      "{\"peer\":\"p\",\"state\":\"whole\",\"ms\":10}");
}

Test (peerlog_walk, has_a_figure_of_what_is_left)
{
    s_begin (false);
    peerlog_fixture_walk (&s, 1, 3);
    zpeer_peerlog_stats (&s.log, s.now, 1, 0);
    cr_expect_not_null (
        strstr (peerlog_fixture_said (&s, "stats"), "\"resync-left\":2,"));
}
