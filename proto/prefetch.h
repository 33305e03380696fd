/*  prefetch.h - has memory fetched before it is needed
*/
#ifndef ZPEER_PREFETCH_H_INCLUDED
#define ZPEER_PREFETCH_H_INCLUDED

#include <stddef.h>

//  Bytes that come from memory together
#define ZPEER_CACHE_LINE ((size_t) 64)

//  Begins to fetch so many bytes; they need not be there. gcc 12 drops calls of a
//  function that only fetches, unless it is inlined.
static inline __attribute__ ((always_inline)) void
zpeer_prefetch (const void *start, size_t size)
{
    for (size_t at = 0; at < size; at += ZPEER_CACHE_LINE)
        __builtin_prefetch ((const char *) start + at);
}

#endif
