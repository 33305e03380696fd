#include "batcher_impl.h"
#include "utf8.h"
#include "banned.h"

//  Chunks, and messages of dispatchers, handled in one turn, before the pipe is
//  looked at again
#define CHUNKS_MAX   16
#define MESSAGES_MAX 64

//  --------------------------------------------------------------------------
//  From the acceptor

//  The walk of before, if there is one, ends without WALKED: the acceptor knows
static void
s_begin_walk (batcher_t *self, const zpeer_chunk_t *chunk)
{
    self->walk = chunk->number;
    self->walked = false;
    zpeer_peerlog_walk_begun (&self->peerlog, self->now,
                              chunk->walk == ZPEER_WALK_VERIFY);
    zpeer_lane_walk_begin (self->lanes[LANE_INSTANCES]);
}

static void
s_handle_chunk (batcher_t *self, const zpeer_chunk_t *chunk)
{
    bool walk = chunk->walk != ZPEER_WALK_NONE;
    if (walk && chunk->first)
        s_begin_walk (self, chunk);
    for (uint32_t i = 0; i < chunk->count; i++) {
        const zpeer_change_t *change = &chunk->changes[i];
        bool asg = change->action == ZPEER_ASG_STATUS_UPDATE;
        zpeer_lane_change (self->lanes[asg ? LANE_ASGS : LANE_INSTANCES],
                           self->now, change);
    }
    if (walk && chunk->last)
        zpeer_lane_walk_complete (self->lanes[LANE_INSTANCES]);
}

void
batcher_read_inbox (batcher_t *self)
{
    self->more = true;
    self->read = 0;
    for (int i = 0; i < CHUNKS_MAX; i++) {
        if (zpeer_inlet_recv (&self->inbox, &self->frames)) {
            self->more = false;
            return;
        }
        const zpeer_chunk_t *chunk =
            (const zpeer_chunk_t *) zpeer_frames_at (&self->frames, 0).data;
        self->read += chunk->count;
        s_handle_chunk (self, chunk);
    }
}

//  --------------------------------------------------------------------------
//  From the dispatchers

//  Answers with a fixed frame. A dispatcher that cannot be reached repeats what
//  it said.
static void
s_answer (zpeer_inlet_t *server, zpeer_slice_t identity, zpeer_slice_t command,
          const uint8_t *fields, size_t size)
{
    zpeer_slice_t frames[] = {identity, command, {(const char *) fields, size}};
    zpeer_socket_send (server->socket, frames, 3);
    server->used = true;
}

static void
s_acknowledge (batcher_t *self, zpeer_slice_t identity, uint64_t id)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_id (fields, id);
    s_answer (&self->remote, identity, ZPEER_SLICE ("ACK"), fields, size);
}

//  The number of whoever said something that makes sense; -1: there are too many
static int
s_heard (batcher_t *self, bool remote)
{
    int number = zpeer_roster_heard (
        self->roster, self->now, zpeer_frames_at (&self->frames, 0), remote);
    if (number < 0)
        zpeer_sample (&self->peerlog.lines, self->now, DISPATCHER_REFUSED,
                      self->url, ZPEER_ROSTER_MAX);
    return number;
}

static void
s_ready (batcher_t *self, bool remote, zpeer_slice_t fields)
{
    uint32_t credit;
    bool said;  //  It is what its socket says
    if (zpeer_wire_get_ready (fields.data, fields.size, &credit, &said))
        return;
    int number = s_heard (self, remote);
    if (number >= 0)
        zpeer_roster_ready (self->roster, number, credit);
}

//  A local one has no reason to say that it lives
static void
s_heartbeat (batcher_t *self, bool remote, zpeer_slice_t held)
{
    uint64_t ids[ZPEER_WIRE_HELD_MAX];
    uint8_t fields[ZPEER_WIRE_MAX];
    zpeer_wire_beat_t beat;
    size_t count;
    if (!remote || zpeer_wire_get_held (held.data, held.size, &beat, ids,
                                        ZPEER_WIRE_HELD_MAX, &count))
        return;
    int number = s_heard (self, remote);
    if (number < 0)
        return;
    zpeer_roster_holds (self->roster, number, beat.credit, beat.echo, ids,
                        count);
    size_t size = zpeer_wire_put_last (
        fields, zpeer_roster_last (self->roster, number), beat.sent);
    s_answer (&self->remote, zpeer_frames_at (&self->frames, 0),
              ZPEER_SLICE ("HEARTBEAT"), fields, size);
    batcher_take_back_lost (self);
}

//  Codes, copies and detail of a DONE; false: they do not fit the batch
static bool
s_done_frames (batcher_t *self, which_t which, zpeer_result_t *result)
{
    zpeer_slice_t codes = zpeer_frames_at (&self->frames, 3);
    zpeer_slice_t copies = zpeer_frames_at (&self->frames, 4);
    size_t count = 0;
    if (zpeer_wire_get_codes (codes.data, codes.size, self->codes, self->room,
                              &count) ||
        zpeer_wire_get_copies (copies.data, copies.size, self->copies,
                               self->room, &result->copy_count))
        return false;
    result->codes = count ? self->codes : NULL;
    result->copies = self->copies;
    return !count || count == zpeer_lane_items (self->lanes[which], result->id);
}

//  Who comes back only to say DONE again is no dispatcher by that, and is answered
static void
s_handle_done (batcher_t *self, bool remote, zpeer_slice_t fields)
{
    char detail[ZPEER_COMMAND_ANSWER_MAX];
    zpeer_result_t result;
    zpeer_slice_t identity = zpeer_frames_at (&self->frames, 0);
    if (zpeer_wire_get_done (fields.data, fields.size, &result))
        return;
    if (remote)
        s_acknowledge (self, identity, result.id);
    int number = zpeer_roster_known (self->roster, self->now, identity, remote);
    int lane = number < 0 ? number
                          : zpeer_roster_done (self->roster, number, result.id);
    if (lane < 0) {
        self->unknown_done++;
        return;
    }
    zpeer_slice_t text = zpeer_frames_at (&self->frames, 5);
    snprintf (detail, sizeof detail, "%.*s", (int) text.size,
              text.data ? text.data : "");
    zpeer_utf8_clean (detail);
    result.detail = detail;
    if (s_done_frames (self, (which_t) lane, &result)) {
        self->reached = result.reached;
        batcher_done (self, (which_t) lane, &result);
    }
    else
        batcher_take_back (self, (which_t) lane, result.id);
}

static bool
s_is (zpeer_slice_t command, const char *name)
{
    return zpeer_slice_eq (command, zpeer_slice_str (name));
}

static void
s_handle_goodbye (batcher_t *self, bool remote)
{
    int number = zpeer_roster_known (
        self->roster, self->now, zpeer_frames_at (&self->frames, 0), remote);
    if (number < 0)
        return;
    zpeer_roster_gone (self->roster, number);
    batcher_take_back_lost (self);
}

static void
s_handle_message (batcher_t *self, bool remote)
{
    zpeer_slice_t command = zpeer_frames_at (&self->frames, 1);
    zpeer_slice_t fields = zpeer_frames_at (&self->frames, 2);
    if (s_is (command, "DONE"))
        s_handle_done (self, remote, fields);
    else if (s_is (command, "READY"))
        s_ready (self, remote, fields);
    else if (s_is (command, "HEARTBEAT"))
        s_heartbeat (self, remote, fields);
    else if (s_is (command, "GOODBYE"))
        s_handle_goodbye (self, remote);
}

static void
s_read (batcher_t *self, zpeer_inlet_t *server, bool remote)
{
    for (int i = 0; i < MESSAGES_MAX; i++) {
        if (zpeer_inlet_recv (server, &self->frames))
            return;
        s_handle_message (self, remote);
    }
}

void
batcher_read_servers (batcher_t *self)
{
    s_read (self, &self->local, false);
    s_read (self, &self->remote, true);
}
