#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "doorman.h"
#include "socket.h"
#include "banned.h"

#define WAIT_MS 5000
#define HWM     4
#define PLACES  3
#define LARGEST 100000

static zsock_t *s_sock;
static zpeer_doorman_t *s_doorman;
static char s_endpoint[ZPEER_ENDPOINT_MAX];

static zpeer_doorman_news_t s_news;

static void
s_open (const char *endpoint, uint32_t max)
{
    s_sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, LARGEST);
    s_doorman = zpeer_doorman_new (s_sock, max);
    cr_assert (s_doorman);
    cr_assert_eq (zpeer_socket_bind (s_sock, endpoint, s_endpoint, NULL),
                  ZPEER_OK);
}

static void
s_close (void)
{
    zpeer_doorman_destroy (&s_doorman);
    zsock_destroy (&s_sock);
}

TestSuite (doorman, .fini = s_close);

//  A connection of somebody who says nothing
static int
s_connect (void)
{
    bool tcp = strncmp (s_endpoint, "tcp:", 4) == 0;
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET,
                               .sin_addr = {htonl (INADDR_LOOPBACK)}};
    int fd = socket (tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    int rc;
    if (tcp) {
        const char *digits = strrchr (s_endpoint, ':') + 1;
        port.sin_port = htons ((uint16_t) strtoul (digits, NULL, 10));
        rc = connect (fd, (struct sockaddr *) &port, sizeof port);
    }
    else {
        const char *name = s_endpoint + strlen ("ipc://");
        memcpy (path.sun_path, name, strlen (name));
        if (*name == '@')
            path.sun_path[0] = 0;
        rc = connect (fd, (struct sockaddr *) &path,
                      (socklen_t) (offsetof (struct sockaddr_un, sun_path) +
                                   strlen (name)));
    }
    cr_assert_eq (rc, 0, "%s: %s", s_endpoint, strerror (errno));
    return fd;
}

//  Lets the doorman work once, and adds what it says to s_news
static void
s_work (void)
{
    zpeer_doorman_news_t news;
    zpeer_inlet_t *inlet = zpeer_doorman_inlet (s_doorman);
    zpeer_inlet_wait (&inlet, 1, NULL, 0, INT64_C (1000) * WAIT_MS);
    cr_assert (inlet->ready, "%u refused, %u cut, %u connected", s_news.refused,
               s_news.cut, zpeer_doorman_connected (s_doorman));
    zpeer_doorman_work (s_doorman, &news);
    s_news.refused += news.refused;
    s_news.cut += news.cut;
    s_news.unseen += news.unseen;
    if (*news.endpoint)
        memcpy (s_news.endpoint, news.endpoint, sizeof news.endpoint);
}

//  Lets it work until it has refused so many, and so many are left
static void
s_work_until (uint32_t refused, uint32_t connected)
{
    s_news = (zpeer_doorman_news_t){0};
    do
        s_work ();
    while (s_news.refused != refused ||
           zpeer_doorman_connected (s_doorman) != connected);
    cr_expect_eq (s_news.cut, 0);
}

//  Whether the other side has hung up, after what libzmq says first
static bool
s_is_over (int fd, int timeout_ms)
{
    char bytes[256];
    ssize_t got = 1;
    struct pollfd item = {fd, POLLIN, 0};
    while (got > 0 && poll (&item, 1, timeout_ms) == 1)
        got = recv (fd, bytes, sizeof bytes, 0);
    return got <= 0;
}

static void
s_check (const char *endpoint)
{
    s_open (endpoint, PLACES);
    int fds[PLACES];
    for (uint32_t i = 0; i < PLACES; i++) {
        fds[i] = s_connect ();
        s_work_until (0, i + 1);
    }
    int late = s_connect ();
    s_work_until (1, PLACES);
    cr_expect (s_is_over (late, WAIT_MS));
    for (uint32_t i = 0; i < PLACES; i++)
        cr_expect_not (s_is_over (fds[i], 0));

    //  Whose place is free may be taken
    close (fds[0]);
    s_work_until (0, PLACES - 1);
    fds[0] = s_connect ();
    s_work_until (0, PLACES);
    cr_expect_not (s_is_over (fds[0], 0));
    close (late);
    for (uint32_t i = 0; i < PLACES; i++)
        close (fds[i]);
}

Test (doorman, over_ipc_the_newest_is_refused)
{
    char directory[] = "/tmp/zpeer-door-XXXXXX";
    char endpoint[ZPEER_ENDPOINT_MAX];
    cr_assert (mkdtemp (directory));
    snprintf (endpoint, sizeof endpoint, "ipc://%s/socket", directory);
    s_check (endpoint);
    unlink (endpoint + strlen ("ipc://"));
    rmdir (directory);
}

Test (doorman, at_an_abstract_name_the_newest_is_refused)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    snprintf (endpoint, sizeof endpoint, "ipc://@zpeer-door-%ld",
              (long) getpid ());
    s_check (endpoint);
}

Test (doorman, over_tcp_the_newest_is_refused)
{
    s_check ("tcp://127.0.0.1:*");
}

Test (doorman, over_ipv6_the_newest_is_refused)
{
    s_check ("tcp://*:*");
}

Test (doorman, without_it_the_socket_goes_on)
{
    s_open ("tcp://127.0.0.1:*", PLACES);
    zpeer_doorman_destroy (&s_doorman);
    zsock_t *feed = zpeer_socket_new (ZPEER_ROLE_FEED, HWM, -1);
    zpeer_slice_t frame = zpeer_slice_str ("event");
    cr_assert_eq (zpeer_socket_connect (feed, s_endpoint), ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (feed, ZMQ_POLLOUT, WAIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (feed, &frame, 1), ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (s_sock, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
    zsock_destroy (&feed);
}

Test (doorman, half_of_the_descriptors_are_for_others)
{
    struct rlimit limit = {100, 100};
    cr_assert_eq (setrlimit (RLIMIT_NOFILE, &limit), 0);
    s_open ("tcp://127.0.0.1:*", 1000);
    cr_expect_eq (zpeer_doorman_max (s_doorman), 50);
    s_close ();
    s_open ("tcp://127.0.0.1:*", 10);
    cr_expect_eq (zpeer_doorman_max (s_doorman), 10);
}

//  Those libzmq cuts off -----------------------------------------------------

//  A client of this role, connected
static zsock_t *
s_client (zpeer_role_t role)
{
    zsock_t *client = zpeer_socket_new (role, HWM, -1);
    cr_assert_eq (zpeer_socket_connect (client, s_endpoint), ZPEER_OK);
    while (!zpeer_doorman_connected (s_doorman))
        s_work ();
    return client;
}

static void
s_send (zsock_t *client, size_t size)
{
    static char bytes[LARGEST + 1];
    zpeer_slice_t frame = {bytes, size};
    cr_assert_eq (zpeer_socket_wait (client, ZMQ_POLLOUT, WAIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (client, &frame, 1), ZPEER_OK);
}

static void
s_check_frame (const char *endpoint)
{
    s_open (endpoint, PLACES);
    zsock_t *client = s_client (ZPEER_ROLE_FEED);
    s_send (client, LARGEST);
    cr_assert_eq (zpeer_socket_wait (s_sock, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
    cr_expect_eq (s_news.cut, 0);
    s_send (client, LARGEST + 1);
    while (!s_news.cut)
        s_work ();
    cr_expect_str_eq (s_news.endpoint, s_endpoint);
    zsock_destroy (&client);
}

Test (doorman, over_tcp_a_frame_too_large_is_told)
{
    s_check_frame ("tcp://127.0.0.1:*");
}

Test (doorman, over_ipc_a_frame_too_large_is_told)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    snprintf (endpoint, sizeof endpoint, "ipc://@zpeer-door-%ld",
              (long) getpid ());
    s_check_frame (endpoint);
}

//  The greeting of a client (ZMTP 3, mechanism NULL), its READY, and the head of a
//  frame of 2^40 bytes
static const uint8_t s_in_one_go[] = {
    0xff, [9] = 0x7f, 3,   0, 'N', 'U', 'L', 'L', [64] = 4, 6, 5, 'R', 'E',
    'A',  'D',        'Y', 2, 0,   0,   1,   0,   0,        0, 0, 0};

//  Waits until libzmq has closed the connection
static void
s_wait_for_end (int fd)
{
    shutdown (fd, SHUT_WR);
    cr_assert (s_is_over (fd, WAIT_MS));
    close (fd);
}

//  All of it happens before the doorman looks
static void
s_check_haste (const char *endpoint)
{
    s_open (endpoint, PLACES);
    int fd = s_connect ();
    cr_assert_eq (write (fd, s_in_one_go, sizeof s_in_one_go),
                  sizeof s_in_one_go);
    s_wait_for_end (fd);
    while (!s_news.unseen)
        s_work ();
    cr_expect_eq (s_news.cut, 0);
    cr_expect_str_eq (s_news.endpoint, s_endpoint);
}

Test (doorman, over_tcp_a_frame_too_large_that_comes_at_once_is_told)
{
    s_check_haste ("tcp://127.0.0.1:*");
}

Test (doorman, over_ipc_a_frame_too_large_that_comes_at_once_is_told)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    snprintf (endpoint, sizeof endpoint, "ipc://@zpeer-door-%ld",
              (long) getpid ());
    s_check_haste (endpoint);
}

Test (doorman, a_port_that_is_probed_is_not_told)
{
    s_open ("tcp://127.0.0.1:*", PLACES);
    int fd = s_connect ();
    s_wait_for_end (fd);
    s_work ();
    while (zpeer_doorman_connected (s_doorman))
        s_work ();
    cr_expect_eq (s_news.refused + s_news.cut + s_news.unseen, 0);
}

//  The greeting of a client that wants encryption (ZMTP 3)
Test (doorman, a_client_that_does_not_fit_is_told)
{
    static const uint8_t greeting[64] = {0xff, [9] = 0x7f, 3,   0,  'C',
                                         'U',  'R',        'V', 'E'};
    s_open ("tcp://127.0.0.1:*", PLACES);
    int fd = s_connect ();
    s_work_until (0, 1);
    cr_assert_eq (write (fd, greeting, sizeof greeting), sizeof greeting);
    while (!s_news.cut)
        s_work ();
    close (fd);
}

//  Whatever it had sent has been read
Test (doorman, one_that_leaves_is_not_told)
{
    s_open ("tcp://127.0.0.1:*", PLACES);
    for (int i = 0; i < 2 * PLACES; i++) {
        zsock_t *client = s_client (ZPEER_ROLE_FEED);
        s_send (client, LARGEST);
        zsock_destroy (&client);
        while (zpeer_doorman_connected (s_doorman))
            s_work ();
    }
    cr_expect_eq (s_news.refused + s_news.cut + s_news.unseen, 0);
}

//  More than it can watch
Test (doorman, it_holds_no_more_descriptors_than_it_may)
{
    struct rlimit limit = {160, 160};
    int fds[40];
    cr_assert_eq (setrlimit (RLIMIT_NOFILE, &limit), 0);
    s_open ("tcp://127.0.0.1:*", 80);
    for (uint32_t i = 0; i < 40; i++) {
        fds[i] = s_connect ();
        s_work_until (0, i + 1);
    }
    int next = dup (0);
    cr_expect_leq (next, fds[39] + 1 + 160 / 16);
    close (next);
    for (uint32_t i = 0; i < 40; i++) {
        close (fds[i]);
        s_work_until (0, 39 - i);
    }
}
