#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps.h"
#include "inside.h"
#include "banned.h"

//  ---- Waiting

//  Counters that somebody else keeps are looked up
uint64_t
speer_get (speer_t *self, speer_counter_t counter)
{
    speer_lock (self);
    uint64_t value = self->core.counters[counter];
    if (counter == SPEER_INSTANCES) {
        speer_core_now (&self->core);
        value = speer_registry_size (self->core.registry);
    }
    else if (counter == SPEER_SAMPLES)
        value = speer_journal_samples (self->core.journal);
    speer_unlock (self);
    return value;
}

bool
speer_wait_until (speer_t *self, speer_condition_fn *fn, void *arg,
                  int limit_ms)
{
    int64_t limit_ns = speer_now_ns () + (int64_t) limit_ms * 1000000;
    struct timespec limit = {.tv_sec = (time_t) (limit_ns / 1000000000),
                             .tv_nsec = (long) (limit_ns % 1000000000)};
    int rc = 0;
    speer_lock (self);
    bool met = fn (self, arg);
    while (!met && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait (&self->changed, &self->lock, &limit);
        met = fn (self, arg);
    }
    speer_unlock (self);
    return met;
}

typedef struct {
    speer_counter_t counter;
    uint64_t value;
} s_mark_t;

static bool
s_reached (speer_t *self, void *arg)
{
    const s_mark_t *mark = (const s_mark_t *) arg;
    return speer_get (self, mark->counter) >= mark->value;
}

static bool
s_not_above (speer_t *self, void *arg)
{
    const s_mark_t *mark = (const s_mark_t *) arg;
    return speer_get (self, mark->counter) <= mark->value;
}

bool
speer_wait (speer_t *self, speer_counter_t counter, uint64_t value,
            int limit_ms)
{
    s_mark_t mark = {counter, value};
    return speer_wait_until (self, s_reached, &mark, limit_ms);
}

bool
speer_wait_at_most (speer_t *self, speer_counter_t counter, uint64_t value,
                    int limit_ms)
{
    s_mark_t mark = {counter, value};
    return speer_wait_until (self, s_not_above, &mark, limit_ms);
}

//  ---- What came in

static char *
s_copy (const char *text, size_t size)
{
    char *copy = (char *) calloc (1, size + 1);
    assert (copy);
    if (text)
        memcpy (copy, text, size);
    return copy;
}

bool
speer_request (speer_t *self, uint64_t n, speer_record_t *record)
{
    speer_lock (self);
    const speer_record_t *held = speer_journal_get (self->core.journal, n);
    if (held) {
        *record = *held;
        record->method = strdup (held->method);
        record->path = strdup (held->path);
        record->head =
            s_copy (held->head, held->head ? strlen (held->head) : 0);
        record->body = s_copy (held->body, held->body ? held->body_bytes : 0);
    }
    speer_unlock (self);
    return held != NULL;
}

size_t
speer_samples (speer_t *self, speer_sample_t *samples, size_t max)
{
    speer_lock (self);
    size_t count =
        speer_journal_take_samples (self->core.journal, samples, max);
    speer_unlock (self);
    return count;
}

//  ---- The registry

static void
s_view (speer_t *self, const speer_entry_t *entry, speer_lease_t *lease)
{
    speer_status_t held = speer_registry_held (self->core.registry, entry->id);
    *lease = (speer_lease_t){.dirty = entry->info->dirty,
                             .registered = entry->registered,
                             .renewed = entry->renewed,
                             .duration_ms = entry->duration_ms};
    snprintf (lease->status, sizeof lease->status, "%s",
              speer_status_name (entry->info->status));
    snprintf (lease->overridden, sizeof lease->overridden, "%s",
              speer_status_name (entry->info->overridden));
    if (held != SPEER_STATUS_NOT_ONE)
        snprintf (lease->held, sizeof lease->held, "%s",
                  speer_status_name (held));
}

bool
speer_lease (speer_t *self, const char *app, const char *id,
             speer_lease_t *lease)
{
    speer_lock (self);
    speer_core_now (&self->core);
    const speer_entry_t *entry =
        speer_registry_find (self->core.registry, app, id);
    if (entry && lease)
        s_view (self, entry, lease);
    speer_unlock (self);
    return entry != NULL;
}

//  Prints a new reference, which may be NULL
static char *
s_print (json_t *json)
{
    char *text = json ? json_dumps (json, JSON_COMPACT) : NULL;
    json_decref (json);
    return text;
}

char *
speer_apps (speer_t *self)
{
    speer_lock (self);
    speer_core_now (&self->core);
    char *text = s_print (speer_apps_all (self->core.registry));
    speer_unlock (self);
    return text;
}

char *
speer_instance (speer_t *self, const char *app, const char *id)
{
    speer_lock (self);
    speer_core_now (&self->core);
    char *text = s_print (speer_apps_instance (self->core.registry, app, id));
    speer_unlock (self);
    return text;
}

const char *
speer_asg (speer_t *self, const char *name)
{
    speer_lock (self);
    const char *status =
        json_string_value (json_object_get (self->core.asgs, name));
    speer_unlock (self);
    return !status                       ? NULL
           : !strcmp (status, "ENABLED") ? "ENABLED"
                                         : "DISABLED";
}
