#include <inttypes.h>
#include "attempt.h"
#include "caution.h"
#include "verdict.h"
#include "world.h"
#include "banned.h"

//  A handful of items more than a batch may have would be a fault
#define CODES_MAX 256

//  Shortest pauses after a failure, and the longest a peer may ask for
#define PAUSE_CONGESTION_MS 1000
#define PAUSE_TRANSIENT_MS  100
#define PAUSE_PERMANENT_MS  750
#define RETRY_AFTER_MAX_MS  30000

//  Longest pauses: the first, and from so many failures on
#define PAUSE_FIRST_MS 1000
#define PAUSE_MAX_MS   10000
#define ROUNDS_MAX     5

//  Attempts a dead peer may see: so many at once, and one more each so many ms
#define DEAD_TRIES    6
#define DEAD_EVERY_MS 7000

static void
s_judge (peer_t *peer, const batch_t *batch, zpeer_result_t *result)
{
    const zpeer_verdict_row_t *row = zpeer_verdict_row (batch->end);
    bool announce = false;
    bool reached = zpeer_counter_reached (&peer->counter);
    if (row->resets)
        zpeer_counter_reset (&peer->counter);
    else if (row->counts)
        reached = zpeer_counter_fail (&peer->counter, row->gated, &announce);
    zpeer_verdict_judge (batch->end, reached, announce, result);
    peer->in_row = row->resets ? 0 : peer->in_row + row->counts;
    if (result->reached != (peer->in_row >= peer->counter.max))
        world_fail (peer->world, "counter",
                    "P%u: %" PRIu32 " failures in a row", peer->number,
                    peer->in_row);
    peer->world->tally->verdicts[result->verdict]++;
    peer->world->tally->escalated += result->escalated;
}

//  How many attempts a dead peer sees
static void
s_check_pace (peer_t *peer, const zpeer_result_t *result)
{
    uint64_t now = peer->world->now;
    bool item = result->status == 400 || result->status == 413;
    bool dead = result->verdict != ZPEER_SUCCESS && !item &&
                (result->reached || result->verdict == ZPEER_PERMANENT_ERROR);
    if (!dead) {
        peer->down_since = UINT64_MAX;
        return;
    }
    if (peer->down_since == UINT64_MAX) {
        peer->down_since = now;
        peer->tries = 0;
    }
    uint64_t down_ms = now - peer->down_since;
    if (peer->tries > DEAD_TRIES + down_ms / DEAD_EVERY_MS)
        world_fail (peer->world, "pace of a dead peer",
                    "P%u: %" PRIu64 " attempts in %" PRIu64 " ms", peer->number,
                    peer->tries, down_ms);
}

//  When the lane may try again, at the earliest
static void
s_set_pause (peer_t *peer, const zpeer_result_t *result)
{
    if (result->verdict == ZPEER_SUCCESS)
        peer->failed = false;
    if (result->verdict == ZPEER_SUCCESS || result->status == 400 ||
        result->status == 413)
        return;
    peer->failed = true;
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

//  And at the latest, if the pause before this ended then. A pause grows once a
//  round, however many attempts fail together.
static void
s_check_pause (peer_t *peer, const zpeer_result_t *result, uint64_t before)
{
    uint64_t now = peer->world->now;
    if (result->verdict == ZPEER_SUCCESS)
        peer->rounds = 0;
    else if (now >= before || !peer->rounds)
        peer->rounds++;
    if (result->verdict == ZPEER_SUCCESS || result->status == 400 ||
        result->status == 413)
        return;
    uint64_t pause_ms = result->verdict == ZPEER_CONGESTION
                            ? PAUSE_CONGESTION_MS
                            : PAUSE_TRANSIENT_MS;
    if (result->reached || result->verdict == ZPEER_PERMANENT_ERROR)
        pause_ms = peer->rounds < ROUNDS_MAX
                       ? (uint64_t) PAUSE_FIRST_MS << (peer->rounds - 1)
                       : PAUSE_MAX_MS;
    if (pause_ms < result->retry_after_ms)
        pause_ms = result->retry_after_ms;
    uint64_t pause_at = zpeer_lane_pause (peer->lane);
    if (pause_at > before && pause_at > now + pause_ms)
        world_fail (peer->world, "long pause", "P%u: %" PRIu64 " ms",
                    peer->number, pause_at - now);
}

//  The answer: codes unless all is well, and the peer's copy with each 409
static void
s_write_answer (const batch_t *batch, zpeer_result_t *result, uint16_t *codes,
                zpeer_copy_t *copies)
{
    if (!batch->answered)
        return;
    for (uint32_t i = 0; i < batch->count; i++) {
        const item_t *item = &batch->items[i];
        codes[i] = item->code;
        if (item->code != 200)
            result->codes = codes;
        if (item->code == 409)
            copies[result->copy_count++] =
                (zpeer_copy_t){.index = i, .timestamp = item->copy};
    }
    result->copies = copies;
}

void
attempt_end (world_t *world, void *whom, uint64_t number)
{
    batch_t *batch = (batch_t *) whom;
    peer_t *peer = batch->peer;
    uint16_t codes[CODES_MAX];
    zpeer_copy_t copies[CODES_MAX];
    (void) number;
    if (batch->lane_life != peer->lane_life || !peer->lane)
        return;
    zpeer_result_t result = {.id = batch->id,
                             .status = batch->status,
                             .retry_after_ms = batch->retry_after_ms,
                             .items = batch->count,
                             .detail = ""};
    s_judge (peer, batch, &result);
    s_write_answer (batch, &result, codes, copies);
    for (uint32_t i = 0; i < batch->count; i++)
        peer->keys[batch->items[i].key].flying = false;
    peer->flights--;
    world_say (world, "P%u #%" PRIu64 " %s %u -> %s%s", peer->number, batch->id,
               zpeer_end_text (batch->end), batch->status,
               zpeer_verdict_name (result.verdict),
               result.escalated ? " escalated" : "");
    s_check_pace (peer, &result);
    s_set_pause (peer, &result);
    caution_learn (peer, batch, &result);
    uint64_t before = zpeer_lane_pause (peer->lane);
    peer_done (peer, &result);
    s_check_pause (peer, &result, before);
}

void
attempt_end_after (world_t *world, batch_t *batch, uint64_t delay,
                   zpeer_end_t end, uint16_t status)
{
    batch->end = end;
    batch->status = status;
    world_after (world, delay, attempt_end, batch, 0);
}
