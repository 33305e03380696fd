#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "buffer.h"
#include "play.h"
#include "banned.h"

#define LIMIT_S 10
#define PEERS   8
#define POLL_MS 5
#define BATCH   "peerreplication/batch/"

zpeer_http_t *play_http;
uint64_t play_now = 1000000;
unsigned play_port;
zpeer_http_options_t play_options = {
    .connect_timeout_ms = 2000,
    .read_timeout_ms = 300,
    .deadline_ms = 10000,
    .reply_max_bytes = 1048576,
    .max_in_flight = 4,
};

static int s_listener = -1;
static int s_peers[PEERS];
static size_t s_peer_count;
static zpeer_buffer_t s_request;

//  Moves the client on once. Fails the test when it has taken too long.
static void
s_turn (int fd, time_t until)
{
    cr_assert (time (NULL) <= until, "waited for %d s", LIMIT_S);
    zpeer_http_poll (play_http, &fd, fd >= 0 ? 1 : 0, POLL_MS);
    zpeer_http_perform (play_http, play_now);
}

//  Opens a port for listening, play_port if that is not 0, and notes which it is
static int
s_listen (const char *where)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons ((uint16_t) play_port)};
    socklen_t size = sizeof address;
    inet_pton (AF_INET, where, &address.sin_addr);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    cr_assert_eq (bind (fd, (struct sockaddr *) &address, size), 0);
    cr_assert_eq (listen (fd, PEERS), 0);
    getsockname (fd, (struct sockaddr *) &address, &size);
    play_port = ntohs (address.sin_port);
    return fd;
}

void
play_begin (const char *url)
{
    s_listener = s_listen ("127.0.0.1");
    char text[256];
    char error[ZPEER_URL_ERROR_MAX];
    zpeer_url_t parsed;
    const char *port = url ? strstr (url, "%u") : NULL;
    if (port)
        snprintf (text, sizeof text, "%.*s%u%s", (int) (port - url), url,
                  play_port, port + 2);
    else
        snprintf (text, sizeof text, "http://127.0.0.1:%u/eureka/", play_port);
    cr_assert_eq (zpeer_url_parse (&parsed, url && !port ? url : text, error),
                  ZPEER_OK, "%s", error);
    play_http = zpeer_http_new (&parsed, &play_options);
    zpeer_url_free (&parsed);
}

void
play_stop_listening (void)
{
    if (s_listener >= 0)
        close (s_listener);
    s_listener = -1;
}

void
play_end (void)
{
    zpeer_http_destroy (&play_http);
    play_stop_listening ();
    for (size_t i = 0; i < s_peer_count; i++)
        if (s_peers[i] >= 0)
            close (s_peers[i]);
    zpeer_buffer_free (&s_request);
}

void
play_post (const char *body)
{
    zpeer_http_request_t request = {.method = ZPEER_SLICE ("POST"),
                                    .path = ZPEER_SLICE (BATCH),
                                    .body = zpeer_slice_str (body),
                                    .token = (void *) body};
    zpeer_http_start (play_http, &request, play_now);
}

void
play_call (const char *method, const char *path)
{
    zpeer_http_request_t request = {.method = zpeer_slice_str (method),
                                    .path = zpeer_slice_str (path),
                                    .replication = true};
    zpeer_http_start (play_http, &request, play_now);
}

//  Keeps a connection for play_end, in the place of one that was closed
static void
s_keep (int peer)
{
    size_t i = 0;
    while (i < s_peer_count && s_peers[i] >= 0)
        i++;
    cr_assert_lt (i, PEERS);
    s_peers[i] = peer;
    if (i == s_peer_count)
        s_peer_count++;
}

int
play_listen (const char *address)
{
    int listener = s_listen (address);
    s_keep (listener);
    return listener;
}

int
play_accept_at (int listener)
{
    time_t until = time (NULL) + LIMIT_S;
    int peer;
    while ((peer = accept4 (listener, NULL, NULL, SOCK_NONBLOCK)) < 0)
        s_turn (listener, until);
    s_keep (peer);
    return peer;
}

int
play_accept (void)
{
    return play_accept_at (s_listener);
}

//  Reads at most size bytes into s_request; waits for the first
static void
s_read (int peer, size_t size)
{
    time_t until = time (NULL) + LIMIT_S;
    zpeer_buffer_reserve (&s_request, size + 1);
    ssize_t got;
    while ((got = recv (peer, s_request.data + s_request.size, size, 0)) < 0)
        s_turn (peer, until);
    cr_assert_gt (got, 0, "the client has closed");
    s_request.size += (size_t) got;
    s_request.data[s_request.size] = 0;
}

const char *
play_request (int peer)
{
    zpeer_buffer_reset (&s_request);
    const char *end = NULL;
    while (!end) {
        s_read (peer, 1);
        end = strstr (s_request.data, "\r\n\r\n");
    }
    const char *length = strcasestr (s_request.data, "\r\nContent-Length: ");
    size_t left = length ? strtoul (length + 18, NULL, 10) : 0;
    size_t whole = s_request.size + left;
    while (s_request.size < whole)
        s_read (peer, whole - s_request.size);
    return s_request.data;
}

void
play_end_of (int peer)
{
    time_t until = time (NULL) + LIMIT_S;
    char byte;
    ssize_t got;
    while ((got = recv (peer, &byte, 1, 0)) < 0)
        s_turn (peer, until);
    cr_assert_eq (got, 0, "the client has sent something");
}

void
play_swallow (int peer, size_t size)
{
    zpeer_buffer_reset (&s_request);
    while (s_request.size < size)
        s_read (peer, size - s_request.size);
}

void
play_send_bytes (int peer, const char *data, size_t size)
{
    time_t until = time (NULL) + LIMIT_S;
    while (size) {
        ssize_t sent = send (peer, data, size, MSG_NOSIGNAL);
        //  The client has gone: it does not want the rest
        if (sent < 0 && errno != EAGAIN)
            return;
        if (sent < 0)
            s_turn (-1, until);
        else {
            data += sent;
            size -= (size_t) sent;
        }
    }
}

void
play_send (int peer, const char *text)
{
    play_send_bytes (peer, text, strlen (text));
}

void
play_close (int peer)
{
    for (size_t i = 0; i < s_peer_count; i++)
        if (s_peers[i] == peer)
            s_peers[i] = -1;
    close (peer);
}

void
play_reset (int peer)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt (peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    play_close (peer);
}

void
play_result (zpeer_http_result_t *result)
{
    time_t until = time (NULL) + LIMIT_S;
    while (!zpeer_http_next (play_http, result))
        s_turn (-1, until);
}

void
play_until_wake (uint64_t wake)
{
    time_t until = time (NULL) + LIMIT_S;
    while (zpeer_http_wake (play_http) != wake)
        s_turn (-1, until);
}

void
play_pass (uint64_t ms)
{
    play_now += ms;
    zpeer_http_perform (play_http, play_now);
}
