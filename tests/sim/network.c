#include <inttypes.h>
#include "network.h"
#include "remote.h"
#include "world.h"
#include "banned.h"

//  How long things take, ms
#define REFUSED_MS 1
#define CONNECT_MS 1000

//  Longest Retry-After, ms
#define WAIT_MAX_MS 120000

//  ASG updates that fail where they are sick, per mille
#define ASG_SICK_RATE 500

//  When a kept connection was dead before, it is lost by then
#define AT_ONCE_MS 1000

//  When an attempt ends
typedef enum {
    ENDS_AT_ONCE,
    ENDS_SOON,
    ENDS_REFUSED,
    ENDS_CONNECT,
    ENDS_READ_TIMEOUT
} ends_t;

//  When the peer applies it
typedef enum {
    NEVER_APPLIED,
    APPLIED_SOON,
    PERHAPS_IN_PART,
    APPLIED_BEFORE,
    APPLIED_LATE,
    PERHAPS_LATE,
    SENT_TWICE
} applied_t;

//  As the HTTP client gives them to the core, where a status is no end
static const struct {
    const char *name;
    ends_t ends;
    applied_t applied;
    zpeer_end_t end;
    uint16_t status;
    body_t body;
} s_faults[] = {
    {"refused", ENDS_REFUSED, NEVER_APPLIED, ZPEER_END_UNSENT, 0, 0},
    {"connect timeout", ENDS_CONNECT, NEVER_APPLIED, ZPEER_END_UNSENT, 0, 0},
    {"reset before", ENDS_SOON, NEVER_APPLIED, ZPEER_END_RESET, 0, 0},
    {"reset after", ENDS_SOON, APPLIED_SOON, ZPEER_END_RESET, 0, 0},
    {"timeout", ENDS_READ_TIMEOUT, NEVER_APPLIED, ZPEER_END_READ_TIMEOUT, 0, 0},
    {"timeout, applied", ENDS_READ_TIMEOUT, APPLIED_BEFORE,
     ZPEER_END_READ_TIMEOUT, 0, 0},
    {"timeout, applied late", ENDS_READ_TIMEOUT, APPLIED_LATE,
     ZPEER_END_READ_TIMEOUT, 0, 0},
    {"half an answer, timeout", ENDS_READ_TIMEOUT, APPLIED_BEFORE,
     ZPEER_END_READ_TIMEOUT, 200, 0},
    {"half an answer", ENDS_SOON, APPLIED_SOON, ZPEER_END_UNUSABLE, 200, 0},
    {"not HTTP", ENDS_SOON, PERHAPS_LATE, ZPEER_END_UNUSABLE, 0, 0},
    {"garbage", ENDS_SOON, APPLIED_SOON, ZPEER_END_OK, 200, BODY_GARBAGE},
    {"an entry too few", ENDS_SOON, APPLIED_SOON, ZPEER_END_OK, 200,
     BODY_FEWER},
    {"an entry too many", ENDS_SOON, APPLIED_SOON, ZPEER_END_OK, 200,
     BODY_MORE},
    {"503", ENDS_SOON, NEVER_APPLIED, ZPEER_END_OK, 503, 0},
    {"429", ENDS_SOON, NEVER_APPLIED, ZPEER_END_OK, 429, 0},
    {"302", ENDS_SOON, NEVER_APPLIED, ZPEER_END_OK, 302, 0},
    {"401", ENDS_SOON, NEVER_APPLIED, ZPEER_END_OK, 401, 0},
    {"404", ENDS_SOON, NEVER_APPLIED, ZPEER_END_OK, 404, 0},
    {"500", ENDS_SOON, PERHAPS_IN_PART, ZPEER_END_OK, 500, 0},
    {"502", ENDS_SOON, PERHAPS_LATE, ZPEER_END_OK, 502, 0},
    {"504", ENDS_SOON, PERHAPS_LATE, ZPEER_END_OK, 504, 0},
    {"TLS", ENDS_SOON, NEVER_APPLIED, ZPEER_END_TLS, 0, 0},
    {"internal", ENDS_AT_ONCE, NEVER_APPLIED, ZPEER_END_INTERNAL, 0, 0},
    {"sent twice", ENDS_SOON, SENT_TWICE, ZPEER_END_OK, 0, 0},
};

#define FAULTS   (sizeof s_faults / sizeof *s_faults)
#define NO_FAULT FAULTS

_Static_assert(FAULTS <= FAULTS_MAX, "room for their counts");

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
    unsigned spell =
        (unsigned) rng_below (rng, SPELL_FAULTS + FAULTS + SPELL_FAULTS);
    return spell < SPELL_FAULTS + FAULTS ? spell : SPELL_OK;
}

void
network_set_spell (peer_t *peer, unsigned spell)
{
    static const char *const names[] = {"ok",         "items 500", "items 403",
                                        "400 to all", "slow",      "mix"};
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

//  What the network does ------------------------------------------------------

static uint64_t
s_end_ms (world_t *world, const peer_t *peer, ends_t ends)
{
    switch (ends) {
    case ENDS_AT_ONCE: return 0;
    case ENDS_REFUSED: return REFUSED_MS;
    case ENDS_CONNECT: return CONNECT_MS;
    case ENDS_READ_TIMEOUT: return world->read_timeout_ms;
    default: return remote_latency (world, peer);
    }
}

static void
s_suffer (world_t *world, request_t *request, unsigned fault)
{
    rng_t *rng = &world->rng;
    uint64_t end_ms =
        s_end_ms (world, request->batch->peer, s_faults[fault].ends);
    uint64_t late_ms =
        end_ms + rng_below (rng, world->read_timeout_ms - LATE_MARGIN_MS);
    uint64_t count = request->count;
    bool perhaps = rng_chance (rng, 600);
    switch (s_faults[fault].applied) {
    case SENT_TWICE:
    case NEVER_APPLIED: break;
    case APPLIED_SOON:
        world_after (world, end_ms, remote_apply, request, count);
        break;
    case PERHAPS_IN_PART:
        if (perhaps)
            world_after (world, end_ms, remote_apply, request,
                         rng_below (rng, count + 1));
        break;
    case APPLIED_BEFORE:
        world_after (world, rng_below (rng, end_ms), remote_apply, request,
                     count);
        break;
    case PERHAPS_LATE:
        if (!perhaps)
            break;
        //  fall through
    case APPLIED_LATE:
        world_after (world, late_ms, remote_apply, request, count);
    }
    if (s_faults[fault].status == 503 || s_faults[fault].status == 429)
        request->retry_after_ms =
            world->features[FEATURE_WAIT]
                ? (uint32_t) rng_below (rng, WAIT_MAX_MS)
                : RNG_PICK (rng, uint32_t, 0, 0, 2000, 60000);
    network_end_after (request, end_ms, s_faults[fault].end,
                       s_faults[fault].status, s_faults[fault].body);
}

//  Of a request for one item these statuses are about the item, and a body is
//  not looked at
static bool
s_means_item (unsigned fault)
{
    return s_faults[fault].status == 404 || s_faults[fault].status == 500 ||
           s_faults[fault].body != BODY_NONE;
}

static unsigned
s_fault (world_t *world, const request_t *request)
{
    const peer_t *peer = request->batch->peer;
    bool sick = world->features[FEATURE_ASG_SICK] &&
                request->batch->which == LANE_ASGS &&
                rng_chance (&world->rng, ASG_SICK_RATE);
    bool single = sick || (peer->spell == SPELL_OK &&
                           rng_chance (&world->rng, peer->fault_rate));
    unsigned fault = NO_FAULT;
    if (world_is_calm (world))
        return NO_FAULT;
    if (peer->spell == SPELL_MIX || single)
        fault = (unsigned) rng_below (&world->rng, FAULTS);
    else if (peer->spell >= SPELL_FAULTS)
        fault = peer->spell - SPELL_FAULTS;
    if (fault != NO_FAULT && request->batch->single && s_means_item (fault))
        return NO_FAULT;
    return fault;
}

static void
s_send (world_t *world, request_t *request, unsigned fault)
{
    if (fault == NO_FAULT)
        remote_answer (request);
    else
        s_suffer (world, request, fault);
}

//  What happens to the second one, which may be anything but this again
static void
s_send_again (world_t *world, void *whom, uint64_t number)
{
    request_t *request = (request_t *) whom;
    (void) number;
    if (!request->open)
        return;
    unsigned fault = s_fault (world, request);
    if (fault != NO_FAULT && s_faults[fault].applied == SENT_TWICE)
        fault = NO_FAULT;
    s_send (world, request, fault);
}

//  1. The connection is lost.
//  2. The request goes out once more, on another one.
//  3. The first one is applied before, after, or never.
static void
s_send_twice (world_t *world, request_t *request)
{
    rng_t *rng = &world->rng;
    uint64_t lost_ms = rng_below (rng, AT_ONCE_MS);
    uint64_t late_ms = rng_below (rng, world->read_timeout_ms - LATE_MARGIN_MS);
    request_t *first =
        request_new (request->batch, request->from, request->bytes, NULL);
    first->open = false;
    first->first = true;
    request->repeated = true;
    if (rng_chance (rng, 700))
        world_after (world, rng_chance (rng, 300) ? 0 : lost_ms + late_ms,
                     remote_apply, first, first->count);
    world_after (world, lost_ms, s_send_again, request, 0);
}

void
network_send (request_t *request)
{
    peer_t *peer = request->batch->peer;
    world_t *world = peer->world;
    unsigned fault = s_fault (world, request);
    world_count (world, TALLY_REQUESTS);
    world_say (world, "P%u #%" PRIu64 " request, items from %" PRIu32 " %s",
               peer->number, request->batch->id, request->from,
               network_fault_name (fault));
    if (fault != NO_FAULT)
        world->tally->faults[fault]++;
    if (fault != NO_FAULT && s_faults[fault].applied == SENT_TWICE)
        s_send_twice (world, request);
    else
        s_send (world, request, fault);
}

void
network_end (world_t *world, void *whom, uint64_t number)
{
    request_t *request = (request_t *) whom;
    (void) number;
    if (!request->open)
        return;
    world_say (world, "P%u #%" PRIu64 " request ends: %s %u",
               request->batch->peer->number, request->batch->id,
               request->status ? "status" : zpeer_end_text (request->end),
               request->status);
    zpeer_buffer_t body = {0};
    reply_write (request, &body);
    dispatcher_reply (request, (zpeer_slice_t){body.data, body.size});
    zpeer_buffer_free (&body);
}

void
network_end_after (request_t *request, uint64_t delay, zpeer_end_t end,
                   uint16_t status, body_t body)
{
    request->end = end;
    request->status = status;
    request->body = body;
    world_after (request->batch->peer->world, delay, network_end, request, 0);
}
