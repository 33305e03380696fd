#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <assert.h>
#include <czmq.h>
#include "reserve.h"
#include "socket.h"
#include "banned.h"

//  How long libzmq's reaper may take for the sockets that were only probes
#define REAP_MAX_MS 100

//  And how often it is looked at: it takes tens of microseconds
#define REAP_LOOK_NS 20000

//  From asking to creating; not a mutex, as another thread may end it. One
//  context a process, so one of these a process.
static pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t s_freed = PTHREAD_COND_INITIALIZER;
static bool s_busy = false;

//  Opens up to count descriptors, returns how many there were
static unsigned
s_open_descriptors (int *fds, unsigned count)
{
    unsigned got = 0;
    while (got < count && (fds[got] = eventfd (0, EFD_CLOEXEC)) >= 0)
        got++;
    return got;
}

static void
s_close_descriptors (const int *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        close (fds[i]);
}

static unsigned
s_open_sockets (void **sockets, unsigned count)
{
    void *context = zsys_init ();
    unsigned got = 0;
    while (got < count && (sockets[got] = zmq_socket (context, ZMQ_PAIR)))
        got++;
    return got;
}

//  Waits until a descriptor is closed, or until deadline: by then its number
//  has been given to somebody else
static void
s_await_closed (int fd, int64_t deadline)
{
    const struct timespec pause = {0, REAP_LOOK_NS};
    while (fcntl (fd, F_GETFD) != -1 && zclock_mono () < deadline)
        ppoll (NULL, 0, &pause, NULL);
}

//  Closes sockets and waits until the context has their places back: zmq_close
//  only hands a socket to the reaper, whose last act is to close its descriptor
static void
s_close_sockets (void **sockets, unsigned count)
{
    int fds[ZPEER_RESERVE_MAX];
    for (unsigned i = 0; i < count; i++) {
        size_t size = sizeof fds[i];
        int rc = zmq_getsockopt (sockets[i], ZMQ_FD, &fds[i], &size);
        assert (rc == 0);
        zmq_close (sockets[i]);
    }
    int64_t deadline = zclock_mono () + REAP_MAX_MS;
    for (unsigned i = 0; i < count; i++)
        s_await_closed (fds[i], deadline);
}

static int
s_probe (unsigned descriptors, unsigned sockets)
{
    int fds[ZPEER_RESERVE_MAX + ZPEER_RESERVE_MARGIN];
    void *probes[ZPEER_RESERVE_MAX];
    unsigned wanted = descriptors + ZPEER_RESERVE_MARGIN;
    unsigned fds_got = s_open_descriptors (fds, wanted);
    unsigned probes_got = 0;
    if (fds_got == wanted && sockets)
        probes_got = s_open_sockets (probes, sockets);
    s_close_descriptors (fds, fds_got);
    s_close_sockets (probes, probes_got);
    return fds_got == wanted && probes_got == sockets ? ZPEER_OK
                                                      : ZPEER_E_RESOURCES;
}

int
zpeer_reserve_begin (unsigned descriptors, unsigned sockets)
{
    assert (descriptors <= ZPEER_RESERVE_MAX);
    assert (sockets <= ZPEER_RESERVE_MAX);
    //  It asks for room itself: not under the mutex
    if (sockets && zpeer_socket_init ())
        return ZPEER_E_RESOURCES;
    pthread_mutex_lock (&s_mutex);
    while (s_busy)
        pthread_cond_wait (&s_freed, &s_mutex);
    s_busy = true;
    pthread_mutex_unlock (&s_mutex);
    int rc = s_probe (descriptors, sockets);
    if (rc)
        zpeer_reserve_end ();
    return rc;
}

void
zpeer_reserve_end (void)
{
    pthread_mutex_lock (&s_mutex);
    s_busy = false;
    pthread_cond_signal (&s_freed);
    pthread_mutex_unlock (&s_mutex);
}

int
zpeer_reserve (unsigned descriptors, unsigned sockets)
{
    int rc = zpeer_reserve_begin (descriptors, sockets);
    if (rc == ZPEER_OK)
        zpeer_reserve_end ();
    return rc;
}
