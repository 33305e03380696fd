#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
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

//  A socket's file, and which one it is
struct zpeer_ipc_file {
    char *path;  //  Owned
    dev_t device;
    ino_t inode;
};

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

void
zpeer_ipc_note (zpeer_ipc_t *self, const char *endpoint)
{
    const char *path = s_path (endpoint);
    struct stat status;
    if (!path || lstat (path, &status))
        return;
    size_t size = (self->count + 1) * sizeof *self->files;
    self->files = (struct zpeer_ipc_file *) realloc (self->files, size);
    assert (self->files);
    struct zpeer_ipc_file *file = &self->files[self->count++];
    *file = (struct zpeer_ipc_file){
        .path = strdup (path),
        .device = status.st_dev,
        .inode = status.st_ino,
    };
    assert (file->path);
}

void
zpeer_ipc_remove (zpeer_ipc_t *self)
{
    for (size_t i = 0; i < self->count; i++) {
        struct zpeer_ipc_file *file = &self->files[i];
        struct stat status;
        //  While the socket is open its inode is nobody else's
        if (lstat (file->path, &status) == 0 && status.st_dev == file->device &&
            status.st_ino == file->inode)
            unlink (file->path);
        free (file->path);
    }
    free (self->files);
    *self = (zpeer_ipc_t){0};
}
