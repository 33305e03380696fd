/*  test_http.c - what the HTTP client sends, and how it uses connections
*/
#include <criterion/criterion.h>
#include <stdlib.h>
#include "play.h"
#include "banned.h"

static zpeer_http_result_t s_result;

TestSuite (http, .fini = play_end);

static void
s_has (const char *request, const char *line)
{
    cr_assert (strstr (request, line), "\"%s\" is not in:\n%s", line, request);
}

static void
s_has_not (const char *request, const char *text)
{
    cr_assert_null (strcasestr (request, text), "\"%s\" is in:\n%s", text,
                    request);
}

Test (http, a_batch_is_posted_with_the_headers_peers_need)
{
    play_options.identity = "192.0.2.11";
    play_begin (NULL);
    play_post ("{\"replicationList\":[]}");
    const char *request = play_request (play_accept ());
    s_has (request, "POST /eureka/peerreplication/batch/ HTTP/1.1\r\n");
    s_has (request, "\r\nContent-Type: application/json\r\n");
    s_has (request, "\r\nAccept: application/json\r\n");
    s_has (request, "\r\nAccept-Encoding: gzip\r\n");
    s_has (request, "\r\nContent-Length: 22\r\n");
    s_has (request, "\r\nDiscoveryIdentity-Name: DefaultServer\r\n");
    s_has (request, "\r\nDiscoveryIdentity-Version: 1.0\r\n");
    s_has (request, "\r\nDiscoveryIdentity-Id: 192.0.2.11\r\n");
    s_has (request, "\r\n\r\n{\"replicationList\":[]}");
    s_has_not (request, "x-netflix-discovery-replication");
    s_has_not (request, "Authorization");
}

Test (http, an_answer_comes_back_with_token_status_and_body)
{
    play_begin (NULL);
    const char *body = "{}";
    play_post (body);
    int peer = play_accept ();
    play_request (peer);
    cr_assert_eq (zpeer_http_in_flight (play_http), 1);
    play_now += 17;
    play_send (peer, PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.token, body);
    cr_assert_eq (s_result.end, ZPEER_END_STATUS);
    cr_assert_eq (s_result.status, 200);
    cr_assert_eq (s_result.elapsed_ms, 17);
    cr_assert_eq (s_result.retry_after_ms, 0);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
    cr_assert_str_empty (s_result.detail);
    cr_assert_eq (zpeer_http_in_flight (play_http), 0);
    cr_assert_not (zpeer_http_next (play_http, &s_result));
}

Test (http, a_single_call_says_that_it_is_replication)
{
    play_begin (NULL);
    play_call ("PUT", "apps/A/h%2Fi:1?status=UP");
    int peer = play_accept ();
    const char *request = play_request (peer);
    s_has (request, "PUT /eureka/apps/A/h%2Fi:1?status=UP HTTP/1.1\r\n");
    s_has (request, "\r\nx-netflix-discovery-replication: true\r\n");
    s_has (request, "\r\nContent-Length: 0\r\n");
    s_has_not (request, "Content-Type");
    s_has_not (request, "DiscoveryIdentity-Id");
    play_send (peer, PLAY_OK);
    play_result (&s_result);

    play_call ("DELETE", "apps/A/..");
    request = play_request (peer);
    s_has (request, "DELETE /eureka/apps/A/.. HTTP/1.1\r\n");
    s_has (request, "\r\nx-netflix-discovery-replication: true\r\n");
    s_has_not (request, "Content-Type");
}

Test (http, a_slot_used_for_one_kind_serves_every_other)
{
    play_options.max_in_flight = 1;
    play_begin (NULL);
    play_post ("first");
    int peer = play_accept ();
    for (int round = 0; round < 3; round++) {
        s_has (play_request (peer), "\r\n\r\nfirst");
        play_send (peer, PLAY_OK);
        play_result (&s_result);
        play_call ("DELETE", "apps/A/b");
        s_has (play_request (peer), "DELETE /eureka/apps/A/b ");
        play_send (peer, PLAY_OK);
        play_result (&s_result);
        play_call ("PUT", "apps/A/b");
        s_has (play_request (peer), "\r\nContent-Length: 0\r\n");
        play_send (peer, PLAY_OK);
        play_result (&s_result);
        play_post ("first");
    }
}

Test (http, a_large_body_goes_out_without_asking_first)
{
    size_t size = (size_t) 3 * 1048576;
    char *body = (char *) malloc (size + 1);
    memset (body, 'x', size);
    body[size] = 0;
    play_begin (NULL);
    play_post (body);
    int peer = play_accept ();
    const char *request = play_request (peer);
    s_has_not (request, "Expect:");
    cr_assert_str_eq (strstr (request, "\r\n\r\n") + 4, body);
    play_send (peer, PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.status, 200);
    free (body);
}

Test (http, credentials_are_sent_as_basic_with_every_request)
{
    play_begin ("http://eureka:pa%3Ass@127.0.0.1:%u/");
    play_post ("{}");
    int peer = play_accept ();
    //  eureka:pa:ss
    s_has (play_request (peer),
           "\r\nAuthorization: Basic ZXVyZWthOnBhOnNz\r\n");
    play_send (peer, "HTTP/1.1 401 Unauthorized\r\n"
                     "WWW-Authenticate: Basic realm=\"x\"\r\n"
                     "Content-Length: 0\r\n\r\n");
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_STATUS);
    cr_assert_eq (s_result.status, 401);
    cr_assert_null (strstr (s_result.detail, "ss"));
    play_post ("{}");
    s_has (play_request (peer), "\r\nAuthorization: Basic ");
}

Test (http, a_proxy_of_the_environment_is_ignored)
{
    setenv ("http_proxy", "http://127.0.0.1:1", 1);
    setenv ("all_proxy", "http://127.0.0.1:1", 1);
    play_begin (NULL);
    play_post ("{}");
    s_has (play_request (play_accept ()), "POST /eureka/peerreplication/");
}

//  So many that a limit of one answer would be met if answers were added up
Test (http, one_connection_serves_many_requests)
{
    play_options.max_in_flight = 1;
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    for (int i = 0; i < 2000; i++) {
        play_request (peer);
        play_send (peer, PLAY_OK);
        play_result (&s_result);
        cr_assert_eq (s_result.status, 200, "%s", s_result.detail);
        play_post ("{}");
    }
}

Test (http, requests_of_the_window_run_side_by_side)
{
    play_begin (NULL);
    static const char *const bodies[] = {"a", "b", "c", "d"};
    int peers[4];
    for (int i = 0; i < 4; i++)
        play_post (bodies[i]);
    for (int i = 0; i < 4; i++) {
        peers[i] = play_accept ();
        play_request (peers[i]);
    }
    cr_assert_eq (zpeer_http_in_flight (play_http), 4);
    for (int i = 4; i-- > 0;) {
        play_send (peers[i], PLAY_OK);
        play_result (&s_result);
        cr_assert_eq (s_result.status, 200);
        cr_assert_eq (zpeer_http_in_flight (play_http), (unsigned) i);
    }
}

Test (http, a_request_may_start_while_a_result_is_read)
{
    play_options.max_in_flight = 1;
    play_begin (NULL);
    play_post ("a");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, PLAY_OK);
    play_result (&s_result);
    play_post ("b");
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
    s_has (play_request (peer), "\r\n\r\nb");
}

Test (http, a_connection_the_server_closed_is_replaced)
{
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    play_result (&s_result);
    play_close (peer);
    play_post ("{}");
    peer = play_accept ();
    play_request (peer);
    play_send (peer, PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.status, 200);
}

Test (http, aborted_requests_have_a_result_and_the_client_goes_on)
{
    play_begin (NULL);
    play_post ("a");
    play_post ("b");
    play_request (play_accept ());
    play_request (play_accept ());
    zpeer_http_abort (play_http, play_now + 5);
    for (int i = 0; i < 2; i++) {
        cr_assert (zpeer_http_next (play_http, &s_result));
        cr_assert_eq (s_result.end, ZPEER_END_TAKEN_BACK);
        cr_assert_eq (s_result.elapsed_ms, 5);
    }
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    cr_assert_eq (zpeer_http_wake (play_http), UINT64_MAX);
    play_post ("c");
    s_has (play_request (play_accept ()), "\r\n\r\nc");
}

Test (http, it_can_end_with_requests_in_flight_and_results_unread)
{
    play_begin (NULL);
    play_post ("a");
    play_post ("b");
    play_post ("c");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, PLAY_OK);
    while (zpeer_http_in_flight (play_http) == 3 &&
           !zpeer_http_next (play_http, &s_result))
        play_pass (0);
    zpeer_http_destroy (&play_http);
    cr_assert_null (play_http);
    zpeer_http_destroy (&play_http);
}
