/*  stderr_log.c - the engine's messages as lines on standard error
 */
#include <assert.h>
#include <inttypes.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "stderr_log.h"
#include "banned.h"

//  Longest line: a pipe takes so much in one piece, whoever else writes to it
#define LINE_MAX_BYTES PIPE_BUF

//  Lines that wait, bytes
#define WAITING_MAX 262144

//  Room for a time, and for the line about lost lines
#define TIME_MAX 32
#define LOST_MAX 128

struct stderr_log {
    zpeer_log_level_t level;  //  Lowest that is written
    pthread_t thread;
    pthread_mutex_t mutex;  //  Guards what follows
    pthread_cond_t wake;    //  Something waits, or it is the end
    pthread_cond_t idle;    //  Nothing waits, and nothing is being written
    char *waiting;          //  Owned; whole lines
    size_t size;
    uint64_t lost;  //  Lines left out since the last that was taken
    bool writing;
    bool ends;
    bool alone;  //  Nobody waits for the thread: it frees all this
};

//  Now and so many ms, as pthread_cond_timedwait wants it
static struct timespec
s_in (int64_t ms)
{
    struct timespec at;
    clock_gettime (CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t) (ms / 1000);
    at.tv_nsec += (long) (ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static void
s_time (char text[TIME_MAX])
{
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    struct tm utc;
    gmtime_r (&now.tv_sec, &utc);
    size_t used = strftime (text, TIME_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf (text + used, TIME_MAX - used, ".%03dZ",
              (int) (now.tv_nsec / 1000000));
}

//  Nothing that comes from a peer may begin a line or steer a terminal
static void
s_tame (char *line, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char) line[i] < ' ' || line[i] == 127)
            line[i] = '?';
}

static size_t
s_format (char line[LINE_MAX_BYTES], zpeer_log_level_t level, const char *id,
          const char *text)
{
    char time_text[TIME_MAX];
    s_time (time_text);
    int length = snprintf (line, LINE_MAX_BYTES, "%s %s %s %s", time_text,
                           zpeer_log_level_name (level), id, text);
    size_t size = length < 0 ? 0 : (size_t) length;
    if (size > LINE_MAX_BYTES - 1)
        size = LINE_MAX_BYTES - 1;
    s_tame (line, size);
    line[size] = '\n';
    return size + 1;
}

//  Somebody else may have made standard error one that does not block
static bool
s_wait_for_room (void)
{
    struct pollfd item = {.fd = STDERR_FILENO, .events = POLLOUT};
    return errno == EINTR ||
           (errno == EAGAIN && (poll (&item, 1, -1) == 1 || errno == EINTR));
}

//  What cannot be written is dropped: there is nobody to tell
static void
s_write (const char *text, size_t size)
{
    while (size) {
        ssize_t written = write (STDERR_FILENO, text, size);
        if (!written || (written < 0 && !s_wait_for_room ()))
            return;
        if (written > 0) {
            text += written;
            size -= (size_t) written;
        }
    }
}

//  Bytes of the first lines, so many that a pipe takes them in one piece
static size_t
s_piece (const stderr_log_t *self)
{
    size_t size = 0;
    while (size < self->size) {
        const char *line = self->waiting + size;
        const char *end = (const char *) memchr (line, '\n', self->size - size);
        size_t next = (size_t) (end - self->waiting) + 1;
        if (next > LINE_MAX_BYTES)
            break;
        size = next;
    }
    return size;
}

static void
s_free (stderr_log_t *self)
{
    pthread_mutex_destroy (&self->mutex);
    pthread_cond_destroy (&self->wake);
    pthread_cond_destroy (&self->idle);
    free (self->waiting);
    free (self);
}

static void *
s_run (void *arg)
{
    stderr_log_t *self = (stderr_log_t *) arg;
    char piece[LINE_MAX_BYTES];
    pthread_mutex_lock (&self->mutex);
    while (self->size || !self->ends) {
        if (!self->size) {
            pthread_cond_wait (&self->wake, &self->mutex);
            continue;
        }
        size_t size = s_piece (self);
        memcpy (piece, self->waiting, size);
        self->size -= size;
        memmove (self->waiting, self->waiting + size, self->size);
        self->writing = true;
        pthread_mutex_unlock (&self->mutex);
        s_write (piece, size);
        pthread_mutex_lock (&self->mutex);
        self->writing = false;
        if (!self->size)
            pthread_cond_broadcast (&self->idle);
    }
    bool alone = self->alone;
    pthread_mutex_unlock (&self->mutex);
    if (alone)
        s_free (self);
    return NULL;
}

stderr_log_t *
stderr_log_new (zpeer_log_level_t level)
{
    stderr_log_t *self = (stderr_log_t *) calloc (1, sizeof *self);
    assert (self);
    self->level = level;
    self->waiting = (char *) malloc (WAITING_MAX);
    assert (self->waiting);
    pthread_condattr_t clock;
    pthread_condattr_init (&clock);
    pthread_condattr_setclock (&clock, CLOCK_MONOTONIC);
    pthread_mutex_init (&self->mutex, NULL);
    pthread_cond_init (&self->wake, NULL);
    pthread_cond_init (&self->idle, &clock);
    pthread_condattr_destroy (&clock);
    sigset_t all;
    sigset_t before;
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &before);
    errno = pthread_create (&self->thread, NULL, s_run, self);
    pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (!errno)
        return self;
    int why = errno;
    s_free (self);
    errno = why;
    return NULL;
}

bool
stderr_log_flush (stderr_log_t *self, int64_t limit_ms)
{
    struct timespec until = s_in (limit_ms);
    int rc = 0;
    pthread_mutex_lock (&self->mutex);
    while ((self->size || self->writing) && !rc)
        rc = pthread_cond_timedwait (&self->idle, &self->mutex, &until);
    bool flushed = !self->size && !self->writing;
    pthread_mutex_unlock (&self->mutex);
    return flushed;
}

void
stderr_log_destroy (stderr_log_t **self_p)
{
    stderr_log_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    bool flushed = stderr_log_flush (self, STDERR_LOG_END_MS);
    pthread_t thread = self->thread;
    pthread_mutex_lock (&self->mutex);
    self->ends = true;
    self->size = 0;
    self->alone = !flushed;
    pthread_cond_signal (&self->wake);
    pthread_mutex_unlock (&self->mutex);
    if (!flushed) {  //  It writes, perhaps for as long as the process lives
        pthread_detach (thread);
        return;
    }
    pthread_join (thread, NULL);
    s_free (self);
}

//  False: there is no room
static bool
s_take (stderr_log_t *self, const char *line, size_t size)
{
    if (size > WAITING_MAX - self->size)
        return false;
    memcpy (self->waiting + self->size, line, size);
    self->size += size;
    return true;
}

//  Tells how many lines were left out, once there is room again
static void
s_take_lost (stderr_log_t *self)
{
    char text[LOST_MAX];
    char line[LINE_MAX_BYTES];
    snprintf (text, sizeof text, "%" PRIu64 " lines of log left out",
              self->lost);
    size_t size = s_format (line, ZPEER_LOG_WARNING, STDERR_LOG_LOST_ID, text);
    if (s_take (self, line, size))
        self->lost = 0;
}

void
stderr_log (void *arg, zpeer_log_level_t level, const char *id,
            const char *text)
{
    stderr_log_t *self = (stderr_log_t *) arg;
    assert (self);
    if (level < self->level)
        return;
    char line[LINE_MAX_BYTES];
    size_t size = s_format (line, level, id, text);
    pthread_mutex_lock (&self->mutex);
    if (self->lost > 0)
        s_take_lost (self);
    if (self->lost > 0 || !s_take (self, line, size))
        self->lost++;
    pthread_cond_signal (&self->wake);
    pthread_mutex_unlock (&self->mutex);
}

int
stderr_log_parse_level (const char *name, zpeer_log_level_t *level)
{
    for (zpeer_log_level_t i = ZPEER_LOG_DEBUG; i <= ZPEER_LOG_ERROR; i++)
        if (!strcmp (name, zpeer_log_level_name (i))) {
            *level = i;
            return ZPEER_OK;
        }
    return ZPEER_E_UNKNOWN;
}
