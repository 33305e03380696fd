/*  zpeerctl_follow.c - waits for the end of resyncs
 */
#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zpeer/watch.h>
#include "clock.h"
#include "zpeerctl_follow.h"
#include "zpeerctl_reach.h"
#include "banned.h"

//  How long nothing may come before it is taken for granted that nothing will,
//  ms: an engine publishes figures each second
#define QUIET_MS 3000

#define COUNT_FORMAT "%" JSON_INTEGER_FORMAT

//  What to do when the engine lacks Registers
#define FEED_IT                                                                \
    "feed them (\"zpeerctl feed\" takes the answer to GET apps), then %s "     \
    "again\n"

//  How far a peer's walk is
typedef enum { ASKED, BEGUN, ENDED } stage_t;

struct zpeerctl_follow {
    zpeer_watch_t *watch;  //  Owned
    const char *kind;      //  Borrowed
    const char *endpoint;  //  Borrowed
    bool heard;            //  Anything at all
    bool heard_of;         //  Anything about a peer asked for
    char *const *urls;     //  Borrowed
    stage_t *stages;       //  Owned; of each URL
    size_t count;          //  Of URLs
    size_t open;           //  Of these: not ended
    bool walked;           //  A walk that ended had an instance
    json_int_t refused;
    json_int_t unknown;  //  Instances known from heartbeats only; -1: not heard
};

//  An outcome of the topic "resync"
typedef struct {
    const char *peer, *kind, *state;
    json_int_t instances, left, repaired, refused, ms;
} walk_t;

void
zpeerctl_follow_destroy (zpeerctl_follow_t **self_p)
{
    assert (self_p);
    zpeerctl_follow_t *self = *self_p;
    if (!self)
        return;
    zpeer_watch_destroy (&self->watch);
    free (self->stages);
    free (self);
    *self_p = NULL;
}

//  It subscribes to everything: that is one subscription, and whatever comes
//  proves that it holds. What is there by then is of the past.
zpeerctl_follow_t *
zpeerctl_follow_new (const char *kind, const char *endpoint)
{
    zpeerctl_follow_t *self = calloc (1, sizeof *self);
    assert (self);
    *self = (zpeerctl_follow_t){.kind = kind, .endpoint = endpoint};
    self->watch = zpeer_watch_new (endpoint, NULL);
    if (!self->watch) {
        zpeerctl_follow_destroy (&self);
        return NULL;
    }
    const char *topic;
    const void *data;
    size_t size;
    while (!zpeer_watch_recv (self->watch, self->heard ? 0 : QUIET_MS, &topic,
                              &data, &size))
        self->heard = true;
    if (!self->heard)
        zpeerctl_reach_quiet (kind, endpoint);
    return self;
}

//  What comes in ----------------------------------------------------------------

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
s_end (zpeerctl_follow_t *self, const walk_t *walk, stage_t *stage)
{
    *stage = ENDED;
    self->open--;
    self->walked |= walk->instances > 0;
    self->refused += walk->refused;
    printf ("%s: %s ended: " COUNT_FORMAT " instances, " COUNT_FORMAT
            " repaired, " COUNT_FORMAT " refused, in %.1f s\n",
            walk->peer, walk->kind, walk->instances, walk->repaired,
            walk->refused, (double) walk->ms / 1000);
}

//  Somebody else asked for another one, which has begun
static void
s_replaced (zpeerctl_follow_t *self, const walk_t *walk, stage_t *stage)
{
    *stage = ENDED;
    self->open--;
    self->refused++;
    fprintf (stderr,
             "%s: another resync or verify took the place of this %s, which "
             "had " COUNT_FORMAT " instances left\n",
             walk->peer, walk->kind, walk->left);
}

//  Whether a walk can be the one asked for: a verify that is asked for while a
//  resync waits for its turn becomes part of that
static bool
s_serves (const zpeerctl_follow_t *self, const walk_t *walk)
{
    return !strcmp (walk->kind, self->kind) || !strcmp (walk->kind, "resync");
}

//  The end of a walk counts only after its beginning: the peer may be at the end
//  of another one
static void
s_handle_walk (zpeerctl_follow_t *self, const walk_t *walk, stage_t *stage)
{
    if (!s_serves (self, walk))
        return;
    if (!strcmp (walk->state, "begun") && *stage == ASKED)
        *stage = BEGUN;
    else if (!strcmp (walk->state, "ended") && *stage == BEGUN)
        s_end (self, walk, stage);
    else if (!strcmp (walk->state, "replaced") && *stage == BEGUN)
        s_replaced (self, walk, stage);
    else if (!strcmp (walk->state, "progress") && *stage == BEGUN)
        fprintf (stderr, "%s: " COUNT_FORMAT " of " COUNT_FORMAT " left\n",
                 walk->peer, walk->left, walk->instances);
}

//  The walk of a peer that is removed ends without a word
static void
s_handle_peer (zpeerctl_follow_t *self, json_t *root, const char *url,
               stage_t *stage)
{
    const char *state = json_string_value (json_object_get (root, "state"));
    if (*stage == ENDED || !state || strcmp (state, "removed") != 0)
        return;
    *stage = ENDED;
    self->open--;
    self->refused++;
    fprintf (stderr, "%s: it was removed\n", url);
}

//  Of the figures only the engine's own matter
static void
s_handle_stats (zpeerctl_follow_t *self, json_t *root)
{
    const char *source = json_string_value (json_object_get (root, "source"));
    const json_t *unknown = json_object_get (root, "unknown");
    if (source && !strcmp (source, "acceptor") && json_is_integer (unknown))
        self->unknown = json_integer_value (unknown);
}

//  The stage of a peer that was asked for; NULL: it is none of them
static stage_t *
s_find (const zpeerctl_follow_t *self, const char *url)
{
    for (size_t i = 0; url && i < self->count; i++)
        if (!strcmp (self->urls[i], url))
            return &self->stages[i];
    return NULL;
}

static void
s_handle (zpeerctl_follow_t *self, const char *topic, json_t *root)
{
    const char *url = json_string_value (json_object_get (root, "peer"));
    stage_t *stage = s_find (self, url);
    walk_t walk;
    self->heard_of |= stage != NULL;
    if (!strcmp (topic, "stats"))
        s_handle_stats (self, root);
    else if (stage && !strcmp (topic, "peer"))
        s_handle_peer (self, root, url, stage);
    else if (stage && !strcmp (topic, "resync") && s_read (root, &walk))
        s_handle_walk (self, &walk, stage);
}

//  Reads one message. Returns false if none came until then.
static bool
s_recv (zpeerctl_follow_t *self, int64_t until)
{
    const char *topic;
    const void *data;
    size_t size;
    int64_t left = until - clock_now ();
    if (left <= 0 ||
        zpeer_watch_recv (self->watch, (int) left, &topic, &data, &size))
        return false;
    self->heard = true;
    char *text = zpeer_watch_json (data, size);
    json_t *root = text ? json_loads (text, 0, NULL) : NULL;
    if (root)
        s_handle (self, topic, root);
    json_decref (root);
    free (text);
    return true;
}

//  What comes of it -------------------------------------------------------------

static void
s_tell_open (const zpeerctl_follow_t *self, uint32_t seconds)
{
    size_t asked = 0;
    for (size_t i = 0; i < self->count; i++)
        asked += self->stages[i] == ASKED;
    fprintf (stderr,
             "zpeerctl %s: not ended within %" PRIu32 " s at %zu of %zu peers",
             self->kind, seconds, self->open, self->count);
    if (asked)
        fprintf (stderr, ", not begun at %zu", asked);
    fputs ("; it goes on\n", stderr);
}

//  Not all have ended in time: says what is known of them
static zpeerctl_exit_t
s_give_up (const zpeerctl_follow_t *self, uint32_t seconds)
{
    if (!self->heard)
        zpeerctl_reach_quiet (self->kind, self->endpoint);
    else if (!self->heard_of)
        fprintf (stderr,
                 "zpeerctl %s: %s says nothing of these peers; is it the same "
                 "zpeerd's?\n",
                 self->kind, self->endpoint);
    if (self->heard_of)
        s_tell_open (self, seconds);
    else
        fprintf (stderr,
                 "zpeerctl %s: whether it has ended is not known; --outcomes "
                 "names where to hear of it\n",
                 self->kind);
    return ZPEERCTL_EXIT_SILENT;
}

//  Says what was left out, or that there was nothing. Figures may be from before
//  the last events: those that come now are not.
static zpeerctl_exit_t
s_tell_lacking (zpeerctl_follow_t *self)
{
    int64_t until = clock_now () + QUIET_MS;
    self->unknown = -1;
    while (self->unknown < 0 && s_recv (self, until))
        continue;
    if (self->unknown > 0)
        fprintf (stderr,
                 "zpeerctl %s: " COUNT_FORMAT
                 " instances are known from heartbeats only and were left "
                 "out; " FEED_IT,
                 self->kind, self->unknown, self->kind);
    else if (!self->walked)
        fprintf (stderr,
                 "zpeerctl %s: it was about nothing: zpeerd has no Register; "
                 "if the registry has instances, " FEED_IT,
                 self->kind, self->kind);
    return self->unknown > 0 || !self->walked ? ZPEERCTL_EXIT_LACKING
                                              : ZPEERCTL_EXIT_OK;
}

//  Waits a little longer than was asked for when nothing was heard of the peers
//  yet: otherwise nothing can be said
static zpeerctl_exit_t
s_follow (zpeerctl_follow_t *self, uint32_t seconds)
{
    int64_t begun = clock_now ();
    int64_t deadline = begun + (int64_t) seconds * 1000;
    while (self->open) {
        bool doubt = !self->heard_of && deadline < begun + QUIET_MS;
        if (!s_recv (self, doubt ? begun + QUIET_MS : deadline))
            return s_give_up (self, seconds);
    }
    zpeerctl_exit_t status = s_tell_lacking (self);
    return self->refused ? ZPEERCTL_EXIT_REJECTED : status;
}

zpeerctl_exit_t
zpeerctl_follow_run (zpeerctl_follow_t *self, char *const *urls, size_t count,
                     uint32_t seconds)
{
    assert (self && !self->stages);
    self->urls = urls;
    self->count = self->open = count;
    self->stages = calloc (count, sizeof *self->stages);
    assert (self->stages);
    return s_follow (self, seconds);
}
