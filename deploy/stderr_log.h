/*  stderr_log.h - the engine's messages as lines on standard error

    One line a message: time in UTC, level, id, text.

        2025-03-01T12:00:00.123Z warning ZPR012 peer http://a:8761/ …

    A thread of its own writes them: a terminal that is stopped, or a pipe that
    nobody reads, keeps that thread and nobody else. So up to 256 KiB wait; lines
    beyond that are left out, and the next one that fits is preceded by how many.

    Threads: any number at once. Blocking: never, but for stderr_log_flush and
    stderr_log_destroy, which wait as long as they say.
*/
#ifndef STDERR_LOG_H_INCLUDED
#define STDERR_LOG_H_INCLUDED

#include <zpeer/log.h>

//  Id of the line that says how many were left out
#define STDERR_LOG_LOST_ID "ZPD006"

//  How long the end waits for what is not written yet, ms
#define STDERR_LOG_END_MS 1000

typedef struct stderr_log stderr_log_t;

//  Nothing below this level is written. Starts the thread, with all signals
//  blocked. NULL: there can be none; errno says why.
stderr_log_t *stderr_log_new (zpeer_log_level_t level);

//  Waits STDERR_LOG_END_MS at most until all is written; what is not by then is
//  lost. Nobody may log any more.
void stderr_log_destroy (stderr_log_t **self_p);

//  A zpeer_log_fn; arg is a stderr_log_t
void stderr_log (void *arg, zpeer_log_level_t level, const char *id,
                 const char *text);

//  Waits so many ms at most. Returns whether all is written.
bool stderr_log_flush (stderr_log_t *self, int64_t limit_ms);

//  The level of this name. Returns ZPEER_OK, or ZPEER_E_UNKNOWN.
int stderr_log_parse_level (const char *name, zpeer_log_level_t *level);

#endif
