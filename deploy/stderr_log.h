/*  stderr_log.h - the engine's messages as lines on standard error

    One line a message: time in UTC, level, id, text.

        2025-03-01T12:00:00.123Z warning ZPR012 peer http://a:8761/ …

    Threads: any number at once. Blocking: never. When whoever reads standard
    error is too slow, lines are left out, and the next one that fits is
    preceded by how many.
*/
#ifndef STDERR_LOG_H_INCLUDED
#define STDERR_LOG_H_INCLUDED

#include <pthread.h>
#include <zpeer/log.h>

//  Id of the line that says how many were left out
#define STDERR_LOG_LOST_ID "ZPD006"

typedef struct {
    zpeer_log_level_t level;  //  Lowest that is written
    pthread_mutex_t mutex;    //  Guards what follows
    uint64_t lost;            //  Lines left out since the last that was written
} stderr_log_t;

#define STDERR_LOG_INIT                                                        \
    {                                                                          \
        .level = ZPEER_LOG_INFO, .mutex = PTHREAD_MUTEX_INITIALIZER            \
    }

//  A zpeer_log_fn; arg is a stderr_log_t
void stderr_log (void *arg, zpeer_log_level_t level, const char *id,
                 const char *text);

//  The level of this name. Returns ZPEER_OK, or ZPEER_E_UNKNOWN.
int stderr_log_parse_level (const char *name, zpeer_log_level_t *level);

#endif
