/*  test_zpeerd_control.c - what can be asked of zpeerd, with and without a socket
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <czmq.h>
#include "zpeerd_control.h"
#include "stage.h"
#include "banned.h"

//  Nobody listens there
#define URL "http://127.0.0.1:9/eureka/"

static zpeer_engine_t *s_engine;
static zpeerd_control_t *s_control;

static void
s_setup (void)
{
    s_engine = stage_engine (NULL);
    char error[ZPEERD_CONTROL_ERROR_MAX];
    s_control = zpeerd_control_open ("tcp://127.0.0.1:*", error);
    cr_assert (s_control, "%s", error);
}

static void
s_teardown (void)
{
    zpeerd_control_close (&s_control);
    zpeerd_control_close (&s_control);
    zpeer_engine_destroy (&s_engine);
}

static void
s_expect (const char *command, const char *url, const char *wanted)
{
    char *answer = zpeerd_control_run (s_engine, command, url);
    cr_assert_str_eq (answer, wanted);
    free (answer);
}

TestSuite (zpeerd_control, .init = s_setup, .fini = s_teardown);

Test (zpeerd_control, peers_come_and_go_by_their_base_urls)
{
    s_expect ("peers", NULL, "OK");
    s_expect ("add-peer", "http://u:secret@LOCALHOST:9/a",
              "OK http://localhost:9/a/");
    s_expect ("add-peer", URL, "OK " URL);
    s_expect ("peers", NULL, "OK http://localhost:9/a/\n" URL);
    s_expect ("remove-peer", "http://localhost:9/a/",
              "OK http://localhost:9/a/");
    s_expect ("peers", NULL, "OK " URL);
}

Test (zpeerd_control, what_the_engine_refuses_is_said_without_secrets)
{
    s_expect ("add-peer", "ftp://u:secret@host/",
              "ERROR URL \"***@host/\": it must begin with http:// or "
              "https://");
    s_expect ("add-peer", URL, "OK " URL);
    s_expect ("add-peer", "http://u:secret@127.0.0.1:9/eureka",
              "ERROR " URL " is a peer already");
    s_expect ("remove-peer", "http://u:secret@host/",
              "ERROR there is no peer http://host/");
    s_expect ("resync", "http://host/", "ERROR there is no peer http://host/");
    s_expect ("verify", "http://host/", "ERROR there is no peer http://host/");
    s_expect ("retry-now", "\033[2J",
              "ERROR URL \"\\x1b[2J\": blanks and letters beyond ASCII must be "
              "percent-encoded");
    s_expect ("peers", NULL, "OK " URL);
}

Test (zpeerd_control, all_means_every_peer_there_is)
{
    s_expect ("resync", "all", "ERROR there is no peer");
    s_expect ("retry-now", "all", "ERROR there is no peer");
    s_expect ("add-peer", URL, "OK " URL);
    s_expect ("add-peer", "http://host/", "OK http://host/");
    s_expect ("resync", "all", "OK " URL "\nhttp://host/");
    s_expect ("verify", "all", "OK " URL "\nhttp://host/");
    s_expect ("retry-now", "all", "OK " URL "\nhttp://host/");
    s_expect ("retry-now", "http://HOST", "OK http://host/");
}

Test (zpeerd_control, all_is_not_removed_and_not_added)
{
    s_expect ("add-peer", URL, "OK " URL);
    s_expect ("remove-peer", "all",
              "ERROR URL \"all\": it must begin with http:// or https://");
    s_expect ("peers", NULL, "OK " URL);
}

Test (zpeerd_control, a_wrong_command_is_answered_with_those_there_are)
{
    s_expect ("frobnicate", URL,
              "ERROR no such command; there are: peers add-peer remove-peer "
              "resync verify retry-now");
    s_expect ("", NULL,
              "ERROR no such command; there are: peers add-peer remove-peer "
              "resync verify retry-now");
}

Test (zpeerd_control, a_url_too_much_or_too_little_is_refused)
{
    s_expect ("peers", URL, "ERROR peers takes no URL");
    s_expect ("add-peer", NULL, "ERROR add-peer takes the URL of a peer");
    s_expect ("resync", NULL,
              "ERROR resync takes the URL of a peer, or \"all\"");
}

//  The socket -------------------------------------------------------------------

static zsock_t *
s_client (int type)
{
    zsock_t *client = zsock_new (type);
    zsock_set_linger (client, 0);
    zsock_set_rcvtimeo (client, STAGE_WAIT_MS);
    cr_assert_eq (
        zsock_connect (client, "%s", zpeerd_control_endpoint (s_control)), 0);
    return client;
}

//  Waits for a request and answers it
static void
s_serve (void)
{
    zmq_pollitem_t item = {.socket = zpeerd_control_handle (s_control),
                           .events = ZMQ_POLLIN};
    cr_assert_eq (zmq_poll (&item, 1, STAGE_WAIT_MS), 1, "no request came");
    zpeerd_control_serve (s_control, s_engine);
}

//  The last frame of the next answer
static void
s_expect_answer (zsock_t *client, const char *wanted)
{
    zmsg_t *message = zmsg_recv (client);
    cr_assert (message, "no answer came");
    zframe_t *frame = zmsg_last (message);
    cr_assert (zframe_streq (frame, wanted), "%.*s", (int) zframe_size (frame),
               (char *) zframe_data (frame));
    zmsg_destroy (&message);
}

//  Zpeerd goes on as before
static void
s_expect_service (void)
{
    zsock_t *client = s_client (ZMQ_REQ);
    zstr_send (client, "peers");
    s_serve ();
    s_expect_answer (client, "OK");
    zsock_destroy (&client);
}

Test (zpeerd_control, req_and_dealer_sockets_are_answered)
{
    zsock_t *client = s_client (ZMQ_REQ);
    zstr_sendx (client, "add-peer", URL, NULL);
    s_serve ();
    s_expect_answer (client, "OK " URL);
    zsock_destroy (&client);
    client = s_client (ZMQ_DEALER);
    zstr_send (client, "peers");
    s_serve ();
    s_expect_answer (client, "OK " URL);
    zstr_sendx (client, "", "peers", NULL);
    s_serve ();
    char *delimiter = zstr_recv (client);  //  And throws the answer away
    cr_assert_str_eq (delimiter, "");
    zstr_free (&delimiter);
    zsock_destroy (&client);
}

Test (zpeerd_control, bytes_that_are_no_request_are_refused)
{
#define SHAPE "ERROR a request is a command, and a URL in a frame of its own"
    zsock_t *client = s_client (ZMQ_DEALER);
    zstr_sendx (client, "a", "b", "c", "d", "e", "f", NULL);
    zstr_sendx (client, "a", "b", "c", NULL);
    zsock_send (client, "b", "pee\0rs", (size_t) 6);
    zsock_send (client, "sb", "add-peer", "http://host/\0", (size_t) 13);
    for (int i = 0; i < 4; i++)
        s_serve ();
    s_expect_answer (client, SHAPE);
    s_expect_answer (client, SHAPE);
    s_expect_answer (client, "ERROR a frame is text without NUL");
    s_expect_answer (client, "ERROR a frame is text without NUL");
    zstr_send (client, "");
    zsock_send (client, "b", "\xff\xfe\x80", (size_t) 3);
    s_serve ();
    s_serve ();
    zsock_destroy (&client);
    s_expect_service ();
}

Test (zpeerd_control, a_frame_beyond_the_limit_ends_its_connection_only)
{
    zsock_t *client = s_client (ZMQ_DEALER);
    char *much = (char *) calloc (1, ZPEERD_CONTROL_FRAME_MAX + 1);
    memset (much, 'a', ZPEERD_CONTROL_FRAME_MAX + 1);
    zsock_send (client, "b", much, (size_t) ZPEERD_CONTROL_FRAME_MAX + 1);
    s_expect_service ();
    *much = 0;
    zsock_send (client, "b", much, (size_t) ZPEERD_CONTROL_FRAME_MAX);
    s_serve ();
    s_expect_answer (client, "ERROR a frame is text without NUL");
    free (much);
    zsock_destroy (&client);
}

//  Waits until it has something to say
static void
s_look (char news[ZPEERD_CONTROL_NEWS_MAX])
{
    zmq_pollitem_t item = {.socket = zpeerd_control_doors (s_control),
                           .events = ZMQ_POLLIN};
    do {
        cr_assert_eq (zmq_poll (&item, 1, STAGE_WAIT_MS), 1, "nothing is said");
    } while (!zpeerd_control_look (s_control, news));
}

//  Of the second one only that it was held back, and when nothing follows, too
Test (zpeerd_control, a_frame_beyond_the_limit_is_told)
{
    char news[ZPEERD_CONTROL_NEWS_MAX];
    static char much[ZPEERD_CONTROL_FRAME_MAX + 1];
    cr_expect_eq (zpeerd_control_wake_ms (s_control), -1);
    zsock_t *client = s_client (ZMQ_DEALER);
    zsock_send (client, "b", much, sizeof much);
    s_look (news);
    cr_expect_not_null (strstr (news, "more than 4096 bytes to "), "%s", news);
    cr_expect_not_null (strstr (news, zpeerd_control_endpoint (s_control)));
    cr_expect_eq (zpeerd_control_wake_ms (s_control), -1);
    zmq_pollitem_t item = {.socket = zpeerd_control_doors (s_control),
                           .events = ZMQ_POLLIN};
    zsock_send (client, "b", much, sizeof much);
    while (zpeerd_control_wake_ms (s_control) < 0) {
        cr_assert_eq (zmq_poll (&item, 1, STAGE_WAIT_MS), 1);
        cr_assert_not (zpeerd_control_look (s_control, news));
    }
    cr_expect_leq (zpeerd_control_wake_ms (s_control), 10000);
    zsock_destroy (&client);
}

Test (zpeerd_control, a_client_that_goes_away_is_forgotten)
{
    zsock_t *client = s_client (ZMQ_REQ);
    zstr_send (client, "peers");
    zmq_pollitem_t item = {.socket = zpeerd_control_handle (s_control),
                           .events = ZMQ_POLLIN};
    cr_assert_eq (zmq_poll (&item, 1, STAGE_WAIT_MS), 1);
    zsock_destroy (&client);
    zpeerd_control_serve (s_control, s_engine);
    s_expect_service ();
}

//  Far more requests than are kept for one client, and their answers
Test (zpeerd_control, a_client_that_does_not_read_holds_up_nobody)
{
    zsock_t *client = s_client (ZMQ_DEALER);
    zsock_set_sndtimeo (client, STAGE_WAIT_MS);
    for (int i = 0; i < 2000; i++) {
        zstr_send (client, "peers");
        zpeerd_control_serve (s_control, s_engine);
    }
    zsock_t *other = s_client (ZMQ_REQ);
    zstr_send (other, "peers");
    zpoller_t *poller = zpoller_new (other, NULL);
    int64_t deadline = zclock_mono () + STAGE_WAIT_MS;
    while (!zpoller_wait (poller, 0) && zclock_mono () < deadline)
        zpeerd_control_serve (s_control, s_engine);
    s_expect_answer (other, "OK");
    zpoller_destroy (&poller);
    zsock_destroy (&other);
    zsock_destroy (&client);
}

Test (zpeerd_control, an_endpoint_that_cannot_be_is_said)
{
    char error[ZPEERD_CONTROL_ERROR_MAX];
    cr_assert_null (
        zpeerd_control_open (zpeerd_control_endpoint (s_control), error));
    cr_assert (strstr (error, "Address already in use"), "%s", error);
    cr_assert_null (zpeerd_control_open ("nonsense", error));
    cr_assert (strstr (error, "nonsense: "), "%s", error);
}
