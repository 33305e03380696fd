/*  stopwatch.h - time and medians for the benchmarks */
#ifndef STOPWATCH_H_INCLUDED
#define STOPWATCH_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

//  CLOCK_MONOTONIC
int64_t stopwatch_ns (void);

//  CPU time of this process so far, all its threads
int64_t stopwatch_cpu_ns (void);

//  CPU time of this thread so far
int64_t stopwatch_thread_ns (void);

//  CPU time of another process so far; 0: it is gone
int64_t stopwatch_cpu_of_ns (int pid);

//  Sorts values; the middle one, or the p-th of 100
double stopwatch_median (double *values, size_t count);
double stopwatch_percentile (double *values, size_t count, double p);

#endif
