/*  clock.h - the monotonic clock, ms
 */
#ifndef CLOCK_H_INCLUDED
#define CLOCK_H_INCLUDED

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline int64_t
clock_now (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void
clock_pause (int64_t ms)
{
    poll (NULL, 0, (int) ms);
}

#endif
