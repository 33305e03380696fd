#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "handles.h"
#include "banned.h"

#define WORD_BITS 64
#define SIZE_MIN  16

void
zpeer_handles_free (zpeer_handles_t *self)
{
    free (self->words);
    *self = (zpeer_handles_t){0};
}

static void
s_grow (zpeer_handles_t *self, uint32_t word)
{
    uint32_t size = self->size ? self->size : SIZE_MIN;
    while (size <= word)
        size *= 2;
    self->words = (uint64_t *) realloc (self->words, size * sizeof (uint64_t));
    assert (self->words);
    memset (self->words + self->size, 0,
            (size - self->size) * sizeof (uint64_t));
    self->size = size;
}

void
zpeer_handles_add (zpeer_handles_t *self, uint32_t handle)
{
    uint32_t word = handle / WORD_BITS;
    uint64_t bit = (uint64_t) 1 << (handle % WORD_BITS);
    if (word >= self->size)
        s_grow (self, word);
    if (self->words[word] & bit)
        return;
    self->words[word] |= bit;
    self->count++;
}

bool
zpeer_handles_take (zpeer_handles_t *self, uint32_t *handle)
{
    if (!self->count)
        return false;
    while (!self->words[self->cursor])
        self->cursor = (self->cursor + 1) % self->size;
    uint64_t *word = &self->words[self->cursor];
    *handle = self->cursor * WORD_BITS + (uint32_t) __builtin_ctzll (*word);
    *word &= *word - 1;
    self->count--;
    return true;
}
