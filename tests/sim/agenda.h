/*  agenda.h - what happens when, in virtual time

    What is due at the same time happens in the order in which it was put here.
    A plain struct: zeroed is empty.
*/
#ifndef SIM_AGENDA_H_INCLUDED
#define SIM_AGENDA_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct world;

//  Something that happens: to whom, and a number that says more
typedef void (agenda_fn) (struct world *world, void *whom, uint64_t number);

typedef struct {
    uint64_t at;
    uint64_t order;
    agenda_fn *fn;
    void *whom;  //  Borrowed
    uint64_t number;
} agenda_entry_t;

typedef struct {
    agenda_entry_t *entries;  //  Owned; a binary heap
    size_t count;
    size_t capacity;
    uint64_t order;
} agenda_t;

void agenda_free (agenda_t *self);

void agenda_put (agenda_t *self, uint64_t at, agenda_fn *fn, void *whom,
                 uint64_t number);

//  Takes the next entry; false: there is none until then
bool agenda_take (agenda_t *self, uint64_t until, agenda_entry_t *entry);

#endif
