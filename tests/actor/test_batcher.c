//  The batcher between a fake acceptor and a fake dispatcher
#include <criterion/criterion.h>
#include <zpeer/batcher.h>
#include "batcher_fixture.h"
#include "lane.h"
#include "banned.h"

TestSuite (batcher, .init = fixture_setup, .fini = fixture_teardown,
           .timeout = 60);

Test (batcher, sends_nothing_without_credit_and_a_batch_with_it)
{
    fixture_start (false);
    fixture_tell (ZPEER_REGISTER, 3, 0);
    cr_expect_not (fixture_receive (fixture.dispatcher, 50));
    fixture_ready (6, false);
    zpeer_wire_batch_t batch = fixture_batch ();
    cr_expect_eq (batch.items, 3);
    cr_expect_eq (batch.mode, ZPEER_MODE_BATCH);
    zpeer_slice_t body = zpeer_frames_at (&fixture.frames, 2);
    cr_expect (memmem (body.data, body.size, "{\"replicationList\":[{", 21) ==
               body.data);
    cr_expect_eq (body.data[body.size - 2], ']');
}

Test (batcher, a_full_batch_goes_at_once)
{
    fixture_set ("zpeer.batch.linger-ms", "60000");
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, ZPEER_LANE_FIRST_ITEMS + 1, 0);
    cr_expect_eq (fixture_batch ().items, ZPEER_LANE_FIRST_ITEMS);
    cr_expect_not (fixture_receive (fixture.dispatcher, 50), "the rest waits");
}

Test (batcher, without_batching_every_instance_is_a_request_of_its_own)
{
    fixture_set ("zpeer.batch.enabled", "false");
    fixture_start (false);
    fixture_ready (2, false);
    fixture_tell (ZPEER_REGISTER, 4, 0);
    zpeer_wire_batch_t first = fixture_batch ();
    cr_expect_eq (first.mode, ZPEER_MODE_SINGLE);
    cr_expect_eq (first.items, 1);
    fixture_done ((zpeer_result_t){.id = first.id});
    cr_expect_eq (fixture_batch ().items, 1);
    cr_expect_eq (fixture_batch ().items, 1);
    cr_expect_not (fixture_receive (fixture.dispatcher, 50),
                   "no more than the credit");
}

Test (batcher, an_asg_update_goes_alone_beside_the_others)
{
    fixture_start (false);
    fixture_ready (6, false);
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    fixture_add_asg (chunk);
    fixture_send (chunk);
    cr_expect_eq (fixture_batch ().mode, ZPEER_MODE_SINGLE);
    zpeer_slice_t body = zpeer_frames_at (&fixture.frames, 2);
    cr_expect_not_null (
        memmem (body.data, body.size, "asg/asg-1/status?value=DISABLED", 31));
}

Test (batcher, what_congestion_brought_back_goes_again)
{
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 2, 0);
    uint64_t first = fixture_batch ().id;
    fixture_done ((zpeer_result_t){.id = first,
                                   .end = ZPEER_END_BUSY,
                                   .verdict = ZPEER_CONGESTION,
                                   .status = 503});
    fixture_expect_outcome ("peer", "congested");
    zpeer_slice_t map = zpeer_frames_at (&fixture.frames, 1);
    cr_expect_not_null (memmem (map.data, map.size, "no?text ?[2J", 12));
    zpeer_wire_batch_t again = fixture_batch ();
    cr_expect_neq (again.id, first, "ids are never used again");
    cr_expect_eq (again.items, 2);
}

Test (batcher, a_done_nobody_knows_is_ignored)
{
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = fixture_batch ().id;
    fixture_done ((zpeer_result_t){.id = id + 77});
    fixture_done ((zpeer_result_t){.id = id});
    fixture_expect_outcome ("peer", "healthy");
}

Test (batcher, too_few_codes_are_not_believed)
{
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 3, 0);
    uint8_t fields[ZPEER_WIRE_MAX];
    zpeer_result_t result = {.id = fixture_batch ().id};
    size_t size = zpeer_wire_put_done (fields, &result);
    uint8_t codes[2] = {0, 200};
    zpeer_slice_t frames[] = {ZPEER_SLICE ("DONE"),
                              {(const char *) fields, size},
                              {(const char *) codes, sizeof codes}};
    zpeer_socket_send (fixture.dispatcher, frames, 3);
    cr_expect_eq (fixture_batch ().items, 3, "it goes again");
}

Test (batcher, a_remote_dispatcher_gets_ack_and_heartbeat)
{
    fixture_start (true);
    fixture_ready (6, true);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = fixture_batch ().id, got = 0, sent = 0;
    fixture_done ((zpeer_result_t){.id = id});
    cr_assert (fixture_receive (fixture.dispatcher, LIMIT_MS));
    cr_expect (zpeer_slice_eq (zpeer_frames_at (&fixture.frames, 0),
                               ZPEER_SLICE ("ACK")));
    zpeer_buffer_t held = {0};
    zpeer_wire_beat_t beat = {6, 0, 5000};
    zpeer_wire_put_held (&held, &beat, NULL, 0);
    fixture_say ("HEARTBEAT", held.data, held.size);
    zpeer_buffer_free (&held);
    cr_assert (fixture_receive (fixture.dispatcher, LIMIT_MS));
    cr_expect (zpeer_slice_eq (zpeer_frames_at (&fixture.frames, 0),
                               ZPEER_SLICE ("HEARTBEAT")));
    zpeer_slice_t last = zpeer_frames_at (&fixture.frames, 1);
    cr_assert_eq (zpeer_wire_get_last (last.data, last.size, &got, &sent),
                  ZPEER_OK);
    cr_expect_eq (got, id);
    cr_expect_eq (sent, 5000, "of the HEARTBEAT that it answers");
}

Test (batcher, what_a_dispatcher_lost_is_sent_again)
{
    fixture_start (true);
    fixture_ready (6, true);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = fixture_batch ().id;
    zpeer_buffer_t held = {0};
    zpeer_wire_beat_t beat = {6, id, 5000};
    zpeer_wire_put_held (&held, &beat, NULL, 0);
    fixture_say ("HEARTBEAT", held.data, held.size);
    zpeer_buffer_free (&held);
    cr_assert (fixture_receive (fixture.dispatcher, LIMIT_MS));  //  HEARTBEAT
    cr_expect_neq (fixture_batch ().id, id);
}

Test (batcher, goodbye_brings_batches_back_for_another_dispatcher)
{
    fixture_start (true);
    fixture_ready (6, true);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    uint64_t id = fixture_batch ().id;
    fixture_say ("GOODBYE", NULL, 0);
    fixture_ready (6, true);
    cr_expect_neq (fixture_batch ().id, id);
}

//  The next batch fails, and the counter stands at its maximum
static void
s_reach_maximum (void)
{
    fixture_done ((zpeer_result_t){.id = fixture_batch ().id,
                                   .end = ZPEER_END_UNSENT,
                                   .verdict = ZPEER_TRANSIENT_ERROR,
                                   .reached = true});
}

//  When the pause ends, one batch comes, and another only when that has ended
static void
s_expect_one_probe (void)
{
    fixture_call ("RETRY-NOW", NULL, NULL);
    uint64_t id = fixture_batch ().id;
    fixture_call ("RETRY-NOW", NULL, NULL);
    cr_expect_not (fixture_receive (fixture.dispatcher, 100));
    fixture_done ((zpeer_result_t){.id = id});
    fixture_done ((zpeer_result_t){.id = fixture_batch ().id});
}

//  Whichever lane it comes from
Test (batcher, a_peer_at_its_maximum_gets_one_probe)
{
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 1, 0);
    s_reach_maximum ();
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    fixture_add (chunk, ZPEER_REGISTER, 1, 1, 0);
    fixture_add_asg (chunk);
    fixture_send (chunk);
    s_expect_one_probe ();
}

//  Though the lane of the others has had no failure of its own
Test (batcher, nor_is_there_more_than_one_probe_of_the_other_lane)
{
    fixture_set ("zpeer.batch.max-items", "1");
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 3, 0);
    for (int i = 0; i < 3; i++)
        fixture_done ((zpeer_result_t){.id = fixture_batch ().id});
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    fixture_add_asg (chunk);
    fixture_send (chunk);
    s_reach_maximum ();
    fixture_tell (ZPEER_REGISTER, 3, 0);
    s_expect_one_probe ();
}

Test (batcher, drain_sends_at_once_and_answers_when_all_is_delivered)
{
    fixture_set ("zpeer.batch.linger-ms", "60000");
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 2, 0);
    zpeer_command_send (fixture.batcher, "DRAIN", "5000", "shutdown", NULL);
    uint64_t id = fixture_batch ().id;
    fixture_done ((zpeer_result_t){.id = id});
    cr_assert_eq (
        zpeer_command_await (fixture.batcher, LIMIT_MS, fixture.answer),
        ZPEER_OK);
    cr_expect_str_eq (fixture.answer, "0 0");
}

Test (batcher, drain_gives_up_in_time_and_says_what_is_left)
{
    fixture_start (false);
    fixture_ready (6, false);
    fixture_tell (ZPEER_REGISTER, 2, 0);
    fixture_batch ();
    fixture_call ("DRAIN", "50", "peer-removed");
    cr_expect_str_eq (fixture.answer, "2 1");
}

Test (batcher, start_needs_its_sockets)
{
    fixture.batcher = zactor_new (zpeer_batcher, NULL);
    cr_expect_eq (zpeer_command_call (fixture.batcher, LIMIT_MS, fixture.answer,
                                      "START", NULL),
                  ZPEER_E_STATE);
    cr_expect_not_null (strstr (fixture.answer, "PEER"));
}
