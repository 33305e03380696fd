/*  test_handover.c - chunks refused, lanes behind, lanes that catch up
*/
#include "inbox_fixture.h"
#include "banned.h"

static zpeer_handover_t *s_handover;
static unsigned s_lines;  //  Logged

static void
s_on_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) arg;
    (void) level;
    (void) text;
    cr_assert_str_eq (id, "ZPR021");
    s_lines++;
}

static void
s_begin (void)
{
    static const zpeer_log_t log = {.fn = s_on_log};
    s_setup ();
    s_open_inboxes ();
    s_handover = zpeer_handover_new (s_view, &log, s_post, s_inboxes);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq (zpeer_handover_add (s_handover, i), ZPEER_OK);
        zpeer_view_add_lane (s_view, i);
    }
}

static void
s_end (void)
{
    zpeer_handover_destroy (&s_handover);
    cr_assert_null (s_handover);
    s_close_inboxes ();
    s_teardown ();
}

TestSuite (handover, .init = s_begin, .fini = s_end);

//  Hands over what the last event came to
static void
s_put (void)
{
    cr_assert (s_applied.tell);
    zpeer_handover_put (s_handover, &s_applied.change);
}

static void
s_send (void)
{
    zpeer_handover_send (s_handover, s_now);
}

static void
s_tell_register (const char *id)
{
    s_register (id, 7, ZPEER_UP);
    s_put ();
}

//  A heartbeat, in a turn of its own
static void
s_tell_heartbeat (const char *id)
{
    s_heartbeat (id, 7);
    s_put ();
    s_send ();
}

static zpeer_handover_stats_t
s_figures (void)
{
    zpeer_handover_stats_t stats;
    zpeer_handover_stats (s_handover, &stats);
    return stats;
}

//  Instances 1, 2 and 3 are known to both lanes; lane 0 takes no more, and has
//  held up feeders for as long as it may
static void
s_fall_behind (void)
{
    s_tell_register ("1");
    s_tell_register ("2");
    s_tell_register ("3");
    s_send ();
    s_inboxes[0].room = 1;
    s_tell_heartbeat ("1");
    s_now += ZPEER_HANDOVER_PATIENCE_MS;
    s_send ();
    cr_assert_eq (s_figures ().behind, 1);
}

Test (handover, a_turn_is_one_chunk_and_one_post_a_lane)
{
    s_tell_register ("1");
    s_tell_register ("2");
    s_send ();
    cr_assert_eq (s_posts, 2);
    cr_assert_eq (s_first (0), s_first (1));
    s_expect_read (0, "Register 1 UP");
    s_expect_read (0, "Register 2 UP");
    s_expect_read (0, "");
    cr_assert_eq (s_figures ().chunks, 2);
    s_send ();
    cr_assert_eq (s_posts, 2);
}

Test (handover, without_lanes_nothing_gathers)
{
    zpeer_handover_remove (s_handover, 0);
    zpeer_handover_remove (s_handover, 1);
    s_tell_register ("1");
    cr_assert_eq (zpeer_handover_room (s_handover), ZPEER_CHUNK_MAX);
}

Test (handover, lanes_are_added_and_removed_once)
{
    cr_assert_eq (zpeer_handover_add (s_handover, ZPEER_LANES_MAX),
                  ZPEER_E_RANGE);
    cr_assert_eq (zpeer_handover_add (s_handover, 1), ZPEER_E_EXISTS);
    cr_assert_eq (zpeer_handover_remove (s_handover, 2), ZPEER_E_UNKNOWN);
    cr_assert_eq (zpeer_handover_remove (s_handover, 1), ZPEER_OK);
    cr_assert_eq (zpeer_handover_remove (s_handover, 1), ZPEER_E_UNKNOWN);
    cr_assert_eq (s_figures ().lanes, 1);
    s_tell_register ("1");
    s_send ();
    cr_assert_null (s_first (1));
}

Test (handover, a_chunk_that_is_refused_is_kept_and_nothing_else_fits)
{
    s_inboxes[0].room = 0;
    s_tell_register ("1");
    s_send ();
    cr_assert_eq (s_posts, 2);
    cr_assert_eq (zpeer_handover_room (s_handover), 0);
    cr_assert (zpeer_handover_waits (s_handover, 0));
    cr_assert_not (zpeer_handover_waits (s_handover, 1));
    cr_assert_eq (zpeer_handover_wake (s_handover),
                  s_now + ZPEER_HANDOVER_PATIENCE_MS);
    s_expect_read (1, "Register 1 UP");

    s_inboxes[0].room = 1;
    s_send ();
    s_expect_read (0, "Register 1 UP");
    cr_assert_not (zpeer_handover_waits (s_handover, 0));
    cr_assert_eq (zpeer_handover_room (s_handover), ZPEER_CHUNK_MAX);
    cr_assert_eq (zpeer_handover_wake (s_handover), UINT64_MAX);
    cr_assert_eq (s_figures ().refused, 1);
    cr_assert_eq (s_figures ().chunks, 2);
    cr_assert_eq (s_figures ().owed, 0);
}

Test (handover, patience_has_an_end)
{
    s_inboxes[0].room = 0;
    s_tell_register ("1");
    s_send ();
    s_now += ZPEER_HANDOVER_PATIENCE_MS - 1;
    s_send ();
    cr_assert_eq (zpeer_handover_room (s_handover), 0);
    cr_assert_eq (s_lines, 0);
    s_now++;
    s_send ();
    cr_assert_eq (zpeer_handover_room (s_handover), ZPEER_CHUNK_MAX);
    cr_assert_eq (s_figures ().behind, 1);
    cr_assert_eq (s_figures ().noted, 1);
    cr_assert_eq (s_lines, 1);
    //  It is still waited for, but by nobody in particular
    cr_assert (zpeer_handover_waits (s_handover, 0));
    cr_assert_eq (zpeer_handover_wake (s_handover), UINT64_MAX);
}

Test (handover, a_lane_that_is_behind_is_told_the_present_in_the_end)
{
    s_fall_behind ();
    s_set_status ("2", 8, ZPEER_OUT_OF_SERVICE);
    s_put ();
    s_cancel ("3", 8);
    s_put ();
    s_send ();
    s_set_status ("2", 9, ZPEER_DOWN);
    s_put ();
    s_tell_register ("4");
    s_forget ("4");
    s_put ();
    s_set_asg ("web", ZPEER_OUT_OF_SERVICE);
    s_put ();
    s_send ();
    cr_assert_eq (s_figures ().noted, 5);
    for (unsigned i = 0; i < 3; i++)
        s_read (0);
    s_expect_read (0, "");

    s_send ();
    s_expect_read (0, "OWE 1 UP");
    s_expect_read (0, "OWE 2 DOWN");
    s_expect_read (0, "OWE 3 absent");
    s_expect_read (0, "Forget 4 absent");
    s_expect_read (0, "AsgStatusUpdate web OUT_OF_SERVICE");
    s_expect_read (0, "");
    cr_assert_eq (s_figures ().behind, 0);
    cr_assert_eq (s_figures ().owed, 5);
    cr_assert_not (zpeer_handover_waits (s_handover, 0));
}

Test (handover, what_changes_while_a_lane_catches_up_comes_after_it)
{
    s_fall_behind ();
    for (unsigned i = 0; i < 3; i++)
        s_read (0);
    s_read (0);
    //  In the turn in which it has room again: noted, and told in its place
    s_cancel ("1", 8);
    s_put ();
    s_send ();
    s_expect_read (0, "OWE 1 absent");
    s_expect_read (0, "");
    s_tell_heartbeat ("2");
    s_expect_read (0, "Heartbeat #1");
}

Test (handover, a_lane_catches_up_a_few_chunks_a_turn)
{
    enum { MANY = 4 * ZPEER_CHUNK_MAX };
    char id[16];
    s_fall_behind ();
    for (unsigned i = 4; i < MANY; i++) {
        snprintf (id, sizeof id, "%u", i);
        s_tell_register (id);
        if (!zpeer_handover_room (s_handover))
            s_send ();
    }
    s_send ();
    s_close_inboxes ();
    s_inboxes[0].room = INBOX_MAX;
    unsigned turns = 0;
    unsigned told = 0;
    for (; s_figures ().behind; turns++) {
        unsigned before = s_posts;
        s_send ();
        cr_assert_leq (s_posts - before, 2);
    }
    while (*s_read (0))
        told++;
    cr_assert_gt (turns, 1);
    //  Instance 1, and all but the two others
    cr_assert_eq (told, MANY - 3);
}

Test (handover, a_lane_refuses_while_it_catches_up_and_loses_nothing)
{
    s_fall_behind ();
    s_send ();
    s_send ();
    cr_assert_eq (s_figures ().behind, 1);
    cr_assert_eq (s_figures ().noted, 1);
    s_close_inboxes ();
    s_send ();
    s_expect_read (0, "OWE 1 UP");
}

Test (handover, a_lane_removed_while_it_is_behind_is_forgotten)
{
    s_fall_behind ();
    cr_assert_eq (zpeer_handover_remove (s_handover, 0), ZPEER_OK);
    cr_assert_not (zpeer_handover_waits (s_handover, 0));
    cr_assert_eq (s_figures ().behind, 0);
    cr_assert_eq (s_figures ().noted, 0);
    s_close_inboxes ();
    s_tell_heartbeat ("1");
    cr_assert_null (s_first (0));
    s_expect_read (1, "Heartbeat #0");

    //  The next lane of that number knows nothing of it
    cr_assert_eq (zpeer_handover_add (s_handover, 0), ZPEER_OK);
    s_tell_heartbeat ("1");
    s_expect_read (0, "Heartbeat #0");
}

Test (handover, a_lane_removed_while_feeders_wait_for_it_lets_them_go)
{
    s_inboxes[0].room = 0;
    s_tell_register ("1");
    s_send ();
    cr_assert_eq (zpeer_handover_room (s_handover), 0);
    zpeer_handover_remove (s_handover, 0);
    cr_assert_eq (zpeer_handover_room (s_handover), ZPEER_CHUNK_MAX);
}

Test (handover, nothing_of_it_stays_when_it_is_destroyed_in_the_middle)
{
    s_fall_behind ();
    s_tell_register ("4");
    s_inboxes[1].room = 0;
    s_send ();
    s_tell_register ("5");
}
