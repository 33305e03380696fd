#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include "attempt.h"
#include "caution.h"
#include "probe.h"
#include "remote.h"
#include "world.h"
#include "banned.h"

//  How long things take, ms
#define REFUSED_MS    1
#define CONNECT_MS    1000
#define TAKEN_BACK_MS 6000

//  When an attempt ends
typedef enum {
    ENDS_AT_ONCE,
    ENDS_SOON,
    ENDS_REFUSED,
    ENDS_CONNECT,
    ENDS_READ_TIMEOUT,
    ENDS_TAKEN_BACK
} ends_t;

//  When the peer applies it
typedef enum {
    NEVER_APPLIED,
    APPLIED_SOON,
    PERHAPS_IN_PART,
    APPLIED_BEFORE,
    APPLIED_LATE,
    PERHAPS_LATE
} applied_t;

static const struct {
    const char *name;
    ends_t ends;
    applied_t applied;
    zpeer_end_t end;
    uint16_t status;
} s_faults[] = {
    {"refused", ENDS_REFUSED, NEVER_APPLIED, ZPEER_END_UNSENT, 0},
    {"connect timeout", ENDS_CONNECT, NEVER_APPLIED, ZPEER_END_UNSENT, 0},
    {"reset before", ENDS_SOON, NEVER_APPLIED, ZPEER_END_RESET, 0},
    {"reset after", ENDS_SOON, APPLIED_SOON, ZPEER_END_RESET, 0},
    {"timeout", ENDS_READ_TIMEOUT, NEVER_APPLIED, ZPEER_END_READ_TIMEOUT, 0},
    {"timeout, applied", ENDS_READ_TIMEOUT, APPLIED_BEFORE,
     ZPEER_END_READ_TIMEOUT, 0},
    {"timeout, applied late", ENDS_READ_TIMEOUT, APPLIED_LATE,
     ZPEER_END_READ_TIMEOUT, 0},
    {"503", ENDS_SOON, NEVER_APPLIED, ZPEER_END_BUSY, 503},
    {"429", ENDS_SOON, NEVER_APPLIED, ZPEER_END_STATUS, 429},
    {"500", ENDS_SOON, PERHAPS_IN_PART, ZPEER_END_STATUS_5XX, 500},
    {"502", ENDS_SOON, PERHAPS_LATE, ZPEER_END_STATUS_5XX, 502},
    {"unusable answer", ENDS_SOON, APPLIED_SOON, ZPEER_END_UNUSABLE, 200},
    {"TLS", ENDS_SOON, NEVER_APPLIED, ZPEER_END_TLS, 0},
    {"internal", ENDS_AT_ONCE, NEVER_APPLIED, ZPEER_END_INTERNAL, 0},
    {"taken back", ENDS_TAKEN_BACK, PERHAPS_LATE, ZPEER_END_TAKEN_BACK, 0},
};

#define FAULTS   (sizeof s_faults / sizeof *s_faults)
#define NO_FAULT FAULTS

unsigned
network_faults (void)
{
    return FAULTS;
}

const char *
network_fault_name (unsigned fault)
{
    return fault < FAULTS ? s_faults[fault].name : "";
}

unsigned
network_random_spell (rng_t *rng)
{
    unsigned spell = (unsigned) rng_below (rng, FAULTS + 8);
    return spell < SPELL_FAULTS + FAULTS ? spell : SPELL_OK;
}

void
network_set_spell (peer_t *peer, unsigned spell)
{
    static const char *const names[] = {"ok", "items 500", "400 to all", "mix"};
    if (spell == peer->spell)
        return;
    peer->spell = spell;
    //  Twice alone in two such spells looks like a bad item
    peer->spells_400 += spell == SPELL_400;
    world_say (peer->world, "P%u network: %s", peer->number,
               spell < SPELL_FAULTS
                   ? names[spell]
                   : network_fault_name (spell - SPELL_FAULTS));
}

//  What the network does -----------------------------------------------------------

static uint64_t
s_end_ms (world_t *world, const peer_t *peer, ends_t ends)
{
    switch (ends) {
    case ENDS_AT_ONCE: return 0;
    case ENDS_REFUSED: return REFUSED_MS;
    case ENDS_CONNECT: return CONNECT_MS;
    case ENDS_READ_TIMEOUT: return world->read_timeout_ms;
    case ENDS_TAKEN_BACK: return TAKEN_BACK_MS;
    default: return remote_latency (world, peer);
    }
}

static void
s_suffer (world_t *world, batch_t *batch, unsigned fault)
{
    rng_t *rng = &world->rng;
    uint64_t end_ms = s_end_ms (world, batch->peer, s_faults[fault].ends);
    uint64_t late_ms =
        end_ms + rng_below (rng, world->read_timeout_ms - LATE_MARGIN_MS);
    uint64_t count = batch->count;
    bool perhaps = rng_chance (rng, 600);
    switch (s_faults[fault].applied) {
    case NEVER_APPLIED: break;
    case APPLIED_SOON:
        world_after (world, end_ms, remote_apply, batch, count);
        break;
    case PERHAPS_IN_PART:
        if (perhaps)
            world_after (world, end_ms, remote_apply, batch,
                         rng_below (rng, count + 1));
        break;
    case APPLIED_BEFORE:
        world_after (world, rng_below (rng, end_ms), remote_apply, batch,
                     count);
        break;
    case PERHAPS_LATE:
        if (!perhaps)
            break;
        //  fall through
    case APPLIED_LATE: world_after (world, late_ms, remote_apply, batch, count);
    }
    if (s_faults[fault].end == ZPEER_END_BUSY)
        batch->retry_after_ms = RNG_PICK (rng, uint32_t, 0, 0, 2000, 60000);
    attempt_end_after (world, batch, end_ms, s_faults[fault].end,
                       s_faults[fault].status);
}

static unsigned
s_fault (world_t *world, const peer_t *peer)
{
    bool single =
        peer->spell == SPELL_OK && rng_chance (&world->rng, peer->fault_rate);
    if (world_is_calm (world))
        return NO_FAULT;
    if (peer->spell == SPELL_MIX || single)
        return (unsigned) rng_below (&world->rng, FAULTS);
    return peer->spell >= SPELL_FAULTS ? peer->spell - SPELL_FAULTS : NO_FAULT;
}

//  Sending ---------------------------------------------------------------------------

static item_t
s_item (const peer_t *peer, const zpeer_item_t *given)
{
    bool registers = given->action == ZPEER_REGISTER;
    unsigned key = world_key (given->state);
    return (item_t){.timestamp =
                        given->action == ZPEER_CANCEL ? 0 : given->timestamp,
                    .asked_at = peer->keys[key].asked_at,
                    .top = given->state->top,
                    .turn = peer->keys[key].turn,
                    .version = registers ? world_version (given->state) : 0,
                    .key = (uint16_t) key,
                    .action = given->action,
                    .status = given->status,
                    .override = registers ? given->override : ZPEER_UNKNOWN,
                    .guarded = probe_acts (peer->lane, given->state->handle)};
}

static batch_t *
s_batch_new (world_t *world, peer_t *peer, const zpeer_lane_batch_t *given)
{
    batch_t *batch =
        (batch_t *) calloc (1, sizeof *batch + given->count * sizeof (item_t));
    assert (batch);
    batch->next = world->batches;
    world->batches = batch;
    batch->peer = peer;
    batch->id = given->id;
    batch->bytes = given->bytes;
    batch->count = given->count;
    batch->life = peer->life;
    batch->lane_life = peer->lane_life;
    for (uint32_t i = 0; i < given->count; i++)
        batch->items[i] = s_item (peer, &given->items[i]);
    return batch;
}

//  Marks what is on its way. All items of an instance stand together, and none
//  is on its way twice.
static void
s_take_off (world_t *world, peer_t *peer, const batch_t *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        unsigned key = batch->items[i].key;
        if (i && batch->items[i - 1].key == key)
            continue;
        if (peer->keys[key].flying)
            world_fail (world, "overtake", "P%u: I%u is already on its way",
                        peer->number, key);
        peer->keys[key].flying = true;
        peer->keys[key].first = UINT64_MAX;
    }
}

static void
s_check_batch (world_t *world, peer_t *peer, const batch_t *batch)
{
    if (world->now < peer->quiet_until)
        world_fail (world, "pause", "P%u: an attempt %" PRIu64 " ms too early",
                    peer->number, peer->quiet_until - world->now);
    if (peer->flights >= (peer->failed ? 1 : peer->credit))
        world_fail (world, "window", "P%u: %u in flight, credit %u%s",
                    peer->number, peer->flights, peer->credit,
                    peer->failed ? ", the last one failed" : "");
    if (!batch->count || batch->count > world->max_items)
        world_fail (world, "size", "P%u: %" PRIu32 " items", peer->number,
                    batch->count);
}

static void
s_say_batch (world_t *world, const batch_t *batch, unsigned fault)
{
    if (!world->history)
        return;
    world_say (world, "P%u #%" PRIu64 " sends %" PRIu32 " items %s",
               batch->peer->number, batch->id, batch->count,
               network_fault_name (fault));
    for (uint32_t i = 0; i < batch->count; i++) {
        char text[REGISTRY_TEXT_MAX];
        fprintf (world->history, "%16s%s\n", "",
                 item_text (&batch->items[i], text));
    }
}

void
network_send (peer_t *peer, const zpeer_lane_batch_t *given)
{
    world_t *world = peer->world;
    batch_t *batch = s_batch_new (world, peer, given);
    s_check_batch (world, peer, batch);
    s_take_off (world, peer, batch);
    caution_check (peer, batch);
    peer->flights++;
    peer->tries++;
    world_count (world, TALLY_BATCHES);
    world->tally->counts[TALLY_ITEMS] += batch->count;
    unsigned fault = s_fault (world, peer);
    s_say_batch (world, batch, fault);
    if (fault == NO_FAULT)
        remote_answer (world, peer, batch);
    else {
        world->tally->faults[fault]++;
        s_suffer (world, batch, fault);
    }
}
