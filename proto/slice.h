/*  slice.h - bytes somebody else owns

    Not terminated. Whoever hands one out says how long it stays valid.
*/
#ifndef ZPEER_SLICE_H_INCLUDED
#define ZPEER_SLICE_H_INCLUDED

#include <stddef.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
    const char *data;
    size_t size;
} zpeer_slice_t;

#define ZPEER_SLICE(literal) ((zpeer_slice_t){(literal), sizeof (literal) - 1})

static inline zpeer_slice_t
zpeer_slice_str (const char *text)
{
    return (zpeer_slice_t){text, strlen (text)};
}

static inline bool
zpeer_slice_eq (zpeer_slice_t a, zpeer_slice_t b)
{
    return a.size == b.size && (!a.size || !memcmp (a.data, b.data, a.size));
}

#endif
