/*  zpeerctl.c - the operator's tool: one subcommand a file
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "standard_files.h"
#include "zpeerctl.h"
#include "banned.h"

//  name, function, what it does
#define COMMANDS(X)                                                            \
    X ("feed", zpeerctl_feed,                                                  \
       "sends registry events from a file to a running engine")                \
    X ("watch", zpeerctl_watch,                                                \
       "prints what an engine reports, one JSON object a line")                \
    X ("peers", zpeerctl_control, "prints zpeerd's peers, one a line")         \
    X ("add-peer", zpeerctl_control, "adds a peer while zpeerd runs")          \
    X ("remove-peer", zpeerctl_control, "removes one")                         \
    X ("resync", zpeerctl_control, "tells a peer the whole registry again")    \
    X ("verify", zpeerctl_control,                                             \
       "asks a peer about every instance, repairs what it lacks")              \
    X ("retry-now", zpeerctl_control, "ends a peer's pause after failures")

static const struct {
    const char *name;
    zpeerctl_exit_t (*run) (int argc, char **argv);
    const char *help;
} s_commands[] = {
#define X(name, function, help) {name, function, help},
    COMMANDS (X)
#undef X
};

#define COMMAND_COUNT (sizeof s_commands / sizeof *s_commands)

void
zpeerctl_print_exits (void)
{
    puts ("\nexit status:");
#define X(name, value, meaning) printf ("  %d  %s\n", value, meaning);
    ZPEERCTL_EXITS (X)
#undef X
}

static void
s_print_usage (void)
{
    puts (
        "usage: zpeerctl COMMAND [option]...\n"
        "\n"
        "Talks to a running zpeerd, or to any program with a zpeer engine in\n"
        "it.\n"
        "\n"
        "commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf ("  %-11s  %s\n", s_commands[i].name, s_commands[i].help);
    puts ("\n"
          "\"zpeerctl COMMAND --help\" tells more. Also: --version, --help.");
    zpeerctl_print_exits ();
}

zpeerctl_exit_t
zpeerctl_complain (const char *command, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    fprintf (stderr, "zpeerctl %s: ", command);
    vfprintf (stderr, format, arguments);
    fprintf (stderr, "\nTry \"zpeerctl %s --help\".\n", command);
    va_end (arguments);
    return ZPEERCTL_EXIT_USAGE;
}

zpeerctl_exit_t
zpeerctl_number (const char *command, const char *option, uint32_t min,
                 uint32_t max, uint32_t *value)
{
    char *end = NULL;
    unsigned long long number = strtoull (optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end || number < min || number > max)
        return zpeerctl_complain (
            command, "%s: \"%s\" is not a number from %" PRIu32 " to %" PRIu32,
            option, optarg, min, max);
    *value = (uint32_t) number;
    return ZPEERCTL_EXIT_OK;
}

static zpeerctl_exit_t
s_run (int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp (name, s_commands[i].name))
            return s_commands[i].run (argc - 1, argv + 1);

    if (!strcmp (name, "--version"))
        printf ("zpeerctl %s\n", zpeer_version ());
    else if (!strcmp (name, "--help"))
        s_print_usage ();
    else {
        fprintf (stderr, "zpeerctl: no command \"%s\", see --help\n", name);
        return ZPEERCTL_EXIT_USAGE;
    }
    return argc > 1 ? ZPEERCTL_EXIT_OK : ZPEERCTL_EXIT_USAGE;
}

//  What could not be printed was not done
int
main (int argc, char **argv)
{
    if (!standard_files_open ())
        return ZPEERCTL_EXIT_USAGE;
    zpeerctl_exit_t status = s_run (argc, argv);
    if (!fflush (stdout) && !ferror (stdout))
        return status;
    fprintf (stderr, "zpeerctl: standard output: %s\n", strerror (errno));
    if (status == ZPEERCTL_EXIT_OK)
        status = ZPEERCTL_EXIT_USAGE;
    return status;
}
