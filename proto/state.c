#include <assert.h>
#include <stdlib.h>
#include "buffer.h"
#include "state.h"
#include "banned.h"

//  What others did before they let go has been done when it is freed
static bool
s_last (atomic_uint *refs)
{
    return atomic_fetch_sub_explicit (refs, 1, memory_order_acq_rel) == 1;
}

zpeer_text_t *
zpeer_text_new (const char *data, size_t size)
{
    assert (size < UINT32_MAX);
    zpeer_text_t *self = (zpeer_text_t *) malloc (sizeof *self + size + 1);
    assert (self);
    atomic_init (&self->refs, 1);
    self->size = (uint32_t) size;
    if (size)
        memcpy (self->data, data, size);
    self->data[size] = 0;
    return self;
}

zpeer_text_t *
zpeer_text_ref (zpeer_text_t *self)
{
    atomic_fetch_add_explicit (&self->refs, 1, memory_order_relaxed);
    return self;
}

void
zpeer_text_unref (zpeer_text_t **self_p)
{
    if (*self_p && s_last (&(*self_p)->refs))
        free (*self_p);
    *self_p = NULL;
}

static void
s_item_start (zpeer_buffer_t *out, zpeer_slice_t app, zpeer_slice_t id)
{
    zpeer_buffer_lit (out, "{\"appName\":");
    zpeer_buffer_json (out, app);
    zpeer_buffer_lit (out, ",\"id\":");
    zpeer_buffer_json (out, id);
}

zpeer_name_t *
zpeer_name_new (zpeer_slice_t app, zpeer_slice_t id)
{
    assert (app.size < UINT16_MAX && id.size < UINT16_MAX);
    zpeer_buffer_t item = {0};
    if (app.size)
        s_item_start (&item, app, id);
    size_t size = app.size + id.size + item.size + 2;
    zpeer_name_t *self = (zpeer_name_t *) malloc (sizeof *self + size);
    assert (self);
    atomic_init (&self->refs, 1);
    self->app_size = (uint16_t) app.size;
    self->id_size = (uint16_t) id.size;
    self->item_size = (uint32_t) item.size;
    char *at = self->data;
    if (app.size)
        memcpy (at, app.data, app.size);
    at[app.size] = 0;
    at += app.size + 1;
    memcpy (at, id.data, id.size);
    at[id.size] = 0;
    at += id.size + 1;
    if (item.size)
        memcpy (at, item.data, item.size);
    zpeer_buffer_free (&item);
    return self;
}

zpeer_name_t *
zpeer_name_ref (zpeer_name_t *self)
{
    atomic_fetch_add_explicit (&self->refs, 1, memory_order_relaxed);
    return self;
}

void
zpeer_name_unref (zpeer_name_t **self_p)
{
    if (*self_p && s_last (&(*self_p)->refs))
        free (*self_p);
    *self_p = NULL;
}

zpeer_state_t *
zpeer_state_new (zpeer_name_t *name)
{
    zpeer_state_t *self = (zpeer_state_t *) calloc (1, sizeof *self);
    assert (self);
    atomic_init (&self->refs, 1);
    self->name = zpeer_name_ref (name);
    return self;
}

void
zpeer_state_unref (zpeer_state_t **self_p)
{
    zpeer_state_t *self = *self_p;
    *self_p = NULL;
    if (!self || !s_last (&self->refs))
        return;
    zpeer_name_unref (&self->name);
    zpeer_text_unref (&self->info);
    free (self);
}
