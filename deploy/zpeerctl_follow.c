/*  zpeerctl_follow.c - waits for the end of resyncs
 */
#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "zpeerctl_follow.h"
#include "banned.h"

//  How long nothing may come before it is taken for granted that the
//  subscription has arrived, ms: an engine publishes figures each second
#define QUIET_MS 3000

//  How far a peer's walk is
typedef enum { ASKED, BEGUN, ENDED } stage_t;

typedef struct {
    const char *kind;   //  Borrowed
    char *const *urls;  //  Borrowed
    stage_t *stages;    //  Owned; of each URL
    size_t count;       //  Of URLs
    size_t open;        //  Of these: not ended
    json_int_t refused;
} self_t;

//  An outcome of the topic "resync"
typedef struct {
    const char *peer, *kind, *state;
    json_int_t instances, left, repaired, refused, ms;
} walk_t;

//  It subscribes to everything: that is one subscription, and whatever comes
//  proves that it holds. What is there by then is of the past.
zpeer_watch_t *
zpeerctl_follow_new (const char *endpoint)
{
    zpeer_watch_t *watch = zpeer_watch_new (endpoint, NULL);
    const char *topic;
    const void *data;
    size_t size;
    int timeout_ms = QUIET_MS;
    while (watch && !zpeer_watch_recv (watch, timeout_ms, &topic, &data, &size))
        timeout_ms = 0;
    return watch;
}

static bool
s_read (json_t *root, walk_t *walk)
{
    *walk = (walk_t){.peer = NULL};
    return json_unpack (root, "{s:s, s:s, s:s, s?I, s?I, s?I, s?I, s?I}",
                        "peer", &walk->peer, "kind", &walk->kind, "state",
                        &walk->state, "instances", &walk->instances, "left",
                        &walk->left, "repaired", &walk->repaired, "refused",
                        &walk->refused, "ms", &walk->ms) == 0;
}

static void
s_end (self_t *self, const walk_t *walk, stage_t *stage)
{
    *stage = ENDED;
    self->open--;
    self->refused += walk->refused;
    printf ("%s: %s ended: %" JSON_INTEGER_FORMAT
            " instances, %" JSON_INTEGER_FORMAT
            " repaired, %" JSON_INTEGER_FORMAT " refused, in %.1f s\n",
            walk->peer, walk->kind, walk->instances, walk->repaired,
            walk->refused, (double) walk->ms / 1000);
}

//  Somebody else asked for another one, which has begun
static void
s_replaced (self_t *self, const walk_t *walk, stage_t *stage)
{
    *stage = ENDED;
    self->open--;
    self->refused++;
    fprintf (
        stderr,
        "%s: another resync or verify took the place of this %s, which had "
        "%" JSON_INTEGER_FORMAT " instances left\n",
        walk->peer, walk->kind, walk->left);
}

//  The place of a peer among those asked for; count: it is none of them
static size_t
s_find (const self_t *self, const char *url)
{
    size_t i = 0;
    while (i < self->count && strcmp (self->urls[i], url) != 0)
        i++;
    return i;
}

//  The end of a walk counts only after its beginning: the peer may be at the end
//  of another one
static void
s_handle_walk (self_t *self, const walk_t *walk)
{
    size_t i = s_find (self, walk->peer);
    if (i == self->count || strcmp (walk->kind, self->kind) != 0)
        return;
    stage_t *stage = &self->stages[i];
    if (!strcmp (walk->state, "begun") && *stage == ASKED)
        *stage = BEGUN;
    else if (!strcmp (walk->state, "ended") && *stage == BEGUN)
        s_end (self, walk, stage);
    else if (!strcmp (walk->state, "replaced") && *stage == BEGUN)
        s_replaced (self, walk, stage);
    else if (!strcmp (walk->state, "progress") && *stage == BEGUN)
        fprintf (stderr,
                 "%s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
                 " left\n",
                 walk->peer, walk->left, walk->instances);
}

//  The walk of a peer that is removed ends without a word
static void
s_handle_peer (self_t *self, json_t *root)
{
    const char *url = json_string_value (json_object_get (root, "peer"));
    const char *state = json_string_value (json_object_get (root, "state"));
    size_t i = url ? s_find (self, url) : self->count;
    if (i == self->count || self->stages[i] == ENDED || !state ||
        strcmp (state, "removed") != 0)
        return;
    self->stages[i] = ENDED;
    self->open--;
    self->refused++;
    fprintf (stderr, "%s: it was removed\n", url);
}

static void
s_handle (self_t *self, const char *topic, const void *data, size_t size)
{
    bool resync = !strcmp (topic, "resync");
    if (!resync && strcmp (topic, "peer") != 0)
        return;
    char *text = zpeer_watch_json (data, size);
    json_t *root = text ? json_loads (text, 0, NULL) : NULL;
    walk_t walk;
    if (root && !resync)
        s_handle_peer (self, root);
    else if (root && s_read (root, &walk))
        s_handle_walk (self, &walk);
    json_decref (root);
    free (text);
}

static zpeerctl_exit_t
s_follow (self_t *self, zpeer_watch_t *watch, uint32_t seconds)
{
    int64_t deadline = clock_now () + (int64_t) seconds * 1000;
    const char *topic;
    const void *data;
    size_t size;
    while (self->open) {
        int64_t left = deadline - clock_now ();
        if (left <= 0) {
            fprintf (stderr,
                     "zpeerctl %s: not ended within %u s at %zu of %zu peers; "
                     "it goes on\n",
                     self->kind, (unsigned) seconds, self->open, self->count);
            return ZPEERCTL_EXIT_SILENT;
        }
        if (!zpeer_watch_recv (watch, (int) left, &topic, &data, &size))
            s_handle (self, topic, data, size);
    }
    return self->refused ? ZPEERCTL_EXIT_REJECTED : ZPEERCTL_EXIT_OK;
}

zpeerctl_exit_t
zpeerctl_follow_run (zpeer_watch_t *watch, const char *kind, char *const *urls,
                     size_t count, uint32_t seconds)
{
    self_t self = {.kind = kind, .urls = urls, .count = count, .open = count};
    self.stages = calloc (count, sizeof *self.stages);
    assert (self.stages);
    zpeerctl_exit_t status = s_follow (&self, watch, seconds);
    free (self.stages);
    return status;
}
