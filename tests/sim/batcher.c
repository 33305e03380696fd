#include <assert.h>
#include <inttypes.h>
#include "attempt.h"
#include "probe.h"
#include "source.h"
#include "stroll.h"
#include "world.h"
#include "banned.h"

#define NEVER UINT64_MAX

#define MAX_BYTES (1u << 20)

//  Wake-ups of one batcher in a second
#define WAKES_MAX 120

//  The lanes' life ------------------------------------------------------------

static void
s_to_acceptor (void *whom, message_t *message)
{
    batcher_t *self = (batcher_t *) whom;
    source_receive (self->peer->world, message);
    message_free (message);
}

void
batcher_init (batcher_t *self, peer_t *peer)
{
    world_t *world = peer->world;
    *self = (batcher_t){.peer = peer, .turn_at = NEVER};
    self->inbox_size = INBOX_MAX;
    if (world->features[FEATURE_STUCK])
        self->inbox_size = RNG_PICK (&world->rng, unsigned, 1, 2, 4, INBOX_MAX);
    char name[sizeof self->uplink.name];
    snprintf (name, sizeof name, "P%u batcher > acceptor", peer->number);
    link_init (&self->uplink, world, name, false, s_to_acceptor, self);
    self->uplink.slow_ms = RNG_PICK (&world->rng, unsigned, 0, 0, 10, 2000);
}

static void
s_report (void *arg, const zpeer_lane_report_t *report)
{
    batcher_t *self = (batcher_t *) arg;
    if (report->kind == ZPEER_LANE_RELEASED)
        zpeer_wire_put_released (&self->released, self->peer->number,
                                 report->state->handle, report->state->seq);
    peer_report (self->peer, report);
}

static void
s_make_lanes (batcher_t *self)
{
    world_t *world = self->peer->world;
    zpeer_lane_options_t lane = {
        .max_items = world->batch_enabled ? world->max_items : 1,
        .first_items =
            RNG_PICK (&world->rng, uint32_t, 0, 0, ZPEER_LANE_FIRST_ITEMS),
        .max_bytes = MAX_BYTES,
        .linger_ms = world->batch_enabled ? LINGER_MS : 0,
        .read_timeout_ms = world->read_timeout_ms,
        .pool = world->pool,
        .single = !world->batch_enabled,
        .inherits = self->unsettled,
        .delivered = rng_chance (&world->rng, 500),
        .seed = rng_next (&world->rng),
        .report = s_report,
        .arg = self,
    };
    self->lanes[LANE_INSTANCES] = zpeer_lane_new (&lane);
    lane.max_items = 1;
    lane.linger_ms = 0;
    lane.max_in_flight = 1;
    lane.asg_life_ms = ASG_LIFE_MS;
    self->lanes[LANE_ASGS] = zpeer_lane_new (&lane);
}

void
batcher_start (batcher_t *self)
{
    self->life++;
    self->reached = false;
    self->stuck_until = 0;
    self->turn_at = NEVER;
    self->walked = false;
    self->roster = zpeer_roster_new ();
    s_make_lanes (self);
}

static void
s_close_lane (batcher_t *self, which_t which)
{
    world_t *world = self->peer->world;
    zpeer_lane_stats_t stats;
    zpeer_lane_close (self->lanes[which], ZPEER_ENDED_PEER_REMOVED);
    zpeer_lane_stats (self->lanes[which], &stats);
    uint64_t ended = 0;
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++) {
        ended += stats.ended[i];
        world->tally->ended[i] += stats.ended[i];
    }
    if (stats.accepted != ended || stats.waiting || stats.in_flight)
        world_fail (world, "accounting", "P%u: %" PRIu64 " of %" PRIu64,
                    self->peer->number, ended, stats.accepted);
    zpeer_lane_destroy (&self->lanes[which]);
}

void
batcher_stop (batcher_t *self)
{
    if (self->lanes[LANE_INSTANCES])
        self->unsettled = zpeer_lane_unsettled (self->lanes[LANE_INSTANCES]);
    for (int i = 0; i < LANES; i++)
        if (self->lanes[i])
            s_close_lane (self, (which_t) i);
    zpeer_roster_destroy (&self->roster);
    while (self->inbox_count)
        zpeer_chunk_unref (&self->inbox[--self->inbox_count]);
    queue_clear (&self->server);
    link_clear (&self->uplink);
    zpeer_buffer_free (&self->released);
    self->turn_at = NEVER;
}

//  Turns ----------------------------------------------------------------------

static uint64_t
s_sooner (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  When it must look though nothing came in
static uint64_t
s_wake (const batcher_t *self)
{
    uint64_t now = self->peer->world->now;
    uint32_t credit = zpeer_roster_credit (self->roster);
    uint64_t at = zpeer_roster_wake (self->roster);
    for (int i = 0; i < LANES && batcher_may_send (self); i++)
        at = s_sooner (at, zpeer_lane_wake (self->lanes[i], now, credit));
    return at;
}

static void s_turn (world_t *world, void *whom, uint64_t when);

static void
s_plan (batcher_t *self, uint64_t at)
{
    world_t *world = self->peer->world;
    if (at < self->stuck_until)
        at = self->stuck_until;
    if (at >= self->turn_at)
        return;
    self->turn_at = at;
    agenda_put (&world->agenda, at, s_turn, self, at);
}

static void
s_count_wake (batcher_t *self)
{
    world_t *world = self->peer->world;
    if (self->wake_second != world->now / 1000) {
        self->wake_second = world->now / 1000;
        self->wakes = 0;
    }
    if (++self->wakes > world->tally->most_wakes)
        world->tally->most_wakes = self->wakes;
    if (self->wakes > WAKES_MAX)
        world_fail (world, "spin", "P%u: %" PRIu32 " wake-ups in a second",
                    self->peer->number, self->wakes);
}

static void
s_turn (world_t *world, void *whom, uint64_t when)
{
    batcher_t *self = (batcher_t *) whom;
    if (!self->roster || self->turn_at != when)
        return;
    self->turn_at = NEVER;
    if (!self->inbox_count && !self->server.first)
        s_count_wake (self);
    batcher_read_inbox (self);
    batcher_read_server (self);
    zpeer_roster_expire (self->roster, world->now);
    batcher_take_back_lost (self);
    batcher_send (self);
    self->walked |= stroll_over (self->peer);
    batcher_send_up (self);
    if (world->fault)
        return;
    peer_check_linger (self->peer);
    uint64_t wake = s_wake (self);
    if (wake <= world->now)
        world_fail (world, "spin", "P%u: wake %" PRIu64, self->peer->number,
                    wake);
    else if (self->inbox_count || self->server.first)
        s_plan (self, world->now);
    else if (wake != NEVER)
        s_plan (self, wake);
}

void
batcher_turn_soon (batcher_t *self)
{
    if (self->roster)
        s_plan (self, self->peer->world->now);
}

void
batcher_retry (batcher_t *self)
{
    if (!self->roster)
        return;
    world_say (self->peer->world, "P%u retry now", self->peer->number);
    for (int i = 0; i < LANES; i++)
        zpeer_lane_retry_now (self->lanes[i]);
    attempt_retried (self->peer);
    batcher_turn_soon (self);
}

void
batcher_stick (batcher_t *self, uint64_t ms)
{
    world_t *world = self->peer->world;
    if (!self->roster || self->stuck_until > world->now)
        return;
    world_count (world, TALLY_STUCK);
    world_say (world, "P%u batcher reads nothing for %" PRIu64 " ms",
               self->peer->number, ms);
    self->stuck_until = world->now + ms;
    //  What was planned comes late
    self->turn_at = NEVER;
    s_plan (self, world->now);
}

bool
batcher_post (batcher_t *self, zpeer_chunk_t *chunk)
{
    if (self->inbox_count == self->inbox_size) {
        world_count (self->peer->world, TALLY_REFUSED);
        return false;
    }
    self->inbox[self->inbox_count++] = zpeer_chunk_ref (chunk);
    batcher_turn_soon (self);
    return true;
}

void
batcher_receive (batcher_t *self, message_t *message)
{
    if (!self->roster) {
        message_free (message);
        return;
    }
    queue_put (&self->server, message);
    batcher_turn_soon (self);
}
