/*  test_acceptor_walks.c - lanes that are told of the whole view, or ask about it
*/
#include <criterion/criterion.h>
#include "gate.h"
#include "walker.h"
#include "banned.h"

static zsock_t *s_feeder;
static gate_lane_t *s_lane;

static void
s_begin (const char *set)
{
    gate_begin (set);
    s_feeder = gate_feeder ();
    s_lane = gate_lane (0);
}

static void
s_setup (void)
{
    s_begin (NULL);
}

TestSuite (acceptor_walks, .init = s_setup, .fini = gate_end);

//  Registers instances 0 and up; the first lane has read of them
static void
s_fill (unsigned count)
{
    char id[16];
    for (unsigned i = 0; i < count; i++) {
        snprintf (id, sizeof id, "%u", i);
        gate_register ("CART", id, 7);
    }
    gate_feed (s_feeder, count);
    for (unsigned i = 0; i < count; i++)
        cr_assert (gate_change (s_lane)[0]);
}

static void
s_expect_chunk (const zpeer_chunk_t *chunk, zpeer_walk_kind_t kind,
                uint32_t count, bool first, bool last)
{
    cr_assert_eq (chunk->walk, kind);
    cr_assert_eq (chunk->count, count, "%u", chunk->count);
    cr_assert_eq (chunk->first, first);
    cr_assert_eq (chunk->last, last);
}

Test (acceptor_walks, a_lane_added_late_is_told_of_everything)
{
    gate_register ("CART", "1", 7);
    gate_event (ZPEER_STATUS_UPDATE, "CART", "1", 8);
    gate_register ("CART", "2", 7);
    gate_event (ZPEER_CANCEL, "CART", "2", 8);
    gate_feed (s_feeder, 4);
    gate_lane_t *late = gate_lane (1);
    const zpeer_chunk_t *chunk = gate_chunk (late);
    s_expect_chunk (chunk, ZPEER_WALK_RESYNC, 2, true, true);
    for (unsigned i = 0; i < chunk->count; i++)
        cr_assert_eq (chunk->changes[i].flags,
                      ZPEER_CHANGE_OWE | ZPEER_CHANGE_WALK);
    cr_assert_eq (chunk->changes[0].state->status, ZPEER_OUT_OF_SERVICE);
    gate_is (gate_change (late), "OWE CART/2 absent");
    //  The other lane has nothing of it
    for (unsigned i = 0; i < 4; i++)
        cr_assert (gate_change (s_lane)[0]);
    cr_assert (gate_lane_idle (s_lane));
}

Test (acceptor_walks, a_lane_added_when_nothing_is_known_is_not)
{
    cr_assert (gate_lane_idle (s_lane));
}

Test (acceptor_walks, a_resync_can_be_asked_for)
{
    s_fill (1);
    gate_is (gate_call ("RESYNC", "0", NULL), "");
    s_expect_chunk (gate_chunk (s_lane), ZPEER_WALK_RESYNC, 1, true, true);
}

Test (acceptor_walks, a_verify_can_be_asked_for)
{
    s_fill (1);
    gate_is (gate_call ("VERIFY", "0", NULL), "");
    const zpeer_chunk_t *chunk = gate_chunk (s_lane);
    s_expect_chunk (chunk, ZPEER_WALK_VERIFY, 1, true, true);
    cr_assert_eq (chunk->changes[0].flags,
                  ZPEER_CHANGE_VERIFY | ZPEER_CHANGE_WALK);
}

Test (acceptor_walks, only_for_lanes_there_are)
{
    gate_is (gate_call ("RESYNC", "1", NULL), "no such name");
    gate_is (gate_call ("VERIFY", "1", NULL), "no such name");
    gate_is (gate_call ("VERIFY", "64", NULL),
             "'64' is not a number from 0 to 63");
}

Test (acceptor_walks, changes_do_not_wait_for_a_walk)
{
    s_fill (5 * ZPEER_WALKER_PORTION);
    gate_is (gate_call ("RESYNC", "0", NULL), "");
    //  The lane reads nothing: the walk waits, feeders do not
    for (unsigned i = 0; i < 10; i++) {
        gate_event (ZPEER_STATUS_UPDATE, "CART", "1249", 8 + i);
        gate_feed (s_feeder, 1);
        gate_sync ();
    }
    unsigned changes = 0;
    unsigned portions = 0;
    while (changes < 10) {
        const zpeer_chunk_t *chunk = gate_chunk (s_lane);
        changes += chunk->walk == ZPEER_WALK_NONE;
        portions += chunk->walk != ZPEER_WALK_NONE;
    }
    cr_assert_leq (portions, ZPEER_WALKER_UNREAD);
    //  What comes later has it as it is by now
    const zpeer_chunk_t *chunk = gate_chunk (s_lane);
    while (!chunk->last)
        chunk = gate_chunk (s_lane);
    const zpeer_state_t *state = chunk->changes[chunk->count - 1].state;
    cr_assert_str_eq (zpeer_name_id (state->name).data, "1249");
    cr_assert_eq (state->status, ZPEER_OUT_OF_SERVICE);
}

Test (acceptor_walks, the_next_begins_when_a_lane_has_walked)
{
    s_fill (1);
    gate_lane_t *other = gate_lane (1);
    gate_is (gate_call ("RESYNC", "0", NULL), "");
    s_expect_chunk (gate_chunk (other), ZPEER_WALK_RESYNC, 1, true, true);
    cr_assert (gate_lane_idle (s_lane));
    gate_walked (1, 1);
    s_expect_chunk (gate_chunk (s_lane), ZPEER_WALK_RESYNC, 1, true, true);
}

Test (acceptor_walks, the_next_begins_when_a_lane_is_gone)
{
    s_fill (1);
    gate_lane_t *other = gate_lane (1);
    gate_is (gate_call ("VERIFY", "0", NULL), "");
    s_expect_chunk (gate_chunk (other), ZPEER_WALK_RESYNC, 1, true, true);
    gate_is (gate_call ("DELLANE", "1", NULL), "");
    s_expect_chunk (gate_chunk (s_lane), ZPEER_WALK_VERIFY, 1, true, true);
}

Test (acceptor_walks, close_ends_them)
{
    s_fill (1);
    gate_lane_t *other = gate_lane (1);
    gate_is (gate_call ("RESYNC", "0", NULL), "");
    s_expect_chunk (gate_chunk (other), ZPEER_WALK_RESYNC, 1, true, true);
    gate_is (gate_call ("CLOSE", "1000", NULL), "");
    gate_walked (1, 1);
    cr_assert (gate_lane_idle (s_lane));
}

TestSuite (acceptor_walks_alone, .fini = gate_end);

Test (acceptor_walks_alone, a_large_view_is_told_in_portions)
{
    enum { MANY = 3 * ZPEER_WALKER_PORTION + 1 };
    //  Nothing else wakes it in the middle
    s_begin ("zpeer.stats.interval-ms=3600000");
    s_fill (MANY);
    gate_is (gate_call ("RESYNC", "0", NULL), "");
    for (unsigned told = 0; told < MANY; told += ZPEER_WALKER_PORTION) {
        unsigned left = MANY - told;
        bool last = left <= ZPEER_WALKER_PORTION;
        s_expect_chunk (gate_chunk (s_lane), ZPEER_WALK_RESYNC,
                        last ? left : ZPEER_WALKER_PORTION, told == 0, last);
    }
}

Test (acceptor_walks_alone, walks_under_way_and_waiting_are_figures)
{
    s_begin ("zpeer.stats.interval-ms=10");
    s_fill (1);
    gate_lane (1);
    gate_is (gate_call ("RESYNC", "0", NULL), "");
    const char *json = "";
    int64_t deadline = zclock_mono () + GATE_WAIT_MS;
    while (!strstr (json, "\"walks\":1,\"walks-waiting\":1,"
                          "\"walks-under-way\":1,") &&
           zclock_mono () < deadline)
        json = gate_outcome ("stats");
    cr_assert_lt (zclock_mono (), deadline, "%s", json);
}
