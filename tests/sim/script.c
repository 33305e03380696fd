#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "script.h"
#include "source.h"
#include "banned.h"

#define RENEWAL_MS   30000
#define LEASE_MS     3600000  //  Longer than a run
#define VERSIONS_MIN 64
#define HELD_UP_MS   20
#define CLOCK_MS     10000000  //  When a run begins, by the clocks of instances

static uint64_t
s_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void
s_begin (world_t *world, event_t *event, unsigned key, zpeer_action_t action,
         uint64_t timestamp)
{
    event->key = key;
    event->version = 0;
    event->parsed =
        (zpeer_parsed_t){.action = action,
                         .app = ZPEER_SLICE ("APP"),
                         .id = zpeer_slice_str (world->instances[key].id),
                         .has_timestamp = timestamp > 0,
                         .timestamp = timestamp};
}

//  Registers ------------------------------------------------------------------

static uint32_t
s_version_new (world_t *world)
{
    if (++world->version >= world->version_capacity) {
        world->version_capacity = world->version_capacity
                                      ? 2 * world->version_capacity
                                      : VERSIONS_MIN;
        world->versions = (version_t *) realloc (
            world->versions, world->version_capacity * sizeof (version_t));
        assert (world->versions);
    }
    world->versions[world->version] = (version_t){0};
    return world->version;
}

static bool
s_flawed (world_t *world, feature_t feature)
{
    return world->features[feature] && rng_chance (&world->rng, 200);
}

//  A new version of an instance's info: often there is something wrong with it
static uint32_t
s_version (world_t *world, unsigned key, bool replicated)
{
    instance_t *instance = &world->instances[key];
    uint32_t version = s_version_new (world);
    uint8_t *flaws = &world->versions[version].flaws;
    if (replicated)
        return version;
    if (s_flawed (world, FEATURE_POISON))
        *flaws |= FLAW_POISON;
    if (s_flawed (world, FEATURE_TOXIC))
        *flaws |= FLAW_TOXIC;
    if (!world->features[FEATURE_REPLICATED] &&
        s_flawed (world, FEATURE_REFUSE))
        *flaws |= FLAW_SILENT;
    if (s_flawed (world, FEATURE_FIREWALL))
        *flaws |= FLAW_BANNED;
    if (s_flawed (world, FEATURE_HANG))
        *flaws |= FLAW_HANGS;
    instance->had |= *flaws;
    return version;
}

//  The info that the view has already, if nothing is wrong with it
static uint32_t
s_same_version (world_t *world, unsigned key)
{
    record_t record = world_record (world, key);
    if (!world->features[FEATURE_SAME] || !record.there ||
        world->versions[record.version].flaws || rng_chance (&world->rng, 600))
        return 0;
    return record.version;
}

//  The content of a Register
static void
s_fill (world_t *world, event_t *event, uint32_t version, zpeer_status_t status,
        zpeer_status_t override)
{
    event->version = version;
    event->parsed.status = status;
    event->parsed.has_status = true;
    event->parsed.override = override;
    event->parsed.renewal_ms = RENEWAL_MS;
    event->parsed.duration_ms = LEASE_MS;
    if (world->features[FEATURE_AGE])
        event->parsed.duration_ms =
            RNG_PICK (&world->rng, uint32_t, 500, 5000, 30000, LEASE_MS);
    snprintf (event->info, sizeof event->info, "v%-*" PRIu32, INFO_SIZE - 1,
              event->version);
    event->parsed.info = zpeer_slice_str (event->info);
}

static void
s_register (world_t *world, event_t *event, unsigned key, uint64_t timestamp,
            zpeer_status_t status, zpeer_status_t override, bool replicated)
{
    s_begin (world, event, key, ZPEER_REGISTER, timestamp);
    uint32_t version = s_same_version (world, key);
    if (!version)
        version = s_version (world, key, replicated);
    event->parsed.replicated = replicated;
    s_fill (world, event, version, status, override);
}

void
script_picture (world_t *world, unsigned key, const record_t *record)
{
    event_t event;
    if (!record->there)
        return;
    s_begin (world, &event, key, ZPEER_REGISTER, record->timestamp);
    s_fill (world, &event, record->version, (zpeer_status_t) record->status,
            (zpeer_status_t) record->override);
    event.parsed.snapshot = true;
    source_take (world, &event);
}

void
script_answer_need (world_t *world, void *whom, uint64_t number)
{
    const instance_t *instance = (const instance_t *) whom;
    event_t event;
    if (world_is_calm (world) || !source_reads (world))
        return;
    uint64_t timestamp =
        s_max (number, s_max (instance->top + 1, world->now + 1000));
    s_register (world, &event, (unsigned) (instance - world->instances),
                timestamp, ZPEER_UP, ZPEER_UNKNOWN, false);
    source_feed (world, &event);
}

void
script_renewal (world_t *world, void *whom, uint64_t number)
{
    unsigned key = (unsigned) number;
    record_t record = world_record (world, key);
    event_t event;
    if (!source_reads (world)) {
        world_after (world, HELD_UP_MS, script_renewal, whom, number);
        return;
    }
    if (!record.there)
        return;
    //  The client of an instance at UNKNOWN is told 404: it registers
    if (record.status == ZPEER_UNKNOWN)
        s_register (world, &event, key, record.timestamp + 1, ZPEER_UP,
                    ZPEER_UNKNOWN, false);
    else
        s_begin (world, &event, key, ZPEER_HEARTBEAT, record.timestamp);
    source_feed (world, &event);
}

void
script_other (world_t *world, void *whom, uint64_t number)
{
    peer_t *peer = (peer_t *) whom;
    rng_t *rng = &world->rng;
    unsigned key = (unsigned) rng_below (rng, world->keys);
    const zpeer_state_t *state = world_state (world, key);
    uint64_t top = state && state->top ? state->top : world->now + 4;
    (void) number;
    item_t item = {
        .timestamp =
            top + (uint64_t) RNG_PICK (rng, int64_t, 1, 20, 2000, -3, 0),
        .version = s_version_new (world),
        .key = (uint16_t) key,
        .action = ZPEER_REGISTER,
        .status = RNG_PICK (rng, uint8_t, ZPEER_UP, ZPEER_UP, ZPEER_DOWN),
        .override = RNG_PICK (rng, uint8_t, ZPEER_UNKNOWN, ZPEER_UNKNOWN,
                              ZPEER_UNKNOWN, ZPEER_OUT_OF_SERVICE)};
    char text[REGISTRY_TEXT_MAX];
    registry_apply (&peer->servers[0], &item, BY_OTHER, world->now);
    peer->keys[key].touched = true;
    world_count (world, TALLY_OTHERS);
    world_say (world, "P%u another writer: %s", peer->number,
               item_text (&item, text));
}

//  Events at random -----------------------------------------------------------

//  By a clock that is set back now and then: what an instance was registered with
//  may be later than what it is registered with next
static uint64_t
s_clock (world_t *world, const record_t *record, uint64_t usual)
{
    rng_t *rng = &world->rng;
    if (rng_chance (rng, 100))
        world->set_back_ms = RNG_PICK (rng, uint64_t, 0, 5000, 3600000);
    if (record->there && rng_chance (rng, 700))
        return usual;
    return world->now + CLOCK_MS - world->set_back_ms;
}

//  Around what the view has; above all that was ever, after Forget
static uint64_t
s_timestamp (world_t *world, unsigned key, const record_t *record,
             bool replicated)
{
    const zpeer_state_t *state = world_state (world, key);
    bool older = world->features[FEATURE_OLDER] && !replicated;
    uint64_t base = world->now + 1000;
    if (record->there)
        base = record->timestamp;
    else if (state && state->top)
        base = state->top;
    int64_t later =
        RNG_PICK (&world->rng, int64_t, 0, 0, 1, 50, older ? -7 : 0);
    uint64_t timestamp = base + (uint64_t) later;
    if (world->features[FEATURE_CLOCK] && !replicated)
        timestamp = s_clock (world, record, timestamp);
    if (!world->instances[key].forgotten ||
        (world->features[FEATURE_CLOCK] && !replicated && !world->anew))
        return timestamp;
    for (unsigned i = 0; i < world->peer_count; i++) {
        const record_t *held = &world->peers[i].servers[0].records[key];
        if (held->there)
            timestamp = s_max (timestamp, held->timestamp + 1);
    }
    return s_max (timestamp, world->forgotten_at + 1);
}

static zpeer_action_t
s_action (world_t *world)
{
    static const zpeer_action_t actions[] = {ZPEER_REGISTER,
                                             ZPEER_REGISTER,
                                             ZPEER_REGISTER,
                                             ZPEER_HEARTBEAT,
                                             ZPEER_HEARTBEAT,
                                             ZPEER_CANCEL,
                                             ZPEER_STATUS_UPDATE,
                                             ZPEER_STATUS_UPDATE,
                                             ZPEER_DELETE_STATUS_OVERRIDE,
                                             ZPEER_DELETE_STATUS_OVERRIDE,
                                             ZPEER_FORGET};
    unsigned count = sizeof actions / sizeof *actions;
    if (!world->features[FEATURE_FORGET])
        count--;
    return actions[rng_below (&world->rng, count)];
}

static void
s_override_event (world_t *world, event_t *event, zpeer_action_t action)
{
    rng_t *rng = &world->rng;
    zpeer_parsed_t *parsed = &event->parsed;
    parsed->has_status = true;
    if (action == ZPEER_STATUS_UPDATE)
        parsed->status = RNG_PICK (rng, zpeer_status_t, ZPEER_UP, ZPEER_DOWN,
                                   ZPEER_OUT_OF_SERVICE, ZPEER_OUT_OF_SERVICE,
                                   ZPEER_STARTING);
    else {
        parsed->status =
            RNG_PICK (rng, zpeer_status_t, ZPEER_UNKNOWN, ZPEER_UNKNOWN,
                      ZPEER_UP, ZPEER_OUT_OF_SERVICE);
        if (parsed->status == ZPEER_UNKNOWN)
            parsed->has_status = rng_chance (rng, 500);
    }
}

static void
s_register_event (world_t *world, event_t *event, unsigned key,
                  uint64_t timestamp, bool replicated)
{
    rng_t *rng = &world->rng;
    record_t record = world_record (world, key);
    zpeer_status_t status = RNG_PICK (
        rng, zpeer_status_t, ZPEER_UP, ZPEER_UP, ZPEER_UP, ZPEER_UP, ZPEER_DOWN,
        ZPEER_OUT_OF_SERVICE, ZPEER_STARTING, ZPEER_UNKNOWN);
    zpeer_status_t override =
        rng_chance (rng, 100) ? ZPEER_OUT_OF_SERVICE : ZPEER_UNKNOWN;
    if (replicated && record.there && record.override != ZPEER_UNKNOWN)
        override = (zpeer_status_t) record.override;
    s_register (world, event, key, timestamp, status, override, replicated);
}

//  An event of an instance that the view has
static void
s_present_event (world_t *world, event_t *event, unsigned key,
                 zpeer_action_t action, uint64_t timestamp, bool replicated)
{
    rng_t *rng = &world->rng;
    record_t record = world_record (world, key);
    uint64_t held = record.timestamp;
    if (action == ZPEER_HEARTBEAT)
        timestamp = rng_chance (rng, 100) ? timestamp : held;
    else if (action == ZPEER_CANCEL)
        timestamp =
            replicated ? 0 : RNG_PICK (rng, uint64_t, 0, held, timestamp);
    else if (action == ZPEER_FORGET)
        timestamp = 0;
    else if (replicated)
        timestamp = held;
    s_begin (world, event, key, action, timestamp);
    event->parsed.replicated = replicated && action != ZPEER_FORGET;
    if (action == ZPEER_STATUS_UPDATE || action == ZPEER_DELETE_STATUS_OVERRIDE)
        s_override_event (world, event, action);
}

static void
s_asg_event (world_t *world)
{
    rng_t *rng = &world->rng;
    event_t event;
    unsigned key = KEYS_MAX + (unsigned) rng_below (rng, ASGS_MAX);
    s_begin (world, &event, key, ZPEER_ASG_STATUS_UPDATE, 0);
    event.parsed.app = (zpeer_slice_t){"", 0};
    event.parsed.status =
        RNG_PICK (rng, zpeer_status_t, ZPEER_UP, ZPEER_OUT_OF_SERVICE);
    event.parsed.has_status = true;
    event.parsed.replicated =
        world->features[FEATURE_REPLICATED] && rng_chance (rng, 100);
    source_feed (world, &event);
}

void
script_event (world_t *world, void *whom, uint64_t number)
{
    rng_t *rng = &world->rng;
    (void) whom;
    if (world_is_calm (world))
        return;
    //  A feeder waits while a lane has no room
    if (!source_reads (world)) {
        world_count (world, TALLY_HELD_UP);
        world_after (world, HELD_UP_MS, script_event, whom, number);
        return;
    }
    if (world->features[FEATURE_ASG] && rng_chance (rng, 150)) {
        s_asg_event (world);
        return;
    }
    unsigned key =
        (unsigned) (number == SCRIPT_ANY ? rng_below (rng, world->keys)
                                         : number);
    record_t record = world_record (world, key);
    bool replicated =
        world->features[FEATURE_REPLICATED] && rng_chance (rng, 300);
    uint64_t timestamp = s_timestamp (world, key, &record, replicated);
    zpeer_action_t action = s_action (world);
    event_t event;
    if (action == ZPEER_REGISTER)
        s_register_event (world, &event, key, timestamp, replicated);
    else if (record.there)
        s_present_event (world, &event, key, action, timestamp, replicated);
    else if (action == ZPEER_FORGET || rng_chance (rng, 800))
        return;
    else {
        if (action == ZPEER_CANCEL)
            timestamp = 0;
        else
            action = ZPEER_HEARTBEAT;
        s_begin (world, &event, key, action, timestamp);
    }
    source_feed (world, &event);
}
