//  What an engine costs that has nothing to do: wake-ups and CPU time while
//  nothing comes in, all peers being told; or while one peer is dead and many
//  instances wait for it.
//
//  bench_idle well|refuse|black-hole instances seconds [on|off]
//
//  off: without the stats that the engine reports each second.
//
//  A wake-up is a voluntary context switch of any of the process's threads.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arguments.h"
#include "rig.h"
#include "stopwatch.h"
#include "banned.h"

#define MODES "well|refuse|black-hole"

//  How long the dead peer has been dead when the clock is started
#define SETTLE_SECONDS 2

static char s_never[] = "zpeer.stats.interval-ms=3600000";

static uint64_t
s_switches (const char *thread)
{
    char path[64], line[128];
    uint64_t count = 0;
    snprintf (path, sizeof path, "/proc/self/task/%.20s/status", thread);
    FILE *in = fopen (path, "r");
    static const char key[] = "voluntary_ctxt_switches:";
    while (in && fgets (line, sizeof line, in))
        if (!strncmp (line, key, sizeof key - 1))
            count = strtoull (line + sizeof key - 1, NULL, 10);
    if (in)
        fclose (in);
    return count;
}

static uint64_t
s_wakeups (unsigned *threads)
{
    uint64_t sum = 0;
    DIR *folder = opendir ("/proc/self/task");
    *threads = 0;
    for (struct dirent *entry; folder && (entry = readdir (folder)) != NULL;)
        if (entry->d_name[0] != '.') {
            sum += s_switches (entry->d_name);
            ++*threads;
        }
    if (folder)
        closedir (folder);
    return sum;
}

int
main (int argc, char **argv)
{
    arguments_t args;
    arguments_open (&args, argc, argv, MODES " instances seconds [on|off]");
    const char *mode = arguments_word (&args, MODES);
    size_t instances = arguments_number (&args, 1, ARGUMENTS_INSTANCES_MAX);
    unsigned seconds =
        (unsigned) arguments_number (&args, 1, ARGUMENTS_SECONDS_MAX);
    bool stats = !arguments_left (&args) ||
                 !strcmp (arguments_word (&args, "on|off"), "on");
    arguments_close (&args);
    bool well = !strcmp (mode, "well");
    char script[64];
    load_t registers;
    rig_t rig;
    instances = load_registers (&registers, instances);
    rig_start (&rig, argv[0], 1, "inproc",
               stats ? NULL : (char *[]){s_never, NULL});
    if (well)
        rig_warm (&rig, &registers);
    else {
        snprintf (script, sizeof script, "{\"mode\": \"%.20s\"}", mode);
        peer_script (&rig.peers[0], script);
        load_feed (&registers, zpeer_engine_events (rig.engine), 1, NULL, NULL);
    }
    sleep (SETTLE_SECONDS);
    unsigned threads;
    uint64_t wakeups = s_wakeups (&threads);
    int64_t cpu = stopwatch_cpu_ns (), start = stopwatch_ns ();
    sleep (seconds);
    double passed = (double) (stopwatch_ns () - start);
    cpu = stopwatch_cpu_ns () - cpu;
    wakeups = s_wakeups (&threads) - wakeups;
    printf ("idle peer=%s stats=%s instances=%zu threads=%u "
            "wakeups_per_second=%.1f "
            "cpu_percent=%.3f\n",
            mode, stats ? "on" : "off", instances, threads,
            (double) wakeups / passed * 1e9, 100 * (double) cpu / passed);
    rig_stop (&rig);
    load_free (&registers);
    return EXIT_SUCCESS;
}
