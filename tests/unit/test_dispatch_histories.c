#include <criterion/criterion.h>
#include <inttypes.h>
#include "dispatch.h"
#include "banned.h"

//  Random histories: batches, ends of requests, answers of health early, late
//  or never, acknowledgements, silence. What must hold is checked at every step.

#define LENGTH(array) (sizeof (array) / sizeof *(array))
#define SEEDS         300
#define STEPS         400
#define BATCHES_MAX   STEPS

//  What the test knows of a batch
typedef struct {
    bool running;
    bool released;
    bool acked;
    bool aborted;
    unsigned reports;  //  DONEs seen
} batch_t;

typedef struct {
    zpeer_dispatch_t *core;
    uint64_t seed;
    uint64_t random;
    uint64_t now;
    bool remote;
    uint32_t credit;
    uint32_t running;
    uint64_t count;                    //  Batches so far: ids from 1
    batch_t batches[BATCHES_MAX + 1];  //  By id
    uint64_t tokens[BATCHES_MAX];      //  Questions not answered yet
    size_t token_count;
} history_t;

#define s_must(self, condition)                                                \
    cr_assert (condition, "seed %" PRIu64 ", at %" PRIu64, (self)->seed,       \
               (self)->now)

//  A number below limit (xorshift)
static uint64_t
s_random (history_t *self, uint64_t limit)
{
    self->random ^= self->random << 13;
    self->random ^= self->random >> 7;
    self->random ^= self->random << 17;
    return self->random % limit;
}

//  --------------------------------------------------------------------------
//  Actions

static void
s_note_message (history_t *self, const zpeer_dispatch_action_t *action)
{
    const zpeer_slice_t *frames = action->frames;
    zpeer_wire_command_t command =
        zpeer_wire_command (frames[0].data, frames[0].size);
    if (command == ZPEER_WIRE_DONE) {
        zpeer_result_t done;
        cr_assert_eq (
            zpeer_wire_get_done (frames[1].data, frames[1].size, &done),
            ZPEER_OK);
        batch_t *batch = &self->batches[done.id];
        s_must (self, batch->released && !batch->running && !batch->acked);
        s_must (self, batch->reports == 0 || self->remote);
        batch->reports++;
    }
    if (command == ZPEER_WIRE_FAIL || command == ZPEER_WIRE_HASREACHEDMAX) {
        uint32_t peer;
        bool gated;
        cr_assert_eq (zpeer_wire_get_fail (frames[1].data, frames[1].size,
                                           &self->tokens[self->token_count++],
                                           &peer, &gated),
                      ZPEER_OK);
    }
}

static void
s_note_action (history_t *self, const zpeer_dispatch_action_t *action)
{
    batch_t *batch = (batch_t *) action->owner;
    switch (action->kind) {
    case ZPEER_DISPATCH_REQUEST:
        s_must (self, !batch->running && !batch->released);
        s_must (self, ++self->running <= self->credit);
        batch->running = true;
        break;
    case ZPEER_DISPATCH_ABORT:
        s_must (self, batch->running && !batch->released);
        batch->running = false;
        batch->aborted = true;
        self->running--;
        break;
    case ZPEER_DISPATCH_RELEASE:
        s_must (self, !batch->running && !batch->released);
        batch->released = true;
        break;
    case ZPEER_DISPATCH_BATCHER:
    case ZPEER_DISPATCH_HEALTH: s_note_message (self, action); break;
    default: break;
    }
}

static void
s_drain (history_t *self)
{
    zpeer_dispatch_action_t action;
    while (zpeer_dispatch_next (self->core, self->now, &action))
        s_note_action (self, &action);
    s_must (self, zpeer_dispatch_wake (self->core) > self->now);
}

//  --------------------------------------------------------------------------
//  Steps

static void
s_step_batch (history_t *self)
{
    static const char single[] = "\2\0\1\0\0\0\0a\2\0\1\0\0\0\0b";
    zpeer_wire_batch_t batch = {++self->count, ZPEER_MODE_BATCH, 1};
    if (s_random (self, 3) == 0)
        batch = (zpeer_wire_batch_t){self->count, ZPEER_MODE_SINGLE, 2};
    int rc = zpeer_dispatch_batch (self->core, self->now, &batch,
                                   (zpeer_slice_t){single, sizeof single - 1},
                                   &self->batches[batch.id]);
    //  Without its batcher a remote one takes nothing
    s_must (self, rc == ZPEER_OK || (rc == ZPEER_E_STATE && self->remote));
    self->count -= rc != ZPEER_OK;
}

static void
s_end_request (history_t *self, uint64_t id)
{
    static const zpeer_end_t ends[] = {
        ZPEER_END_OK,  ZPEER_END_OK,       ZPEER_END_READ_TIMEOUT,
        ZPEER_END_TLS, ZPEER_END_UNUSABLE, ZPEER_END_RESET,
    };
    static const uint16_t statuses[] = {200, 204, 400, 404, 409, 500, 503};
    zpeer_reply_t reply = {
        .end = ends[s_random (self, LENGTH (ends))],
        .status = statuses[s_random (self, LENGTH (statuses))],
        .body = ZPEER_SLICE ("{\"responseList\":[{\"statusCode\":200}]}"),
        .detail = "",
    };
    self->batches[id].running = false;
    self->running--;
    zpeer_dispatch_reply (self->core, self->now, id, &reply);
}

//  Ends some request, if one runs
static void
s_step_reply (history_t *self)
{
    for (uint64_t id = 1; id <= self->count; id++)
        if (self->batches[id].running && s_random (self, self->running) == 0) {
            s_end_request (self, id);
            return;
        }
}

//  Answers some question, old ones too
static void
s_step_health (history_t *self)
{
    if (!self->token_count)
        return;
    size_t at = s_random (self, self->token_count);
    uint32_t count = (uint32_t) s_random (self, 4);
    zpeer_wire_failed_t failed = {self->tokens[at], count, 3, count == 3,
                                  count == 3};
    self->tokens[at] = self->tokens[--self->token_count];
    zpeer_dispatch_failed (self->core, &failed);
}

static void
s_step_ack (history_t *self)
{
    uint64_t id = s_random (self, self->count + 1);
    if (!self->remote || !self->batches[id].reports)
        return;
    self->batches[id].acked = true;
    zpeer_dispatch_ack (self->core, id);
}

static void
s_step (history_t *self)
{
    switch (s_random (self, 8)) {
    case 0:
    case 1: s_step_batch (self); break;
    case 2:
    case 3: s_step_reply (self); break;
    case 4: s_step_health (self); break;
    case 5: s_step_ack (self); break;
    case 6:
        if (self->remote)
            zpeer_dispatch_heartbeat (self->core, self->now, self->count,
                                      self->now);
        break;
    default: self->now += s_random (self, 1500); break;
    }
    s_drain (self);
}

//  Everything that runs ends, and health is silent
static void
s_calm (history_t *self)
{
    while (self->running) {
        s_step_reply (self);
        s_drain (self);
    }
    self->now += ZPEER_DISPATCH_HEALTH_MS;
    s_drain (self);
}

static void
s_check_ends (history_t *self)
{
    zpeer_dispatch_stats_t stats;
    zpeer_dispatch_stats (self->core, &stats);
    s_must (self, stats.batches == self->count);
    s_must (self, stats.in_flight == 0);
    for (uint64_t id = 1; id <= self->count; id++) {
        const batch_t *batch = &self->batches[id];
        s_must (self, batch->released);
        s_must (self, self->remote || batch->reports == 1);
        s_must (self, !batch->aborted || batch->reports == 0);
    }
    if (!self->remote)
        s_must (self, zpeer_dispatch_wake (self->core) == UINT64_MAX);
}

//  Stopped in the middle
static void
s_check_close (history_t *self)
{
    zpeer_dispatch_close (self->core);
    s_drain (self);
    s_must (self, self->running == 0);
    for (uint64_t id = 1; id <= self->count; id++)
        s_must (self, self->batches[id].released);
    s_must (self, zpeer_dispatch_wake (self->core) == UINT64_MAX);
}

static void
s_play (uint64_t seed)
{
    static history_t history;
    history_t *self = &history;
    *self = (history_t){.seed = seed, .random = seed * 2654435761u + 1};
    self->remote = s_random (self, 2);
    self->credit = 1 + (uint32_t) s_random (self, 4);
    zpeer_dispatch_options_t options = {
        .credit = self->credit,
        .remote = self->remote,
        .busy = {{503}, 1},
    };
    self->core = zpeer_dispatch_new (0, &options);
    for (unsigned i = 0; i < STEPS; i++)
        s_step (self);
    if (s_random (self, 3)) {
        s_calm (self);
        s_check_ends (self);
    }
    s_check_close (self);
    zpeer_dispatch_destroy (&self->core);
}

Test (dispatch_histories, every_batch_ends_once_and_its_body_is_let_go_once)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        s_play (seed);
}
