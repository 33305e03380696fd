/*  test_http_repeat.c - a kept connection that is dead when it is used

    1. A kept connection looks alive when the next request takes it.
    2. The server closes it in this moment.
    3. The request goes out once more, at once, on a new connection.
*/
#include <criterion/criterion.h>
#include <stdlib.h>
#include "play.h"
#include "banned.h"

#define LARGE ((size_t) 24 * 1048576)

static zpeer_http_result_t s_result;

TestSuite (http_repeat, .fini = play_end);

//  A connection that has served a request, and is kept
static int
s_kept (void)
{
    play_post ("first");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.status, 200);
    cr_assert_not (s_result.repeated);
    return peer;
}

static void
s_ends (zpeer_end_t end, bool repeated)
{
    play_result (&s_result);
    cr_assert_eq (s_result.end, end, "%s: %s", zpeer_end_text (s_result.end),
                  s_result.detail);
    cr_assert_eq (s_result.repeated, repeated);
}

//  The request comes on a new connection, and is answered
static void
s_served (const char *line)
{
    int peer = play_accept ();
    const char *request = play_request (peer);
    cr_assert (strstr (request, line), "%s", request);
    play_send (peer, PLAY_OK);
    s_ends (ZPEER_END_STATUS, true);
    cr_assert_eq (s_result.status, 200);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
    cr_assert_eq (zpeer_http_in_flight (play_http), 0);
}

Test (http_repeat, a_batch_lost_on_a_kept_connection_goes_out_once_more)
{
    play_begin (NULL);
    int peer = s_kept ();
    play_post ("{\"a\":1}");
    play_request (peer);
    play_now += 999;
    play_close (peer);
    s_served ("\r\n\r\n{\"a\":1}");
}

Test (http_repeat, so_does_one_that_the_peer_resets)
{
    play_begin (NULL);
    int peer = s_kept ();
    play_post ("{\"a\":1}");
    play_request (peer);
    play_reset (peer);
    s_served ("\r\n\r\n{\"a\":1}");
}

Test (http_repeat, so_does_a_single_call)
{
    play_begin (NULL);
    int peer = s_kept ();
    play_call ("DELETE", "apps/A/x");
    play_request (peer);
    play_close (peer);
    s_served ("DELETE /eureka/apps/A/x HTTP/1.1\r\n");
}

//  curl sends nothing again that it has not sent to the end
Test (http_repeat, so_does_one_that_is_lost_while_it_is_sent)
{
    char *body = (char *) malloc (LARGE + 1);
    memset (body, 'x', LARGE);
    body[LARGE] = 0;
    play_begin (NULL);
    int peer = s_kept ();
    play_post (body);
    play_swallow (peer, 100000);
    play_reset (peer);
    s_served (body);
    free (body);
}

//  1. Two connections are kept, and die.
//  2. curl would go through one after the other.
Test (http_repeat, it_goes_out_on_a_new_connection_whatever_else_is_kept)
{
    int peers[2];
    play_begin (NULL);
    for (int i = 0; i < 2; i++) {
        play_post ("first");
        peers[i] = play_accept ();
        play_request (peers[i]);
    }
    for (int i = 0; i < 2; i++) {
        play_send (peers[i], PLAY_OK);
        play_result (&s_result);
    }
    play_post ("second");
    play_request (peers[0]);
    play_close (peers[0]);
    s_served ("\r\n\r\nsecond");
    play_close (peers[1]);
}

Test (http_repeat, it_goes_out_twice_at_most)
{
    play_begin (NULL);
    int peer = s_kept ();
    play_post ("{}");
    play_request (peer);
    play_close (peer);
    peer = play_accept ();
    play_request (peer);
    play_close (peer);
    s_ends (ZPEER_END_RESET, true);
    cr_assert_eq (zpeer_http_in_flight (play_http), 0);
    play_post ("{}");
    play_request (play_accept ());
}

Test (http_repeat, what_is_lost_on_a_new_connection_is_lost)
{
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_reset (peer);
    s_ends (ZPEER_END_RESET, false);
}

//  The peer was at work on it
Test (http_repeat, what_is_lost_later_is_lost)
{
    play_options.read_timeout_ms = 5000;
    play_begin (NULL);
    int peer = s_kept ();
    play_post ("{}");
    play_request (peer);
    play_until_wake (play_now + 5000);
    play_pass (1000);
    play_close (peer);
    peer = play_accept ();
    s_ends (ZPEER_END_RESET, false);
    play_end_of (peer);
}

Test (http_repeat, what_has_begun_to_be_answered_is_no_dead_connection)
{
    play_begin (NULL);
    int peer = s_kept ();
    play_post ("{}");
    play_request (peer);
    play_send (peer, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{");
    play_close (peer);
    s_ends (ZPEER_END_UNUSABLE, false);
}

//  The peer has had the request: it must not look unsent
Test (http_repeat, a_second_time_that_cannot_be_sent_is_not_unsent)
{
    play_begin (NULL);
    int peer = s_kept ();
    play_post ("{}");
    play_request (peer);
    play_stop_listening ();
    play_close (peer);
    s_ends (ZPEER_END_RESET, true);
}

Test (http_repeat, its_read_timeout_begins_anew)
{
    play_begin (NULL);
    int peer = s_kept ();
    uint64_t started = play_now;
    play_post ("{}");
    play_request (peer);
    play_until_wake (started + 300);
    play_now += 250;
    play_close (peer);
    play_request (play_accept ());
    play_until_wake (started + 250 + 300);
    play_pass (300);
    s_ends (ZPEER_END_READ_TIMEOUT, true);
    cr_assert_eq (s_result.elapsed_ms, 550);
}
