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
    free (self->slots);
    *self = (zpeer_keys_t){0};
}

void
zpeer_keys_reset (zpeer_keys_t *self, uint32_t count)
{
    //  Half empty at least, so that probing stays short
    uint32_t slots = SLOTS_MIN;
    while (slots < 2 * (uint64_t) count)
        slots *= 2;
    self->mask = slots - 1;
    self->round++;
    if (slots <= self->capacity && self->round)
        return;
    //  Grown, or the rounds have come full circle: nothing of old may stay
    if (slots < self->capacity)
        slots = self->capacity;
    free (self->slots);
    self->slots = (zpeer_keys_slot_t *) calloc (slots, sizeof *self->slots);
    assert (self->slots);
    self->capacity = slots;
    self->round = 1;
}

bool
zpeer_keys_add (zpeer_keys_t *self, const void *scope, zpeer_slice_t key)
{
    uint64_t seed = (uint64_t) (uintptr_t) self ^ (uint64_t) (uintptr_t) scope;
    uint64_t hash = XXH3_64bits_withSeed (key.data, key.size, seed);
    uint32_t at = (uint32_t) hash & self->mask;
    for (; self->slots[at].round == self->round; at = (at + 1) & self->mask) {
        const zpeer_keys_slot_t *slot = &self->slots[at];
        if (slot->hash == hash && slot->scope == scope &&
            zpeer_slice_eq (slot->key, key))
            return false;
    }
    self->slots[at] = (zpeer_keys_slot_t){hash, key, scope, self->round};
    return true;
}
