#include <assert.h>
#include <stdlib.h>
#include "chunk.h"
#include "banned.h"

zpeer_chunk_t *
zpeer_chunk_new (void)
{
    zpeer_chunk_t *self = (zpeer_chunk_t *) malloc (sizeof *self);
    assert (self);
    atomic_init (&self->refs, 1);
    self->count = 0;
    self->number = 0;
    self->walk = ZPEER_WALK_NONE;
    self->first = false;
    self->last = false;
    return self;
}

zpeer_chunk_t *
zpeer_chunk_ref (zpeer_chunk_t *self)
{
    atomic_fetch_add_explicit (&self->refs, 1, memory_order_relaxed);
    return self;
}

bool
zpeer_chunk_shared (const zpeer_chunk_t *self)
{
    return atomic_load_explicit (&self->refs, memory_order_acquire) > 1;
}

void
zpeer_chunk_unref (zpeer_chunk_t **self_p)
{
    zpeer_chunk_t *self = *self_p;
    *self_p = NULL;
    if (!self ||
        atomic_fetch_sub_explicit (&self->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < self->count; i++)
        zpeer_state_unref (&self->changes[i].state);
    free (self);
}

void
zpeer_chunk_free (void *data, void *hint)
{
    (void) hint;
    zpeer_chunk_t *self = (zpeer_chunk_t *) data;
    zpeer_chunk_unref (&self);
}
