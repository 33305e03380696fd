/*  ipc_path.c - the file an ipc:// endpoint is, and its directory
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "ipc_path.h"
#include "banned.h"

#define SCHEME "ipc://"

//  Longest path of a socket, NUL included
#define SOCKET_PATH_MAX sizeof (((struct sockaddr_un *) NULL)->sun_path)

//  The path of an ipc endpoint; NULL for another transport, an abstract name, or
//  one that libzmq chooses
static const char *
s_path (const char *endpoint)
{
    size_t scheme = strlen (SCHEME);
    if (strncmp (endpoint, SCHEME, scheme) != 0)
        return NULL;
    const char *path = endpoint + scheme;
    return *path == '@' || *path == '*' ? NULL : path;
}

//  The directory part of an ipc endpoint's path. Returns false if there is no
//  directory to create, or if the path is longer than a socket's may be, which
//  binding will say.
static bool
s_directory (const char *endpoint, char directory[SOCKET_PATH_MAX])
{
    const char *path = s_path (endpoint);
    const char *slash = path ? strrchr (path, '/') : NULL;
    if (!slash || slash == path)
        return false;
    size_t length = (size_t) (slash - path);
    if (length >= SOCKET_PATH_MAX)
        return false;
    memcpy (directory, path, length);
    directory[length] = '\0';
    return true;
}

int
ipc_path_prepare (const char *endpoint, char error[IPC_PATH_ERROR_MAX])
{
    assert (endpoint);
    char directory[SOCKET_PATH_MAX];
    if (!s_directory (endpoint, directory))
        return ZPEER_OK;
    struct stat status;
    if (mkdir (directory, 0755) == 0)
        return ZPEER_OK;
    int cause = errno;
    if (stat (directory, &status) == 0) {
        if (S_ISDIR (status.st_mode))
            return ZPEER_OK;
        cause = ENOTDIR;
    }
    snprintf (error, IPC_PATH_ERROR_MAX,
              "cannot create directory %s: %s. Create it once as root (install "
              "-d -o USER %s), or let systemd do it (RuntimeDirectory=zpeer in "
              "the unit), or choose other endpoints with --events, --outcomes "
              "and --control, for instance ipc:///tmp/zpeer-events",
              directory, strerror (cause), directory);
    return ZPEER_E_BIND;
}

//  Tries to connect to a socket. Returns 0 if somebody listens, or errno.
static int
s_connect (const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen (path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy (address.sun_path, path, strlen (path));
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int rc = connect (fd, (const struct sockaddr *) &address, sizeof address);
    int cause = rc ? errno : 0;
    close (fd);
    return cause;
}

//  What is wrong with binding a path: 0, or an errno
static int
s_look (const char *path)
{
    struct stat status;
    if (lstat (path, &status) != 0)
        return 0;  //  Nothing there, or binding says why it cannot be
    if (!S_ISSOCK (status.st_mode))
        return EEXIST;
    int cause = s_connect (path);
    switch (cause) {
    case ECONNREFUSED:
    case ENOENT: return 0;  //  Nobody any more
    case EAGAIN:            //  More wait there than it takes
    case 0: return EADDRINUSE;
    default: return cause;
    }
}

int
ipc_path_claim (const char *endpoint, char error[IPC_PATH_ERROR_MAX])
{
    assert (endpoint);
    const char *path = s_path (endpoint);
    int cause = path ? s_look (path) : 0;
    if (cause == 0)
        return ZPEER_OK;
    snprintf (error, IPC_PATH_ERROR_MAX, "%s: %s", endpoint, strerror (cause));
    return ZPEER_E_BIND;
}

int
ipc_path_reach (const char *endpoint)
{
    assert (endpoint);
    const char *path = s_path (endpoint);
    struct stat status;
    if (!path)
        return -1;
    if (stat (path, &status) != 0)
        return errno;
    if (!S_ISSOCK (status.st_mode))
        return ENOTSOCK;
    int cause = s_connect (path);
    return cause == EAGAIN ? 0 : cause;
}

uint64_t
ipc_path_inode (const char *endpoint)
{
    assert (endpoint);
    const char *path = s_path (endpoint);
    struct stat status;
    if (!path || lstat (path, &status) != 0 || !S_ISSOCK (status.st_mode))
        return 0;
    return status.st_ino;
}

void
ipc_path_remove (const char *endpoint, uint64_t inode)
{
    if (inode != 0 && ipc_path_inode (endpoint) == inode)
        unlink (s_path (endpoint));
}
