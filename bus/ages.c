#include <assert.h>
#include <stdlib.h>
#include "ages.h"
#include "banned.h"

//  After a new connection could not be made it is tried again in this part of the
//  age
#define AGAIN_PART 4

void
zpeer_ages_init (zpeer_ages_t *self, uint32_t max_age_ms, uint32_t idle_ms,
                 unsigned capacity)
{
    *self = (zpeer_ages_t){
        .max_age_ms = max_age_ms,
        .idle_ms = idle_ms,
        .entries = (zpeer_age_t *) calloc (capacity, sizeof (zpeer_age_t)),
        .capacity = capacity,
    };
    assert (self->entries);
}

void
zpeer_ages_fini (zpeer_ages_t *self)
{
    free (self->entries);
    *self = (zpeer_ages_t){0};
}

void
zpeer_ages_clear (zpeer_ages_t *self)
{
    self->count = 0;
}

static zpeer_age_t *
s_find (const zpeer_ages_t *self, int port)
{
    for (unsigned i = 0; i < self->count; i++)
        if (self->entries[i].port == port)
            return &self->entries[i];
    return NULL;
}

static bool
s_is_idle (const zpeer_ages_t *self, const zpeer_age_t *entry, uint64_t now)
{
    return self->idle_ms && now - entry->used_at >= self->idle_ms;
}

bool
zpeer_ages_due (zpeer_ages_t *self, uint64_t now)
{
    const zpeer_age_t *oldest = NULL;
    if (!self->max_age_ms || self->renewing || now < self->again_at)
        return false;
    for (unsigned i = 0; i < self->count; i++) {
        const zpeer_age_t *entry = &self->entries[i];
        if (entry->replaced || s_is_idle (self, entry, now) ||
            now - entry->made_at < self->max_age_ms)
            continue;
        if (!oldest || entry->made_at < oldest->made_at)
            oldest = entry;
    }
    if (!oldest)
        return false;
    self->renewing = true;
    self->port = oldest->port;
    return true;
}

//  Room for one more: that of one with this port, which is no more, or of the one
//  that has been idle for longest
static zpeer_age_t *
s_place (zpeer_ages_t *self, int port)
{
    zpeer_age_t *place = s_find (self, port);
    if (place)
        return place;
    if (self->count < self->capacity)
        return &self->entries[self->count++];
    place = self->entries;
    for (unsigned i = 1; i < self->count; i++)
        if (self->entries[i].used_at < place->used_at)
            place = &self->entries[i];
    return place;
}

void
zpeer_ages_made (zpeer_ages_t *self, uint64_t now, int port, bool renewal)
{
    if (renewal) {
        zpeer_age_t *old = s_find (self, self->port);
        if (old)
            old->replaced = true;
        self->renewing = false;
    }
    *s_place (self, port) =
        (zpeer_age_t){.port = port, .made_at = now, .used_at = now};
}

void
zpeer_ages_failed (zpeer_ages_t *self, uint64_t now)
{
    self->renewing = false;
    self->again_at = now + self->max_age_ms / AGAIN_PART;
}

bool
zpeer_ages_use (zpeer_ages_t *self, uint64_t now, int port)
{
    zpeer_age_t *entry = s_find (self, port);
    if (!entry)
        return false;
    entry->used_at = now;
    if (!entry->replaced)
        return false;
    *entry = self->entries[--self->count];
    return true;
}
