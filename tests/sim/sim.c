/*  sim.c - random histories of view, lanes and peers, each from a seed

    sim [--seeds N] [--seed S | --seed clock] [--steps N]
        [--with F] [--without F] [--only F]
        [--verbose] [--from STEP] [--until STEP] [--by-hand]

    --seeds   runs so many seeds (1,000), one after the other
    --seed    from this one (1), or from one that the clock gives
    --steps   and goes on until so many steps are done (0)
    --with    with the feature F (world.h) in every run
    --without in none
    --only    with F and nothing else; may be given several times, as the two
              before it, which go behind it
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
#include <strings.h>
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
    bool only;  //  A feature was asked for in this way
    wish_t wishes[FEATURE_COUNT];
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
    world_init (&world, seed, tally, history, arguments->wishes);
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
s_print_kinds (const arguments_t *arguments)
{
    unsigned count = s_kind_count;
    for (unsigned i = 0; i < count; i++) {
        tally_t unused = {0};
        uint64_t seed = s_kinds[i].seed;
        printf ("--- %s: %" PRIu64 " times, shortest: sim --seeds 1 --verbose "
                "--seed %" PRIu64 "\n",
                s_kinds[i].kind, s_kinds[i].count, seed);
        s_run (seed, &unused, stdout, arguments);
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

static const char *const s_features[] = {
#define X(name, percent) #name,
    FEATURES (X)
#undef X
};

static void
s_usage (void)
{
    fprintf (stderr,
             "usage: sim [--seeds N] [--seed S | --seed clock] [--steps N]\n"
             "           [--with F] [--without F] [--only F]\n"
             "           [--verbose] [--from STEP] [--until STEP] "
             "[--by-hand]\n"
             "features:");
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        fprintf (stderr, " %s", s_features[i]);
    fprintf (stderr, "\n");
    exit (2);
}

static void
s_wish (arguments_t *arguments, const char *name, wish_t wish)
{
    unsigned i = 0;
    while (i < FEATURE_COUNT && strcasecmp (s_features[i], name) != 0)
        i++;
    if (i == FEATURE_COUNT)
        s_usage ();
    arguments->wishes[i] = wish;
}

//  The first one ends all others
static void
s_only (arguments_t *arguments, const char *name)
{
    for (unsigned i = 0; !arguments->only && i < FEATURE_COUNT; i++)
        arguments->wishes[i] = WISH_OFF;
    arguments->only = true;
    s_wish (arguments, name, WISH_ON);
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
        {"with", required_argument, NULL, '+'},
        {"without", required_argument, NULL, '-'},
        {"only", required_argument, NULL, 'o'},
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
        case '+': s_wish (arguments, optarg, WISH_ON); break;
        case '-': s_wish (arguments, optarg, WISH_OFF); break;
        case 'o': s_only (arguments, optarg); break;
        case 'h': arguments->by_hand = arguments->verbose = true; break;
        case 'v': arguments->verbose = true; break;
        case 's':
            arguments->first = strcmp (optarg, "clock") == 0
                                   ? (uint64_t) time (NULL) * 1000000
                                   : s_number (optarg);
            break;
        default: s_usage ();
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
        s_print_kinds (&arguments);
    tally_print (&tally, stdout);
    printf ("%" PRIu64 " seeds from %" PRIu64 ", %" PRIu64 " steps: %" PRIu64
            " faults\n",
            seed - arguments.first, arguments.first, tally.steps, bad);
    return bad ? 1 : 0;
}
