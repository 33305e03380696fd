/*  test_acceptor.c - what feeders send, what they are answered, what is counted
*/
#include <criterion/criterion.h>
#include <zpeer/acceptor.h>
#include <zpeer/feed.h>
#include "command.h"
#include "gate.h"
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

//  Sends the frame; it must be answered with one rejection for this reason
static void
s_rejected (const char *reason)
{
    char expected[512];
    snprintf (expected, sizeof expected,
              "{\"accepted\":0,\"rejectedCount\":1,"
              "\"rejected\":[{\"index\":0,\"error\":\"%s\"}]}",
              reason);
    gate_send (s_feeder);
    gate_is (gate_reply (s_feeder), expected);
}

TestSuite (acceptor, .init = s_setup, .fini = gate_end);

Test (acceptor, a_bad_event_does_not_harm_its_neighbours)
{
    static const char *const registers[] = {"Register CART/1 UP",
                                            "Register #0"};
    for (int i = 0; i < 2; i++) {
        gate_register ("cart", "1", 7);
        gate_event (ZPEER_HEARTBEAT, "cart", "", 7);
        gate_event (ZPEER_HEARTBEAT, "cart", "1", 7);
        gate_send (s_feeder);
        gate_is (gate_reply (s_feeder),
                 "{\"accepted\":2,\"rejectedCount\":1,\"rejected\":"
                 "[{\"index\":1,\"error\":\"id is missing\"}]}");
        gate_is (gate_change (s_lane), registers[i]);
        gate_is (gate_change (s_lane), "Heartbeat #0");
    }
}

Test (acceptor, bytes_that_are_not_msgpack_end_the_frame)
{
    gate_register ("CART", "1", 7);
    gate_raw ("\xc1", 1);
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_send (s_feeder);
    const char *reply = gate_reply (s_feeder);
    cr_assert (strstr (reply, "{\"accepted\":1,\"rejectedCount\":1,"), "%s",
               reply);
    gate_is (gate_change (s_lane), "Register CART/1 UP");
    cr_assert (gate_lane_idle (s_lane));
}

Test (acceptor, an_empty_frame_is_rejected)
{
    s_rejected ("the frame is empty");
}

Test (acceptor, a_request_of_several_frames_is_rejected)
{
    zpeer_slice_t frames[] = {ZPEER_SLICE ("a"), ZPEER_SLICE ("b")};
    cr_assert_eq (zpeer_socket_send (s_feeder, frames, 2), ZPEER_OK);
    const char *reply = gate_reply (s_feeder);
    cr_assert (strstr (reply, "a request is one frame"), "%s", reply);
    cr_assert_not (gate_replies (s_feeder, 0));
}

Test (acceptor, rejections_do_not_flood_the_log)
{
    for (int i = 0; i < 10; i++)
        s_rejected ("the frame is empty");
    gate_sync ();
    cr_assert_eq (gate_logged ("ZPR020"), 1);
}

Test (acceptor, requests_are_answered_once_and_in_order)
{
    enum { REQUESTS = 300 };
    for (unsigned i = 0; i < REQUESTS; i++) {
        for (unsigned n = 0; n <= i; n++)
            gate_event (ZPEER_FORGET, "CART", "1", 0);
        gate_send (s_feeder);
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        char start[32];
        snprintf (start, sizeof start, "{\"accepted\":%u,", i + 1);
        const char *reply = gate_reply (s_feeder);
        cr_assert_eq (strncmp (reply, start, strlen (start)), 0, "%s %s", start,
                      reply);
    }
    gate_sync ();
    cr_assert_not (gate_replies (s_feeder, 0));
}

Test (acceptor, a_req_client_works)
{
    zsock_t *client = zsock_new (ZMQ_REQ);
    cr_assert_eq (zsock_connect (client, "%s", gate_events), 0);
    gate_register ("CART", "1", 7);
    zmq_send (zsock_resolve (client), gate_frame.data, gate_frame.size, 0);
    //  Without the delimiter a REQ would not see the reply
    gate_is (gate_reply (client),
             "{\"accepted\":1,\"rejectedCount\":0,\"rejected\":[]}");
    zsock_destroy (&client);
}

Test (acceptor, no_endpoint_is_bound_after_start)
{
    gate_is (gate_call ("BIND", "inproc://late", NULL),
             "BIND is not possible after START");
}

Test (acceptor, lanes_are_numbers_below_64)
{
    gate_is (gate_call ("ADDLANE", "64", "inproc://nobody"),
             "'64' is not a number from 0 to 63");
    gate_is (gate_call ("ADDLANE", "0", "inproc://nobody"), "exists already");
    gate_is (gate_call ("DELLANE", "1", NULL), "no such name");
}

TestSuite (acceptor_limits, .fini = gate_end);

Test (acceptor_limits, a_frame_over_the_limit_is_one_rejection)
{
    s_begin ("zpeer.events.max-frame-bytes=1024");
    char bytes[1025] = {0};
    gate_raw (bytes, sizeof bytes);
    s_rejected ("the frame has 1025 bytes, zpeer.events.max-frame-bytes is "
                "1024");
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
}

Test (acceptor_limits, what_no_batch_could_hold_is_rejected)
{
    char id[513];
    memset (id, 'x', sizeof id);
    id[sizeof id - 1] = 0;
    s_begin ("zpeer.batch.max-bytes=1400");
    gate_register ("CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_register ("CART", id, 7);
    gate_send (s_feeder);
    const char *reply = gate_reply (s_feeder);
    cr_assert (strstr (reply, "{\"accepted\":0,\"rejectedCount\":1,"), "%s",
               reply);
    cr_assert (strstr (reply, "\"the Register may take "), "%s", reply);
    cr_assert (strstr (reply, " bytes of a batch, zpeer.batch.max-bytes is "
                              "1400\""),
               "%s", reply);
    gate_event (ZPEER_HEARTBEAT, "CART", id, 7);
    s_rejected ("the Heartbeat may take 1408 bytes of a batch, "
                "zpeer.batch.max-bytes is 1400");
    //  Nothing is sent of this one
    gate_event (ZPEER_FORGET, "CART", id, 0);
    gate_feed (s_feeder, 1);
    gate_is (gate_change (s_lane), "Register CART/1 UP");
    cr_assert (gate_lane_idle (s_lane));
}

Test (acceptor_limits, a_request_larger_than_a_chunk_is_read_whole)
{
    enum { EVENTS = 3 * ZPEER_CHUNK_MAX + 7 };
    char id[16];
    //  No tick wakes it in the middle of the request
    s_begin ("zpeer.stats.interval-ms=3600000");
    for (unsigned i = 0; i < EVENTS; i++) {
        snprintf (id, sizeof id, "%u", i);
        gate_register ("CART", id, 7);
    }
    gate_feed (s_feeder, EVENTS);
    for (unsigned i = 0; i < EVENTS; i++) {
        char change[32];
        snprintf (change, sizeof change, "Register CART/%u UP", i);
        gate_is (gate_change (s_lane), change);
    }
}

Test (acceptor_limits, what_was_sent_before_close_is_handled_first)
{
    enum { REQUESTS = 30, EVENTS = 100 };  //  More than one turn reads
    s_begin (NULL);
    for (unsigned i = 0; i < REQUESTS; i++) {
        for (unsigned n = 0; n < EVENTS; n++)
            gate_event (ZPEER_CANCEL, "CART", "1", i + 1);
        gate_send (s_feeder);
    }
    gate_is (gate_call ("CLOSE", "5000", NULL), "");
    for (unsigned i = 0; i < REQUESTS; i++)
        gate_is (gate_reply (s_feeder),
                 "{\"accepted\":100,\"rejectedCount\":0,\"rejected\":[]}");
    for (unsigned i = 0; i < REQUESTS * EVENTS; i++)
        cr_assert (gate_change (s_lane)[0]);
    //  Nobody listens any more
    zpeer_slice_t frame = ZPEER_SLICE ("late");
    zpeer_socket_send (s_feeder, &frame, 1);
    cr_assert (gate_lane_idle (s_lane));
    cr_assert_not (gate_replies (s_feeder, 0));
}

Test (acceptor_limits, a_second_close_is_answered_at_once)
{
    s_begin (NULL);
    gate_is (gate_call ("CLOSE", "5000", NULL), "");
    gate_is (gate_call ("CLOSE", "5000", NULL), "");
}

TestSuite (acceptor_figures, .fini = gate_end);

//  Waits until the figures have all of texts in them
static void
s_figures (const char *const *texts)
{
    int64_t deadline = zclock_mono () + GATE_WAIT_MS;
    const char *missing = "any";
    const char *json = "";
    while (missing && zclock_mono () < deadline) {
        json = gate_outcome ("stats");
        missing = NULL;
        for (unsigned i = 0; texts[i] && !missing; i++)
            missing = strstr (json, texts[i]) ? NULL : texts[i];
    }
    cr_assert_null (missing, "%s is not in %s", missing, json);
}

Test (acceptor_figures, everything_is_counted)
{
    s_begin ("zpeer.stats.interval-ms=10");
    gate_register ("CART", "1", 7);
    gate_register ("CART", "1", 6);
    gate_event (ZPEER_CANCEL, "CART", "2", 7);
    gate_event (ZPEER_HEARTBEAT, "CART", "3", 7);
    gate_event (ZPEER_HEARTBEAT, "CART", "", 7);
    gate_send (s_feeder);
    gate_reply (s_feeder);
    static const char *const texts[] = {
        "\"source\":\"acceptor\"", "\"requests\":1,",     "\"Register\":2,",
        "\"Cancel\":1,",           "\"Heartbeat\":1,",    "\"rejected\":1,",
        "\"outdated\":1,",         "\"instances\":1,",    "\"lanes\":1,",
        "\"chunks\":1,",           "\"need-register\":1", NULL};
    s_figures (texts);
}

Test (acceptor_figures, a_heartbeat_of_an_unknown_instance_needs_a_register)
{
    s_begin (NULL);
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_feed (s_feeder, 1);
    gate_is (gate_outcome ("need-register"),
             "{\"app\":\"CART\",\"id\":\"1\",\"lastDirtyTimestamp\":7}");
}

//  Of the two lines the second would come within 10 s of the first
Test (acceptor_figures, unknown_instances_are_counted_and_said_once_in_a_while)
{
    s_begin ("zpeer.stats.interval-ms=10");
    gate_event (ZPEER_HEARTBEAT, "CART", "1", 7);
    gate_event (ZPEER_HEARTBEAT, "CART", "2", 7);
    gate_feed (s_feeder, 2);
    static const char *const texts[] = {"\"unknown\":2,", NULL};
    s_figures (texts);
    cr_assert_eq (gate_logged ("ZPR023"), 1);
    gate_register ("CART", "1", 7);
    gate_register ("CART", "2", 7);
    gate_feed (s_feeder, 2);
    static const char *const known[] = {"\"unknown\":0,", NULL};
    s_figures (known);
}

Test (acceptor_figures, a_feeder_that_does_not_read_loses_replies_but_no_event)
{
    enum { REQUESTS = 5000 };
    s_begin ("zpeer.stats.interval-ms=10");
    zsock_t *deaf = gate_feeder_of (1);
    for (unsigned i = 0; i < REQUESTS; i++) {
        gate_event (ZPEER_FORGET, "CART", "1", 0);
        cr_assert_eq (zpeer_socket_wait (deaf, ZMQ_POLLOUT, GATE_WAIT_MS),
                      ZPEER_OK);
        gate_send (deaf);
    }
    //  1 waits at the feeder's end and 256 at ours
    static const char *const texts[] = {"\"Forget\":5000,",
                                        "\"replies-dropped\":4743,", NULL};
    s_figures (texts);
    gate_register ("CART", "2", 7);
    gate_feed (s_feeder, 1);
}

Test (acceptor_alone, feeders_may_use_any_of_several_endpoints)
{
    zactor_t *acceptor = zpeer_command_actor (zpeer_acceptor, NULL);
    char endpoints[2][ZPEER_COMMAND_ANSWER_MAX] = {"inproc://zpeer-test-alone",
                                                   "tcp://127.0.0.1:*"};
    for (int i = 0; i < 2; i++)
        cr_assert_eq (zpeer_command_call (acceptor, GATE_WAIT_MS, endpoints[i],
                                          "BIND", endpoints[i], (char *) NULL),
                      ZPEER_OK);
    zpeer_command_call (acceptor, GATE_WAIT_MS, NULL, "START", (char *) NULL);
    zpeer_event_t *event = zpeer_event_new (ZPEER_FORGET);
    zpeer_event_set_app (event, "CART");
    zpeer_event_set_id (event, "1");
    for (int i = 0; i < 2; i++) {
        zpeer_feed_t *feed = zpeer_feed_new (endpoints[i], 0);
        zpeer_reply_t reply;
        cr_assert_eq (zpeer_feed_send (feed, event, GATE_WAIT_MS, NULL),
                      ZPEER_OK);
        cr_assert_eq (zpeer_feed_recv (feed, &reply, GATE_WAIT_MS), ZPEER_OK);
        cr_assert_eq (reply.accepted, 1);
        zpeer_feed_destroy (&feed);
    }
    zpeer_event_destroy (&event);
    zactor_destroy (&acceptor);
}
