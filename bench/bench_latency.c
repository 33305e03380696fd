//  How long an event takes from the feeder's send to the peer's receipt. Each is
//  a Register whose lastDirtyTimestamp is the time of sending; the peer notes
//  when it arrives.
//
//  bench_latency per_second seconds [key=value]...

#include <stdio.h>
#include <stdlib.h>
#include "arguments.h"
#include "rig.h"
#include "stopwatch.h"
#include "banned.h"

#define SAMPLES_MAX 60000

//  Before what is measured, so that every instance and connection is known
#define WARM_SECONDS 1

int
main (int argc, char **argv)
{
    static double ms[SAMPLES_MAX];
    arguments_t args;
    arguments_open (&args, argc, argv, "per_second seconds [key=value]...");
    double per_second = arguments_real (&args, 1, ARGUMENTS_PER_SECOND_MAX);
    double seconds = arguments_real (&args, 1, ARGUMENTS_SECONDS_MAX);
    rig_t rig;
    rig_start (&rig, argv[0], 1, "inproc", argv + args.next);
    rig_trickle (&rig, per_second, WARM_SECONDS, ms, SAMPLES_MAX);
    size_t count = rig_trickle (&rig, per_second, seconds, ms, SAMPLES_MAX);
    rig_stop (&rig);
    printf ("latency per_second=%.0f samples=%zu p50_ms=%.2f p90_ms=%.2f "
            "p99_ms=%.2f max_ms=%.2f\n",
            per_second, count, stopwatch_percentile (ms, count, 50),
            stopwatch_percentile (ms, count, 90),
            stopwatch_percentile (ms, count, 99),
            stopwatch_percentile (ms, count, 100));
    return EXIT_SUCCESS;
}
