/*  state.h - what the view says of one instance, and of one ASG

    Immutable once published, counted, shared by the view and every lane: there
    is one text of an instance however many peers have it. A change of the
    instance is a new state with a new seq.

    Threads: made by one (the acceptor's), read and released by any.
    Units: timestamps are lastDirtyTimestamp, ms since the epoch.
*/
#ifndef ZPEER_STATE_H_INCLUDED
#define ZPEER_STATE_H_INCLUDED

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <zpeer/names.h>
#include "slice.h"

//  A counted text. The bytes follow the struct, with a NUL behind them.
typedef struct {
    atomic_uint refs;
    uint32_t size;
    char data[];
} zpeer_text_t;

//  A new text with one reference, the caller's
zpeer_text_t *zpeer_text_new (const char *data, size_t size);

zpeer_text_t *zpeer_text_ref (zpeer_text_t *self);

void zpeer_text_unref (zpeer_text_t **self_p);

//  An instance's name: (app, id), and the start of every item about it. For an
//  ASG app is empty, id its name, and there is no item.
typedef struct {
    atomic_uint refs;
    uint16_t app_size;
    uint16_t id_size;
    uint32_t item_size;
    char data[];  //  app NUL id NUL item; item = {"appName":"…","id":"…"
} zpeer_name_t;

zpeer_name_t *zpeer_name_new (zpeer_slice_t app, zpeer_slice_t id);

zpeer_name_t *zpeer_name_ref (zpeer_name_t *self);

void zpeer_name_unref (zpeer_name_t **self_p);

static inline zpeer_slice_t
zpeer_name_app (const zpeer_name_t *self)
{
    return (zpeer_slice_t){self->data, self->app_size};
}

static inline zpeer_slice_t
zpeer_name_id (const zpeer_name_t *self)
{
    return (zpeer_slice_t){self->data + self->app_size + 1, self->id_size};
}

static inline zpeer_slice_t
zpeer_name_item (const zpeer_name_t *self)
{
    return (zpeer_slice_t){self->data + self->app_size + self->id_size + 2,
                           self->item_size};
}

typedef struct zpeer_state {
    atomic_uint refs;
    uint32_t handle;      //  The instance's dense number
    uint64_t seq;         //  Different for every state the view ever had
    uint64_t timestamp;   //  Effective; 0 when absent
    uint64_t top;         //  Highest of any of its lives; 0: none known
    zpeer_name_t *name;   //  Owned reference
    zpeer_text_t *info;   //  Owned reference; NULL: absent at the source.
                          //  InstanceInfo up to, not including, its status
    uint32_t renewal_ms;  //  Lease renewal interval: a Heartbeat's life
    uint8_t status;       //  zpeer_status_t, effective; for an ASG UP is
                          //  ENABLED and OUT_OF_SERVICE is DISABLED
    uint8_t override;     //  zpeer_status_t; UNKNOWN: none held
} zpeer_state_t;

//  A new state with one reference, the caller's; zeroed but for name, of which
//  it takes a reference of its own
zpeer_state_t *zpeer_state_new (zpeer_name_t *name);

static inline zpeer_state_t *
zpeer_state_ref (zpeer_state_t *self)
{
    atomic_fetch_add_explicit (&self->refs, 1, memory_order_relaxed);
    return self;
}

//  Drops a reference and sets the pointer to NULL; NULL is fine
void zpeer_state_unref (zpeer_state_t **self_p);

static inline bool
zpeer_state_present (const zpeer_state_t *self)
{
    return self->info != NULL;
}

#endif
