/*  heap.h - handles in the order of a time

    A binary heap that knows where each handle is, so that any can be moved or
    taken out. A plain struct: zeroed is empty. Memory: 20 bytes a handle.
*/
#ifndef ZPEER_HEAP_H_INCLUDED
#define ZPEER_HEAP_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t at;
    uint32_t handle;
} zpeer_heap_item_t;

typedef struct {
    zpeer_heap_item_t *items;  //  Owned; the earliest is first
    uint32_t count;
    uint32_t capacity;
    uint32_t *places;  //  Owned; by handle, its index in items plus 1; 0: none
    uint32_t limit;    //  Of places
} zpeer_heap_t;

//  Frees the memory; the heap is empty and usable again
void zpeer_heap_free (zpeer_heap_t *self);

//  Puts a handle in, or moves it to another time
void zpeer_heap_put (zpeer_heap_t *self, uint32_t handle, uint64_t at);

//  Takes a handle out; nothing happens when it is not in it
void zpeer_heap_remove (zpeer_heap_t *self, uint32_t handle);

//  The earliest, borrowed until the heap changes; NULL: it is empty
static inline const zpeer_heap_item_t *
zpeer_heap_first (const zpeer_heap_t *self)
{
    return self->count ? self->items : NULL;
}

#endif
