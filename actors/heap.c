#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "heap.h"
#include "banned.h"

#define CAPACITY_MIN 64

void
zpeer_heap_free (zpeer_heap_t *self)
{
    free (self->items);
    free (self->places);
    *self = (zpeer_heap_t){0};
}

static void
s_place (zpeer_heap_t *self, uint32_t index, zpeer_heap_item_t item)
{
    self->items[index] = item;
    self->places[item.handle] = index + 1;
}

//  Finds the place of an item, starting at a free one
static void
s_settle (zpeer_heap_t *self, uint32_t index, zpeer_heap_item_t item)
{
    //  Up, as long as what is above is later
    while (index && self->items[(index - 1) / 2].at > item.at) {
        s_place (self, index, self->items[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    //  Down, as long as the earlier of what is below is earlier
    for (;;) {
        uint32_t below = 2 * index + 1;
        if (below + 1 < self->count &&
            self->items[below + 1].at < self->items[below].at)
            below++;
        if (below >= self->count || self->items[below].at >= item.at)
            break;
        s_place (self, index, self->items[below]);
        index = below;
    }
    s_place (self, index, item);
}

static void
s_grow_places (zpeer_heap_t *self, uint32_t handle)
{
    uint32_t limit = self->limit ? self->limit : CAPACITY_MIN;
    while (limit <= handle)
        limit *= 2;
    self->places =
        (uint32_t *) realloc (self->places, limit * sizeof *self->places);
    assert (self->places);
    memset (self->places + self->limit, 0,
            (limit - self->limit) * sizeof *self->places);
    self->limit = limit;
}

//  Makes room for one more at the end; returns its index
static uint32_t
s_append (zpeer_heap_t *self)
{
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : CAPACITY_MIN;
        self->items = (zpeer_heap_item_t *) realloc (
            self->items, self->capacity * sizeof *self->items);
        assert (self->items);
    }
    return self->count++;
}

void
zpeer_heap_put (zpeer_heap_t *self, uint32_t handle, uint64_t at)
{
    if (handle >= self->limit)
        s_grow_places (self, handle);
    uint32_t place = self->places[handle];
    s_settle (self, place ? place - 1 : s_append (self),
              (zpeer_heap_item_t){at, handle});
}

void
zpeer_heap_remove (zpeer_heap_t *self, uint32_t handle)
{
    uint32_t place = handle < self->limit ? self->places[handle] : 0;
    if (!place)
        return;
    self->places[handle] = 0;
    zpeer_heap_item_t last = self->items[--self->count];
    if (last.handle != handle)
        s_settle (self, place - 1, last);
}
