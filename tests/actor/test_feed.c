#include <criterion/criterion.h>
#include <zpeer/feed.h>
#include "reply.h"
#include "socket.h"
#include "banned.h"

#define WAIT_MS 5000
#define HWM     1000
#define MARK    1718271499871u

//  An engine that answers when it is told to
static zsock_t *s_engine;
static char s_endpoint[ZPEER_ENDPOINT_MAX];
static zpeer_feed_t *s_feed;

static void
s_start_engine (const char *endpoint)
{
    s_engine = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    int64_t deadline = zclock_mono () + WAIT_MS;
    char wanted[ZPEER_ENDPOINT_MAX];
    snprintf (wanted, sizeof wanted, "%s", endpoint);
    //  The port of an engine that has just gone may still be taken
    int rc;
    do
        rc = zpeer_socket_bind (s_engine, wanted, s_endpoint, NULL);
    while (rc && zclock_mono () < deadline);
    cr_assert_eq (rc, ZPEER_OK);
}

static void
s_setup (void)
{
    s_start_engine ("tcp://127.0.0.1:*");
}

static void
s_teardown (void)
{
    zpeer_feed_destroy (&s_feed);
    zsock_destroy (&s_engine);
}

//  Receives one request, and answers with so many accepted; below 0: bytes that
//  are no reply. Returns whether the payload was as expected.
static bool
s_answer (const char *payload, int accepted)
{
    zpeer_frames_t in = {0};
    cr_assert_eq (zpeer_socket_wait (s_engine, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_recv (s_engine, &in), ZPEER_OK);
    cr_assert_eq (in.count, 2);
    bool good =
        zpeer_slice_eq (zpeer_frames_at (&in, 1), zpeer_slice_str (payload));
    static zpeer_reply_writer_t writer;
    zpeer_reply_begin (&writer);
    if (accepted == 0)
        zpeer_reply_reject (&writer, 7, "app is missing");
    if (*payload == '\x80')
        zpeer_reply_mark (&writer, MARK);
    zpeer_slice_t frames[] = {zpeer_frames_at (&in, 0),
                              zpeer_reply_end (&writer, (uint32_t) accepted)};
    if (accepted < 0)
        frames[1] = ZPEER_SLICE ("\xc1");
    cr_assert_eq (zpeer_socket_send (s_engine, frames, 2), ZPEER_OK);
    zpeer_frames_close (&in);
    return good;
}

static int
s_send (const char *payload, int timeout_ms, uint64_t *request)
{
    return zpeer_feed_send_frame (s_feed, payload, strlen (payload), timeout_ms,
                                  request);
}

TestSuite (feed, .init = s_setup, .fini = s_teardown);

Test (feed, the_engines_time_can_be_asked_for)
{
    zpeer_reply_t reply;
    uint64_t request = 0;
    s_feed = zpeer_feed_new (s_endpoint, 0);
    cr_assert_eq (zpeer_feed_ask (s_feed, WAIT_MS, &request), ZPEER_OK);
    cr_assert (s_answer ("\x80", 1));
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_assert_eq (reply.request, request);
    cr_assert_eq (reply.mark, MARK);
}

Test (feed, replies_belong_to_their_requests_in_order)
{
    s_feed = zpeer_feed_new (s_endpoint, 0);
    uint64_t one = 0, two = 0;
    cr_assert_eq (s_send ("first", WAIT_MS, &one), ZPEER_OK);
    cr_assert_eq (s_send ("second", WAIT_MS, &two), ZPEER_OK);
    cr_expect_eq (one, 1);
    cr_expect_eq (two, 2);
    cr_expect_eq (zpeer_feed_unanswered (s_feed), 2);
    cr_expect (s_answer ("first", 3));
    cr_expect (s_answer ("second", 0));

    zpeer_reply_t reply;
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.request, one);
    cr_expect_eq (reply.accepted, 3);
    cr_expect_eq (reply.rejected, 0);
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.request, two);
    cr_expect_eq (reply.rejected, 1);
    cr_assert_eq (reply.listed, 1);
    cr_expect_eq (reply.indexes[0], 7);
    cr_expect_str_eq (reply.reasons[0], "app is missing");
    cr_expect_eq (zpeer_feed_unanswered (s_feed), 0);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_AGAIN);
}

Test (feed, an_event_is_a_request_of_its_own)
{
    s_feed = zpeer_feed_new (s_endpoint, 0);
    zpeer_event_t *event = zpeer_event_new (ZPEER_HEARTBEAT);
    zpeer_event_set_app (event, "ORDERS");
    zpeer_event_set_id (event, "host:1");
    zpeer_event_set_timestamp (event, 42);
    cr_assert_eq (zpeer_feed_send (s_feed, event, WAIT_MS, NULL), ZPEER_OK);
    zpeer_event_destroy (&event);

    zpeer_frames_t in = {0};
    cr_assert_eq (zpeer_socket_wait (s_engine, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_recv (s_engine, &in), ZPEER_OK);
    zpeer_slice_t frame = zpeer_frames_at (&in, 1);
    size_t offset = 0;
    cr_assert_eq (
        zpeer_event_decode (frame.data, frame.size, &offset, &event, NULL, 0),
        ZPEER_OK);
    cr_expect_eq (offset, frame.size);
    cr_expect_str_eq (zpeer_event_id (event), "host:1");
    zpeer_event_destroy (&event);
    zpeer_frames_close (&in);
}

Test (feed, a_full_window_holds_sending_up_and_a_reply_opens_it)
{
    s_feed = zpeer_feed_new (s_endpoint, 2);
    cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
    cr_assert_eq (s_send ("2", WAIT_MS, NULL), ZPEER_OK);
    int64_t start = zclock_mono ();
    cr_expect_eq (s_send ("3", 30, NULL), ZPEER_E_TIMEOUT);
    cr_expect_geq (zclock_mono () - start, 29);
    cr_expect_eq (s_send ("3", 0, NULL), ZPEER_E_TIMEOUT);

    s_answer ("1", 10);
    cr_expect_eq (s_send ("3", WAIT_MS, NULL), ZPEER_OK);
    cr_expect_eq (zpeer_feed_unanswered (s_feed), 3);

    //  The reply that opened the window is not lost
    zpeer_reply_t reply;
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, 0), ZPEER_OK);
    cr_expect_eq (reply.request, 1);
    cr_expect_eq (reply.accepted, 10);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, 10), ZPEER_E_TIMEOUT);
}

Test (feed, nothing_waits_longer_than_allowed_for_an_engine_that_is_away)
{
    zsock_destroy (&s_engine);
    s_feed = zpeer_feed_new (s_endpoint, 0);
    cr_expect_eq (s_send ("x", 30, NULL), ZPEER_E_TIMEOUT);
    cr_expect_eq (zpeer_feed_unanswered (s_feed), 0);
    zpeer_reply_t reply;
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, -1), ZPEER_E_AGAIN);

    //  And once it is there, it works
    char endpoint[ZPEER_ENDPOINT_MAX];
    snprintf (endpoint, sizeof endpoint, "%s", s_endpoint);
    s_start_engine (endpoint);
    cr_expect_eq (s_send ("x", WAIT_MS, NULL), ZPEER_OK);
    cr_expect (s_answer ("x", 1));
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
}

Test (feed, what_is_unanswered_when_the_engine_goes_is_reported_as_lost)
{
    s_feed = zpeer_feed_new (s_endpoint, 2);
    cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
    cr_assert_eq (s_send ("2", WAIT_MS, NULL), ZPEER_OK);
    s_answer ("1", 1);
    zpeer_reply_t reply;
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    zsock_destroy (&s_engine);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_IO);
    cr_expect_eq (reply.request, 2);
    cr_expect_eq (reply.accepted, 0);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_AGAIN);

    //  The next engine's replies belong to what it was asked
    char endpoint[ZPEER_ENDPOINT_MAX];
    snprintf (endpoint, sizeof endpoint, "%s", s_endpoint);
    s_start_engine (endpoint);
    uint64_t request = 0;
    cr_assert_eq (s_send ("3", WAIT_MS, &request), ZPEER_OK);
    cr_expect_eq (request, 3);
    cr_expect (s_answer ("3", 5));
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.request, 3);
    cr_expect_eq (reply.accepted, 5);
}

Test (feed, a_full_window_opens_when_the_engine_goes)
{
    s_feed = zpeer_feed_new (s_endpoint, 1);
    cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
    cr_expect_eq (s_send ("2", 0, NULL), ZPEER_E_TIMEOUT);
    char endpoint[ZPEER_ENDPOINT_MAX];
    snprintf (endpoint, sizeof endpoint, "%s", s_endpoint);
    zsock_destroy (&s_engine);
    s_start_engine (endpoint);
    cr_expect_eq (s_send ("2", WAIT_MS, NULL), ZPEER_OK);
    cr_expect (s_answer ("2", 2));
    zpeer_reply_t reply;
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_IO);
    cr_expect_eq (reply.request, 1);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.request, 2);
}

Test (feed, over_inproc_an_engine_may_come_late_go_and_come_again)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "feed");
    zsock_destroy (&s_engine);
    s_feed = zpeer_feed_new (endpoint, 0);
    zpeer_reply_t reply;
    uint64_t request = 0;
    for (int round = 0; round < 3; round++) {
        cr_assert_eq (s_send ("x", WAIT_MS, &request), ZPEER_OK);
        s_start_engine (endpoint);
        cr_expect (s_answer ("x", 1));
        cr_assert_eq (s_send ("y", WAIT_MS, NULL), ZPEER_OK);
        cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
        cr_expect_eq (reply.request, request);
        zsock_destroy (&s_engine);
        cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_IO);
        cr_expect_eq (reply.request, request + 1);
    }
}

Test (feed, over_inproc_a_full_window_is_no_lost_connection)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "feed");
    zsock_destroy (&s_engine);
    s_feed = zpeer_feed_new (endpoint, 2);
    zpeer_reply_t reply;
    cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
    cr_assert_eq (s_send ("2", WAIT_MS, NULL), ZPEER_OK);
    cr_expect_eq (s_send ("3", 0, NULL), ZPEER_E_TIMEOUT);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, 0), ZPEER_E_TIMEOUT);
    s_start_engine (endpoint);
    cr_expect (s_answer ("1", 1));
    cr_expect (s_answer ("2", 1));
    for (unsigned i = 1; i <= 2; i++) {
        cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
        cr_expect_eq (reply.request, i);
    }
}

//  Over inproc libzmq tells a sender late what was read
Test (feed, over_inproc_a_window_larger_than_the_engines_is_no_loss_either)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    const unsigned window = 3 * HWM;
    zpeer_socket_unique (endpoint, "feed");
    zsock_destroy (&s_engine);
    s_start_engine (endpoint);
    s_feed = zpeer_feed_new (endpoint, window);
    zpeer_reply_t reply;
    unsigned answered = 0;
    for (unsigned i = 0; i < 5 * window; i++) {
        cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
        if (zpeer_feed_unanswered (s_feed) < window)
            continue;
        s_answer ("1", 1);
        cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
        cr_assert_eq (reply.request, ++answered);
    }
    cr_expect_gt (answered, window);
}

Test (feed, a_reply_that_makes_no_sense_is_an_error_of_its_request)
{
    s_feed = zpeer_feed_new (s_endpoint, 0);
    cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
    cr_assert_eq (s_send ("2", WAIT_MS, NULL), ZPEER_OK);
    s_answer ("1", -1);
    s_answer ("2", 2);
    zpeer_reply_t reply;
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_PARSE);
    cr_expect_eq (reply.request, 1);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.request, 2);
}

Test (feed, a_reply_nobody_asked_for_is_passed_over)
{
    //  Over inproc what was sent is there
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "feed");
    zsock_destroy (&s_engine);
    s_start_engine (endpoint);
    s_feed = zpeer_feed_new (endpoint, 0);
    cr_assert_eq (s_send ("1", WAIT_MS, NULL), ZPEER_OK);
    zpeer_frames_t in = {0};
    cr_assert_eq (zpeer_socket_wait (s_engine, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_recv (s_engine, &in), ZPEER_OK);
    zpeer_slice_t frames[] = {zpeer_frames_at (&in, 0), ZPEER_SLICE ("\xc1")};
    for (int i = 0; i < 3; i++)
        cr_assert_eq (zpeer_socket_send (s_engine, frames, 2), ZPEER_OK);
    zpeer_frames_close (&in);
    zpeer_reply_t reply;
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_E_PARSE);

    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, 0), ZPEER_E_AGAIN);
    cr_assert_eq (s_send ("2", WAIT_MS, NULL), ZPEER_OK);
    s_answer ("2", 2);
    cr_expect_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.accepted, 2);
}

Test (feed, a_request_beyond_the_limit_is_refused)
{
    s_feed = zpeer_feed_new (s_endpoint, 0);
    static char large[ZPEER_FEED_REQUEST_MAX + 1];
    cr_expect_eq (
        zpeer_feed_send_frame (s_feed, large, sizeof large, WAIT_MS, NULL),
        ZPEER_E_TOO_LARGE);
    zpeer_feed_set_max_bytes (s_feed, sizeof large);
    cr_expect_eq (
        zpeer_feed_send_frame (s_feed, large, sizeof large, WAIT_MS, NULL),
        ZPEER_OK);
}

Test (feed, replies_nobody_asks_for_do_not_pile_up)
{
    s_feed = zpeer_feed_new (s_endpoint, 1);
    const unsigned more = 10;
    for (unsigned i = 0; i < ZPEER_FEED_KEPT_MAX + 1 + more; i++) {
        cr_assert_eq (s_send ("x", WAIT_MS, NULL), ZPEER_OK);
        s_answer ("x", 1);
    }
    zpeer_reply_t reply;
    cr_expect_eq (s_send ("x", WAIT_MS, NULL), ZPEER_OK);
    cr_expect_eq (zpeer_feed_unanswered (s_feed), ZPEER_FEED_KEPT_MAX + 2);
    cr_assert_eq (zpeer_feed_recv (s_feed, &reply, WAIT_MS), ZPEER_OK);
    cr_expect_eq (reply.request, more + 1);
}

Test (feed, what_is_no_endpoint_makes_no_feed)
{
    char longer[2 * ZPEER_ENDPOINT_MAX];
    memset (longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    cr_expect_null (zpeer_feed_new ("nonsense", 0));
    cr_expect_null (zpeer_feed_new (longer, 0));
}
