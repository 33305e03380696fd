//  zpeer's side of bench/reference: an engine and its feeder in one process, so
//  that all of its CPU time and memory counts. Sends to counting peers that
//  somebody else started, what it is told on stdin.
//
//  bench_sender --instances N [--frame N] [--ahead N]
//               [--transport inproc|ipc|tcp] --peer URL,CONTROL...
//               [key=value]...
//
//  --frame: events in a frame of the feeder, 64. A flood sends whole frames.
//  --transport: of the events; inproc, as in a program that embeds it.
//  --ahead: most events that a peer may not have yet; what waits is heartbeats,
//  which overflow beyond eureka.server.max-elements-in-peer-replication-pool.
//  key=value: an option of zpeer. Prints "ready", then a line for each command:
//
//      register                  all instances; until every peer has them
//      count N                   only the first N peers matter from now on
//      flood heartbeats|registers EVENTS [SECONDS]
//                                as fast as they take it, in closed loop; until
//                                all came, or nothing for so long (2)
//      trickle PER_SECOND SECONDS
//                                Registers, evenly, with the time of sending (µs,
//                                CLOCK_MONOTONIC) as their lastDirtyTimestamp
//      pending N                 heartbeats of so many instances; does not wait
//      memory                    what is resident, once free pages are given back
//      quit

#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "rig.h"
#include "stopwatch.h"
#include "trickle.h"
#include "banned.h"

//  Registers encoded at once, at most: 32 MB
#define SLICE_MAX ((size_t) 32000)

#define COMMAND_MAX 256

typedef struct {
    rig_t rig;
    char *peers[RIG_PEERS_MAX];  //  Borrowed from the command line
    unsigned count;
    uint64_t instances;
    uint64_t frame;
    uint64_t ahead;
    const char *transport;
    load_t load;    //  Owned; of one kind at a time
    char kind[16];  //  Of it; "": none
    size_t next;    //  Frame of it
} sender_t;

//  A line of /proc/self/status, MB
static double
s_status_mb (const char *key)
{
    char line[128];
    double value = 0;
    FILE *in = fopen ("/proc/self/status", "r");
    while (in && fgets (line, sizeof line, in))
        if (!strncmp (line, key, strlen (key)))
            value = strtod (line + strlen (key), NULL) / 1024;
    if (in)
        fclose (in);
    return value;
}

static void
s_print_memory (void)
{
    printf (" rss_mb=%.1f peak_mb=%.1f", s_status_mb ("VmRSS:"),
            s_status_mb ("VmHWM:"));
}

static void
s_unload (sender_t *self)
{
    load_free (&self->load);
    self->kind[0] = '\0';
}

//  Encodes what a flood needs, unless it is there from the last one
static void
s_load (sender_t *self, const char *kind)
{
    if (!strcmp (self->kind, kind))
        return;
    s_unload (self);
    if (!strcmp (kind, "registers"))
        load_registers (&self->load, self->instances);
    else
        load_heartbeats (&self->load, self->instances);
    snprintf (self->kind, sizeof self->kind, "%s", kind);
    self->next = 0;
}

//  Commands --------------------------------------------------------------------

typedef void (command_fn) (sender_t *self, const char *args);

//  A slice at a time, because a million of them are 1 GB
static void
s_register (sender_t *self, const char *args)
{
    (void) args;
    double seconds = 0;
    size_t slice = SLICE_MAX - SLICE_MAX % self->frame;
    s_unload (self);
    for (size_t first = 0; first < self->instances; first += slice) {
        size_t left = self->instances - first;
        load_registers_from (&self->load, first, left < slice ? left : slice);
        seconds += rig_flood (&self->rig, &self->load, 1).seconds;
        load_free (&self->load);
    }
    printf ("registered seconds=%.3f\n", seconds);
}

static void
s_count (sender_t *self, const char *args)
{
    unsigned count = (unsigned) strtoul (args, NULL, 10);
    self->rig.counted = count < self->count ? count : self->count;
    printf ("counting peers=%u\n", self->rig.counted);
}

static void
s_flood (sender_t *self, const char *args)
{
    char *at, kind[16];
    args += strspn (args, " ");
    snprintf (kind, sizeof kind, "%.*s", (int) strcspn (args, " "), args);
    uint64_t events = strtoull (args + strcspn (args, " "), &at, 10);
    double silence = strtod (at, NULL);
    s_load (self, kind);
    if (silence > 0)
        self->rig.silence_ns = (int64_t) (silence * 1e9);
    rig_flood_t flood =
        rig_flood_from (&self->rig, &self->load, &self->next, events);
    printf ("flood kind=%s tasks=%llu confirmed=%llu seconds=%.4f "
            "cpu_seconds=%.4f",
            kind, (unsigned long long) flood.tasks,
            (unsigned long long) flood.received, flood.seconds,
            flood.cpu_ns * (double) flood.received / 1e9);
    s_print_memory ();
    printf ("\n");
}

static void
s_trickle (sender_t *self, const char *args)
{
    char *end;
    int64_t at;
    trickle_t trickle;
    double per_second = strtod (args, &end), seconds = strtod (end, NULL);
    uint64_t total = (uint64_t) (per_second * seconds + 0.5);
    trickle_open (&trickle, zpeer_engine_events (self->rig.engine), per_second,
                  0);
    trickle_fill (&trickle);
    rig_mark (&self->rig);
    int64_t start = stopwatch_ns (), cpu = stopwatch_cpu_ns ();
    trickle_run (&trickle, total);
    rig_settle (&self->rig, total * self->rig.counted, &at);
    cpu = stopwatch_cpu_ns () - cpu;
    trickle_close (&trickle);
    printf ("trickle sent=%llu seconds=%.4f cpu_seconds=%.4f\n",
            (unsigned long long) total, (double) (at - start) / 1e9,
            (double) cpu / 1e9);
}

static void
s_pending (sender_t *self, const char *args)
{
    s_unload (self);
    load_heartbeats (&self->load, strtoull (args, NULL, 10));
    uint64_t sent = load_feed (
        &self->load, zpeer_engine_events (self->rig.engine), 1, NULL, NULL);
    s_unload (self);
    printf ("pending sent=%llu\n", (unsigned long long) sent);
}

static void
s_memory (sender_t *self, const char *args)
{
    (void) args;
    s_unload (self);
    malloc_trim (0);
    struct mallinfo2 info = mallinfo2 ();
    printf ("memory");
    s_print_memory ();
    printf (" heap_mb=%.1f\n",
            (double) (info.uordblks + info.hblkhd) / 1048576);
}

//  Returns false if there is none of that name
static bool
s_command (sender_t *self, char *line)
{
    static const struct {
        const char *name;
        command_fn *run;
    } commands[] = {
        {"register", s_register}, {"count", s_count},     {"flood", s_flood},
        {"trickle", s_trickle},   {"pending", s_pending}, {"memory", s_memory},
    };
    size_t length = strcspn (line, " \n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen (commands[i].name) == length &&
            !strncmp (commands[i].name, line, length)) {
            commands[i].run (self, line + length);
            fflush (stdout);
            return true;
        }
    fprintf (stderr, "unknown command: %s", line);
    return false;
}

static void
s_number (const char *option, uint64_t most, uint64_t *value)
{
    if (arguments_is_number (optarg, 1, most, value))
        return;
    fprintf (stderr, "bench_sender: --%s needs a number from 1 to %llu\n",
             option, (unsigned long long) most);
    exit (EXIT_FAILURE);
}

static const char *
s_transport (void)
{
    if (arguments_is_word (optarg, RIG_TRANSPORTS))
        return optarg;
    fprintf (stderr,
             "bench_sender: --transport is one of " RIG_TRANSPORTS "\n");
    exit (EXIT_FAILURE);
}

//  The command line; what is left of it are options of zpeer
static bool
s_parse (sender_t *self, int argc, char **argv)
{
    static const struct option options[] = {
        {"instances", required_argument, NULL, 'i'},
        {"frame", required_argument, NULL, 'f'},
        {"ahead", required_argument, NULL, 'a'},
        {"peer", required_argument, NULL, 'p'},
        {"transport", required_argument, NULL, 't'},
        {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long (argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'i':
            s_number ("instances", ARGUMENTS_INSTANCES_MAX, &self->instances);
            break;
        case 'f':
            s_number ("frame", LOAD_FRAME_EVENTS_MAX, &self->frame);
            break;
        case 'a': s_number ("ahead", UINT64_MAX, &self->ahead); break;
        case 't': self->transport = s_transport (); break;
        case 'p':
            if (self->count == RIG_PEERS_MAX)
                return false;
            self->peers[self->count++] = optarg;
            break;
        default: return false;
        }
    }
    return self->instances && self->count;
}

int
main (int argc, char **argv)
{
    static sender_t self = {
        .frame = LOAD_FRAME_EVENTS, .ahead = UINT64_MAX, .transport = "inproc"};
    char line[COMMAND_MAX];
    if (!s_parse (&self, argc, argv)) {
        fprintf (stderr,
                 "usage: %s --instances N [--frame N] [--ahead N] "
                 "[--transport T] --peer URL,CONTROL... [key=value]...\n",
                 argv[0]);
        return EXIT_FAILURE;
    }
    load_set_frame (self.frame);
    rig_join (&self.rig, self.peers, self.count, self.transport, argv + optind);
    self.rig.ahead_max = self.ahead;
    printf ("ready\n");
    fflush (stdout);
    bool known = true;
    while (known && fgets (line, sizeof line, stdin) &&
           strcmp (line, "quit\n") != 0)
        known = s_command (&self, line);
    rig_stop (&self.rig);
    s_unload (&self);
    return known ? EXIT_SUCCESS : EXIT_FAILURE;
}
