/*  chaos.c - the engine, its feeders and its peers as processes, and everything
    that can go wrong between them

    chaos [--seed S | --seed clock] [--seeds N] [--verbose]

    --seed     runs this seed (1), or one that the clock gives
    --seeds    runs so many, one after the other (1)
    --verbose  prints each history as it comes

    Each run takes 10 to 25 seconds: scripted peers and zpeerd are started, fed
    with events of all kinds while faults strike, and then left alone. Within a
    bounded time, and without one further event, every peer must equal the
    source. CI runs three seeds; before a release fifty are run:

        chaos --seed clock --seeds 50

    Prints a line a seed, and the history of each that fails. A seed decides what
    is sent and what strikes, real time how they meet: a failure may need several
    tries to come again. Exit status: 1 when there was any.
*/
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "roles.h"
#include "run.h"
#include "banned.h"

typedef struct {
    uint64_t first;
    uint64_t seeds;
    bool verbose;
} arguments_t;

static uint64_t
s_number (const char *text)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull (text, &end, 10);
    if (errno || *end || end == text || *text == '-') {
        fprintf (stderr, "chaos: not a number: %s\n", text);
        exit (2);
    }
    return number;
}

static void
s_parse (int argc, char **argv, arguments_t *arguments)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 'n'},
        {"verbose", no_argument, NULL, 'v'},
        {0}};
    int option;
    while ((option = getopt_long (argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'n': arguments->seeds = s_number (optarg); break;
        case 'v': arguments->verbose = true; break;
        case 's':
            arguments->first = strcmp (optarg, "clock") == 0
                                   ? (uint64_t) time (NULL) * 1000
                                   : s_number (optarg);
            break;
        default:
            fprintf (stderr, "usage: chaos [--seed S | --seed clock] "
                             "[--seeds N] [--verbose]\n");
            exit (2);
        }
}

int
main (int argc, char **argv)
{
    const programs_t programs = {.program = argv[0],
                                 .zpeerd = CHAOS_ZPEERD,
                                 .scripted_peer = CHAOS_SCRIPTED_PEER};
    arguments_t arguments = {.first = 1, .seeds = 1};
    uint64_t bad = 0;
    int status = roles_play (argc, argv);
    if (status >= 0)
        return status;
    s_parse (argc, argv, &arguments);
    for (uint64_t i = 0; i < arguments.seeds; i++) {
        uint64_t seed = arguments.first + i;
        printf ("seed %" PRIu64 "\n", seed);
        fflush (stdout);
        if (run_play (seed, &programs, arguments.verbose))
            continue;
        bad++;
        printf ("again: chaos --verbose --seed %" PRIu64 "\n", seed);
    }
    printf ("%" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " failed\n",
            arguments.seeds, arguments.first, bad);
    return bad ? 1 : 0;
}
