#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include "late.h"
#include "script.h"
#include "source.h"
#include "stroll.h"
#include "twin.h"
#include "banned.h"

#define ANSWER_NEED_MS 50

//  How much longer than two of its leases an instance is remembered, where what
//  others told comes late, or a life may begin below an earlier one that peers hold:
//  as the acceptor has it, and longer than anything takes
#define OUTLIVE_MS 60000

static uint64_t
s_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
s_min (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void
source_forgotten (world_t *world, unsigned key)
{
    instance_t *instance = &world->instances[key];
    instance->forgotten = true;
    world->forgotten_at = s_max (world->forgotten_at, instance->top);
}

//  Turns ----------------------------------------------------------------------

static bool
s_post (void *arg, unsigned lane, zpeer_chunk_t *chunk)
{
    world_t *world = (world_t *) arg;
    peer_t *peer = &world->peers[lane];
    if (chunk->walk != ZPEER_WALK_NONE)
        stroll_check (peer, chunk);
    bool taken = batcher_post (&peer->batcher, chunk);
    if (taken && chunk->walk != ZPEER_WALK_NONE)
        stroll_posted (peer, chunk);
    return taken;
}

//  What is old leaves the view, as far as there is room
static void
s_expire (world_t *world)
{
    zpeer_change_t change;
    for (uint32_t room = zpeer_handover_room (world->handover);
         room && zpeer_view_expire (world->view, world->now, &change); room--) {
        unsigned key = world_key (change.state);
        bool released = change.flags & ZPEER_CHANGE_RELEASE;
        world_say (world, "I%u %s", key, released ? "released" : "ages out");
        world_count (world, released ? TALLY_RELEASES : TALLY_AGED_OUT);
        if (released)
            world->released_at = world->now;
        else
            source_forgotten (world, key);
        zpeer_handover_put (world->handover, &change);
    }
    world_gone (world);
}

static void s_wake (world_t *world, void *whom, uint64_t when);

//  No peer keeps the source from being read for long
static void
s_check_held_up (world_t *world)
{
    if (source_reads (world))
        world->held_up_at = UINT64_MAX;
    else if (world->held_up_at == UINT64_MAX)
        world->held_up_at = world->now;
    else if (world->now > world->held_up_at + ZPEER_HANDOVER_PATIENCE_MS)
        world_fail (world, "held up", "since %" PRIu64, world->held_up_at);
}

static void
s_turn (world_t *world)
{
    s_expire (world);
    zpeer_handover_send (world->handover, world->now);
    zpeer_walker_turn (world->walker, world->now);
    s_check_held_up (world);
    uint64_t wake = s_min (zpeer_handover_wake (world->handover),
                           zpeer_walker_wake (world->walker));
    //  What came into the view in this turn may be due at once
    if (source_reads (world))
        wake =
            s_min (wake, s_max (zpeer_view_wake (world->view), world->now + 1));
    if (wake <= world->now)
        world_fail (world, "acceptor spins", "wake %" PRIu64, wake);
    else if (wake != UINT64_MAX && wake != world->source_wake) {
        world->source_wake = wake;
        agenda_put (&world->agenda, wake, s_wake, NULL, wake);
    }
}

static void
s_late_turn (world_t *world, void *whom, uint64_t number)
{
    (void) whom;
    (void) number;
    s_turn (world);
}

static void
s_wake (world_t *world, void *whom, uint64_t when)
{
    (void) whom;
    if (world->source_wake != when)
        return;
    world->source_wake = 0;
    s_turn (world);
}

bool
source_reads (const world_t *world)
{
    return zpeer_handover_room (world->handover) > 0;
}

static void
s_room (world_t *world, void *whom, uint64_t lane)
{
    (void) whom;
    if (zpeer_handover_waits (world->handover, (unsigned) lane))
        s_turn (world);
}

void
source_has_room (world_t *world, unsigned lane)
{
    if (zpeer_handover_waits (world->handover, lane))
        world_after (world, 0, s_room, NULL, lane);
}

//  Lanes ----------------------------------------------------------------------

void
source_init (world_t *world)
{
    zpeer_view_options_t options = {.tombstone_ms = world->tombstone_ms,
                                    .outlive_ms =
                                        world->features[FEATURE_AHEAD] ||
                                                world->features[FEATURE_CLOCK]
                                            ? OUTLIVE_MS
                                            : 0,
                                    .age_out = world->features[FEATURE_AGE],
                                    .seed = world->seed};
    static const zpeer_log_t log;
    world->view = zpeer_view_new (&options);
    world->handover = zpeer_handover_new (world->view, &log, s_post, world);
    world->walker =
        zpeer_walker_new (world->view, world->handover, s_post, world);
}

void
source_fini (world_t *world)
{
    zpeer_walker_destroy (&world->walker);
    zpeer_handover_destroy (&world->handover);
    zpeer_view_destroy (&world->view);
}

void
source_flush (world_t *world)
{
    s_turn (world);
}

void
source_add_lane (world_t *world, unsigned lane)
{
    int rc = zpeer_handover_add (world->handover, lane);
    assert (rc == ZPEER_OK);
    zpeer_view_add_lane (world->view, lane);
    zpeer_view_stats_t view;
    zpeer_view_stats (world->view, &view);
    if (view.instances || view.tombstones || view.asgs)
        source_walk (world, lane, ZPEER_WALK_RESYNC);
}

void
source_remove_lane (world_t *world, unsigned lane)
{
    int rc = zpeer_handover_remove (world->handover, lane);
    assert (rc == ZPEER_OK);
    zpeer_walker_remove (world->walker, lane);
    zpeer_view_remove_lane (world->view, lane);
    s_turn (world);
}

void
source_walk (world_t *world, unsigned lane, zpeer_walk_kind_t kind)
{
    int rc = zpeer_walker_ask (world->walker, lane, kind);
    assert (rc == ZPEER_OK);
    s_turn (world);
}

static void
s_released (world_t *world, zpeer_slice_t list)
{
    size_t offset = 0;
    uint32_t lane;
    uint32_t handle;
    uint64_t seq;
    while (zpeer_wire_get_released (list.data, list.size, &offset, &lane,
                                    &handle, &seq) == ZPEER_OK)
        zpeer_view_released (world->view, lane, handle, seq);
    world_gone (world);
}

static void
s_walked (world_t *world, zpeer_slice_t fields)
{
    uint32_t lane;
    uint64_t number;
    if (zpeer_wire_get_walked (fields.data, fields.size, &lane, &number)) {
        world_fail (world, "wire", "a bad WALKED");
        return;
    }
    zpeer_walker_walked (world->walker, lane, number);
    stroll_walked (&world->peers[lane], number);
}

void
source_receive (world_t *world, const message_t *message)
{
    if (message_command (message, 0) == ZPEER_WIRE_WALKED)
        s_walked (world, message->frames[1]);
    else
        s_released (world, message->frames[1]);
    s_turn (world);
}

//  Events ---------------------------------------------------------------------

//  As the source's own peers send it
static item_t
s_replica (const event_t *event)
{
    const zpeer_parsed_t *parsed = &event->parsed;
    bool registers = parsed->action == ZPEER_REGISTER;
    return (item_t){
        .timestamp = parsed->timestamp,
        .version = event->version,
        .key = (uint16_t) event->key,
        .action = (uint8_t) parsed->action,
        .status = (uint8_t) parsed->status,
        .override = (uint8_t) (registers ? parsed->override : ZPEER_UNKNOWN)};
}

static void
s_say_event (world_t *world, const event_t *event,
             const zpeer_applied_t *applied)
{
    if (!world_tells (world))
        return;
    char text[REGISTRY_TEXT_MAX];
    char view[REGISTRY_TEXT_MAX];
    item_t item = s_replica (event);
    record_t record = world_record (world, event->key);
    world_say (world, "event %s%s -> view %s%s%s", item_text (&item, text),
               event->parsed.replicated ? " replicated"
               : event->parsed.snapshot ? " snapshot"
                                        : "",
               record_text (&record, view),
               applied->tell ? "" : ", nobody is told",
               applied->need_register ? ", need-register" : "");
}

//  What the source itself remembers of it
static void
s_note (world_t *world, const event_t *event, const zpeer_applied_t *applied)
{
    instance_t *instance = &world->instances[event->key];
    if (event->parsed.action == ZPEER_FORGET)
        source_forgotten (world, event->key);
    if (!applied->state)
        return;
    instance->known = true;
    instance->top = s_max (instance->top, applied->state->top);
    if (event->parsed.action == ZPEER_CANCEL && applied->tell)
        instance->cancelled_at = world->now;
    if (event->parsed.action != ZPEER_REGISTER ||
        !zpeer_state_present (applied->state))
        return;
    instance->forgotten = false;
    //  A peer's Register of something we had forgotten: what else our peers
    //  hold of it is not our affair
    if (event->parsed.replicated && applied->tell &&
        (applied->change.flags & ZPEER_CHANGE_FRESH))
        instance->orphan = true;
}

//  Whoever sent a replicated event tells every peer of it
static void
s_replicate (world_t *world, const event_t *event, bool ahead)
{
    item_t item = s_replica (event);
    for (unsigned i = 0; i < world->peer_count; i++) {
        peer_t *peer = &world->peers[i];
        registry_apply (
            &peer->servers[rng_below (&world->rng, peer->server_count)], &item,
            BY_REPLICATION, world->now);
        if (!ahead)
            peer->keys[event->key].replica_life = peer->life;
        peer->keys[event->key].ahead |= ahead;
    }
}

void
source_take (world_t *world, const event_t *event)
{
    zpeer_applied_t applied;
    zpeer_view_apply (world->view, world->now, &event->parsed, &applied);
    s_note (world, event, &applied);
    s_say_event (world, event, &applied);
    world->tally->events[event->parsed.action]++;
    world->tally->counts[TALLY_REPLICATED] += event->parsed.replicated;
    world->tally->counts[TALLY_UNTOLD] += applied.tell && !applied.change.state;
    //  Who is told what there is is one of several engines
    if (world->features[FEATURE_TWIN] && applied.tell && applied.state &&
        event->key < KEYS_MAX && !event->parsed.snapshot)
        twin_tell (world, event->key, event->parsed.action);
    if (applied.tell)
        zpeer_handover_put (world->handover, &applied.change);
    if (applied.need_register && !event->parsed.replicated &&
        !world_is_calm (world) && rng_chance (&world->rng, 700))
        world_after (world, ANSWER_NEED_MS, script_answer_need,
                     &world->instances[event->key], event->parsed.timestamp);
}

void
source_hear (world_t *world, const event_t *event)
{
    source_take (world, event);
    //  A turn may take in more than one event
    if (rng_chance (&world->rng, 300))
        world_after (world, 0, s_late_turn, NULL, 0);
    else
        s_turn (world);
}

void
source_feed (world_t *world, const event_t *event)
{
    bool late = false;
    if (event->parsed.replicated)
        late = late_hear (world, event);
    else
        source_hear (world, event);
    if (event->parsed.replicated)
        s_replicate (world, event, late);
}

void
source_free (world_t *world)
{
    twin_free (&world->twin);
    late_free (world);
}
