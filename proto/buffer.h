/*  buffer.h - a byte buffer that grows

    Used for JSON texts and for frames. A buffer that is reset keeps its memory,
    so that a hot path allocates once. It is a plain struct: put it on the stack
    or inside another struct, zeroed is empty.
*/
#ifndef ZPEER_BUFFER_H_INCLUDED
#define ZPEER_BUFFER_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "slice.h"

typedef struct {
    char *data;       //  Owned
    size_t size;      //  Bytes in use
    size_t capacity;  //  Bytes allocated
} zpeer_buffer_t;

//  Frees the memory; the buffer is empty and usable again
void zpeer_buffer_free (zpeer_buffer_t *self);

//  Makes room for extra more bytes behind those in use
void zpeer_buffer_grow (zpeer_buffer_t *self, size_t extra);

//  Hands the bytes over: the caller frees them with free (). Empty afterwards.
char *zpeer_buffer_take (zpeer_buffer_t *self);

//  Appends value in decimal digits
void zpeer_buffer_uint (zpeer_buffer_t *self, uint64_t value);

//  Appends text as a JSON string, quotes included: what JSON demands is
//  escaped, everything else goes through as it is (the text is UTF-8 already).
void zpeer_buffer_json (zpeer_buffer_t *self, zpeer_slice_t text);

static inline void
zpeer_buffer_reset (zpeer_buffer_t *self)
{
    self->size = 0;
}

static inline void
zpeer_buffer_reserve (zpeer_buffer_t *self, size_t extra)
{
    if (self->capacity - self->size < extra)
        zpeer_buffer_grow (self, extra);
}

static inline void
zpeer_buffer_add (zpeer_buffer_t *self, const void *data, size_t size)
{
    zpeer_buffer_reserve (self, size);
    if (size)
        memcpy (self->data + self->size, data, size);
    self->size += size;
}

static inline void
zpeer_buffer_slice (zpeer_buffer_t *self, zpeer_slice_t slice)
{
    zpeer_buffer_add (self, slice.data, slice.size);
}

//  Appends a string literal
#define zpeer_buffer_lit(self, literal)                                        \
    zpeer_buffer_add ((self), (literal), sizeof (literal) - 1)

#endif
