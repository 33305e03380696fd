/*  test_http_time.c - timeouts of the HTTP client

    The test's clock stands still until it is moved: only the connect timeout,
    which curl watches, takes real time.
*/
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "play.h"
#include "banned.h"

static zpeer_http_result_t s_result;

TestSuite (http_time, .fini = play_end);

static void
s_times_out (uint16_t status)
{
    play_pass (299);
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    play_pass (1);
    cr_assert (zpeer_http_next (play_http, &s_result));
    cr_assert_eq (s_result.end, ZPEER_END_READ_TIMEOUT);
    cr_assert_eq (s_result.status, status);
    cr_assert_eq (s_result.body.size, 0);
    cr_assert_str_eq (s_result.detail, "nothing moved for 300 ms");
}

Test (http_time, a_peer_that_does_not_answer_is_a_read_timeout)
{
    play_begin (NULL);
    play_post ("{}");
    play_request (play_accept ());
    play_until_wake (play_now + 300);
    s_times_out (0);
    cr_assert_eq (s_result.elapsed_ms, 300);
}

Test (http_time, a_peer_that_stops_in_mid_answer_is_a_read_timeout)
{
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_until_wake (play_now + 300);
    play_now += 100;
    play_send (peer, "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{\"resp");
    play_until_wake (play_now + 300);
    s_times_out (200);
}

Test (http_time, a_status_other_than_2xx_stands_without_its_body)
{
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_until_wake (play_now + 300);
    play_now++;
    play_send (peer, "HTTP/1.1 503 Busy\r\nContent-Length: 19\r\n\r\n{");
    play_until_wake (play_now + 300);
    play_pass (300);
    cr_assert (zpeer_http_next (play_http, &s_result));
    cr_assert_eq (s_result.end, ZPEER_END_STATUS);
    cr_assert_eq (s_result.status, 503);
}

Test (http_time, an_answer_that_is_slow_but_moves_is_waited_for)
{
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_until_wake (play_now + 300);
    static const char *const pieces[] = {"HTTP/1.1 200 OK\r\n",
                                         "Content-Length: 19\r\n",
                                         "\r\n",
                                         "{",
                                         "\"responseList\"",
                                         ":",
                                         "["};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        play_now += 299;
        play_send (peer, pieces[i]);
        play_until_wake (play_now + 300);
    }
    play_send (peer, "]}");
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_STATUS);
    cr_assert_eq (s_result.elapsed_ms, 7 * 299);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
}

Test (http_time, a_request_that_is_read_slowly_is_waited_for)
{
    //  More than both sockets' buffers hold
    size_t size = (size_t) 24 * 1048576;
    play_options.deadline_ms = 1000000;
    char *body = (char *) malloc (size + 1);
    memset (body, 'x', size);
    body[size] = 0;
    play_begin (NULL);
    play_post (body);
    int peer = play_accept ();
    play_swallow (peer, 100);
    for (int i = 0; i < 5; i++) {
        play_now += 250;
        play_swallow (peer, size / 8);
        play_until_wake (play_now + 300);
    }
    //  Nobody reads any more; what the sockets' buffers still take is movement
    while (!zpeer_http_next (play_http, &s_result))
        play_pass (300);
    cr_assert_eq (s_result.end, ZPEER_END_READ_TIMEOUT);
    cr_assert_geq (s_result.elapsed_ms, 5 * 250 + 300);
    cr_assert_str_eq (s_result.detail, "nothing moved for 300 ms");
    free (body);
}

Test (http_time, the_deadline_ends_what_moves_for_ever)
{
    play_options.deadline_ms = 1000;
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
    uint64_t started = play_now;
    while (play_now < started + 750) {
        play_now += 250;
        play_send (peer, "x");
        uint64_t silent = play_now + 300;
        play_until_wake (silent < started + 1000 ? silent : started + 1000);
    }
    play_pass (249);
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    play_pass (1);
    cr_assert (zpeer_http_next (play_http, &s_result));
    cr_assert_eq (s_result.end, ZPEER_END_READ_TIMEOUT);
    cr_assert_eq (s_result.elapsed_ms, 1000);
    cr_assert (strstr (s_result.detail, "1000 ms"), "%s", s_result.detail);
}

//  A port whose backlog is full: further connections get no answer at all
static unsigned
s_full_port (int fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    fds[0] = socket (AF_INET, SOCK_STREAM, 0);
    cr_assert_eq (bind (fds[0], (struct sockaddr *) &address, size), 0);
    listen (fds[0], 0);
    getsockname (fds[0], (struct sockaddr *) &address, &size);
    fds[1] = socket (AF_INET, SOCK_STREAM, 0);
    cr_assert_eq (connect (fds[1], (struct sockaddr *) &address, size), 0);
    return ntohs (address.sin_port);
}

Test (http_time, a_connection_that_does_not_come_is_unsent)
{
    int fds[2];
    char url[64];
    snprintf (url, sizeof url, "http://127.0.0.1:%u/", s_full_port (fds));
    play_options.connect_timeout_ms = 100;
    play_begin (url);
    play_post ("{}");
    play_pass (400);  //  The read timeout has not begun
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_UNSENT);
    cr_assert_eq (s_result.status, 0);
    cr_assert (strcasestr (s_result.detail, "timeout"), "%s", s_result.detail);
    close (fds[0]);
    close (fds[1]);
}

Test (http_time, each_request_has_its_own_time)
{
    play_begin (NULL);
    play_post ("a");
    play_request (play_accept ());
    play_until_wake (play_now + 300);
    play_now += 200;
    play_post ("b");
    play_request (play_accept ());
    play_until_wake (play_now + 100);
    play_pass (100);
    cr_assert (zpeer_http_next (play_http, &s_result));
    cr_assert_str_eq ((const char *) s_result.token, "a");
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    cr_assert_eq (zpeer_http_wake (play_http), play_now + 200);
}

Test (http_time, after_a_timeout_the_next_request_has_a_new_connection)
{
    play_begin (NULL);
    play_post ("a");
    int first = play_accept ();
    play_request (first);
    play_until_wake (play_now + 300);
    play_pass (300);
    cr_assert (zpeer_http_next (play_http, &s_result));
    play_post ("b");
    int second = play_accept ();
    play_request (second);
    //  The late answer to "a" reaches nobody
    play_send (first, PLAY_OK);
    play_send (second, "HTTP/1.1 204 No Content\r\n\r\n");
    play_result (&s_result);
    cr_assert_str_eq ((const char *) s_result.token, "b");
    cr_assert_eq (s_result.status, 204);
}
