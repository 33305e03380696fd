#include <inttypes.h>
#include "source.h"
#include "world.h"
#include "banned.h"

//  Chunks, and messages of dispatchers, handled in one turn
#define CHUNKS_MAX   16
#define MESSAGES_MAX 64

//  From the acceptor ----------------------------------------------------------

//  The walk of before, if there is one, ends without WALKED: the acceptor knows
static void
s_begin_walk (batcher_t *self, const zpeer_chunk_t *chunk)
{
    self->walk = chunk->number;
    self->walked = false;
    world_count (self->peer->world, chunk->walk == ZPEER_WALK_VERIFY
                                        ? TALLY_VERIFIES
                                        : TALLY_RESYNCS);
    zpeer_lane_walk_begin (peer_lane (self->peer));
}

static void
s_handle_chunk (batcher_t *self, const zpeer_chunk_t *chunk)
{
    bool walk = chunk->walk != ZPEER_WALK_NONE;
    if (walk && chunk->first)
        s_begin_walk (self, chunk);
    for (uint32_t i = 0; i < chunk->count; i++)
        peer_change (self->peer, &chunk->changes[i]);
    if (walk && chunk->last)
        zpeer_lane_walk_complete (peer_lane (self->peer));
}

void
batcher_read_inbox (batcher_t *self)
{
    unsigned count =
        self->inbox_count < CHUNKS_MAX ? self->inbox_count : CHUNKS_MAX;
    for (unsigned i = 0; i < count; i++) {
        s_handle_chunk (self, self->inbox[i]);
        zpeer_chunk_unref (&self->inbox[i]);
    }
    self->inbox_count -= count;
    for (unsigned i = 0; i < self->inbox_count; i++)
        self->inbox[i] = self->inbox[i + count];
    if (count)
        source_has_room (self->peer->world, self->peer->number);
}

//  From the dispatchers -------------------------------------------------------

//  The dispatcher that has this routing id; NULL: the socket knows none
static dispatcher_t *
s_find (batcher_t *self, int number)
{
    return peer_dispatcher (self->peer,
                            zpeer_roster_identity (self->roster, number));
}

static void
s_answer (batcher_t *self, int number, zpeer_slice_t command,
          const uint8_t *fields, size_t size)
{
    zpeer_slice_t frames[] = {command, {(const char *) fields, size}};
    dispatcher_t *dispatcher = s_find (self, number);
    if (dispatcher)
        link_send (&dispatcher->down, frames, 2);
}

static void
s_acknowledge (batcher_t *self, int number, uint64_t id)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_id (fields, id);
    s_answer (self, number, ZPEER_SLICE ("ACK"), fields, size);
}

static void
s_ready (batcher_t *self, int number, zpeer_slice_t fields)
{
    uint32_t credit;
    bool remote;
    if (zpeer_wire_get_ready (fields.data, fields.size, &credit, &remote) ==
        ZPEER_OK)
        zpeer_roster_ready (self->roster, number, credit);
}

static void
s_heartbeat (batcher_t *self, int number, zpeer_slice_t held)
{
    uint64_t ids[ZPEER_WIRE_HELD_MAX];
    uint8_t fields[ZPEER_WIRE_MAX];
    zpeer_wire_beat_t beat;
    size_t count;
    if (zpeer_wire_get_held (held.data, held.size, &beat, ids,
                             ZPEER_WIRE_HELD_MAX, &count)) {
        world_fail (self->peer->world, "wire", "P%u: a bad HEARTBEAT",
                    self->peer->number);
        return;
    }
    zpeer_roster_holds (self->roster, number, beat.credit, beat.echo, ids,
                        count);
    size_t size = zpeer_wire_put_last (
        fields, zpeer_roster_last (self->roster, number), beat.sent);
    s_answer (self, number, ZPEER_SLICE ("HEARTBEAT"), fields, size);
    batcher_take_back_lost (self);
}

//  Codes, copies and detail of a DONE; false: they do not fit the batch
static bool
s_done_frames (batcher_t *self, const message_t *message, which_t which,
               zpeer_result_t *result)
{
    zpeer_slice_t codes = message->frames[3];
    zpeer_slice_t copies = message->frames[4];
    size_t count = 0;
    if (zpeer_wire_get_codes (codes.data, codes.size, self->codes,
                              BATCHER_ITEMS_MAX, &count) ||
        zpeer_wire_get_copies (copies.data, copies.size, self->copies,
                               BATCHER_ITEMS_MAX, &result->copy_count))
        return false;
    result->codes = count ? self->codes : NULL;
    result->copies = self->copies;
    return !count || count == zpeer_lane_items (self->lanes[which], result->id);
}

static void
s_handle_done (batcher_t *self, int number, const message_t *message)
{
    zpeer_slice_t fields = message->frames[2];
    zpeer_result_t result;
    world_t *world = self->peer->world;
    if (zpeer_wire_get_done (fields.data, fields.size, &result)) {
        world_fail (world, "wire", "P%u: a bad DONE", self->peer->number);
        return;
    }
    if (zpeer_roster_remote (self->roster, number))
        s_acknowledge (self, number, result.id);
    int lane = zpeer_roster_done (self->roster, number, result.id);
    if (lane < 0) {
        world_count (world, TALLY_UNKNOWN_DONE);
        return;
    }
    if (!s_done_frames (self, message, (which_t) lane, &result)) {
        world_fail (world, "wire", "P%u #%" PRIu64 ": DONE of another size",
                    self->peer->number, result.id);
        return;
    }
    self->reached = result.reached;
    batcher_done (self, (which_t) lane, &result);
}

static void
s_handle_message (batcher_t *self, const message_t *message)
{
    zpeer_slice_t fields = message->frames[2];
    //  One that is there no more was remote: the others do not die
    const dispatcher_t *dispatcher =
        peer_dispatcher (self->peer, message->frames[0]);
    int number = zpeer_roster_heard (self->roster, self->peer->world->now,
                                     message->frames[0],
                                     !dispatcher || dispatcher->remote);
    if (number < 0)
        return;
    switch (message_command (message, 1)) {
    case ZPEER_WIRE_DONE: s_handle_done (self, number, message); break;
    case ZPEER_WIRE_READY: s_ready (self, number, fields); break;
    case ZPEER_WIRE_HEARTBEAT: s_heartbeat (self, number, fields); break;
    case ZPEER_WIRE_GOODBYE:
        zpeer_roster_gone (self->roster, number);
        batcher_take_back_lost (self);
        break;
    default:
        world_fail (self->peer->world, "wire", "P%u: a message of no sense",
                    self->peer->number);
    }
}

void
batcher_read_server (batcher_t *self)
{
    for (int i = 0; i < MESSAGES_MAX; i++) {
        message_t *message = queue_take (&self->server);
        if (!message)
            return;
        s_handle_message (self, message);
        message_free (message);
    }
}
