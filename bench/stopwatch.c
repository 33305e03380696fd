#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "stopwatch.h"
#include "banned.h"

#define NS_PER_S INT64_C (1000000000)

static int64_t
s_clock_ns (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t
stopwatch_ns (void)
{
    return s_clock_ns (CLOCK_MONOTONIC);
}

int64_t
stopwatch_cpu_ns (void)
{
    return s_clock_ns (CLOCK_PROCESS_CPUTIME_ID);
}

int64_t
stopwatch_thread_ns (void)
{
    return s_clock_ns (CLOCK_THREAD_CPUTIME_ID);
}

int64_t
stopwatch_cpu_of_ns (int pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid (pid, &clock) || clock_gettime (clock, &used))
        return 0;
    return used.tv_sec * NS_PER_S + used.tv_nsec;
}

static int
s_compare (const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

double
stopwatch_percentile (double *values, size_t count, double p)
{
    if (!count)
        return 0;
    qsort (values, count, sizeof *values, s_compare);
    size_t at = (size_t) (p / 100 * (double) (count - 1) + 0.5);
    return values[at];
}

double
stopwatch_median (double *values, size_t count)
{
    return stopwatch_percentile (values, count, 50);
}
