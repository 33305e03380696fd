/*  keys.h - finds keys that are given twice

    A set of keys, each within a scope (a map). It grows as keys come and keeps
    its memory, so that in the long run adding costs no allocation; emptying
    costs nothing. The hash is seeded with an address, so that a sender cannot
    choose keys that collide.
*/
#ifndef ZPEER_KEYS_H_INCLUDED
#define ZPEER_KEYS_H_INCLUDED

#include <stdint.h>
#include "slice.h"

typedef struct {
    uint64_t hash;
    zpeer_slice_t text;  //  Borrowed
    const void *scope;
} zpeer_key_t;

typedef struct {
    uint32_t round;   //  The slot is empty if this is not the set's
    uint32_t number;  //  Of the key
} zpeer_keys_slot_t;

//  Zeroed is empty
typedef struct {
    zpeer_key_t *keys;         //  Owned
    zpeer_keys_slot_t *slots;  //  Owned; half are empty at least
    uint32_t capacity;         //  Slots allocated; a power of two, or 0
    uint32_t mask;             //  Slots in use, less one
    uint32_t round;
    uint32_t count;  //  Keys
} zpeer_keys_t;

void zpeer_keys_free (zpeer_keys_t *self);

//  Empties the set
void zpeer_keys_reset (zpeer_keys_t *self);

//  Adds a key, which is borrowed until the next reset. Returns false if the
//  scope has it already.
bool zpeer_keys_add (zpeer_keys_t *self, const void *scope, zpeer_slice_t key);

#endif
