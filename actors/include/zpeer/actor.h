/*  actor.h - what all actors of zpeer share

    Every actor is started with zactor_new (function, args). args is a
    zpeer_actor_args_t or NULL (defaults, silent); it is read before zactor_new
    returns and may vanish then.

    Commands go over the actor's pipe as string frames. Each is answered with
    OK, or OK and a value, or ERROR and a sentence; an unknown command with
    ERROR. zactor_new cannot report a failed start: whatever can fail sits
    behind a command.

    $TERM ends the thread, at once and without an answer; zactor_destroy sends
    it.
*/
#ifndef ZPEER_ACTOR_H_INCLUDED
#define ZPEER_ACTOR_H_INCLUDED

#include <zpeer/log.h>
#include <zpeer/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const zpeer_options_t *options;  //  Copied; NULL: defaults
    zpeer_log_fn *log;               //  May be NULL
    void *log_arg;
} zpeer_actor_args_t;

#ifdef __cplusplus
}
#endif

#endif
