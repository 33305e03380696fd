/*  stderr_log.c - the engine's messages as lines on standard error
 */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "stderr_log.h"
#include "banned.h"

//  Longest line. A pipe that is ready takes this much without blocking, and in
//  one piece.
#define LINE_MAX_BYTES PIPE_BUF

//  Room for a time, and for the line about lost lines
#define TIME_MAX 32
#define LOST_MAX 128

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

//  Writes if that does not block
static bool
s_write (const char *line, size_t size)
{
    struct pollfd item = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll (&item, 1, 0) != 1 || !(item.revents & POLLOUT))
        return false;
    return write (STDERR_FILENO, line, size) == (ssize_t) size;
}

//  Tells how many lines were left out, once there is room again
static void
s_write_lost (stderr_log_t *self)
{
    char text[LOST_MAX];
    char line[LINE_MAX_BYTES];
    snprintf (text, sizeof text, "%" PRIu64 " lines of log left out",
              self->lost);
    size_t size = s_format (line, ZPEER_LOG_WARNING, STDERR_LOG_LOST_ID, text);
    if (s_write (line, size))
        self->lost = 0;
}

void
stderr_log (void *arg, zpeer_log_level_t level, const char *id,
            const char *text)
{
    stderr_log_t *self = arg;
    assert (self);
    if (level < self->level)
        return;
    char line[LINE_MAX_BYTES];
    size_t size = s_format (line, level, id, text);
    pthread_mutex_lock (&self->mutex);
    if (self->lost > 0)
        s_write_lost (self);
    if (self->lost > 0 || !s_write (line, size))
        self->lost++;
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
