#include <assert.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "keys.h"
#include "banned.h"

#define SLOTS_MIN 64

void
zpeer_keys_free (zpeer_keys_t *self)
{
    free (self->keys);
    free (self->slots);
    *self = (zpeer_keys_t){0};
}

//  Empties the slots, of which there are so many from now on
static void
s_clear (zpeer_keys_t *self, uint32_t slots)
{
    if (slots > self->capacity) {
        self->keys = (zpeer_key_t *) realloc (self->keys,
                                              slots / 2 * sizeof *self->keys);
        self->slots = (zpeer_keys_slot_t *) realloc (
            self->slots, slots * sizeof *self->slots);
        assert (self->keys && self->slots);
        self->capacity = slots;
        self->round = UINT32_MAX;
    }
    self->mask = slots - 1;
    //  The rounds have come full circle: nothing of old may stay
    if (!++self->round) {
        memset (self->slots, 0, self->capacity * sizeof *self->slots);
        self->round = 1;
    }
}

void
zpeer_keys_reset (zpeer_keys_t *self)
{
    s_clear (self, SLOTS_MIN);
    self->count = 0;
}

static uint32_t
s_next (const zpeer_keys_t *self, uint32_t at)
{
    return (at + 1) & self->mask;
}

static bool
s_taken (const zpeer_keys_t *self, uint32_t at)
{
    return self->slots[at].round == self->round;
}

static void
s_grow (zpeer_keys_t *self)
{
    s_clear (self, 2 * (self->mask + 1));
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t at = (uint32_t) self->keys[i].hash & self->mask;
        while (s_taken (self, at))
            at = s_next (self, at);
        self->slots[at] = (zpeer_keys_slot_t){self->round, i};
    }
}

bool
zpeer_keys_add (zpeer_keys_t *self, const void *scope, zpeer_slice_t key)
{
    if (self->count > self->mask / 2)
        s_grow (self);
    uint64_t seed = (uint64_t) (uintptr_t) self ^ (uint64_t) (uintptr_t) scope;
    uint64_t hash = XXH3_64bits_withSeed (key.data, key.size, seed);
    uint32_t at = (uint32_t) hash & self->mask;
    for (; s_taken (self, at); at = s_next (self, at)) {
        const zpeer_key_t *other = &self->keys[self->slots[at].number];
        if (other->hash == hash && other->scope == scope &&
            zpeer_slice_eq (other->text, key))
            return false;
    }
    self->slots[at] = (zpeer_keys_slot_t){self->round, self->count};
    self->keys[self->count++] = (zpeer_key_t){hash, key, scope};
    return true;
}
