/*  handles.h - a set of handles, a bit each

    For dense numbers from 0: it is as large as the highest handle it ever held.
    A plain struct: zeroed is empty.
*/
#ifndef ZPEER_HANDLES_H_INCLUDED
#define ZPEER_HANDLES_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t *words;  //  Owned
    uint32_t size;    //  Of words
    uint32_t count;   //  Handles in the set
    uint32_t cursor;  //  Word where taking goes on
} zpeer_handles_t;

//  Frees the memory; the set is empty and usable again
void zpeer_handles_free (zpeer_handles_t *self);

void zpeer_handles_add (zpeer_handles_t *self, uint32_t handle);

//  Takes one handle out, upwards and round. Returns false when it is empty.
bool zpeer_handles_take (zpeer_handles_t *self, uint32_t *handle);

#endif
