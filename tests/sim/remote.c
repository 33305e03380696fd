#include <inttypes.h>
#include "remote.h"
#include "banned.h"

//  A newer registration by another writer must not be harmed by what is late,
//  if it stood there when the question was answered
static void
s_check_guard (world_t *world, peer_t *peer, const item_t *item,
               const record_t *record)
{
    bool acts = item->action == ZPEER_CANCEL ||
                item->action == ZPEER_DELETE_STATUS_OVERRIDE;
    if (!acts || !record->there || record->by != BY_OTHER ||
        record->timestamp <= world->instances[item->key].top)
        return;
    //  At UNKNOWN it answers every Heartbeat with 404: its timestamp cannot be
    //  asked for
    if (record->status != ZPEER_UNKNOWN && item->guarded &&
        record->since < item->asked_at)
        world_fail (world, "guard", "P%u: I%u, a newer registration is harmed",
                    peer->number, item->key);
    world_count (world, TALLY_HARMED);
}

//  Half of the items of a batch whose answer somebody will read. One that comes
//  late and is half refused leaves what nobody can know: the state has not
//  changed since, so that nothing is settled.
static bool
s_fails (world_t *world, const batch_t *batch)
{
    return batch->peer->spell == SPELL_ITEM_500 && batch->end == ZPEER_END_OK &&
           rng_chance (&world->rng, 500);
}

static uint16_t
s_apply_item (world_t *world, const batch_t *batch, const item_t *item)
{
    peer_t *peer = batch->peer;
    record_t *record = &peer->registry.records[item->key];
    peer_key_t *key = &peer->keys[item->key];
    unsigned flaws = item->action == ZPEER_REGISTER
                         ? world->versions[item->version].flaws
                         : 0;
    s_check_guard (world, peer, item, record);
    if (flaws & VERSION_REFUSED) {
        key->silent = true;
        return 200;
    }
    if ((flaws & VERSION_TOXIC) || s_fails (world, batch)) {
        key->toxic = true;
        return 500;
    }
    return registry_apply (&peer->registry, item, BY_US, world->now);
}

//  The peer works through the first items; a restart has made an end of it
void
remote_apply (world_t *world, void *whom, uint64_t count)
{
    batch_t *batch = (batch_t *) whom;
    peer_t *peer = batch->peer;
    if (peer->life != batch->life)
        return;
    for (uint32_t i = 0; i < batch->count && i < count; i++) {
        item_t *item = &batch->items[i];
        record_t *record = &peer->registry.records[item->key];
        //  At UNKNOWN it does not say what it has
        if (!(record->there && record->status == ZPEER_UNKNOWN))
            item->applied_at = world->now;
        item->code = s_apply_item (world, batch, item);
        item->copy = record->timestamp;
    }
    world_say (world, "P%u #%" PRIu64 " applied", peer->number, batch->id);
}

//  The answer arrives, if the peer has not restarted since
static void
s_answer (world_t *world, void *whom, uint64_t number)
{
    batch_t *batch = (batch_t *) whom;
    batch->answered = batch->peer->life == batch->life;
    if (!batch->answered) {
        batch->end = ZPEER_END_RESET;
        batch->status = 0;
    }
    attempt_end (world, batch, number);
}

static void
s_apply_and_answer (world_t *world, void *whom, uint64_t answer_ms)
{
    batch_t *batch = (batch_t *) whom;
    remote_apply (world, batch, batch->count);
    world_after (world, answer_ms, s_answer, batch, 0);
}

uint64_t
remote_latency (world_t *world, const peer_t *peer)
{
    return peer->latency_ms +
           rng_below (&world->rng, UINT64_C (2) * peer->latency_ms);
}

static void
s_work (world_t *world, peer_t *peer, batch_t *batch)
{
    uint64_t start = world->now;
    if (peer->serial && start < peer->busy_until)
        start = peer->busy_until;
    uint64_t work_ms = (uint64_t) (peer->per_item_ms * batch->count);
    uint64_t took_ms =
        start + remote_latency (world, peer) + work_ms - world->now;
    peer->busy_until = world->now + took_ms;
    if (took_ms < world->read_timeout_ms) {
        batch->end = ZPEER_END_OK;
        batch->status = 200;
        //  It may take its time between the work and the answer
        uint64_t answer_ms = 0;
        if (!world_is_calm (world) && rng_chance (&world->rng, 200))
            answer_ms =
                rng_below (&world->rng, world->read_timeout_ms - took_ms);
        world_after (world, took_ms, s_apply_and_answer, batch, answer_ms);
        return;
    }
    world_count (world, TALLY_SLOW);
    if (took_ms < UINT64_C (2) * world->read_timeout_ms - LATE_MARGIN_MS)
        world_after (world, took_ms, remote_apply, batch, batch->count);
    attempt_end_after (world, batch, world->read_timeout_ms,
                       ZPEER_END_READ_TIMEOUT, 0);
}

//  Counts the bad items
static unsigned
s_bad_items (world_t *world, const peer_t *peer, const batch_t *batch)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        const item_t *item = &batch->items[i];
        version_t *version = &world->versions[item->version];
        if (item->action != ZPEER_REGISTER ||
            !(version->flaws & VERSION_POISON))
            continue;
        count++;
        if (peer->spell != SPELL_400)
            version->bad[peer->number]++;
    }
    return count;
}

//  The peer itself answers: 400, 413, or it works through the items
void
remote_answer (world_t *world, peer_t *peer, batch_t *batch)
{
    uint16_t status = 0;
    if (batch->bytes > peer->max_bytes) {
        world_count (world, TALLY_TOO_LARGE);
        status = 413;
    }
    else if (s_bad_items (world, peer, batch)) {
        world_count (world, TALLY_BAD_400);
        status = 400;
    }
    else if (peer->spell == SPELL_400)
        status = 400;
    if (status)
        attempt_end_after (world, batch, remote_latency (world, peer),
                           ZPEER_END_STATUS, status);
    else
        s_work (world, peer, batch);
}
