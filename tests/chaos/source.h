/*  source.h - what the source says: a view of our own

    Gets the events that the engine has accepted, in that order.
*/
#ifndef CHAOS_SOURCE_H_INCLUDED
#define CHAOS_SOURCE_H_INCLUDED

#include <jansson.h>
#include "view.h"

typedef struct source source_t;

source_t *source_new (void);
void source_destroy (source_t **self_p);

//  Applies the events of a frame, but for those that were rejected, by their
//  position in ascending order. Returns whether our parser rejects the same.
bool source_apply (source_t *self, const char *frame, size_t size,
                   const uint32_t *rejected, uint32_t count);

//  Borrowed, NULL: never heard of
const zpeer_state_t *
source_find (const source_t *self, const char *app, const char *id);

//  Its InstanceInfo without status, overriddenStatus and timestamp; a new
//  reference
json_t *source_info (const zpeer_state_t *state);

#endif
