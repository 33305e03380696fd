/*  walker_fixture.h - walks of a view, for lanes played by the test
*/
#ifndef WALKER_FIXTURE_H_INCLUDED
#define WALKER_FIXTURE_H_INCLUDED

#include "inbox_fixture.h"
#include "walker.h"

#define RESYNC ZPEER_WALK_RESYNC
#define VERIFY ZPEER_WALK_VERIFY

static zpeer_handover_t *s_handover;
static zpeer_walker_t *s_walker;

static inline void
s_begin (void)
{
    static const zpeer_log_t log = {0};
    s_setup ();
    s_open_inboxes ();
    s_handover = zpeer_handover_new (s_view, &log, s_post, s_inboxes);
    s_walker = zpeer_walker_new (s_view, s_handover, s_post, s_inboxes);
    for (unsigned i = 0; i < INBOXES; i++) {
        zpeer_handover_add (s_handover, i);
        zpeer_view_add_lane (s_view, i);
    }
}

static inline void
s_end (void)
{
    zpeer_walker_destroy (&s_walker);
    cr_assert_null (s_walker);
    zpeer_handover_destroy (&s_handover);
    s_close_inboxes ();
    s_teardown ();
}

static inline void
s_ask (unsigned lane, zpeer_walk_kind_t kind)
{
    cr_assert_eq (zpeer_walker_ask (s_walker, lane, kind), ZPEER_OK);
}

static inline void
s_turn (void)
{
    zpeer_walker_turn (s_walker, s_now);
}

//  The lane is done with the walk under way
static inline void
s_walked (unsigned lane)
{
    zpeer_walker_stats_t stats;
    zpeer_walker_stats (s_walker, &stats);
    zpeer_walker_walked (s_walker, lane, stats.begun);
}

//  The next ms, and its turn
static inline void
s_tick (void)
{
    s_now += ZPEER_WALKER_PACE_MS;
    s_turn ();
}

//  Registers so many instances, 0 and up
static inline void
s_fill (unsigned count)
{
    char id[16];
    for (unsigned i = 0; i < count; i++) {
        snprintf (id, sizeof id, "%u", i);
        s_register (id, 7, ZPEER_UP);
    }
}

//  The first chunk in the inbox
static inline void
s_expect_chunk (unsigned lane, zpeer_walk_kind_t kind, uint32_t count,
                bool first, bool last)
{
    const zpeer_chunk_t *chunk = s_first (lane);
    cr_assert (chunk);
    cr_assert_eq (chunk->walk, kind);
    cr_assert_eq (chunk->count, count, "%u", chunk->count);
    cr_assert_eq (chunk->first, first);
    cr_assert_eq (chunk->last, last);
}

#endif
