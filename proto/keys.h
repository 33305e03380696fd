/*  keys.h - finds keys that are given twice

    A set of keys, each within a scope (a map). Adding costs no allocation once
    the set has grown to its size, emptying costs nothing. The hash is seeded
    with an address, so that a sender cannot choose keys that collide.
*/
#ifndef ZPEER_KEYS_H_INCLUDED
#define ZPEER_KEYS_H_INCLUDED

#include <stdint.h>
#include "slice.h"

typedef struct {
    uint64_t hash;
    zpeer_slice_t key;  //  Borrowed
    const void *scope;
    uint32_t round;  //  The slot is empty if this is not the set's
} zpeer_keys_slot_t;

//  Zeroed is empty
typedef struct {
    zpeer_keys_slot_t *slots;  //  Owned
    uint32_t capacity;         //  Slots allocated; a power of two, or 0
    uint32_t mask;             //  Slots in use, less one
    uint32_t round;
} zpeer_keys_t;

void zpeer_keys_free (zpeer_keys_t *self);

//  Empties the set and makes room for count keys
void zpeer_keys_reset (zpeer_keys_t *self, uint32_t count);

//  Adds a key, which is borrowed until the next reset. Returns false if the
//  scope has it already. Not more keys than reset was told.
bool zpeer_keys_add (zpeer_keys_t *self, const void *scope, zpeer_slice_t key);

#endif
