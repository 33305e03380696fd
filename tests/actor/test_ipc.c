#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "socket.h"
#include "banned.h"

#define WAIT_MS 5000
#define HWM     4

static char s_directory[] = "/tmp/zpeer-ipc-XXXXXX";
static char s_endpoint[ZPEER_ENDPOINT_MAX];
static const char *s_path;

static void
s_setup (void)
{
    cr_assert (mkdtemp (s_directory));
    snprintf (s_endpoint, sizeof s_endpoint, "ipc://%s/socket", s_directory);
    s_path = s_endpoint + strlen ("ipc://");
}

static void
s_teardown (void)
{
    unlink (s_path);
    rmdir (s_directory);
}

TestSuite (ipc, .init = s_setup, .fini = s_teardown);

static zsock_t *
s_bound (void)
{
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_assert_eq (zpeer_socket_bind (sock, s_endpoint, NULL, NULL), ZPEER_OK,
                  "%s", zmq_strerror (errno));
    return sock;
}

static void
s_expect_refused (int error)
{
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_expect_eq (zpeer_socket_bind (sock, s_endpoint, NULL, NULL),
                  ZPEER_E_BIND);
    cr_expect_eq (errno, error, "%s", zmq_strerror (errno));
    zsock_destroy (&sock);
}

Test (ipc, a_socket_somebody_listens_on_is_in_use)
{
    zsock_t *first = s_bound ();
    s_expect_refused (EADDRINUSE);

    //  Whoever connects still comes to the first
    zsock_t *feed = zpeer_socket_new (ZPEER_ROLE_FEED, HWM, -1);
    zpeer_slice_t frame = zpeer_slice_str ("event");
    cr_assert_eq (zpeer_socket_connect (feed, s_endpoint), ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (feed, ZMQ_POLLOUT, WAIT_MS), ZPEER_OK);
    cr_assert_eq (zpeer_socket_send (feed, &frame, 1), ZPEER_OK);
    cr_assert_eq (zpeer_socket_wait (first, ZMQ_POLLIN, WAIT_MS), ZPEER_OK);
    zsock_destroy (&feed);
    zsock_destroy (&first);
}

Test (ipc, a_socket_just_closed_is_replaced)
{
    for (int i = 0; i < 20; i++) {
        zsock_t *sock = s_bound ();
        zsock_destroy (&sock);
    }
}

Test (ipc, a_socket_that_a_process_left_behind_is_replaced)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy (address.sun_path, s_path, strlen (s_path));
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq (bind (fd, (struct sockaddr *) &address, sizeof address), 0);
    close (fd);
    zsock_t *sock = s_bound ();
    zsock_destroy (&sock);
}

Test (ipc, what_is_no_socket_is_left_alone)
{
    FILE *file = fopen (s_path, "w");
    fputs ("precious", file);
    fclose (file);
    s_expect_refused (EEXIST);
    struct stat status;
    cr_assert_eq (stat (s_path, &status), 0);
    cr_expect_eq (status.st_size, 8);
}

Test (ipc, a_link_to_a_file_is_left_alone)
{
    cr_assert_eq (symlink ("/dev/null", s_path), 0);
    s_expect_refused (EEXIST);
}

Test (ipc, a_path_that_is_too_long_is_refused)
{
    char endpoint[ZPEER_ENDPOINT_MAX] = "ipc://";
    memset (endpoint + strlen (endpoint), 'x', 200);
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_expect_eq (zpeer_socket_bind (sock, endpoint, NULL, NULL), ZPEER_E_BIND);
    cr_expect_eq (errno, ENAMETOOLONG);
    zsock_destroy (&sock);
}

Test (ipc, an_abstract_name_needs_no_path)
{
    snprintf (s_endpoint, sizeof s_endpoint, "ipc://@zpeer-test-%ld",
              (long) getpid ());
    zsock_t *sock = s_bound ();
    s_expect_refused (EADDRINUSE);
    zsock_destroy (&sock);
}

//  What is left behind -------------------------------------------------------

static bool
s_is_there (void)
{
    return access (s_path, F_OK) == 0;
}

Test (ipc, what_was_bound_is_removed_when_it_is_closed)
{
    zpeer_ipc_t files = {0};
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_assert_eq (zpeer_socket_bind (sock, s_endpoint, NULL, &files), ZPEER_OK);
    cr_expect (s_is_there ());
    zpeer_socket_close (&sock, &files);
    cr_expect_null (sock);
    cr_expect_not (s_is_there ());
    zpeer_socket_close (&sock, &files);
}

Test (ipc, what_could_not_be_bound_stays)
{
    zpeer_ipc_t files = {0};
    zsock_t *first = s_bound ();
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_expect_eq (zpeer_socket_bind (sock, s_endpoint, NULL, &files),
                  ZPEER_E_BIND);
    zpeer_socket_close (&sock, &files);
    cr_expect (s_is_there ());
    zsock_destroy (&first);
}

//  Somebody who does not ask first has taken the path, as libzmq does
Test (ipc, a_socket_that_has_taken_its_place_stays)
{
    zpeer_ipc_t files = {0};
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    zsock_t *other = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    cr_assert_eq (zpeer_socket_bind (sock, s_endpoint, NULL, &files), ZPEER_OK);
    cr_assert_eq (zmq_bind (zsock_resolve (other), s_endpoint), 0);
    zpeer_socket_close (&sock, &files);
    cr_expect (s_is_there ());
    zsock_destroy (&other);
}

Test (ipc, all_that_one_socket_was_bound_at_is_removed)
{
    char second[ZPEER_ENDPOINT_MAX];
    zpeer_ipc_t files = {0};
    zsock_t *sock = zpeer_socket_new (ZPEER_ROLE_FEEDERS, HWM, -1);
    snprintf (second, sizeof second, "ipc://%s/second", s_directory);
    cr_assert_eq (zpeer_socket_bind (sock, s_endpoint, NULL, &files), ZPEER_OK);
    cr_assert_eq (zpeer_socket_bind (sock, "tcp://127.0.0.1:*", NULL, &files),
                  ZPEER_OK);
    cr_assert_eq (zpeer_socket_bind (sock, second, NULL, &files), ZPEER_OK);
    zpeer_socket_close (&sock, &files);
    cr_expect_not (s_is_there ());
    cr_expect_eq (access (second + strlen ("ipc://"), F_OK), -1);
}
