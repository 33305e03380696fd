/*  zpeerctl.h - the subcommands, and what they share
 */
#ifndef ZPEERCTL_H_INCLUDED
#define ZPEERCTL_H_INCLUDED

#include <zpeer/base.h>

//  Exit statuses: name, value, meaning
#define ZPEERCTL_EXITS(X)                                                      \
    X (OK, 0, "everything was accepted, or done, or printed")                  \
    X (REJECTED, 1,                                                            \
       "something was rejected or refused, is no event, or was empty")         \
    X (USAGE, 2,                                                               \
       "the command line is wrong, or input or output cannot be used")         \
    X (SILENT, 3,                                                              \
       "the engine cannot be reached, or did not answer, or not end, in time") \
    X (LACKING, 4,                                                             \
       "nothing was verified or told, or not all: the engine lacks Registers")

typedef enum {
#define X(name, value, meaning) ZPEERCTL_EXIT_##name = (value),
    ZPEERCTL_EXITS (X)
#undef X
} zpeerctl_exit_t;

//  The endpoints of a zpeerd that was not told others
#define ZPEERCTL_EVENTS   "ipc:///run/zpeer/events"
#define ZPEERCTL_OUTCOMES "ipc:///run/zpeer/outcomes"
#define ZPEERCTL_CONTROL  "ipc:///run/zpeer/control"

//  Each gets its own arguments, argv[0] being its name
zpeerctl_exit_t zpeerctl_feed (int argc, char **argv);
zpeerctl_exit_t zpeerctl_watch (int argc, char **argv);
zpeerctl_exit_t zpeerctl_control (int argc, char **argv);

//  Says on standard error what is wrong with the command line
zpeerctl_exit_t zpeerctl_complain (const char *command, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

//  Prints the list of exit statuses, the end of every help
void zpeerctl_print_exits (void);

//  Reads the value of an option, a whole number from min to max; complains if it
//  is none
zpeerctl_exit_t zpeerctl_number (const char *command, const char *option,
                                 uint32_t min, uint32_t max, uint32_t *value);

#endif
