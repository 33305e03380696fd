/*  sim.c - random histories of view, lanes and peers, each from a seed

    sim [--seeds N] [--seed S | --seed clock] [--steps N]
        [--verbose] [--from STEP] [--until STEP] [--by-hand]

    --seeds   runs so many seeds (1,000), one after the other
    --seed    from this one (1), or from one that the clock gives
    --steps   and goes on until so many steps are done (0)
    --verbose prints every history
    --from    but only from this step of it on
    --until   and leaves the run at this one
    --by-hand after each step that has something to tell it waits for Enter

    Prints the seeds, what the histories were made of, and the faults by kind,
    each with its shortest history. Exit status: 1 when there is any.

    A line of a history begins with step and time in ms. A fault is looked at
    step by step, or in a debugger at a step, with

        sim --seeds 1 --seed S --by-hand --from STEP
*/
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "world.h"
#include "banned.h"

#define KINDS_MAX 64

//  A kind of fault
typedef struct {
    const char *kind;
    uint64_t count;
    uint64_t seed;   //  With the shortest history
    uint64_t lines;  //  Of it
} kind_t;

typedef struct {
    uint64_t first;
    uint64_t seeds;
    uint64_t steps;
    uint64_t from;
    uint64_t until;
    bool verbose;
    bool by_hand;
} arguments_t;

static kind_t s_kinds[KINDS_MAX];
static unsigned s_kind_count;

static void
s_note (const world_t *world)
{
    unsigned i = 0;
    while (i < s_kind_count && strcmp (s_kinds[i].kind, world->fault) != 0)
        i++;
    assert (i < KINDS_MAX);
    kind_t *kind = &s_kinds[i];
    if (i == s_kind_count) {
        s_kind_count++;
        *kind = (kind_t){.kind = world->fault, .lines = UINT64_MAX};
    }
    kind->count++;
    if (world->lines < kind->lines) {
        kind->lines = world->lines;
        kind->seed = world->seed;
    }
}

//  Returns whether a fault was found
static bool
s_run (uint64_t seed, tally_t *tally, FILE *history,
       const arguments_t *arguments)
{
    world_t world;
    world_init (&world, seed, tally, history);
    world.from = arguments->from;
    world.until = arguments->until;
    world.by_hand = arguments->by_hand;
    world_run (&world);
    world_fini (&world);
    if (world.fault)
        s_note (&world);
    return world.fault;
}

//  The shortest history of each kind of fault: a seed repeats it
static void
s_print_kinds (void)
{
    unsigned count = s_kind_count;
    for (unsigned i = 0; i < count; i++) {
        tally_t unused = {0};
        uint64_t seed = s_kinds[i].seed;
        printf ("--- %s: %" PRIu64 " times, shortest: sim --seeds 1 --verbose "
                "--seed %" PRIu64 "\n",
                s_kinds[i].kind, s_kinds[i].count, seed);
        s_run (seed, &unused, stdout, &(arguments_t){0});
    }
}

static uint64_t
s_number (const char *text)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull (text, &end, 10);
    if (errno || *end || end == text || *text == '-') {
        fprintf (stderr, "sim: not a number: %s\n", text);
        exit (2);
    }
    return number;
}

static void
s_parse (int argc, char **argv, arguments_t *arguments)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"steps", required_argument, NULL, 't'},
        {"from", required_argument, NULL, 'f'},
        {"until", required_argument, NULL, 'u'},
        {"verbose", no_argument, NULL, 'v'},
        {"by-hand", no_argument, NULL, 'h'},
        {0}};
    int option;
    while ((option = getopt_long (argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'n': arguments->seeds = s_number (optarg); break;
        case 't': arguments->steps = s_number (optarg); break;
        case 'f': arguments->from = s_number (optarg); break;
        case 'u': arguments->until = s_number (optarg); break;
        case 'h': arguments->by_hand = arguments->verbose = true; break;
        case 'v': arguments->verbose = true; break;
        case 's':
            arguments->first = strcmp (optarg, "clock") == 0
                                   ? (uint64_t) time (NULL) * 1000000
                                   : s_number (optarg);
            break;
        default:
            fprintf (stderr, "usage: sim [--seeds N] [--seed S | --seed "
                             "clock] [--steps N]\n"
                             "           [--verbose] [--from STEP] "
                             "[--until STEP] [--by-hand]\n");
            exit (2);
        }
}

int
main (int argc, char **argv)
{
    arguments_t arguments = {.first = 1, .seeds = 1000};
    s_parse (argc, argv, &arguments);
    printf ("seeds from %" PRIu64 "\n", arguments.first);
    fflush (stdout);
    tally_t tally = {0};
    uint64_t seed = arguments.first;
    uint64_t bad = 0;
    for (; seed - arguments.first < arguments.seeds ||
           tally.steps < arguments.steps;
         seed++)
        bad +=
            s_run (seed, &tally, arguments.verbose ? stdout : NULL, &arguments);
    //  Who has read the history need not see it again
    if (!arguments.verbose)
        s_print_kinds ();
    tally_print (&tally, stdout);
    printf ("%" PRIu64 " seeds from %" PRIu64 ", %" PRIu64 " steps: %" PRIu64
            " faults\n",
            seed - arguments.first, arguments.first, tally.steps, bad);
    return bad ? 1 : 0;
}
