/*  test_crowd.c - more connect than there are descriptors
*/
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <czmq.h>
#include "socket.h"
#include "stage.h"
#include "banned.h"

//  Descriptors of the host, how many connect and say nothing, and descriptors
//  for those
#define DESCRIPTORS 256
#define CROWD       600
#define ENOUGH      1000

static char s_directory[] = "/tmp/zpeer-crowd-XXXXXX";
static char s_endpoint[ZPEER_ENDPOINT_MAX];

static void
s_setup (void)
{
    cr_assert (mkdtemp (s_directory));
    snprintf (s_endpoint, sizeof s_endpoint, "ipc://%s/events", s_directory);
}

static void
s_teardown (void)
{
    unlink (s_endpoint + strlen ("ipc://"));
    rmdir (s_directory);
}

TestSuite (crowd, .init = s_setup, .fini = s_teardown);

//  A host in a process of its own, with few descriptors, until the other end of
//  the pipe is closed. Ends with 0 when all is well.
static int
s_host (int pipe)
{
    struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
    setrlimit (RLIMIT_NOFILE, &limit);
    zpeer_engine_t *engine = stage_engine_new (NULL);
    zpeer_engine_set (engine, "zpeer.events.endpoint", s_endpoint);
    int rc = zpeer_engine_start (engine);
    char byte;
    while (rc == ZPEER_OK && read (pipe, &byte, 1) > 0)
        continue;
    zpeer_engine_destroy (&engine);
    return rc == ZPEER_OK ? 0 : 1;
}

//  Connects and says nothing
static int
s_connect (void)
{
    const struct timeval limit = {STAGE_WAIT_MS / 1000, 0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = s_endpoint + strlen ("ipc://");
    memcpy (address.sun_path, path, strlen (path));
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    cr_assert_eq (connect (fd, (struct sockaddr *) &address, sizeof address), 0,
                  "%s", strerror (errno));
    return fd;
}

//  Waits until the other side hangs up, after what libzmq says first
static void
s_expect_refused (int fd)
{
    char bytes[256];
    ssize_t got = 1;
    while (got > 0)
        got = recv (fd, bytes, sizeof bytes, 0);
    cr_expect (got == 0 || errno != EAGAIN);
}

Test (crowd, who_was_there_is_served_on)
{
    int ends[2];
    cr_assert_eq (pipe (ends), 0);
    pid_t host = fork ();
    cr_assert_geq (host, 0);
    if (host == 0) {
        close (ends[1]);
        _exit (s_host (ends[0]));
    }
    close (ends[0]);
    struct rlimit limit = {ENOUGH, ENOUGH};
    setrlimit (RLIMIT_NOFILE, &limit);

    zpeer_feed_t *feed = zpeer_feed_new (s_endpoint, 0);
    stage_register (feed, "1");
    int fds[CROWD];
    for (int i = 0; i < CROWD; i++) {
        fds[i] = s_connect ();
        if (i >= DESCRIPTORS / 2)
            s_expect_refused (fds[i]);
    }
    stage_register (feed, "2");
    cr_expect_eq (waitpid (host, NULL, WNOHANG), 0, "the host has ended");

    for (int i = 0; i < CROWD; i++)
        close (fds[i]);
    stage_register (feed, "3");
    zpeer_feed_destroy (&feed);
    close (ends[1]);
    int status;
    cr_assert_eq (waitpid (host, &status, 0), host);
    cr_expect_eq (status, 0, "%x", (unsigned) status);
}
