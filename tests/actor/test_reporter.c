#include <criterion/criterion.h>
#include <zpeer/reporter.h>
#include "command.h"
#include "report.h"
#include "socket.h"
#include "banned.h"

#define WAIT_MS 5000

static zactor_t *s_reporter;
static char s_inbox[ZPEER_ENDPOINT_MAX];
static char s_pub[ZPEER_COMMAND_ANSWER_MAX];
static zpeer_report_t s_to_reporter;

#define CALL(answer, ...)                                                      \
    zpeer_command_call (s_reporter, WAIT_MS, answer, __VA_ARGS__, NULL)

static void
s_setup (void)
{
    zpeer_socket_unique (s_inbox, "reports");
    s_reporter = zpeer_command_actor (zpeer_reporter, NULL);
    cr_assert (s_reporter);
}

static void
s_teardown (void)
{
    zpeer_report_close (&s_to_reporter);
    zactor_destroy (&s_reporter);
}

static void
s_start (void)
{
    cr_assert_eq (CALL (NULL, "INBOX", s_inbox), ZPEER_OK);
    cr_assert_eq (CALL (s_pub, "PUB", "tcp://127.0.0.1:*"), ZPEER_OK);
    cr_assert_eq (CALL (NULL, "START"), ZPEER_OK);
    cr_assert_eq (zpeer_report_connect (&s_to_reporter, s_inbox), ZPEER_OK);
}

static void
s_report (zpeer_topic_t topic, const char *text)
{
    zpeer_buffer_slice (zpeer_report_map (&s_to_reporter),
                        zpeer_slice_str (text));
    zpeer_report_send (&s_to_reporter, topic);
}

//  A subscriber that has been heard: what is reported from now on reaches it
static zsock_t *
s_subscriber (const char *prefix)
{
    zsock_t *sub = zpeer_socket_new (ZPEER_ROLE_SUB, 1000, -1);
    zpeer_socket_subscribe (sub, prefix);
    cr_assert_eq (zpeer_socket_connect (sub, s_pub), ZPEER_OK);
    int64_t deadline = zclock_mono () + WAIT_MS;
    int rc = ZPEER_E_TIMEOUT;
    while (rc == ZPEER_E_TIMEOUT && zclock_mono () < deadline) {
        s_report (ZPEER_TOPIC_STATS, "hello");
        s_report (ZPEER_TOPIC_PEER, "hello");
        rc = zpeer_socket_wait (sub, ZMQ_POLLIN, 10);
    }
    cr_assert_eq (rc, ZPEER_OK);
    return sub;
}

//  The next outcome that is not a hello
static void
s_expect (zsock_t *sub, const char *topic, const char *map)
{
    zpeer_frames_t in = {0};
    do {
        cr_assert_eq (zpeer_socket_wait (sub, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
        cr_assert_eq (zpeer_socket_recv (sub, &in), ZPEER_OK);
    } while (zpeer_slice_eq (zpeer_frames_at (&in, 1), ZPEER_SLICE ("hello")));
    cr_expect_eq (in.count, 2);
    zpeer_slice_t head = zpeer_frames_at (&in, 0);
    zpeer_slice_t body = zpeer_frames_at (&in, 1);
    cr_expect (zpeer_slice_eq (head, zpeer_slice_str (topic)), "%.*s",
               (int) head.size, head.data);
    cr_expect (zpeer_slice_eq (body, zpeer_slice_str (map)), "%.*s",
               (int) body.size, body.data);
    zpeer_frames_close (&in);
}

TestSuite (reporter, .init = s_setup, .fini = s_teardown);

Test (reporter, outcomes_go_out_as_they_came_and_in_order)
{
    s_start ();
    zsock_t *sub = s_subscriber ("");
    s_report (ZPEER_TOPIC_CONFLICT, "one");
    s_report (ZPEER_TOPIC_NEED_REGISTER, "two");
    s_expect (sub, "conflict", "one");
    s_expect (sub, "need-register", "two");
    zsock_destroy (&sub);
}

Test (reporter, a_subscriber_gets_the_topics_it_asked_for)
{
    s_start ();
    zsock_t *sub = s_subscriber ("peer");
    s_report (ZPEER_TOPIC_CONFLICT, "one");
    s_report (ZPEER_TOPIC_PEER, "two");
    s_expect (sub, "peer", "two");
    zsock_destroy (&sub);
}

Test (reporter, what_is_no_outcome_is_not_relayed)
{
    s_start ();
    zsock_t *sub = s_subscriber ("");
    zpeer_slice_t frames[] = {ZPEER_SLICE ("peer"), ZPEER_SLICE ("a"),
                              ZPEER_SLICE ("b")};
    cr_assert_eq (zpeer_socket_send (s_to_reporter.socket, frames, 1),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (s_to_reporter.socket, frames, 3),
                  ZPEER_OK);
    s_report (ZPEER_TOPIC_PEER, "good");
    s_expect (sub, "peer", "good");
    zsock_destroy (&sub);
}

Test (reporter, drain_answers_when_everything_is_relayed)
{
    s_start ();
    zsock_t *sub = s_subscriber ("");
    for (int i = 0; i < 1000; i++)
        s_report (ZPEER_TOPIC_CONFLICT, "x");
    s_report (ZPEER_TOPIC_PEER, "last");
    cr_expect_eq (CALL (NULL, "DRAIN"), ZPEER_OK);
    zactor_destroy (&s_reporter);
    for (int i = 0; i < 1000; i++)
        s_expect (sub, "conflict", "x");
    s_expect (sub, "peer", "last");
    zsock_destroy (&sub);
}

Test (reporter, start_needs_both_sockets)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (NULL, "DRAIN"), ZPEER_E_STATE);
    cr_expect_eq (CALL (NULL, "START"), ZPEER_E_STATE);
    cr_expect_eq (CALL (NULL, "INBOX", s_inbox), ZPEER_OK);
    cr_expect_eq (CALL (answer, "START"), ZPEER_E_STATE);
    cr_expect_str_eq (answer, "START needs INBOX and PUB first");
    cr_expect_eq (CALL (NULL, "PUB", "tcp://127.0.0.1:*"), ZPEER_OK);
    cr_expect_eq (CALL (NULL, "START"), ZPEER_OK);
}

Test (reporter, an_endpoint_that_cannot_be_bound_is_an_error_with_its_reason)
{
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    cr_expect_eq (CALL (answer, "PUB", "nonsense"), ZPEER_E_BIND);
    cr_expect_str_eq (answer, "nonsense: Invalid argument");
    cr_expect_eq (CALL (answer, "PUB", "tcp://127.0.0.1:*"), ZPEER_OK);
    cr_expect_eq (CALL (s_pub, "PUB", answer), ZPEER_E_BIND);
    cr_expect (strstr (s_pub, "Address already in use"));
    cr_expect_eq (CALL (NULL, "PUB", "inproc://second"), ZPEER_OK);
}

Test (reporter, a_sender_counts_what_a_full_inbox_refuses)
{
    zsock_t *inbox = zpeer_socket_new (ZPEER_ROLE_PULL, 10, -1);
    cr_assert_eq (zpeer_socket_bind (inbox, s_inbox, NULL, NULL), ZPEER_OK);
    s_report (ZPEER_TOPIC_PEER, "not connected");
    cr_expect_eq (s_to_reporter.lost, 0);

    cr_assert_eq (zpeer_report_connect (&s_to_reporter, s_inbox), ZPEER_OK);
    int sent = 0;
    while (sent < 100000 && !s_to_reporter.lost) {
        s_report (ZPEER_TOPIC_PEER, "x");
        sent++;
    }
    cr_expect (sent > 10 && sent < 100000);
    s_report (ZPEER_TOPIC_PEER, "x");
    cr_expect_eq (s_to_reporter.lost, 2);
    zsock_destroy (&inbox);
}
