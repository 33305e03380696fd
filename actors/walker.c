#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "walker.h"
#include "banned.h"

#define NEVER UINT64_MAX

//  Changes one handle can come to, see zpeer_view_catch_up
#define CHANGES_MAX 2

typedef struct {
    unsigned lane;
    zpeer_walk_kind_t kind;
} walk_t;

struct zpeer_walker {
    const zpeer_view_t *view;          //  Borrowed
    const zpeer_handover_t *handover;  //  Borrowed
    zpeer_post_fn *post;
    void *arg;                      //  Borrowed
    walk_t queue[ZPEER_LANES_MAX];  //  Waiting, in order; each lane once
    unsigned waiting;

    //  The walk under way
    walk_t walk;         //  kind ZPEER_WALK_NONE: there is none
    bool posted;         //  Its first chunk
    bool complete;       //  Its last one, too
    uint64_t cursor;     //  The next entry: instances first, then ASGs
    uint32_t instances;  //  How many of these there are
    uint32_t asgs;
    uint64_t next_at;   //  When the next portion may go
    uint64_t moved_at;  //  When it began, or the last chunk was taken
    zpeer_chunk_t *unread[ZPEER_WALKER_UNREAD];  //  Owned; the newest last
    uint64_t begun;  //  Walks, in all: the number of the newest
};

static void
s_forget_unread (zpeer_walker_t *self)
{
    for (unsigned i = 0; i < ZPEER_WALKER_UNREAD; i++)
        zpeer_chunk_unref (&self->unread[i]);
}

void
zpeer_walker_destroy (zpeer_walker_t **self_p)
{
    zpeer_walker_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    s_forget_unread (self);
    free (self);
}

zpeer_walker_t *
zpeer_walker_new (const zpeer_view_t *view, const zpeer_handover_t *handover,
                  zpeer_post_fn *post, void *arg)
{
    zpeer_walker_t *self = (zpeer_walker_t *) calloc (1, sizeof *self);
    assert (self);
    self->view = view;
    self->handover = handover;
    self->post = post;
    self->arg = arg;
    return self;
}

static bool
s_walks (const zpeer_walker_t *self, unsigned lane)
{
    return self->walk.kind != ZPEER_WALK_NONE && self->walk.lane == lane;
}

//  The walk of a lane that waits; NULL: none does
static walk_t *
s_find (zpeer_walker_t *self, unsigned lane)
{
    for (unsigned i = 0; i < self->waiting; i++)
        if (self->queue[i].lane == lane)
            return &self->queue[i];
    return NULL;
}

static walk_t
s_unqueue (zpeer_walker_t *self, walk_t *at)
{
    walk_t walk = *at;
    self->waiting--;
    memmove (at, at + 1,
             (size_t) (self->queue + self->waiting - at) * sizeof *at);
    return walk;
}

//  The walk has ended, or is given up
static void
s_end (zpeer_walker_t *self)
{
    self->walk.kind = ZPEER_WALK_NONE;
    s_forget_unread (self);
}

static void
s_begin (zpeer_walker_t *self, walk_t walk, uint64_t now)
{
    self->walk = walk;
    self->posted = false;
    self->complete = false;
    self->cursor = 0;
    self->instances = zpeer_view_limit (self->view);
    self->asgs =
        walk.kind == ZPEER_WALK_RESYNC ? zpeer_view_limit_asgs (self->view) : 0;
    self->next_at = now;
    self->moved_at = now;
    self->begun++;
}

static zpeer_walk_kind_t
s_stronger (zpeer_walk_kind_t a, zpeer_walk_kind_t b)
{
    return a == ZPEER_WALK_RESYNC || b == ZPEER_WALK_RESYNC ? ZPEER_WALK_RESYNC
                                                            : ZPEER_WALK_VERIFY;
}

//  Behind all others; a lane that waits stays where it is
static void
s_wait (zpeer_walker_t *self, walk_t walk)
{
    walk_t *waits = s_find (self, walk.lane);
    if (waits)
        waits->kind = s_stronger (waits->kind, walk.kind);
    else
        self->queue[self->waiting++] = walk;
}

int
zpeer_walker_ask (zpeer_walker_t *self, unsigned lane, zpeer_walk_kind_t kind)
{
    assert (kind != ZPEER_WALK_NONE);
    if (!zpeer_handover_has (self->handover, lane))
        return ZPEER_E_UNKNOWN;
    s_wait (self, (walk_t){lane, kind});
    return ZPEER_OK;
}

void
zpeer_walker_remove (zpeer_walker_t *self, unsigned lane)
{
    walk_t *waits = s_find (self, lane);
    if (waits)
        s_unqueue (self, waits);
    if (self->walk.lane == lane)
        s_end (self);
}

void
zpeer_walker_walked (zpeer_walker_t *self, unsigned lane, uint64_t number)
{
    if (s_walks (self, lane) && self->begun == number && self->complete)
        s_end (self);
}

//  The walk has held up the others for long enough
static void
s_give_up (zpeer_walker_t *self)
{
    walk_t walk = self->walk;
    bool complete = self->complete;
    s_end (self);
    if (!complete)
        s_wait (self, walk);
}

//  When the walk under way is given up; NEVER: it holds up nobody
static uint64_t
s_limit (const zpeer_walker_t *self)
{
    return self->complete || self->waiting
               ? self->moved_at + ZPEER_WALKER_LIMIT_MS
               : NEVER;
}

static void
s_add_instance (const zpeer_walker_t *self, uint32_t handle,
                zpeer_chunk_t *chunk)
{
    zpeer_change_t changes[CHANGES_MAX];
    unsigned count = zpeer_view_catch_up (self->view, handle, changes);
    //  Of what the source let go of, peers are told nothing
    if (count != 1 || !(changes[0].flags & ZPEER_CHANGE_OWE))
        return;
    zpeer_state_ref (changes[0].state);
    changes[0].flags = self->walk.kind == ZPEER_WALK_RESYNC
                           ? ZPEER_CHANGE_WALK | ZPEER_CHANGE_OWE
                           : ZPEER_CHANGE_WALK | ZPEER_CHANGE_VERIFY;
    chunk->changes[chunk->count++] = changes[0];
}

static void
s_add_asg (const zpeer_walker_t *self, uint32_t handle, zpeer_chunk_t *chunk)
{
    zpeer_change_t changes[CHANGES_MAX];
    if (!zpeer_view_catch_up_asg (self->view, handle, changes))
        return;
    zpeer_state_ref (changes[0].state);
    chunk->changes[chunk->count++] = changes[0];
}

//  Looks at the next portion of the view. Returns where it ends.
static uint64_t
s_fill (const zpeer_walker_t *self, zpeer_chunk_t *chunk)
{
    uint64_t all = (uint64_t) self->instances + self->asgs;
    uint64_t end = self->cursor + ZPEER_WALKER_PORTION;
    if (end > all)
        end = all;
    for (uint64_t at = self->cursor; at < end; at++) {
        if (at < self->instances)
            s_add_instance (self, (uint32_t) at, chunk);
        else
            s_add_asg (self, (uint32_t) (at - self->instances), chunk);
    }
    chunk->number = self->begun;
    chunk->walk = (uint8_t) self->walk.kind;
    chunk->first = !self->posted;
    chunk->last = end == all;
    return end;
}

//  Takes over the reference to a chunk that lies in the inbox now
static void
s_posted (zpeer_walker_t *self, zpeer_chunk_t *chunk, uint64_t now)
{
    zpeer_chunk_unref (&self->unread[0]);
    for (unsigned i = 1; i < ZPEER_WALKER_UNREAD; i++)
        self->unread[i - 1] = self->unread[i];
    self->unread[ZPEER_WALKER_UNREAD - 1] = chunk;
    self->posted = true;
    self->complete = chunk->last;
    self->moved_at = now;
}

//  A portion that finds no room is looked at again later. One in which there is
//  nothing to tell is not posted.
static void
s_step (zpeer_walker_t *self, uint64_t now)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    uint64_t end = s_fill (self, chunk);
    bool tell = chunk->count || chunk->last;
    bool taken = tell && self->post (self->arg, self->walk.lane, chunk);
    if (taken)
        s_posted (self, chunk, now);
    else
        zpeer_chunk_unref (&chunk);
    if (taken || !tell)
        self->cursor = end;
}

//  Whether the lane may get a portion as soon as it is time
static bool
s_may (const zpeer_walker_t *self)
{
    return self->walk.kind != ZPEER_WALK_NONE && !self->complete &&
           !zpeer_handover_waits (self->handover, self->walk.lane);
}

void
zpeer_walker_turn (zpeer_walker_t *self, uint64_t now)
{
    if (self->walk.kind != ZPEER_WALK_NONE && now >= s_limit (self))
        s_give_up (self);
    if (self->walk.kind == ZPEER_WALK_NONE && self->waiting)
        s_begin (self, s_unqueue (self, self->queue), now);
    if (!s_may (self) || now < self->next_at)
        return;
    self->next_at = now + ZPEER_WALKER_PACE_MS;
    if (!self->unread[0] || !zpeer_chunk_shared (self->unread[0]))
        s_step (self, now);
}

uint64_t
zpeer_walker_wake (const zpeer_walker_t *self)
{
    if (self->walk.kind == ZPEER_WALK_NONE)
        return self->waiting ? 0 : NEVER;
    uint64_t limit = s_limit (self);
    return s_may (self) && self->next_at < limit ? self->next_at : limit;
}

void
zpeer_walker_stats (const zpeer_walker_t *self, zpeer_walker_stats_t *stats)
{
    *stats =
        (zpeer_walker_stats_t){.begun = self->begun,
                               .waiting = self->waiting,
                               .under_way = self->walk.kind != ZPEER_WALK_NONE};
}
