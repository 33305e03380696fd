/*  test_http_retry_after.c - a busy peer's wish, as it comes over the wire

    How a value is read is tested in unit/test_retry_after.c.
*/
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>
#include "play.h"
#include "banned.h"

static zpeer_http_result_t s_result;

TestSuite (http_retry_after, .fini = play_end);

static void
s_answer (const char *text)
{
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, text);
    play_result (&s_result);
    play_close (peer);
}

static uint32_t
s_retry_after_ms (const char *wish)
{
    char answer[256];
    snprintf (answer, sizeof answer,
              "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
              "Retry-After: %s\r\nContent-Length: 4\r\n\r\nbusy",
              wish);
    s_answer (answer);
    cr_assert_eq (s_result.end, ZPEER_END_STATUS, "%s", s_result.detail);
    cr_assert_eq (s_result.status, 503);
    return s_result.retry_after_ms;
}

Test (http_retry_after, a_busy_peer_can_say_when_to_come_again)
{
    play_begin (NULL);
    cr_assert_eq (s_retry_after_ms ("7"), 7000);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE ("busy")));
}

Test (http_retry_after, a_busy_peer_can_name_a_date)
{
    char date[64];
    struct tm tm;
    time_t then = time (NULL) + 100;
    strftime (date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT",
              gmtime_r (&then, &tm));
    play_begin (NULL);
    uint32_t ms = s_retry_after_ms (date);
    cr_assert_gt (ms, 50000);
    cr_assert_leq (ms, 100000);
}

Test (http_retry_after, what_is_strange_is_none_or_long)
{
    play_begin (NULL);
    cr_expect_eq (s_retry_after_ms ("soon"), 0);
    cr_expect_eq (s_retry_after_ms ("5s"), 0);
    cr_expect_eq (s_retry_after_ms ("-5"), 0);
    cr_expect_eq (s_retry_after_ms (""), 0);
    cr_expect_eq (s_retry_after_ms ("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
    cr_expect_eq (s_retry_after_ms ("99999999999"), UINT32_MAX);
    cr_expect_eq (s_retry_after_ms ("99999999999999999999"), UINT32_MAX);
}

Test (http_retry_after, of_several_the_first_counts)
{
    play_begin (NULL);
    cr_expect_eq (s_retry_after_ms ("7\r\nretry-after: 9"), 7000);
    cr_expect_eq (s_retry_after_ms ("soon\r\nRetry-After: 9"), 0);
}

Test (http_retry_after, an_interim_answer_cannot_say_it)
{
    play_begin (NULL);
    s_answer ("HTTP/1.1 103 Early Hints\r\nRetry-After: 7\r\n\r\n" PLAY_OK);
    cr_assert_eq (s_result.status, 200);
    cr_assert_eq (s_result.retry_after_ms, 0);
}

//  1. A request is answered.
//  2. The next one, in its place, is aborted before curl has begun it.
Test (http_retry_after, what_an_answer_said_is_not_of_the_next_request)
{
    play_begin (NULL);
    cr_assert_eq (s_retry_after_ms ("7"), 7000);
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    play_post ("{}");
    zpeer_http_abort (play_http, play_now);
    cr_assert (zpeer_http_next (play_http, &s_result));
    cr_assert_eq (s_result.end, ZPEER_END_TAKEN_BACK);
    cr_assert_eq (s_result.status, 0);
    cr_assert_eq (s_result.retry_after_ms, 0);
}
