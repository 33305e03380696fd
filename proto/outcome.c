#include <assert.h>
#include <msgpack.h>
#include "outcome.h"
#include "banned.h"

//  msgpack's map with a count of 16 bits: a place can be kept for it
#define MAP_16    0xde
#define HEAD_SIZE 3

const char *
zpeer_topic_text (zpeer_topic_t topic)
{
    static const char *const texts[] = {
#define X(name, text, when) text,
        ZPEER_TOPICS (X)
#undef X
    };
    return (unsigned) topic < ZPEER_TOPIC_COUNT ? texts[topic] : "?";
}

const char *
zpeer_peer_state_text (zpeer_peer_state_t state)
{
    static const char *const texts[] = {
#define X(name, text, when) text,
        ZPEER_PEER_STATES (X)
#undef X
    };
    return (unsigned) state < ZPEER_PEER_STATE_COUNT ? texts[state] : "?";
}

const char *
zpeer_resync_state_text (zpeer_resync_state_t state)
{
    static const char *const texts[] = {
#define X(name, text, when) text,
        ZPEER_RESYNC_STATES (X)
#undef X
    };
    return (unsigned) state < ZPEER_RESYNC_STATE_COUNT ? texts[state] : "?";
}

static int
s_write (void *data, const char *bytes, size_t size)
{
    zpeer_buffer_add ((zpeer_buffer_t *) data, bytes, size);
    return 0;
}

static void
s_put_str (zpeer_buffer_t *out, zpeer_slice_t text)
{
    msgpack_packer packer = {out, s_write};
    msgpack_pack_str (&packer, text.size);
    zpeer_buffer_slice (out, text);
}

static void
s_put_uint (zpeer_buffer_t *out, uint64_t value)
{
    msgpack_packer packer = {out, s_write};
    msgpack_pack_uint64 (&packer, value);
}

static void
s_put_array (zpeer_buffer_t *out, size_t count)
{
    msgpack_packer packer = {out, s_write};
    msgpack_pack_array (&packer, count);
}

static void
s_put_key (zpeer_outcome_t *self, const char *key)
{
    s_put_str (self->out, zpeer_slice_str (key));
    self->count++;
}

void
zpeer_outcome_begin (zpeer_outcome_t *self, zpeer_buffer_t *out)
{
    static const char head[HEAD_SIZE] = {(char) MAP_16};
    *self = (zpeer_outcome_t){out, out->size, 0};
    zpeer_buffer_add (out, head, sizeof head);
}

void
zpeer_outcome_str (zpeer_outcome_t *self, const char *key, zpeer_slice_t value)
{
    s_put_key (self, key);
    s_put_str (self->out, value);
}

void
zpeer_outcome_uint (zpeer_outcome_t *self, const char *key, uint64_t value)
{
    s_put_key (self, key);
    s_put_uint (self->out, value);
}

void
zpeer_outcome_end (zpeer_outcome_t *self)
{
    assert (self->count <= UINT16_MAX);
    self->out->data[self->head + 1] = (char) (self->count >> 8);
    self->out->data[self->head + 2] = (char) (self->count & 0xff);
}

static void
s_opt_str (zpeer_outcome_t *self, const char *key, zpeer_slice_t value)
{
    if (value.size)
        zpeer_outcome_str (self, key, value);
}

static void
s_opt_uint (zpeer_outcome_t *self, const char *key, uint64_t value)
{
    if (value)
        zpeer_outcome_uint (self, key, value);
}

//  Starts a map about an instance, and about a peer if there is one. An ASG has
//  a name and no app.
static void
s_begin (zpeer_outcome_t *self, zpeer_buffer_t *out, zpeer_slice_t peer,
         zpeer_slice_t app, zpeer_slice_t id)
{
    zpeer_outcome_begin (self, out);
    s_opt_str (self, "peer", peer);
    s_opt_str (self, "app", app);
    zpeer_outcome_str (self, app.size ? "id" : "asg", id);
}

static void
s_begin_state (zpeer_outcome_t *self, zpeer_buffer_t *out, zpeer_slice_t peer,
               const zpeer_state_t *state)
{
    s_begin (self, out, peer, zpeer_name_app (state->name),
             zpeer_name_id (state->name));
}

void
zpeer_outcome_conflict (zpeer_buffer_t *out, zpeer_slice_t peer,
                        const zpeer_state_t *state, const zpeer_copy_t *copy)
{
    zpeer_outcome_t map;
    s_begin_state (&map, out, peer, state);
    s_opt_uint (&map, "lastDirtyTimestamp", copy ? copy->timestamp : 0);
    s_opt_uint (&map, "ownTimestamp", state->top);
    s_opt_str (&map, "copy", copy ? copy->json : (zpeer_slice_t){NULL, 0});
    zpeer_outcome_end (&map);
}

void
zpeer_outcome_rejected (zpeer_buffer_t *out, zpeer_slice_t peer,
                        const zpeer_state_t *state, uint32_t status,
                        uint64_t batch)
{
    zpeer_outcome_t map;
    s_begin_state (&map, out, peer, state);
    s_opt_uint (&map, "lastDirtyTimestamp", state->top);
    zpeer_outcome_uint (&map, "status", status);
    s_opt_uint (&map, "batch", batch);
    zpeer_outcome_end (&map);
}

void
zpeer_outcome_need_register (zpeer_buffer_t *out, zpeer_slice_t peer,
                             zpeer_slice_t app, zpeer_slice_t id,
                             uint64_t timestamp)
{
    zpeer_outcome_t map;
    s_begin (&map, out, peer, app, id);
    s_opt_uint (&map, "lastDirtyTimestamp", timestamp);
    zpeer_outcome_end (&map);
}

//  The names of a set of actions
static void
s_put_actions (zpeer_buffer_t *out, unsigned actions)
{
    s_put_array (out, (size_t) __builtin_popcount (actions));
    for (unsigned action = 0; action < ZPEER_ACTIONS; action++)
        if (actions & ZPEER_ACTION_BIT (action))
            s_put_str (out, zpeer_slice_str (zpeer_action_name (action)));
}

void
zpeer_outcome_delivered (zpeer_buffer_t *out, zpeer_slice_t peer,
                         const zpeer_state_t *state, unsigned actions,
                         uint64_t batch)
{
    zpeer_outcome_t map;
    s_begin_state (&map, out, peer, state);
    s_put_key (&map, "actions");
    s_put_actions (out, actions);
    s_opt_uint (&map, "lastDirtyTimestamp", state->timestamp);
    s_opt_uint (&map, "batch", batch);
    zpeer_outcome_end (&map);
}

//  Tasks by kind, those that there are, as a map in the map
static void
s_put_kinds (zpeer_outcome_t *self, const char *key,
             const uint64_t kinds[ZPEER_ACTIONS])
{
    zpeer_outcome_t map;
    s_put_key (self, key);
    zpeer_outcome_begin (&map, self->out);
    for (unsigned action = 0; action < ZPEER_ACTIONS; action++)
        s_opt_uint (&map, zpeer_action_name (action), kinds[action]);
    zpeer_outcome_end (&map);
}

static void
s_put_absence (zpeer_outcome_t *self, const zpeer_absence_t *absence)
{
    zpeer_outcome_uint (self, "away-ms", absence->ms);
    s_put_kinds (self, "dropped", absence->kinds);
    zpeer_outcome_uint (self, "owed", absence->owed);
}

void
zpeer_outcome_peer (zpeer_buffer_t *out, const zpeer_peer_change_t *change)
{
    zpeer_outcome_t map;
    zpeer_outcome_begin (&map, out);
    zpeer_outcome_str (&map, "peer", change->peer);
    const char *state = zpeer_peer_state_text (change->state);
    zpeer_outcome_str (&map, "state", zpeer_slice_str (state));
    if (change->max) {
        zpeer_outcome_uint (&map, "count", change->count);
        zpeer_outcome_uint (&map, "max", change->max);
    }
    s_opt_uint (&map, "status", change->status);
    s_opt_uint (&map, "tasks", change->tasks);
    s_opt_str (&map, "end", change->end);
    s_opt_str (&map, "detail", change->detail);
    if (change->absence)
        s_put_absence (&map, change->absence);
    if (change->state == ZPEER_PEER_WHOLE)
        zpeer_outcome_uint (&map, "ms", change->whole_ms);
    zpeer_outcome_end (&map);
}

void
zpeer_outcome_resync (zpeer_buffer_t *out, const zpeer_resync_t *resync)
{
    zpeer_outcome_t map;
    zpeer_outcome_begin (&map, out);
    zpeer_outcome_str (&map, "peer", resync->peer);
    zpeer_outcome_str (&map, "kind",
                       zpeer_slice_str (resync->verify ? "verify" : "resync"));
    const char *state = zpeer_resync_state_text (resync->state);
    zpeer_outcome_str (&map, "state", zpeer_slice_str (state));
    if (resync->state != ZPEER_RESYNC_BEGUN) {
        zpeer_outcome_uint (&map, "instances", resync->instances);
        zpeer_outcome_uint (&map, "left", resync->left);
        zpeer_outcome_uint (&map, "repaired", resync->repaired);
        zpeer_outcome_uint (&map, "refused", resync->refused);
        zpeer_outcome_uint (&map, "ms", resync->ms);
    }
    zpeer_outcome_end (&map);
}

void
zpeer_outcome_stats (zpeer_outcome_t *self, zpeer_buffer_t *out,
                     zpeer_slice_t source, zpeer_slice_t peer)
{
    zpeer_outcome_begin (self, out);
    zpeer_outcome_str (self, "source", source);
    s_opt_str (self, "peer", peer);
}

void
zpeer_dropped_add (zpeer_dropped_t *self, const zpeer_state_t *state,
                   unsigned actions)
{
    for (unsigned action = 0; action < ZPEER_ACTIONS; action++)
        self->kinds[action] += (actions & ZPEER_ACTION_BIT (action)) != 0;
    self->tasks += (uint64_t) __builtin_popcount (actions);
    self->instances++;
    if (self->listed == ZPEER_DROPPED_LISTED_MAX)
        return;
    self->listed++;
    s_put_array (&self->keys, 2);
    s_put_str (&self->keys, zpeer_name_app (state->name));
    s_put_str (&self->keys, zpeer_name_id (state->name));
}

void
zpeer_outcome_dropped (zpeer_buffer_t *out, zpeer_slice_t peer,
                       zpeer_slice_t reason, uint64_t batch,
                       zpeer_dropped_t *dropped)
{
    zpeer_outcome_t map;
    zpeer_outcome_begin (&map, out);
    zpeer_outcome_str (&map, "peer", peer);
    zpeer_outcome_str (&map, "reason", reason);
    s_opt_uint (&map, "batch", batch);
    zpeer_outcome_uint (&map, "tasks", dropped->tasks);
    zpeer_outcome_uint (&map, "instances", dropped->instances);
    s_put_kinds (&map, "kinds", dropped->kinds);
    s_put_key (&map, "keys");
    s_put_array (out, dropped->listed);
    zpeer_buffer_add (out, dropped->keys.data, dropped->keys.size);
    zpeer_outcome_end (&map);

    zpeer_buffer_t keys = dropped->keys;
    zpeer_buffer_reset (&keys);
    *dropped = (zpeer_dropped_t){.keys = keys};
}

void
zpeer_dropped_free (zpeer_dropped_t *self)
{
    zpeer_buffer_free (&self->keys);
    *self = (zpeer_dropped_t){0};
}
