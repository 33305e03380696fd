/*  test_http_age.c - connections that are too old, or idle for too long

    The name peer.test is looked up as any other is; where it leads, the test
    decides. The server listens on several addresses of this machine.
*/
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "play.h"
#include "banned.h"

#define AGE_MS  60000
#define IDLE_MS 30000

typedef int (getaddrinfo_fn) (const char *node, const char *service,
                              const struct addrinfo *hints,
                              struct addrinfo **result);

static zpeer_http_result_t s_result;

//  Where peer.test leads; NULL: there is no such name
static const char *_Atomic s_address = "127.0.0.1";

//  In the place of libc's, which libcurl calls
__attribute__ ((visibility ("default"))) int
getaddrinfo (const char *restrict node, const char *restrict service,
             const struct addrinfo *restrict hints,
             struct addrinfo **restrict result)
{
    getaddrinfo_fn *real;
    *(void **) &real = dlsym (RTLD_NEXT, "getaddrinfo");
    if (!node || strcmp (node, "peer.test") != 0)
        return real (node, service, hints, result);
    node = atomic_load (&s_address);
    return node ? real (node, service, hints, result) : EAI_AGAIN;
}

static void
s_setup (void)
{
    play_options.max_age_ms = AGE_MS;
    play_options.read_timeout_ms = 2 * AGE_MS;
    play_options.deadline_ms = 3 * AGE_MS;
    play_begin ("http://peer.test:%u/eureka/");
}

TestSuite (http_age, .init = s_setup, .fini = play_end);

static void
s_answer (int peer)
{
    play_request (peer);
    play_send (peer, PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_STATUS, "%s", s_result.detail);
    cr_assert_eq (s_result.status, 200);
    cr_assert_not (s_result.repeated);
}

//  A request on a new connection, which is kept
static int
s_connect (void)
{
    play_post ("{}");
    int peer = play_accept ();
    s_answer (peer);
    return peer;
}

static void
s_serve (int peer)
{
    play_post ("{}");
    s_answer (peer);
    cr_assert_str_empty (s_result.renewal);
}

Test (http_age, a_name_that_moves_is_followed_when_the_connection_is_too_old)
{
    int there = play_listen ("127.0.0.2");
    int old = s_connect ();
    s_address = "127.0.0.2";
    play_now += AGE_MS - 1;
    s_serve (old);
    play_now++;
    play_post ("{}");
    int peer = play_accept_at (there);
    s_answer (peer);
    cr_assert_str_empty (s_result.renewal);
    s_serve (old);
    play_end_of (old);
    for (int i = 0; i < 10; i++)
        s_serve (peer);
}

//  1. The name leads to an address where nobody listens.
//  2. Requests go on, on the old connection.
//  3. A quarter of the age later somebody does.
Test (http_age, a_new_connection_that_cannot_be_made_harms_nobody)
{
    int old = s_connect ();
    s_address = "127.0.0.2";
    play_now += AGE_MS;
    play_post ("{}");
    s_answer (old);
    cr_assert (strstr (s_result.renewal, "Failed to connect"), "%s",
               s_result.renewal);
    s_serve (old);
    int there = play_listen ("127.0.0.2");
    play_now += AGE_MS / 4 - 1;
    s_serve (old);
    play_now++;
    play_post ("{}");
    s_answer (play_accept_at (there));
    cr_assert_str_empty (s_result.renewal);
}

Test (http_age, a_name_that_is_not_found_for_once_harms_nobody)
{
    int old = s_connect ();
    s_address = NULL;
    play_now += AGE_MS;
    play_post ("{}");
    s_answer (old);
    cr_assert (strstr (s_result.renewal, "resolve"), "%s", s_result.renewal);
    s_serve (old);
}

//  When the old one has gone, too, it is a failure like any other
Test (http_age, if_nothing_is_kept_either_the_request_fails)
{
    int old = s_connect ();
    s_address = "127.0.0.2";
    play_now += AGE_MS;
    play_close (old);
    play_post ("{}");
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_UNSENT, "%s", s_result.detail);
    cr_assert_str_empty (s_result.renewal);
}

Test (http_age, a_request_is_not_cut_off_because_its_connection_grows_old)
{
    play_post ("{}");
    int old = play_accept ();
    play_request (old);
    play_until_wake (play_now + play_options.read_timeout_ms);
    play_pass (AGE_MS);
    cr_assert_not (zpeer_http_next (play_http, &s_result));
    play_post ("{}");
    s_answer (play_accept ());
    play_send (old, PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.status, 200);
}

//  1. Four requests, on four connections.
//  2. They are too old all at once.
//  3. Requests go on, three at a time, and none of them fails.
Test (http_age, all_are_replaced_one_after_the_other)
{
    int peers[4];
    for (int i = 0; i < 4; i++) {
        play_post ("{}");
        peers[i] = play_accept ();
        play_request (peers[i]);
    }
    for (int i = 0; i < 4; i++) {
        play_send (peers[i], PLAY_OK);
        play_result (&s_result);
    }
    play_now += AGE_MS;
    for (int i = 0; i < 4; i++) {
        play_post ("new");
        int peer = play_accept ();
        play_post ("old");
        play_request (peers[i]);
        s_answer (peer);
        cr_assert_str_eq ((const char *) s_result.token, "new");
        play_send (peers[i], PLAY_OK);
        play_result (&s_result);
        cr_assert_eq (s_result.status, 200, "%s", s_result.detail);
        play_end_of (peers[i]);
        peers[i] = peer;
    }
    for (int i = 0; i < 4; i++)
        s_serve (peers[0]);
}

//  Silence ------------------------------------------------------------------

static void
s_setup_silence (void)
{
    play_begin (NULL);
}

TestSuite (http_silence, .init = s_setup_silence, .fini = play_end);

//  Connections that have served a request each
static void
s_connect_all (int *peers, int count)
{
    for (int i = 0; i < count; i++) {
        play_post ("{}");
        peers[i] = play_accept ();
        play_request (peers[i]);
    }
    for (int i = 0; i < count; i++) {
        play_send (peers[i], PLAY_OK);
        play_result (&s_result);
    }
}

static void
s_time_out (void)
{
    play_until_wake (play_now + play_options.read_timeout_ms);
    play_pass (play_options.read_timeout_ms);
    play_result (&s_result);
    cr_assert_eq (s_result.end, ZPEER_END_READ_TIMEOUT);
}

//  1. Two connections are kept; then nothing comes through any more.
//  2. A request on the first one has no answer.
//  3. One on the second would have none either.
Test (http_silence,
      after_a_request_without_an_answer_none_that_was_kept_is_used)
{
    int peers[2];
    s_connect_all (peers, 2);
    play_post ("{}");
    play_request (peers[0]);
    s_time_out ();
    s_connect ();
    play_end_of (peers[1]);
}

//  While others are on their way, those that are kept cannot be closed
Test (http_silence, nor_is_one_while_others_are_on_their_way)
{
    int peers[3];
    s_connect_all (peers, 3);
    play_post ("a");
    play_request (peers[0]);
    play_until_wake (play_now + play_options.read_timeout_ms);
    play_now += 100;
    play_post ("b");
    play_request (peers[1]);
    play_until_wake (play_now + play_options.read_timeout_ms - 100);
    play_pass (play_options.read_timeout_ms - 100);
    play_result (&s_result);
    cr_assert_str_eq ((const char *) s_result.token, "a");
    play_post ("c");
    s_answer (play_accept ());
    cr_assert_str_eq ((const char *) s_result.token, "c");
    play_post ("d");
    play_request (peers[2]);
}

//  Idle ---------------------------------------------------------------------

static void
s_setup_idle (void)
{
    play_options.idle_ms = IDLE_MS;
    play_options.read_timeout_ms = 2 * IDLE_MS;
    play_options.deadline_ms = 3 * IDLE_MS;
    play_begin (NULL);
}

TestSuite (http_idle, .init = s_setup_idle, .fini = play_end);

Test (http_idle, connections_that_are_idle_for_too_long_are_closed)
{
    int peer = s_connect ();
    uint64_t idle = play_now;
    play_now += IDLE_MS - 1;
    s_serve (peer);
    play_until_wake (idle + IDLE_MS - 1 + IDLE_MS);
    play_now += IDLE_MS;
    play_end_of (peer);
    cr_assert_eq (zpeer_http_wake (play_http), UINT64_MAX);
    s_connect ();
}

Test (http_idle, none_is_used_that_should_have_been_closed)
{
    int peer = s_connect ();
    play_until_wake (play_now + IDLE_MS);
    play_now += IDLE_MS;
    int other = s_connect ();
    cr_assert_neq (other, peer);
    play_end_of (peer);
}

Test (http_idle, nothing_is_closed_while_a_request_is_on_its_way)
{
    int peers[2];
    for (int i = 0; i < 2; i++) {
        play_post ("{}");
        peers[i] = play_accept ();
        play_request (peers[i]);
    }
    play_send (peers[0], PLAY_OK);
    play_result (&s_result);
    play_until_wake (play_now + play_options.read_timeout_ms);
    play_pass (IDLE_MS);
    play_send (peers[1], PLAY_OK);
    play_result (&s_result);
    cr_assert_eq (s_result.status, 200);
    s_serve (peers[0]);
}
