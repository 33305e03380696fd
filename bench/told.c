#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stopwatch.h"
#include "told.h"
#include "banned.h"

#define PATIENCE_MS 60000

void
told_open (told_t *self, const char *endpoint, const char *peer)
{
    *self = (told_t){.watch = zpeer_watch_new (endpoint, "peer,resync,stats"),
                     .peer = peer};
    assert (self->watch);
}

void
told_close (told_t *self)
{
    zpeer_watch_destroy (&self->watch);
    free (self->json);
    self->json = NULL;
}

//  The next outcome, in json. Returns its topic, or NULL.
static const char *
s_next (told_t *self, int timeout_ms)
{
    const char *topic;
    const void *data;
    size_t size;
    if (zpeer_watch_recv (self->watch, timeout_ms, &topic, &data, &size))
        return NULL;
    free (self->json);
    self->json = zpeer_watch_json (data, size);
    return topic;
}

void
told_skip (told_t *self)
{
    while (s_next (self, 0))
        continue;
}

//  Where the value of a key is; NULL: there is none
static const char *
s_value (const told_t *self, const char *key)
{
    char quoted[64];
    snprintf (quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr (self->json, quoted);
    return at ? at + strlen (quoted) : NULL;
}

static bool
s_is (const told_t *self, const char *key, const char *text)
{
    const char *value = s_value (self, key);
    size_t length = strlen (text);
    return value && *value == '"' && !strncmp (value + 1, text, length) &&
           value[1 + length] == '"';
}

static void
s_wait (told_t *self, const char *topic, const char *key, const char *text)
{
    int64_t until = stopwatch_ns () + PATIENCE_MS * INT64_C (1000000);
    while (stopwatch_ns () < until) {
        const char *found = s_next (self, PATIENCE_MS);
        if (found && !strcmp (found, topic) && s_is (self, key, text) &&
            s_is (self, "peer", self->peer))
            return;
    }
    fprintf (stderr, "nothing told of %s %s\n", topic, text);
    abort ();
}

void
told_wait (told_t *self, const char *topic, const char *state)
{
    s_wait (self, topic, "state", state);
}

void
told_figures (told_t *self)
{
    s_wait (self, "stats", "source", "peer");
}

uint64_t
told_number (const told_t *self, const char *key)
{
    const char *value = s_value (self, key);
    return value ? strtoull (value, NULL, 10) : 0;
}
