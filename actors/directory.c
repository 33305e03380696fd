#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>
#include "directory.h"
#include "event.h"
#include "banned.h"

#define SLOTS_MIN   64
#define HANDLES_MIN 64
#define KEY_MAX     (ZPEER_APP_MAX + ZPEER_ID_MAX + 1)

typedef struct {
    zpeer_slice_t app;
    zpeer_slice_t id;
    uint32_t tag;
} lookup_t;

//  Hashes app NUL id
static uint32_t
s_tag (const zpeer_directory_t *self, zpeer_slice_t app, zpeer_slice_t id)
{
    char key[KEY_MAX];
    if (app.size)
        memcpy (key, app.data, app.size);
    key[app.size] = 0;
    memcpy (key + app.size + 1, id.data, id.size);
    return (uint32_t) XXH3_64bits_withSeed (key, app.size + 1 + id.size,
                                            self->seed);
}

static bool
s_is (const zpeer_name_t *name, const lookup_t *lookup)
{
    return zpeer_slice_eq (zpeer_name_id (name), lookup->id) &&
           zpeer_slice_eq (zpeer_name_app (name), lookup->app);
}

static uint32_t
s_next (const zpeer_directory_t *self, uint32_t at)
{
    return (at + 1) & self->mask;
}

//  The slot of a name, or the empty one where it would go
static uint32_t
s_find (const zpeer_directory_t *self, const lookup_t *lookup)
{
    uint32_t at = lookup->tag & self->mask;
    for (; self->slots[at].number; at = s_next (self, at))
        if (self->slots[at].tag == lookup->tag &&
            s_is (self->names[self->slots[at].number - 1], lookup))
            break;
    return at;
}

static void
s_rehash (zpeer_directory_t *self, uint32_t size)
{
    zpeer_directory_slot_t *old = self->slots;
    uint32_t old_size = old ? self->mask + 1 : 0;
    self->slots = (zpeer_directory_slot_t *) calloc (size, sizeof *self->slots);
    assert (self->slots);
    self->mask = size - 1;
    for (uint32_t i = 0; i < old_size; i++) {
        if (!old[i].number)
            continue;
        uint32_t at = old[i].tag & self->mask;
        while (self->slots[at].number)
            at = s_next (self, at);
        self->slots[at] = old[i];
    }
    free (old);
}

static uint32_t
s_take_handle (zpeer_directory_t *self)
{
    if (self->spares)
        return self->spare[--self->spares];
    if (self->limit == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : HANDLES_MIN;
        self->names = (zpeer_name_t **) realloc (
            self->names, self->capacity * sizeof (zpeer_name_t *));
        self->spare = (uint32_t *) realloc (
            self->spare, self->capacity * sizeof *self->spare);
        assert (self->names && self->spare);
    }
    return self->limit++;
}

void
zpeer_directory_free (zpeer_directory_t *self)
{
    for (uint32_t i = 0; i < self->limit; i++)
        zpeer_name_unref (&self->names[i]);
    free (self->slots);
    free (self->names);
    free (self->spare);
    *self = (zpeer_directory_t){.seed = self->seed};
}

uint32_t
zpeer_directory_tag (const zpeer_directory_t *self, zpeer_slice_t app,
                     zpeer_slice_t id)
{
    if (!self->count || app.size > ZPEER_APP_MAX || id.size > ZPEER_ID_MAX)
        return 0;
    uint32_t tag = s_tag (self, app, id);
    __builtin_prefetch (&self->slots[tag & self->mask]);
    return tag;
}

uint32_t
zpeer_directory_guess (const zpeer_directory_t *self, uint32_t tag)
{
    if (!self->count)
        return ZPEER_NO_HANDLE;
    uint32_t at = tag & self->mask;
    while (self->slots[at].number && self->slots[at].tag != tag)
        at = s_next (self, at);
    //  An empty slot's number wraps to ZPEER_NO_HANDLE
    return self->slots[at].number - 1;
}

uint32_t
zpeer_directory_find (const zpeer_directory_t *self, zpeer_slice_t app,
                      zpeer_slice_t id, uint32_t tag)
{
    if (!self->count || app.size > ZPEER_APP_MAX || id.size > ZPEER_ID_MAX)
        return ZPEER_NO_HANDLE;
    lookup_t lookup = {app, id, tag ? tag : s_tag (self, app, id)};
    //  An empty slot's number wraps to ZPEER_NO_HANDLE
    return self->slots[s_find (self, &lookup)].number - 1;
}

uint32_t
zpeer_directory_add (zpeer_directory_t *self, zpeer_slice_t app,
                     zpeer_slice_t id)
{
    assert (app.size <= ZPEER_APP_MAX && id.size <= ZPEER_ID_MAX);
    //  At most three slots of four in use
    uint32_t size = self->slots ? self->mask + 1 : 0;
    if (self->count >= size / 4 * 3)
        s_rehash (self, size ? 2 * size : SLOTS_MIN);
    lookup_t lookup = {app, id, s_tag (self, app, id)};
    uint32_t at = s_find (self, &lookup);
    assert (!self->slots[at].number);
    uint32_t handle = s_take_handle (self);
    self->names[handle] = zpeer_name_new (app, id);
    self->slots[at] = (zpeer_directory_slot_t){lookup.tag, handle + 1};
    self->count++;
    return handle;
}

void
zpeer_directory_remove (zpeer_directory_t *self, uint32_t handle)
{
    zpeer_name_t *name = self->names[handle];
    lookup_t lookup = {zpeer_name_app (name), zpeer_name_id (name), 0};
    lookup.tag = s_tag (self, lookup.app, lookup.id);
    uint32_t hole = s_find (self, &lookup);
    assert (self->slots[hole].number == handle + 1);
    //  What stands behind moves up, unless it is nearer to its home than to
    //  the hole: so a search never meets an empty slot too early
    for (uint32_t at = s_next (self, hole); self->slots[at].number;
         at = s_next (self, at)) {
        uint32_t from_home = (at - self->slots[at].tag) & self->mask;
        if (from_home >= ((at - hole) & self->mask)) {
            self->slots[hole] = self->slots[at];
            hole = at;
        }
    }
    self->slots[hole].number = 0;
    zpeer_name_unref (&self->names[handle]);
    self->spare[self->spares++] = handle;
    self->count--;
}
