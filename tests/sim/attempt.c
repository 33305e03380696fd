#include <inttypes.h>
#include "attempt.h"
#include "flaw.h"
#include "caution.h"
#include "probe.h"
#include "world.h"
#include "banned.h"

//  Batches in a row that may be refused before that means everything; of those on
//  their way together one counts. And each instance may be refused alone beside that,
//  if it was before and others were taken.
#define REFUSALS_MAX 8

//  Shortest pauses after a failure, and the longest a peer may ask for
#define PAUSE_CONGESTION_MS 1000
#define PAUSE_TRANSIENT_MS  100
#define PAUSE_PERMANENT_MS  750
#define RETRY_AFTER_MAX_MS  30000

//  Longest pauses: the first, and from so many failures on
#define PAUSE_FIRST_MS 1250
#define PAUSE_MAX_MS   10000
#define ROUNDS_MAX     5

//  Attempts a dead peer may see: so many at once, and one more each so many ms
#define DEAD_TRIES    6
#define REFUSED_TRIES 20  //  More, by one that answers a status
#define DEAD_EVERY_MS 7000

//  It begins ------------------------------------------------------------------

static item_t
s_item (const peer_t *peer, which_t which, const zpeer_item_t *given)
{
    bool registers = given->action == ZPEER_REGISTER;
    unsigned key = world_key (given->state);
    return (item_t){
        .timestamp = given->action == ZPEER_CANCEL ? 0 : given->timestamp,
        .asked_at = peer->keys[key].asked_at,
        .top = given->state->top,
        .turn = peer->keys[key].turn,
        .version = registers ? world_version (given->state) : 0,
        .key = (uint16_t) key,
        .action = given->action,
        .status = given->status,
        .override = registers ? given->override : ZPEER_UNKNOWN,
        .asks = probe_asks (peer->batcher.lanes[which], given->state->handle),
        .guarded =
            probe_acts (peer->batcher.lanes[which], given->state->handle)};
}

//  Marks what is on its way. All items of an instance stand together, and none
//  is on its way twice.
static void
s_take_off (peer_t *peer, const batch_t *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        unsigned key = batch->items[i].key;
        if (i && batch->items[i - 1].key == key)
            continue;
        if (peer->keys[key].flying)
            world_fail (peer->world, "overtake",
                        "P%u: I%u is already on its way", peer->number, key);
        peer->keys[key].flying = true;
        peer->keys[key].first = UINT64_MAX;
    }
}

static void
s_check_batch (peer_t *peer, const batch_t *batch)
{
    world_t *world = peer->world;
    const pace_t *pace = &peer->paces[batch->which];
    if (world->now < peer->quiet_until)
        world_fail (world, "pause", "P%u: an attempt %" PRIu64 " ms too early",
                    peer->number, peer->quiet_until - world->now);
    if (pace->failed && pace->flights)
        world_fail (world, "window",
                    "P%u: %u in flight, though the last one failed",
                    peer->number, pace->flights);
    //  An instance at the end may need one item more
    uint32_t most = world->batch_enabled && batch->which == LANE_INSTANCES
                        ? world->max_items
                        : 1;
    if (!batch->count || batch->count > (most > 2 ? most : 2))
        world_fail (world, "size", "P%u: %" PRIu32 " items", peer->number,
                    batch->count);
}

//  What is gone stays gone
static void
s_check_gone (peer_t *peer, which_t which, const zpeer_lane_batch_t *given)
{
    for (uint32_t i = 0; which == LANE_INSTANCES && i < given->count; i++) {
        const zpeer_item_t *item = &given->items[i];
        if (item->action == ZPEER_REGISTER &&
            !zpeer_state_present (item->state))
            world_fail (peer->world, "gone", "P%u: I%u is registered",
                        peer->number, world_key (item->state));
    }
}

static void
s_say (world_t *world, const batch_t *batch)
{
    if (!world_tells (world))
        return;
    world_say (world, "P%u lane: #%" PRIu64 " of %" PRIu32 " items",
               batch->peer->number, batch->id, batch->count);
    for (uint32_t i = 0; i < batch->count; i++) {
        char text[REGISTRY_TEXT_MAX];
        fprintf (world->history, "%23s%s\n", "",
                 item_text (&batch->items[i], text));
    }
}

void
attempt_begins (peer_t *peer, which_t which, bool single,
                const zpeer_lane_batch_t *given)
{
    world_t *world = peer->world;
    batch_t *batch = batch_new (peer, which, single, given->count);
    batch->bytes = given->bytes;
    for (uint32_t i = 0; i < given->count; i++)
        batch->items[i] = s_item (peer, which, &given->items[i]);
    s_say (world, batch);
    s_check_batch (peer, batch);
    s_check_gone (peer, which, given);
    s_take_off (peer, batch);
    caution_check (peer, batch);
    peer->paces[which].flights++;
    peer->grave.tries++;
    peer->sent++;
    peer->sent_at = world->now;
    peer->paces[which].grave.tries++;
    world_count (world, TALLY_BATCHES);
    world->tally->counts[TALLY_ITEMS] += batch->count;
}

//  It ends --------------------------------------------------------------------

//  It is taken for a word on something in the batch: the peer answered others just
//  before, and does not refuse everything
static bool
s_refused (const peer_t *peer, const batch_t *batch,
           const zpeer_result_t *result)
{
    const pace_t *pace = &peer->paces[batch->which];
    bool status =
        result->end == ZPEER_END_STATUS || result->end == ZPEER_END_STATUS_5XX;
    return batch->which == LANE_INSTANCES && status && result->status != 429 &&
           !result->retry_after_ms && !pace->failed &&
           pace->refusals < REFUSALS_MAX + peer->world->keys;
}

static bool
s_well (const peer_t *peer, const batch_t *batch, const zpeer_result_t *result)
{
    return result->verdict == ZPEER_SUCCESS || result->status == 400 ||
           result->status == 413 || s_refused (peer, batch, result) ||
           (batch->which == LANE_ASGS && zpeer_lane_asg_refused (result));
}

static bool
s_took_any (const batch_t *batch, const zpeer_result_t *result)
{
    for (uint32_t i = 0; result->codes && i < batch->count; i++)
        if ((result->codes[i] >= 200 && result->codes[i] < 300) ||
            result->codes[i] == 409)
            return true;
    return !result->codes || batch->which == LANE_ASGS;
}

//  The peer took nothing, and said of something what one in trouble says: as good
//  as a failure
static bool
s_troubled (const batch_t *batch, const zpeer_result_t *result)
{
    bool trouble = false;
    if (!s_took_any (batch, result))
        for (uint32_t i = 0; i < batch->count; i++)
            trouble |= result->codes[i] >= 500 ||
                       (result->codes[i] == 404 &&
                        batch->items[i].action == ZPEER_REGISTER);
    return trouble;
}

//  How many attempts a dead peer sees
static void
s_visit (peer_t *peer, grave_t *grave, bool dead, bool status)
{
    uint64_t now = peer->world->now;
    if (!dead) {
        grave->since = UINT64_MAX;
        return;
    }
    if (grave->since == UINT64_MAX)
        *grave = (grave_t){.since = now};
    uint64_t dead_ms = now - grave->since;
    //  What it may take has to be found
    grave->refused |= status;
    uint64_t most = DEAD_TRIES + dead_ms / DEAD_EVERY_MS +
                    (grave->refused ? REFUSED_TRIES : 0);
    if (grave->tries > most)
        world_fail (peer->world, "pace of a dead peer",
                    "P%u: %" PRIu64 " attempts in %" PRIu64 " ms", peer->number,
                    grave->tries, dead_ms);
}

//  Both lanes together once the counter is at its maximum, and each by itself
static void
s_check_pace (peer_t *peer, const batch_t *batch, const zpeer_result_t *result)
{
    bool well = batch->well;
    bool permanent = result->verdict == ZPEER_PERMANENT_ERROR;
    bool status =
        result->end == ZPEER_END_STATUS || result->end == ZPEER_END_STATUS_5XX;
    s_visit (peer, &peer->grave, !well && result->reached, status);
    s_visit (peer, &peer->paces[batch->which].grave,
             !well && (result->reached || permanent), status);
}

static void
s_count_refusal (peer_t *peer, const batch_t *batch,
                 const zpeer_result_t *result)
{
    pace_t *pace = &peer->paces[batch->which];
    if (result->verdict == ZPEER_SUCCESS)
        pace->refusals = 0;
    else if (batch->well && batch->id > pace->refused_id) {
        pace->refusals++;
        pace->refused_id = peer->world->batch_count;
    }
}

//  When the lane may try again, at the earliest
static void
s_set_pause (peer_t *peer, const batch_t *batch, const zpeer_result_t *result)
{
    if (result->verdict == ZPEER_SUCCESS)
        peer->paces[batch->which].failed = false;
    if (batch->well)
        return;
    peer->paces[batch->which].failed = true;
    uint64_t pause_ms = result->verdict == ZPEER_CONGESTION
                            ? PAUSE_CONGESTION_MS
                            : PAUSE_TRANSIENT_MS;
    if (result->reached || result->verdict == ZPEER_PERMANENT_ERROR)
        pause_ms = PAUSE_PERMANENT_MS;
    uint64_t wish_ms = result->retry_after_ms < RETRY_AFTER_MAX_MS
                           ? result->retry_after_ms
                           : RETRY_AFTER_MAX_MS;
    uint64_t until =
        peer->world->now + (pause_ms > wish_ms ? pause_ms : wish_ms);
    if (peer->quiet_until < until)
        peer->quiet_until = until;
}

void
attempt_ends (peer_t *peer, batch_t *batch, const zpeer_result_t *result)
{
    world_t *world = peer->world;
    for (uint32_t i = 0; i < batch->count; i++)
        peer->keys[batch->items[i].key].flying = false;
    peer->paces[batch->which].flights--;
    world->tally->verdicts[result->verdict]++;
    world->tally->escalated += result->escalated;
    world_say (world, "P%u lane: #%" PRIu64 " %s %u -> %s%s", peer->number,
               batch->id, zpeer_end_text (result->end), result->status,
               zpeer_verdict_name (result->verdict),
               result->escalated ? " escalated" : "");
    batch->well = s_well (peer, batch, result);
    s_count_refusal (peer, batch, result);
    peer->by_chance = !batch->calm && result->status != 400 &&
                      result->status != 413 && result->verdict != ZPEER_SUCCESS;
    flaw_met (batch, result);
    s_check_pace (peer, batch, result);
    s_set_pause (peer, batch, result);
    if (batch->which == LANE_INSTANCES)
        caution_learn (peer, batch, result);
}

//  And at the latest, if the pause before this ended then. A pause grows once a
//  round, however many attempts fail together.
void
attempt_ended (peer_t *peer, const batch_t *batch, const zpeer_result_t *result,
               uint64_t before)
{
    uint64_t now = peer->world->now;
    pace_t *pace = &peer->paces[batch->which];
    bool success = result->verdict == ZPEER_SUCCESS;
    if (success && s_took_any (batch, result))
        pace->rounds = 0;
    else if ((!success || s_troubled (batch, result)) &&
             (now >= before || !pace->rounds))
        pace->rounds++;
    if (batch->well)
        return;
    uint64_t pause_ms = result->verdict == ZPEER_CONGESTION
                            ? PAUSE_CONGESTION_MS
                            : PAUSE_TRANSIENT_MS;
    if (result->reached || result->verdict == ZPEER_PERMANENT_ERROR)
        pause_ms = pace->rounds < ROUNDS_MAX
                       ? (uint64_t) PAUSE_FIRST_MS << (pace->rounds - 1)
                       : PAUSE_MAX_MS;
    if (pause_ms < result->retry_after_ms)
        pause_ms = result->retry_after_ms;
    uint64_t pause_at = zpeer_lane_pause (peer->batcher.lanes[batch->which]);
    if (pause_at > before && pause_at > now + pause_ms)
        world_fail (peer->world, "long pause", "P%u: %" PRIu64 " ms",
                    peer->number, pause_at - now);
}

void
attempt_retried (peer_t *peer)
{
    peer->quiet_until = 0;
    peer->grave.since = UINT64_MAX;
    for (unsigned i = 0; i < LANES; i++)
        peer->paces[i].grave.since = UINT64_MAX;
}
