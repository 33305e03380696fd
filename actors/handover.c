#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "handles.h"
#include "handover.h"
#include "sampler.h"
#include "banned.h"

//  Chunks a lane that catches up gets in one turn. Each holds more handles
//  than a turn can add.
#define CATCH_UP_MAX 2

//  Changes one handle can come to, see zpeer_view_catch_up
#define AGAIN_MAX 2

//  A lane's number as text, with NUL
#define NUMBER_MAX 12

typedef struct {
    bool known;             //  There is such a lane
    zpeer_chunk_t *kept;    //  Owned; what its inbox had no room for, or NULL:
                            //  feeders wait for this lane
    uint64_t refused_at;    //  Since when
    bool behind;            //  Nobody waits for it any more, and kept is NULL
    zpeer_handles_t noted;  //  Instances it must be told of
    zpeer_handles_t noted_asgs;
    zpeer_throttle_t log;  //  Of the line about it
} lane_t;

struct zpeer_handover {
    const zpeer_view_t *view;  //  Borrowed
    const zpeer_log_t *log;    //  Borrowed
    zpeer_post_fn *post;
    void *arg;             //  Borrowed
    zpeer_chunk_t *chunk;  //  Owned; what changed this turn, or NULL
    lane_t lanes[ZPEER_LANES_MAX];
    unsigned limit;  //  Lanes from here on do not exist
    uint32_t count;  //  Lanes that exist
    uint64_t chunks;
    uint64_t refused;
    uint64_t owed;
};

static void
s_lane_close (lane_t *self)
{
    zpeer_chunk_unref (&self->kept);
    zpeer_handles_free (&self->noted);
    zpeer_handles_free (&self->noted_asgs);
    *self = (lane_t){0};
}

static void
s_lane_note (lane_t *self, const zpeer_chunk_t *chunk)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        const zpeer_change_t *change = &chunk->changes[i];
        bool asg = change->action == ZPEER_ASG_STATUS_UPDATE &&
                   !(change->flags & ZPEER_CHANGE_RELEASE);
        zpeer_handles_add (asg ? &self->noted_asgs : &self->noted,
                           change->handle);
    }
}

//  Says how many lines about a lane were held back, if that is due
static void
s_tell_held (const zpeer_handover_t *self, lane_t *lane, uint64_t now)
{
    char about[NUMBER_MAX];
    if (now < zpeer_throttle_wake (&lane->log))
        return;
    snprintf (about, sizeof about, "%u", (unsigned) (lane - self->lanes));
    zpeer_sampler_say (self->log, ZPR_INBOX_FULL, about, &lane->log, now);
}

//  Returns false when the lane's inbox is full; the chunk stays the caller's
static bool
s_post (zpeer_handover_t *self, const lane_t *lane, zpeer_chunk_t *chunk)
{
    bool taken = self->post (self->arg, (unsigned) (lane - self->lanes), chunk);
    self->chunks += taken;
    return taken;
}

void
zpeer_handover_destroy (zpeer_handover_t **self_p)
{
    zpeer_handover_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (unsigned i = 0; i < self->limit; i++) {
        s_tell_held (self, &self->lanes[i], UINT64_MAX);
        s_lane_close (&self->lanes[i]);
    }
    zpeer_chunk_unref (&self->chunk);
    free (self);
}

zpeer_handover_t *
zpeer_handover_new (const zpeer_view_t *view, const zpeer_log_t *log,
                    zpeer_post_fn *post, void *arg)
{
    zpeer_handover_t *self = (zpeer_handover_t *) calloc (1, sizeof *self);
    assert (self);
    self->view = view;
    self->log = log;
    self->post = post;
    self->arg = arg;
    return self;
}

int
zpeer_handover_add (zpeer_handover_t *self, unsigned lane)
{
    if (lane >= ZPEER_LANES_MAX)
        return ZPEER_E_RANGE;
    if (self->lanes[lane].known)
        return ZPEER_E_EXISTS;
    self->lanes[lane].known = true;
    self->count++;
    if (lane >= self->limit)
        self->limit = lane + 1;
    return ZPEER_OK;
}

bool
zpeer_handover_has (const zpeer_handover_t *self, unsigned lane)
{
    return lane < self->limit && self->lanes[lane].known;
}

int
zpeer_handover_remove (zpeer_handover_t *self, unsigned lane)
{
    if (!zpeer_handover_has (self, lane))
        return ZPEER_E_UNKNOWN;
    s_tell_held (self, &self->lanes[lane], UINT64_MAX);
    s_lane_close (&self->lanes[lane]);
    self->count--;
    return ZPEER_OK;
}

uint32_t
zpeer_handover_room (const zpeer_handover_t *self)
{
    for (unsigned i = 0; i < self->limit; i++)
        if (self->lanes[i].kept)
            return 0;
    return ZPEER_CHUNK_MAX - (self->chunk ? self->chunk->count : 0);
}

static void
s_add (zpeer_chunk_t *chunk, const zpeer_change_t *change)
{
    assert (chunk->count < ZPEER_CHUNK_MAX);
    if (change->state)
        zpeer_state_ref (change->state);
    chunk->changes[chunk->count++] = *change;
}

void
zpeer_handover_put (zpeer_handover_t *self, const zpeer_change_t *change)
{
    if (!self->count)
        return;
    if (!self->chunk)
        self->chunk = zpeer_chunk_new ();
    s_add (self->chunk, change);
}

static void
s_offer (zpeer_handover_t *self, lane_t *lane, uint64_t now)
{
    if (lane->behind)
        s_lane_note (lane, self->chunk);
    else if (!s_post (self, lane, self->chunk)) {
        self->refused++;
        lane->kept = zpeer_chunk_ref (self->chunk);
        lane->refused_at = now;
    }
}

//  The lane has held up feeders for long enough
static void
s_give_up (zpeer_handover_t *self, lane_t *lane, uint64_t now)
{
    s_lane_note (lane, lane->kept);
    zpeer_chunk_unref (&lane->kept);
    lane->behind = true;
    char held[ZPEER_THROTTLE_TEXT_MAX];
    if (zpeer_throttle_pass (&lane->log, now, held))
        zpeer_log (self->log, INBOX_FULL, (unsigned) (lane - self->lanes),
                   (unsigned) (now - lane->refused_at), lane->noted.count,
                   held);
}

//  Tries again what the lane's inbox had no room for
static void
s_retry (zpeer_handover_t *self, lane_t *lane, uint64_t now)
{
    if (s_post (self, lane, lane->kept))
        zpeer_chunk_unref (&lane->kept);
    else if (now - lane->refused_at >= ZPEER_HANDOVER_PATIENCE_MS)
        s_give_up (self, lane, now);
}

typedef unsigned (again_fn) (const zpeer_view_t *view, uint32_t handle,
                             zpeer_change_t changes[AGAIN_MAX]);

static void
s_gather (const zpeer_view_t *view, zpeer_handles_t *noted, again_fn *again,
          zpeer_chunk_t *chunk)
{
    uint32_t handle;
    while (chunk->count <= ZPEER_CHUNK_MAX - AGAIN_MAX &&
           zpeer_handles_take (noted, &handle)) {
        zpeer_change_t changes[AGAIN_MAX];
        unsigned count = again (view, handle, changes);
        for (unsigned i = 0; i < count; i++)
            s_add (chunk, &changes[i]);
    }
}

//  Tells a lane that is behind what it missed, as far as one chunk goes.
//  Returns false when it has no room yet, or has caught up.
static bool
s_catch_up (zpeer_handover_t *self, lane_t *lane)
{
    zpeer_chunk_t *chunk = zpeer_chunk_new ();
    s_gather (self->view, &lane->noted, zpeer_view_catch_up, chunk);
    s_gather (self->view, &lane->noted_asgs, zpeer_view_catch_up_asg, chunk);
    bool taken = !chunk->count || s_post (self, lane, chunk);
    if (taken) {
        self->owed += chunk->count;
        lane->behind = lane->noted.count + lane->noted_asgs.count > 0;
    }
    else {
        self->refused++;
        s_lane_note (lane, chunk);
    }
    zpeer_chunk_unref (&chunk);
    return taken && lane->behind;
}

void
zpeer_handover_send (zpeer_handover_t *self, uint64_t now)
{
    for (unsigned i = 0; i < self->limit; i++) {
        lane_t *lane = &self->lanes[i];
        if (!lane->known)
            continue;
        s_tell_held (self, lane, now);
        //  While a lane has a chunk that was kept there is no room for another
        assert (!lane->kept || !self->chunk);
        if (lane->kept)
            s_retry (self, lane, now);
        else if (self->chunk)
            s_offer (self, lane, now);
        for (int n = 0; n < CATCH_UP_MAX && lane->behind; n++)
            if (!s_catch_up (self, lane))
                break;
    }
    zpeer_chunk_unref (&self->chunk);
}

bool
zpeer_handover_waits (const zpeer_handover_t *self, unsigned lane)
{
    return lane < self->limit &&
           (self->lanes[lane].kept || self->lanes[lane].behind);
}

uint64_t
zpeer_handover_wake (const zpeer_handover_t *self)
{
    uint64_t wake = UINT64_MAX;
    for (unsigned i = 0; i < self->limit; i++) {
        const lane_t *lane = &self->lanes[i];
        uint64_t at = lane->refused_at + ZPEER_HANDOVER_PATIENCE_MS;
        if (lane->kept && at < wake)
            wake = at;
        if (zpeer_throttle_wake (&lane->log) < wake)
            wake = zpeer_throttle_wake (&lane->log);
    }
    return wake;
}

void
zpeer_handover_stats (const zpeer_handover_t *self,
                      zpeer_handover_stats_t *stats)
{
    *stats = (zpeer_handover_stats_t){.chunks = self->chunks,
                                      .refused = self->refused,
                                      .owed = self->owed,
                                      .lanes = self->count};
    for (unsigned i = 0; i < self->limit; i++) {
        const lane_t *lane = &self->lanes[i];
        stats->behind += lane->behind;
        stats->noted += lane->noted.count + lane->noted_asgs.count;
    }
}
