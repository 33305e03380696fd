/*  zpeerd_args.h - zpeerd's environment and command line
 */
#ifndef ZPEERD_ARGS_H_INCLUDED
#define ZPEERD_ARGS_H_INCLUDED

#include <zpeer/log.h>
#include <zpeer/options.h>

//  zpeerd's exit statuses: those of sysexits.h. name, value, meaning
#define ZPEERD_EXITS(X)                                                        \
    X (OK, 0, "stopped, or printed, because it was asked to")                  \
    X (USAGE, 64, "the command line is wrong")                                 \
    X (UNAVAILABLE, 69,                                                        \
       "at present it cannot start: an endpoint is in use, descriptors ran "   \
       "out, …")                                                               \
    X (OUTPUT, 74, "standard output cannot be written")                        \
    X (CONFIG, 78,                                                             \
       "an option has a wrong value: a peer's URL, a file of zpeer.tls, …")

typedef enum {
#define X(name, value, meaning) ZPEERD_EXIT_##name = (value),
    ZPEERD_EXITS (X)
#undef X
} zpeerd_exit_t;

//  What to do
typedef enum {
    ZPEERD_RUN,
    ZPEERD_PRINT_CONFIG,
    ZPEERD_DONE  //  Nothing more: help or version is printed
} zpeerd_mode_t;

typedef struct {
    zpeerd_mode_t mode;
    zpeer_options_t *options;  //  Owned; they list each --peer, too
    const char *control;       //  Endpoint of the control socket, or "none"
    bool control_wanted;       //  It was named: zpeerd does not run without it
    zpeer_log_level_t level;   //  Lowest that is logged
} zpeerd_args_t;

//  Reads the environment, then the command line. Returns ZPEERD_EXIT_OK; or the
//  status to exit with, after saying why on standard error. Either way free
//  what is in self with zpeerd_args_free.
zpeerd_exit_t zpeerd_args_read (zpeerd_args_t *self, int argc, char **argv);

void zpeerd_args_free (zpeerd_args_t *self);

#endif
