/*  log.h - what the library has to say, to whoever listens

    The library writes nowhere. A host that wants its messages gives a function.
    Every message has an id that never changes; MESSAGES.md lists them with what
    to do about each.

    Threads: the function is called from the engine's threads, several at once;
    it must not block and must not call back into zpeer. Strings are valid
    during the call only. URLs come without credentials.
*/
#ifndef ZPEER_LOG_H_INCLUDED
#define ZPEER_LOG_H_INCLUDED

#include <zpeer/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    ZPEER_LOG_DEBUG,
    ZPEER_LOG_INFO,
    ZPEER_LOG_WARNING,
    ZPEER_LOG_ERROR
} zpeer_log_level_t;

typedef void (zpeer_log_fn) (void *arg, zpeer_log_level_t level, const char *id,
                             const char *text);

//  Lower-case name of a level; static
ZPEER_EXPORT const char *zpeer_log_level_name (zpeer_log_level_t level);

#ifdef __cplusplus
}
#endif

#endif
