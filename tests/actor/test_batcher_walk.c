//  What passes between batcher and acceptor beside the changes: walks of the view
//  and instances released; and the command that ends a pause

#include <criterion/criterion.h>
#include "batcher_fixture.h"
#include "banned.h"

TestSuite (batcher_walk, .init = fixture_setup, .fini = fixture_teardown,
           .timeout = 60);

//  Messages that fit between batcher and acceptor: HWM of batcher.c, and the one
//  that the acceptor's socket has room for
#define ROOM 1025

//  The newest walk
static uint64_t s_number;

//  A part of a walk: count instances from handle from
static void
s_walk (zpeer_walk_kind_t walk, bool first, uint32_t from, uint32_t count,
        bool last)
{
    unsigned flag =
        walk == ZPEER_WALK_VERIFY ? ZPEER_CHANGE_VERIFY : ZPEER_CHANGE_OWE;
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    s_number += first;
    chunk->number = s_number;
    chunk->walk = (uint8_t) walk;
    chunk->first = first;
    chunk->last = last;
    fixture_add (chunk, ZPEER_REGISTER, from, count, flag | ZPEER_CHANGE_WALK);
    fixture_send (chunk);
}

//  The next batch has so many items, and the peer takes them
static void
s_take (uint32_t items)
{
    zpeer_wire_batch_t batch = fixture_batch ();
    cr_expect_eq (batch.items, items, "%u items", batch.items);
    fixture_done ((zpeer_result_t){.id = batch.id});
}

//  Returns when the batcher has taken in what it was sent, and done with it: it
//  answers a command before it looks at anything else
static void
s_sync (void)
{
    fixture_call ("RETRY-NOW", NULL, NULL);
    fixture_call ("RETRY-NOW", NULL, NULL);
}

//  Reads what the batcher tells the acceptor until it is WALKED
static bool
s_walked (int timeout_ms)
{
    uint32_t lane = 0;
    uint64_t number = 0;
    while (fixture_receive (fixture.uplink, timeout_ms)) {
        zpeer_slice_t command = zpeer_frames_at (&fixture.frames, 0);
        zpeer_slice_t fields = zpeer_frames_at (&fixture.frames, 1);
        if (zpeer_wire_command (command.data, command.size) !=
            ZPEER_WIRE_WALKED)
            continue;
        cr_expect_eq (
            zpeer_wire_get_walked (fields.data, fields.size, &lane, &number),
            ZPEER_OK);
        return lane == 3 && number == s_number;
    }
    return false;
}

Test (batcher_walk, a_released_instance_is_told_to_the_acceptor)
{
    fixture_start (false);
    fixture_tell (ZPEER_REGISTER, 1, ZPEER_CHANGE_RELEASE);
    cr_assert (fixture_receive (fixture.uplink, LIMIT_MS));
    zpeer_slice_t fields = zpeer_frames_at (&fixture.frames, 1);
    size_t offset = 0;
    uint32_t lane = 0, handle = 9;
    uint64_t seq = 0;
    cr_assert_eq (zpeer_wire_get_released (fields.data, fields.size, &offset,
                                           &lane, &handle, &seq),
                  ZPEER_OK);
    cr_expect_eq (lane, 3);
    cr_expect_eq (handle, 0);
    cr_expect_eq (seq, fixture.seq);
}

Test (batcher_walk, is_told_then_reported_to_host_and_acceptor)
{
    fixture_start (false);
    fixture_ready (6, false);
    s_walk (ZPEER_WALK_RESYNC, true, 0, 0, false);
    fixture_expect_outcome ("resync", "begun");
    s_walk (ZPEER_WALK_RESYNC, false, 0, 3, true);
    s_take (3);  //  The question
    s_take (6);  //  The pairs
    fixture_expect_outcome ("resync", "ended");
    fixture_expect_outcome ("peer", "whole");
    cr_expect (s_walked (LIMIT_MS));
}

Test (batcher_walk, of_an_empty_view_needs_no_batch)
{
    fixture_start (false);
    s_walk (ZPEER_WALK_VERIFY, true, 0, 0, true);
    fixture_expect_outcome ("resync", "verify");
    fixture_expect_outcome ("resync", "ended");
    cr_expect (s_walked (LIMIT_MS));
}

Test (batcher_walk, that_verifies_only_asks)
{
    fixture_start (false);
    fixture_ready (6, false);
    s_walk (ZPEER_WALK_VERIFY, true, 0, 3, true);
    s_take (3);
    cr_expect (s_walked (LIMIT_MS));
    cr_expect_not (fixture_receive (fixture.dispatcher, 50));
}

Test (batcher_walk, does_not_end_before_its_last_chunk)
{
    fixture_start (false);
    fixture_ready (6, false);
    s_walk (ZPEER_WALK_VERIFY, true, 0, 3, false);
    s_take (3);
    cr_expect_not (s_walked (50));
    s_walk (ZPEER_WALK_VERIFY, false, 3, 0, true);
    cr_expect (s_walked (LIMIT_MS));
}

Test (batcher_walk, that_begins_anew_ends_once)
{
    fixture_start (false);
    fixture_ready (6, false);
    s_walk (ZPEER_WALK_RESYNC, true, 0, 3, false);
    s_walk (ZPEER_WALK_VERIFY, true, 0, 0, true);
    fixture_expect_outcome ("resync", "replaced");
    fixture_expect_outcome ("resync", "ended");
    cr_expect (s_walked (LIMIT_MS));
    cr_expect_not (s_walked (50));
    s_take (3);  //  What is owed stays owed
}

Test (batcher_walk, tells_asgs_through_their_own_lane)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    fixture_start (false);
    fixture_ready (6, false);
    chunk->walk = ZPEER_WALK_RESYNC;
    chunk->first = chunk->last = true;
    fixture_add_asg (chunk);
    fixture_send (chunk);
    cr_expect (s_walked (LIMIT_MS), "it is not counted");
    cr_expect_eq (fixture_batch ().mode, ZPEER_MODE_SINGLE);
}

//  The acceptor takes nothing more, and nothing but time wakes the batcher: no
//  figures, no credit
static void
s_start_full (void)
{
    fixture_set ("zpeer.stats.interval-ms", "60000");
    fixture_start (false);
    for (int i = 0; i < ROOM; i++) {
        fixture_tell (ZPEER_REGISTER, 1, ZPEER_CHANGE_RELEASE);
        s_sync ();
    }
}

Test (batcher_walk, end_is_repeated_while_the_acceptor_takes_nothing)
{
    s_start_full ();
    s_walk (ZPEER_WALK_RESYNC, true, 0, 0, true);
    s_sync ();
    cr_expect_not (fixture_receive (fixture.dispatcher, 50), "it rests");
    cr_expect (s_walked (LIMIT_MS));
}

Test (batcher_walk, end_is_not_told_when_another_has_begun)
{
    s_start_full ();
    s_walk (ZPEER_WALK_RESYNC, true, 0, 0, true);
    s_sync ();
    s_walk (ZPEER_WALK_RESYNC, true, 0, 1, false);
    s_sync ();
    cr_expect_not (s_walked (300));
}

Test (batcher_walk, what_was_released_is_repeated_too)
{
    s_start_full ();
    fixture_tell (ZPEER_REGISTER, 3, ZPEER_CHANGE_RELEASE);
    s_sync ();
    cr_expect_not (fixture_receive (fixture.dispatcher, 50), "it rests");
    size_t size = 0;
    while (size < 4 + 3 * 12 && fixture_receive (fixture.uplink, LIMIT_MS))
        size = zpeer_frames_at (&fixture.frames, 1).size;
    cr_expect_eq (size, 4 + 3 * 12);
}

Test (batcher_walk, is_no_end_when_the_lanes_are_closed)
{
    fixture_start (false);
    s_walk (ZPEER_WALK_RESYNC, true, 0, 3, true);
    fixture_expect_outcome ("resync", "begun");
    fixture_call ("DRAIN", "0", "peer-removed");
    s_sync ();
    cr_expect_not (s_walked (50));
}

Test (batcher_walk, retry_now_ends_a_pause)
{
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    fixture_done ((zpeer_result_t){.id = fixture_batch ().id,
                                   .end = ZPEER_END_BUSY,
                                   .verdict = ZPEER_CONGESTION,
                                   .retry_after_ms = 30000});
    fixture_expect_outcome ("peer", "congested");
    cr_expect_not (fixture_receive (fixture.dispatcher, 50));
    fixture_call ("RETRY-NOW", NULL, NULL);
    cr_expect_eq (fixture_batch ().items, 1);
}

Test (batcher_walk, retry_now_ends_the_pause_of_asgs_too)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    fixture_start (false);
    fixture_ready (6, false);
    fixture_add_asg (chunk);
    fixture_send (chunk);
    fixture_done ((zpeer_result_t){.id = fixture_batch ().id,
                                   .end = ZPEER_END_BUSY,
                                   .verdict = ZPEER_CONGESTION,
                                   .retry_after_ms = 20000});
    fixture_expect_outcome ("peer", "congested");
    cr_expect_not (fixture_receive (fixture.dispatcher, 50));
    fixture_call ("RETRY-NOW", NULL, NULL);
    cr_expect_eq (fixture_batch ().mode, ZPEER_MODE_SINGLE);
}
