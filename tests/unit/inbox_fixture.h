/*  inbox_fixture.h - a view, and lanes whose inboxes are played by the test

    Inboxes have as much room as the test gives them, and keep what is posted
    until the test reads it.
*/
#ifndef INBOX_FIXTURE_H_INCLUDED
#define INBOX_FIXTURE_H_INCLUDED

#include <stdio.h>
#include "handover.h"
#include "view_fixture.h"

#define INBOXES   4
#define INBOX_MAX 1024

typedef struct {
    zpeer_chunk_t *chunks[INBOX_MAX];  //  Owned references
    unsigned head;                     //  The next to be read
    unsigned tail;
    unsigned room;  //  Chunks that may wait
    uint32_t next;  //  Change of the first chunk
} inbox_t;

static inbox_t s_inboxes[INBOXES];
static unsigned s_posts;  //  Attempts, in all

static inline void
s_open_inboxes (void)
{
    for (unsigned i = 0; i < INBOXES; i++)
        s_inboxes[i] = (inbox_t){.room = INBOX_MAX};
}

//  A zpeer_post_fn
static inline bool
s_post (void *arg, unsigned lane, zpeer_chunk_t *chunk)
{
    cr_assert_eq (arg, s_inboxes);
    cr_assert_lt (lane, INBOXES);
    inbox_t *self = &s_inboxes[lane];
    s_posts++;
    if (self->tail - self->head >= self->room)
        return false;
    cr_assert_lt (self->tail, INBOX_MAX);
    self->chunks[self->tail++] = zpeer_chunk_ref (chunk);
    return true;
}

//  The first chunk that was not read yet, borrowed; NULL: there is none
static inline const zpeer_chunk_t *
s_first (unsigned lane)
{
    const inbox_t *self = &s_inboxes[lane];
    return self->head < self->tail ? self->chunks[self->head] : NULL;
}

//  Done with the first chunk
static inline void
s_drop (unsigned lane)
{
    inbox_t *self = &s_inboxes[lane];
    cr_assert (s_first (lane));
    zpeer_chunk_unref (&self->chunks[self->head++]);
    self->next = 0;
}

static inline void
s_close_inboxes (void)
{
    for (unsigned i = 0; i < INBOXES; i++)
        while (s_first (i))
            s_drop (i);
}

static inline void
s_describe (const zpeer_change_t *change, char *text, size_t size)
{
    const zpeer_state_t *state = change->state;
    const char *what =
        change->flags & ZPEER_CHANGE_OWE      ? "OWE"
        : change->flags & ZPEER_CHANGE_VERIFY ? "VERIFY"
        : change->flags & ZPEER_CHANGE_RELEASE
            ? "RELEASE"
            : zpeer_action_name ((zpeer_action_t) change->action);
    const char *walk = change->flags & ZPEER_CHANGE_WALK ? "WALK " : "";
    if (!state)
        snprintf (text, size, "%s%s #%u", walk, what, change->handle);
    else if (zpeer_state_present (state) || !state->name->app_size)
        snprintf (text, size, "%s%s %s %s", walk, what,
                  zpeer_name_id (state->name).data,
                  zpeer_status_name ((zpeer_status_t) state->status));
    else
        snprintf (text, size, "%s%s %s absent", walk, what,
                  zpeer_name_id (state->name).data);
}

//  The next change as text: flags or action, id, status, or what stands for a
//  state that was told before ("Heartbeat #0"). "": there is none.
static inline const char *
s_read (unsigned lane)
{
    static char text[ZPEER_REASON_MAX];
    inbox_t *self = &s_inboxes[lane];
    *text = 0;
    if (s_first (lane) && self->next == s_first (lane)->count)
        s_drop (lane);
    if (s_first (lane) && self->next < s_first (lane)->count)
        s_describe (&s_first (lane)->changes[self->next++], text, sizeof text);
    return text;
}

static inline void
s_expect_read (unsigned lane, const char *text)
{
    const char *read = s_read (lane);
    cr_assert_str_eq (read, text, "\"%s\", not \"%s\"", read, text);
}

#endif
