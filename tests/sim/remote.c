#include <inttypes.h>
#include "flaw.h"
#include "network.h"
#include "probe.h"
#include "remote.h"
#include "world.h"
#include "banned.h"

//  A newer registration by another writer must not be harmed by what is late,
//  if it stood there when the question was answered
static void
s_check_guard (world_t *world, peer_t *peer, const item_t *item,
               const record_t *record)
{
    bool acts = item->action == ZPEER_CANCEL ||
                item->action == ZPEER_DELETE_STATUS_OVERRIDE;
    //  Of several servers another one may have been asked
    if (!acts || peer->server_count > 1 || !record->there ||
        record->by != BY_OTHER ||
        record->timestamp <= world->instances[item->key].top)
        return;
    //  Where no timestamp is known, that is what was there before the Cancel came
    if (!item->top && record->since < world->instances[item->key].cancelled_at)
        return;
    //  At UNKNOWN it answers every Heartbeat with 404: its timestamp cannot be
    //  asked for
    if (record->status != ZPEER_UNKNOWN && item->guarded &&
        record->since < item->asked_at)
        world_fail (world, "guard", "P%u: I%u, a newer registration is harmed",
                    peer->number, item->key);
    world_count (world, TALLY_HARMED);
}

//  Items of a request whose answer somebody will read. One that comes late and
//  is half refused leaves what nobody can know: the state has not changed
//  since, so that nothing is settled.
static uint16_t
s_fails (world_t *world, const request_t *request)
{
    unsigned spell = request->batch->peer->spell;
    if (!request->open || request->body != BODY_PROPER)
        return 0;
    if (spell == SPELL_ITEM_500 && rng_chance (&world->rng, 500))
        return 500;
    return spell == SPELL_ITEM_403 && rng_chance (&world->rng, 100) ? 403 : 0;
}

//  A peer that has what the view says, and was asked twice, need not be told
static void
s_check_needless (world_t *world, const peer_t *peer, const item_t *item,
                  const record_t *record)
{
    record_t ours = world_record (world, item->key);
    if (!world->checkup || peer->server_count > 1 || item_only_asks (item) ||
        !ours.there || !record->there || record->status == ZPEER_UNKNOWN)
        return;
    if (ours.timestamp == record->timestamp && ours.version == record->version)
        world_fail (world, "needless repair", "P%u: %s I%u", peer->number,
                    zpeer_action_name ((zpeer_action_t) item->action),
                    item->key);
}

static uint16_t
s_apply_item (world_t *world, const request_t *request, const item_t *item)
{
    peer_t *peer = request->batch->peer;
    peer_key_t *key = &peer->keys[item->key];
    registry_t *server = &peer->servers[request->server];
    unsigned flaws = flaw_of (world, item);
    s_check_guard (world, peer, item, &server->records[item->key]);
    s_check_needless (world, peer, item, &server->records[item->key]);
    if (flaws & FLAW_SILENT) {
        key->silent = true;
        return 200;
    }
    uint16_t code = flaws & FLAW_TOXIC ? 500 : s_fails (world, request);
    if (!code)
        return registry_apply (server, item, BY_US, world->now);
    key->toxic = true;
    //  It may have been done all the same
    if (!(flaws & FLAW_TOXIC) && rng_chance (&world->rng, 300))
        registry_apply (server, item, BY_US, world->now);
    return code;
}

//  Whether it comes later than a lane that knows of its end has to wait for it
static bool
s_too_late (const world_t *world, const request_t *request)
{
    return request->given_up && world->now + LATE_MARGIN_MS >
                                    request->given_up + world->read_timeout_ms;
}

//  Whether the peer is still told of an instance that was sent by a lane before
static bool
s_is_remembered (const world_t *world, const peer_t *peer, unsigned key)
{
    zpeer_change_t changes[2];
    const zpeer_state_t *state = world_state (world, key);
    if (!state)
        return false;
    const zpeer_lane_t *lane = peer_lane (peer);
    return (lane && probe_state (lane, state->handle)) ||
           zpeer_view_catch_up (world->view, state->handle, changes) == 1;
}

void
remote_apply (world_t *world, void *whom, uint64_t count)
{
    request_t *request = (request_t *) whom;
    batch_t *batch = request->batch;
    peer_t *peer = batch->peer;
    if (peer->life != request->life || s_too_late (world, request))
        return;
    for (uint32_t i = request->from; count; i++, count--) {
        item_t *item = &batch->items[i];
        record_t *record = &peer->servers[request->server].records[item->key];
        //  At UNKNOWN it does not say what it has
        if (!request->first &&
            !(record->there && record->status == ZPEER_UNKNOWN))
            item->applied_at = world->now;
        //  Nothing puts right what an old ASG update does
        if (item->key >= KEYS_MAX &&
            (!request->open || batch->lane_life != peer->batcher.life))
            peer->keys[item->key].late = true;
        uint16_t code = s_apply_item (world, request, item);
        //  A lane that is added when the view lets go of something is not told of it,
        //  though it comes back
        bool gone = item->key < KEYS_MAX &&
                    (batch->sent_at < world->instances[item->key].gone_at ||
                     !s_is_remembered (world, peer, item->key));
        if (gone && batch->lane_life != peer->batcher.life)
            peer_lapse (peer, item->key);
        if (request->first)
            continue;  //  The answer is that to the second one
        item->code = code;
        item->copy = record->timestamp;
        item->age_ms = world->now - record->since;
    }
    world_say (world, "P%u #%" PRIu64 " applied", peer->number, batch->id);
}

//  The answer arrives, if the peer has not restarted since. A request for one
//  item is answered with its code.
static void
s_answer (world_t *world, void *whom, uint64_t number)
{
    request_t *request = (request_t *) whom;
    if (request->batch->peer->life != request->life) {
        request->end = ZPEER_END_RESET;
        request->status = 0;
        request->body = BODY_NONE;
    }
    else if (request->batch->single)
        request->status = request->batch->items[request->from].code;
    network_end (world, request, number);
}

static void
s_apply_and_answer (world_t *world, void *whom, uint64_t answer_ms)
{
    request_t *request = (request_t *) whom;
    remote_apply (world, request, request->count);
    world_after (world, answer_ms, s_answer, request, 0);
}

uint64_t
remote_latency (world_t *world, const peer_t *peer)
{
    return peer->latency_ms +
           rng_below (&world->rng, UINT64_C (2) * peer->latency_ms);
}

//  It may take its time between the work and the answer
static uint64_t
s_dawdle (world_t *world, const peer_t *peer, uint64_t took_ms)
{
    uint64_t most_ms = world->read_timeout_ms - took_ms;
    if (world_is_calm (world))
        return 0;
    if (peer->spell == SPELL_SLOW)
        return most_ms / 2 + rng_below (&world->rng, most_ms / 2);
    return rng_chance (&world->rng, 200) ? rng_below (&world->rng, most_ms) : 0;
}

static void
s_work (world_t *world, peer_t *peer, request_t *request)
{
    uint64_t start = world->now;
    if (peer->serial && start < peer->busy_until)
        start = peer->busy_until;
    uint64_t work_ms =
        peer->batch_ms + (uint64_t) (peer->per_item_ms * request->count);
    uint64_t took_ms =
        start + remote_latency (world, peer) + work_ms - world->now;
    peer->busy_until = world->now + took_ms;
    if (took_ms < world->read_timeout_ms) {
        request->end = ZPEER_END_OK;
        request->status = 200;
        request->body = BODY_PROPER;
        world_after (world, took_ms, s_apply_and_answer, request,
                     s_dawdle (world, peer, took_ms));
        return;
    }
    world_count (world, TALLY_SLOW);
    if (took_ms < UINT64_C (2) * world->read_timeout_ms - LATE_MARGIN_MS)
        world_after (world, took_ms, remote_apply, request, request->count);
    network_end_after (request, world->read_timeout_ms, ZPEER_END_READ_TIMEOUT,
                       0, BODY_NONE);
}

//  Whatever stands before the peer does not like the request; 0: it does
static uint16_t
s_refusal (world_t *world, const peer_t *peer, const request_t *request)
{
    if (request->bytes > peer->max_bytes) {
        world_count (world, TALLY_TOO_LARGE);
        return 413;
    }
    if (flaw_count (request, FLAW_POISON)) {
        world_count (world, TALLY_BAD_400);
        return 400;
    }
    if (flaw_count (request, FLAW_BANNED)) {
        world_count (world, TALLY_BANNED);
        return peer->firewall;
    }
    return peer->spell == SPELL_400 ? 400 : 0;
}

//  Nobody answers; what stood before the item that hangs may have been done
static void
s_hang (world_t *world, request_t *request)
{
    world_count (world, TALLY_HUNG);
    if (rng_chance (&world->rng, 500))
        world_after (world, remote_latency (world, request->batch->peer),
                     remote_apply, request, flaw_first (request, FLAW_HANGS));
    network_end_after (request, world->read_timeout_ms, ZPEER_END_READ_TIMEOUT,
                       0, BODY_NONE);
}

void
remote_answer (request_t *request)
{
    peer_t *peer = request->batch->peer;
    world_t *world = peer->world;
    uint16_t status = s_refusal (world, peer, request);
    if (status)
        network_end_after (request, remote_latency (world, peer), ZPEER_END_OK,
                           status, BODY_NONE);
    else if (flaw_count (request, FLAW_HANGS))
        s_hang (world, request);
    else
        s_work (world, peer, request);
}
