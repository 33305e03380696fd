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

static zsock_t *s_sock;
static zpeer_doorman_t *s_doorman;
static char s_endpoint[ZPEER_ENDPOINT_MAX];

static void
s_open (const char *endpoint, uint32_t max)
{
    s_sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    s_doorman = zpeer_doorman_new (s_sock, max);
    cr_assert (s_doorman);
    cr_assert_eq (zpeer_socket_bind (s_sock, endpoint, s_endpoint), ZPEER_OK);
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

//  Lets the doorman work until it has refused so many, and so many are left
static void
s_work_until (uint32_t refused, uint32_t connected)
{
    uint32_t count = 0;
    do {
        zpeer_inlet_t *inlet = zpeer_doorman_inlet (s_doorman);
        zpeer_inlet_wait (&inlet, 1, NULL, 0, WAIT_MS);
        cr_assert (inlet->ready, "%u refused, %u connected", count,
                   zpeer_doorman_connected (s_doorman));
        count += zpeer_doorman_work (s_doorman);
    } while (count != refused ||
             zpeer_doorman_connected (s_doorman) != connected);
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
