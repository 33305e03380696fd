#include <assert.h>
#include <stdlib.h>
#include "agenda.h"
#include "banned.h"

#define ENTRIES_MIN 256

void
agenda_free (agenda_t *self)
{
    free (self->entries);
    *self = (agenda_t){0};
}

static bool
s_before (const agenda_entry_t *a, const agenda_entry_t *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void
agenda_put (agenda_t *self, uint64_t at, agenda_fn *fn, void *whom,
            uint64_t number)
{
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : ENTRIES_MIN;
        self->entries = (agenda_entry_t *) realloc (
            self->entries, self->capacity * sizeof *self->entries);
        assert (self->entries);
    }
    agenda_entry_t entry = {at, self->order++, fn, whom, number};
    size_t place = self->count++;
    while (place && s_before (&entry, &self->entries[(place - 1) / 2])) {
        self->entries[place] = self->entries[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    self->entries[place] = entry;
}

bool
agenda_take (agenda_t *self, uint64_t until, agenda_entry_t *entry)
{
    if (!self->count || self->entries[0].at > until)
        return false;
    *entry = self->entries[0];
    agenda_entry_t last = self->entries[--self->count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child + 1 < self->count &&
            s_before (&self->entries[child + 1], &self->entries[child]))
            child++;
        if (child >= self->count || s_before (&last, &self->entries[child]))
            break;
        self->entries[place] = self->entries[child];
        place = child;
    }
    self->entries[place] = last;
    return true;
}
