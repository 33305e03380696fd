#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <czmq.h>
#include <zpeer/base.h>
#include "ipc.h"
#include "banned.h"

//  How long somebody may go on listening: it may be a socket we have closed
#define CLOSING_MAX_MS 100

//  And how often it is looked at
#define LOOK_NS 1000000

//  The path of an ipc endpoint that is a file's, and fits; NULL: none
static const char *
s_path (const char *endpoint)
{
    static const char scheme[] = "ipc://";
    if (strncmp (endpoint, scheme, sizeof scheme - 1) != 0)
        return NULL;
    const char *path = endpoint + sizeof scheme - 1;
    size_t size = strlen (path) + 1;
    bool named = *path && *path != '@' && *path != '*';
    return named && size <= sizeof ((struct sockaddr_un *) NULL)->sun_path
               ? path
               : NULL;
}

//  Tries to connect. Returns what it said: 0, or errno.
static int
s_connect (const char *path)
{
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy (address.sun_path, path, strlen (path));
    int rc = connect (fd, (struct sockaddr *) &address, sizeof address);
    int error = rc ? errno : 0;
    close (fd);
    return error;
}

//  What is wrong with binding the path: 0, or an errno
static int
s_look (const char *path)
{
    struct stat status;
    if (lstat (path, &status))
        return 0;  //  Nothing there, or binding says why it cannot be
    if (!S_ISSOCK (status.st_mode))
        return EEXIST;
    int error = s_connect (path);
    switch (error) {
    case ECONNREFUSED:
    case ENOENT: return 0;  //  Nobody any more
    case EAGAIN:            //  More wait there than it takes
    case 0: return EADDRINUSE;
    default: return error;
    }
}

int
zpeer_ipc_claim (const char *endpoint)
{
    const char *path = s_path (endpoint);
    if (!path)
        return ZPEER_OK;
    const struct timespec pause = {0, LOOK_NS};
    int64_t deadline = zclock_mono () + CLOSING_MAX_MS;
    int error = s_look (path);
    while (error == EADDRINUSE && zclock_mono () < deadline) {
        ppoll (NULL, 0, &pause, NULL);
        error = s_look (path);
    }
    errno = error;
    return error ? ZPEER_E_BIND : ZPEER_OK;
}
