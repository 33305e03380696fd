/*  log.h - from a message of the table to the host's log function

        zpeer_log (&self->log, PEER_REFUSED, url, reason);

    The arguments are checked against the message's format when it is compiled.

    Threads: any. Blocking: as the host's function does.
*/
#ifndef ZPEER_LOG_IMPL_H_INCLUDED
#define ZPEER_LOG_IMPL_H_INCLUDED

#include "messages.h"

//  Longest text with NUL; what is longer ends in "..."
#define ZPEER_LOG_TEXT_MAX 1024

typedef struct {
    zpeer_log_fn *fn;  //  NULL: nobody listens
    void *arg;         //  Borrowed
} zpeer_log_t;

//  What the table says of one message
typedef struct {
    const char *id;
    const char *format;
    const char *advice;
    zpeer_log_level_t level;
} zpeer_message_info_t;

//  Static; NULL when out of range
const zpeer_message_info_t *zpeer_message_info (zpeer_message_t message);

//  Each message's format, where the compiler sees it
#define X(name, id, level, format, advice)                                     \
    static const char ZPR_FORMAT_##name[] __attribute__ ((unused)) = format;
ZPEER_MESSAGES (X)
#undef X

//  Hands message ZPR_name to the host. What is no text (utf8.h) is
//  replaced: it stays one line whatever a peer or a feeder wrote.
#define zpeer_log(self, name, ...)                                             \
    zpeer_log_write ((self), ZPR_##name, ZPR_FORMAT_##name, __VA_ARGS__)

void zpeer_log_write (const zpeer_log_t *self, zpeer_message_t message,
                      const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

#endif
