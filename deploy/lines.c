/*  lines.c - reads a file or pipe line by line, or whole
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lines.h"
#include "banned.h"

//  How much the buffer is at first, and how much one read asks for at least
#define CHUNK ((size_t) 64 * 1024)

struct lines {
    int fd;            //  Owned unless it is standard input
    char *data;        //  Owned; room bytes
    size_t room;       //  Of data
    size_t used;       //  Bytes in data
    size_t line;       //  Where the line given last begins
    size_t next;       //  Where the next one begins
    size_t searched;   //  No line end in next..searched
    bool at_end;       //  read has said so
    uint64_t number;   //  Of the line given last
    uint64_t dropped;  //  Bytes that have left data at its front
    uint64_t total;    //  Size of a regular file, 0 otherwise
};

void
lines_close (lines_t **self_p)
{
    assert (self_p);
    lines_t *self = *self_p;
    if (!self)
        return;
    if (self->fd > STDIN_FILENO)
        close (self->fd);
    free (self->data);
    free (self);
    *self_p = NULL;
}

lines_t *
lines_open (const char *path)
{
    int fd = STDIN_FILENO;
    if (strcmp (path, "-") != 0)
        fd = open (path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;

    lines_t *self = calloc (1, sizeof *self);
    assert (self);
    self->fd = fd;
    self->room = CHUNK;
    self->data = malloc (self->room);
    assert (self->data);
    struct stat status;
    if (fstat (fd, &status) == 0 && S_ISREG (status.st_mode))
        self->total = (uint64_t) status.st_size;
    return self;
}

//  Forgets what lies before from
static void
s_drop_front (lines_t *self, size_t from)
{
    memmove (self->data, self->data + from, self->used - from);
    self->used -= from;
    self->dropped += from;
    self->next -= from;
    self->searched -= from;
    self->line = 0;
}

//  Reads once more into data, which keeps everything from keep on. Returns
//  ZPEER_OK, ZPEER_E_AGAIN at the end, ZPEER_E_TOO_LARGE or ZPEER_E_IO.
static int
s_fill (lines_t *self, size_t keep)
{
    if (self->at_end)
        return ZPEER_E_AGAIN;
    if (keep > 0)
        s_drop_front (self, keep);
    if (self->used >= LINES_MAX)
        return ZPEER_E_TOO_LARGE;
    if (self->room - self->used < CHUNK) {
        self->room = 2 * self->room + CHUNK;
        self->data = realloc (self->data, self->room);
        assert (self->data);
    }
    ssize_t got;
    do
        got = read (self->fd, self->data + self->used, self->room - self->used);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return ZPEER_E_IO;
    if (got == 0) {
        self->at_end = true;
        return ZPEER_E_AGAIN;
    }
    self->used += (size_t) got;
    return ZPEER_OK;
}

//  Where the line at next ends, or NULL if that is not in data
static char *
s_line_end (lines_t *self)
{
    char *end =
        memchr (self->data + self->searched, '\n', self->used - self->searched);
    self->searched = end ? (size_t) (end - self->data) : self->used;
    return end;
}

//  Hands out the line that ends before end and goes on behind it
static void
s_take (lines_t *self, size_t end, const char **text, size_t *size)
{
    self->line = self->next;
    self->number++;
    *text = self->data + self->line;
    *size = end - self->line;
    self->next = end < self->used ? end + 1 : end;
    self->searched = self->next;
}

int
lines_next (lines_t *self, const char **text, size_t *size)
{
    assert (self);
    char *end = s_line_end (self);
    while (!end) {
        int rc = s_fill (self, self->next);
        if (rc == ZPEER_E_AGAIN && self->next < self->used)
            end = self->data + self->used;  //  The last, without a line end
        else if (rc != ZPEER_OK)
            return rc;
        else
            end = s_line_end (self);
    }
    s_take (self, (size_t) (end - self->data), text, size);
    return ZPEER_OK;
}

int
lines_rest (lines_t *self, const char **text, size_t *size)
{
    assert (self);
    int rc = s_fill (self, self->line);
    while (rc == ZPEER_OK)
        rc = s_fill (self, 0);
    if (rc != ZPEER_E_AGAIN)
        return rc;
    *text = self->data + self->line;
    *size = self->used - self->line;
    return ZPEER_OK;
}

void
lines_end (lines_t *self)
{
    assert (self);
    self->next = self->used;
    self->searched = self->used;
}

bool
lines_wait (lines_t *self, int timeout_ms)
{
    assert (self);
    if (self->at_end || s_line_end (self))
        return true;
    struct pollfd item = {.fd = self->fd, .events = POLLIN};
    return poll (&item, 1, timeout_ms) > 0;
}

uint64_t
lines_number (const lines_t *self)
{
    assert (self);
    return self->number;
}

int64_t
lines_age (const lines_t *self)
{
    assert (self);
    struct stat status;
    struct timespec now;
    if (fstat (self->fd, &status) || !S_ISREG (status.st_mode))
        return 0;
    clock_gettime (CLOCK_REALTIME, &now);
    int64_t age = (int64_t) (now.tv_sec - status.st_mtim.tv_sec) * 1000;
    return age > 0 ? age : 0;
}

uint64_t
lines_done (const lines_t *self)
{
    assert (self);
    return self->dropped + self->next;
}

uint64_t
lines_total (const lines_t *self)
{
    assert (self);
    return self->total;
}
