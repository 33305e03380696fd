#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "witness.h"
#include "banned.h"

#define LINES_MAX 4096

typedef struct {
    char id[16];
    char *text;  //  Owned
} line_t;

struct witness {
    pthread_mutex_t lock;
    pthread_cond_t more;
    line_t lines[LINES_MAX];
    size_t count;
};

witness_t *
witness_new (void)
{
    witness_t *self = (witness_t *) calloc (1, sizeof *self);
    assert (self);
    pthread_condattr_t attributes;
    pthread_condattr_init (&attributes);
    pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init (&self->lock, NULL);
    pthread_cond_init (&self->more, &attributes);
    pthread_condattr_destroy (&attributes);
    return self;
}

void
witness_destroy (witness_t **self_p)
{
    witness_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        free (self->lines[i].text);
    pthread_cond_destroy (&self->more);
    pthread_mutex_destroy (&self->lock);
    free (self);
}

void
witness_log (void *witness, zpeer_log_level_t level, const char *id,
             const char *text)
{
    witness_t *self = (witness_t *) witness;
    (void) level;
    pthread_mutex_lock (&self->lock);
    if (self->count < LINES_MAX) {
        line_t *line = &self->lines[self->count++];
        snprintf (line->id, sizeof line->id, "%s", id);
        line->text = strdup (text);
    }
    pthread_cond_broadcast (&self->more);
    pthread_mutex_unlock (&self->lock);
}

static unsigned
s_count (const witness_t *self, const char *id)
{
    unsigned count = 0;
    for (size_t i = 0; i < self->count; i++)
        count += !strcmp (self->lines[i].id, id);
    return count;
}

unsigned
witness_count (witness_t *self, const char *id)
{
    pthread_mutex_lock (&self->lock);
    unsigned count = s_count (self, id);
    pthread_mutex_unlock (&self->lock);
    return count;
}

bool
witness_wait (witness_t *self, const char *id, unsigned count, int limit_ms)
{
    struct timespec until;
    clock_gettime (CLOCK_MONOTONIC, &until);
    until.tv_sec += limit_ms / 1000;
    until.tv_nsec += limit_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    int rc = 0;
    pthread_mutex_lock (&self->lock);
    while (s_count (self, id) < count && rc == 0)
        rc = pthread_cond_timedwait (&self->more, &self->lock, &until);
    bool enough = s_count (self, id) >= count;
    pthread_mutex_unlock (&self->lock);
    return enough;
}

bool
witness_says (witness_t *self, const char *id, const char *text)
{
    bool says = false;
    pthread_mutex_lock (&self->lock);
    for (size_t i = 0; i < self->count; i++)
        if (!strcmp (self->lines[i].id, id))
            says = strstr (self->lines[i].text, text) != NULL;
    pthread_mutex_unlock (&self->lock);
    return says;
}
