/*  test_http_failures.c - refused, cut off, broken: what a request comes to
*/
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "play.h"
#include "banned.h"

static zpeer_http_result_t s_result;

TestSuite (http_failures, .fini = play_end);

static void
s_ends (zpeer_end_t end, uint16_t status)
{
    play_result (&s_result);
    cr_assert_eq (s_result.end, end, "%s, not %s: %s",
                  zpeer_end_text (s_result.end), zpeer_end_text (end),
                  s_result.detail);
    cr_assert_eq (s_result.status, status);
    if (end != ZPEER_END_STATUS) {
        cr_assert_str_not_empty (s_result.detail);
        cr_assert_eq (s_result.body.size, 0);
    }
}

//  Posts, and answers with these bytes. Returns the connection.
static int
s_answer (const char *text)
{
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_send (peer, text);
    return peer;
}

//  More than both sockets' buffers hold
static char *
s_large_body (void)
{
    size_t size = (size_t) 24 * 1048576;
    char *body = (char *) malloc (size + 1);
    memset (body, 'x', size);
    body[size] = 0;
    return body;
}

Test (http_failures, a_refused_connection_is_unsent)
{
    play_begin (NULL);
    play_stop_listening ();
    play_post ("{}");
    s_ends (ZPEER_END_UNSENT, 0);
    cr_assert (strstr (s_result.detail, "Failed to connect"), "%s",
               s_result.detail);
}

Test (http_failures, an_unknown_name_is_unsent)
{
    //  Longer than any label may be: nobody is asked
    play_begin (
        "http://user:sesame@"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        ".invalid/");
    play_post ("{}");
    s_ends (ZPEER_END_UNSENT, 0);
    cr_assert_null (strstr (s_result.detail, "sesame"));
}

Test (http_failures, a_reset_before_the_answer_is_a_reset)
{
    play_begin (NULL);
    play_post ("{}");
    int peer = play_accept ();
    play_request (peer);
    play_reset (peer);
    s_ends (ZPEER_END_RESET, 0);
}

Test (http_failures, a_close_before_the_answer_is_a_reset)
{
    play_begin (NULL);
    play_close (s_answer (""));
    s_ends (ZPEER_END_RESET, 0);
}

Test (http_failures, a_close_in_the_header_is_a_reset)
{
    play_begin (NULL);
    play_close (s_answer ("HTTP/1.1 2"));
    s_ends (ZPEER_END_RESET, 0);
}

Test (http_failures, a_request_cut_off_while_it_is_sent_is_a_reset)
{
    char *body = s_large_body ();
    play_begin (NULL);
    play_post (body);
    int peer = play_accept ();
    play_swallow (peer, 100000);
    play_reset (peer);
    s_ends (ZPEER_END_RESET, 0);
    free (body);
}

//  A peer that refuses a body for its size need not read it to the end
Test (http_failures, an_answer_before_the_end_of_the_request_counts)
{
    char *body = s_large_body ();
    play_begin (NULL);
    play_post (body);
    int peer = play_accept ();
    play_swallow (peer, 100000);
    play_send (peer, "HTTP/1.1 413 Too Large\r\nConnection: close\r\n"
                     "Content-Length: 0\r\n\r\n");
    play_close (peer);
    s_ends (ZPEER_END_STATUS, 413);
    free (body);
}

Test (http_failures, a_close_in_mid_body_is_unusable)
{
    play_begin (NULL);
    play_close (
        s_answer ("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" PLAY_BODY));
    s_ends (ZPEER_END_UNUSABLE, 200);
}

Test (http_failures, a_reset_in_mid_body_is_unusable)
{
    play_begin (NULL);
    int peer =
        s_answer ("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" PLAY_BODY);
    play_until_wake (play_now + 300);
    play_reset (peer);
    s_ends (ZPEER_END_UNUSABLE, 200);
}

Test (http_failures, a_body_shorter_than_it_says_ends_at_its_length)
{
    play_begin (NULL);
    s_answer ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" PLAY_BODY);
    s_ends (ZPEER_END_STATUS, 200);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE ("{\"res")));
    //  The rest is not taken for the next answer
    s_answer (PLAY_OK);
    s_ends (ZPEER_END_STATUS, 200);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
}

Test (http_failures, wrong_lengths_and_chunks_are_unusable)
{
    play_begin (NULL);
    play_close (s_answer ("HTTP/1.1 200 OK\r\n"
                          "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"));
    s_ends (ZPEER_END_UNUSABLE, 200);
    play_close (s_answer ("HTTP/1.1 200 OK\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"));
    s_ends (ZPEER_END_UNUSABLE, 200);
    play_close (s_answer ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"));
    s_ends (ZPEER_END_UNUSABLE, 200);
}

Test (http_failures, what_is_not_http_is_unusable)
{
    play_begin (NULL);
    play_close (s_answer ("SSH-2.0-OpenSSH_9.2\r\n"));
    s_ends (ZPEER_END_UNUSABLE, 0);
    play_close (s_answer ("\x15\x03\x03\x00\x02\x02\x50"));
    s_ends (ZPEER_END_UNUSABLE, 0);
}

Test (http_failures, a_body_over_the_limit_is_unusable)
{
    play_options.reply_max_bytes = 18;
    play_begin (NULL);
    s_answer (PLAY_OK);
    s_ends (ZPEER_END_UNUSABLE, 200);
    cr_assert_str_eq (s_result.detail, "the answer is larger than 18 bytes");
}

Test (http_failures, a_body_at_the_limit_is_taken)
{
    play_options.reply_max_bytes = 19;
    play_begin (NULL);
    s_answer (PLAY_OK);
    s_ends (ZPEER_END_STATUS, 200);
    cr_assert_eq (s_result.body.size, 19);
}

Test (http_failures, header_lines_without_end_are_unusable)
{
    char line[1024];
    snprintf (line, sizeof line, "X-A: %01000d\r\n", 0);
    play_begin (NULL);
    int peer = s_answer ("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 70; i++)
        play_send (peer, line);
    s_ends (ZPEER_END_UNUSABLE, 200);
    cr_assert (strstr (s_result.detail, "65536"), "%s", s_result.detail);
}

Test (http_failures, one_endless_header_line_is_unusable)
{
    size_t size = 300000;
    char *line = (char *) malloc (size + 1);
    memset (line, 'x', size);
    line[size] = 0;
    play_begin (NULL);
    int peer = s_answer ("HTTP/1.1 200 OK\r\nX-A: ");
    play_send (peer, line);
    s_ends (ZPEER_END_UNUSABLE, 200);
    cr_assert (strstr (s_result.detail, "header line"), "%s", s_result.detail);
    free (line);
}

static void
s_answer_gzip (const char *data, size_t size)
{
    char head[128];
    snprintf (head, sizeof head,
              "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
              "Content-Length: %zu\r\n\r\n",
              size);
    play_send_bytes (s_answer (head), data, size);
}

Test (http_failures, a_gzip_body_is_inflated)
{
    static const char body[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x2a\x4a\x2d\x2e"
        "\xc8\xcf\x2b\x4e\xf5\xc9\x2c\x2e\x51\xb2\x8a\x8e\xad\x05\x00\x42"
        "\x23\x7d\x39\x13\x00\x00\x00";
    play_begin (NULL);
    s_answer_gzip (body, sizeof body - 1);
    s_ends (ZPEER_END_STATUS, 200);
    cr_assert (zpeer_slice_eq (s_result.body, ZPEER_SLICE (PLAY_BODY)));
}

Test (http_failures, the_limit_is_on_what_a_gzip_body_inflates_to)
{
    //  230 bytes that become 200,000
    static const char body[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x01\x00\x00"
        "\x00\xc2\xa0\xac\xeb\x5f\xc2\x0c\xfe\x40\x01\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xaf\x01\x9b\x53"
        "\x69\xe0\x40\x0d\x03\x00";
    play_options.reply_max_bytes = 199999;
    play_begin (NULL);
    s_answer_gzip (body, sizeof body - 1);
    s_ends (ZPEER_END_UNUSABLE, 200);
    cr_assert_str_eq (s_result.detail,
                      "the answer is larger than 199999 bytes");
}

Test (http_failures, a_body_that_is_not_the_gzip_it_says_is_unusable)
{
    play_begin (NULL);
    s_answer_gzip (PLAY_BODY, sizeof PLAY_BODY - 1);
    s_ends (ZPEER_END_UNUSABLE, 200);
}

Test (http_failures, a_redirect_is_a_status_and_not_followed)
{
    play_begin (NULL);
    s_answer ("HTTP/1.1 307 Temporary Redirect\r\n"
              "Location: /elsewhere/\r\nContent-Length: 0\r\n\r\n");
    s_ends (ZPEER_END_STATUS, 307);
}

Test (http_failures, what_is_not_2xx_stands_though_its_body_is_broken)
{
    play_begin (NULL);
    play_close (
        s_answer ("HTTP/1.1 404 Not Found\r\nContent-Length: 50\r\n\r\nx"));
    s_ends (ZPEER_END_STATUS, 404);
    cr_assert_eq (s_result.body.size, 0);
}

Test (http_failures, an_interim_answer_is_none)
{
    play_begin (NULL);
    play_close (s_answer ("HTTP/1.1 100 Continue\r\n\r\n"));
    play_result (&s_result);
    cr_assert_eq (s_result.status, 0);
    cr_assert_neq (s_result.end, ZPEER_END_STATUS);
    s_answer ("HTTP/1.1 103 Early Hints\r\n\r\n" PLAY_OK);
    s_ends (ZPEER_END_STATUS, 200);
}

static unsigned
s_descriptors (void)
{
    unsigned count = 0;
    DIR *dir = opendir ("/proc/self/fd");
    while (readdir (dir))
        count++;
    closedir (dir);
    return count;
}

Test (http_failures, descriptors_stay_the_same_however_often_it_fails)
{
    unsigned before = 0;
    play_begin (NULL);
    for (int i = 0; i < 300; i++) {
        play_post ("{}");
        int peer = play_accept ();
        play_request (peer);
        if (i % 3 == 0)
            play_pass (300);
        else if (i % 3 == 1)
            play_send (peer, PLAY_OK);
        play_close (peer);
        play_result (&s_result);
        if (i == 10)
            before = s_descriptors ();
    }
    cr_assert_leq (s_descriptors (), before + 4);
}
