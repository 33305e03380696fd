#include <inttypes.h>
#include <stdio.h>
#include <criterion/criterion.h>
#include "lane_scenario.h"
#include "banned.h"

static void
s_report (void *arg, const zpeer_lane_report_t *report)
{
    lane_scenario_t *self = (lane_scenario_t *) arg;
    self->rejected += report->kind == ZPEER_LANE_REJECTED;
    if (report->kind == ZPEER_LANE_DROPPED && !self->found_after)
        self->found_after = self->requests;
}

void
lane_scenario_begin (lane_scenario_t *self, scenario_peer_fn *peer)
{
    lane_scenario_begin_with (self, peer, SCENARIO_TIMEOUT_MS);
}

void
lane_scenario_begin_with (lane_scenario_t *self, scenario_peer_fn *peer,
                          uint32_t timeout_ms)
{
    *self =
        (lane_scenario_t){.now = 1000, .peer = peer, .timeout_ms = timeout_ms};
    zpeer_counter_init (&self->counter, SCENARIO_RETRIES);
    zpeer_lane_options_t options = {.max_items = 250,
                                    .first_items = ZPEER_LANE_FIRST_ITEMS,
                                    .max_bytes = 1 << 20,
                                    .linger_ms = 10,
                                    .read_timeout_ms = timeout_ms,
                                    .pool = 10000,
                                    .seed = 1,
                                    .report = s_report,
                                    .arg = self};
    self->lane = zpeer_lane_new (&options);
}

void
lane_scenario_end (lane_scenario_t *self)
{
    zpeer_lane_destroy (&self->lane);
    for (unsigned i = 0; i < SCENARIO_INSTANCES; i++)
        zpeer_state_unref (&self->states[i]);
}

void
lane_scenario_register (lane_scenario_t *self, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        char id[16];
        snprintf (id, sizeof id, "%" PRIu32, i);
        zpeer_name_t *name =
            zpeer_name_new (ZPEER_SLICE ("APP"), zpeer_slice_str (id));
        zpeer_state_unref (&self->states[i]);
        self->states[i] = zpeer_state_new (name);
        zpeer_name_unref (&name);
        self->states[i]->handle = i;
        self->states[i]->seq = ++self->last_seq;
        self->states[i]->timestamp = self->states[i]->top = self->last_seq;
        self->states[i]->renewal_ms = 30000;
        self->states[i]->status = ZPEER_UP;
        self->states[i]->info = zpeer_text_new ("{}", 2);
        zpeer_change_t change = {
            .state = self->states[i], .handle = i, .action = ZPEER_REGISTER};
        zpeer_lane_change (self->lane, self->now, &change);
    }
}

static void
s_change (lane_scenario_t *self, uint32_t from, uint32_t to,
          zpeer_action_t action, unsigned flags)
{
    for (uint32_t i = from; i < to; i++) {
        zpeer_change_t change = {
            .handle = i, .action = (uint8_t) action, .flags = (uint16_t) flags};
        zpeer_lane_change (self->lane, self->now, &change);
    }
}

void
lane_scenario_renew (lane_scenario_t *self, uint32_t from, uint32_t to)
{
    s_change (self, from, to, ZPEER_HEARTBEAT, 0);
}

void
lane_scenario_owe (lane_scenario_t *self, uint32_t from, uint32_t to)
{
    s_change (self, from, to, ZPEER_REGISTER, ZPEER_CHANGE_OWE);
}

static scenario_attempt_t *
s_attempt (lane_scenario_t *self, uint64_t at)
{
    for (unsigned i = 0; i < SCENARIO_CREDIT; i++)
        if (self->attempts[i].at == at)
            return &self->attempts[i];
    return NULL;
}

static void
s_send (lane_scenario_t *self)
{
    zpeer_lane_batch_t batch;
    while (zpeer_lane_next (self->lane, self->now,
                            SCENARIO_CREDIT - self->in_flight,
                            self->last_id + 1, &batch)) {
        scenario_attempt_t *attempt = s_attempt (self, 0);
        attempt->result = (zpeer_result_t){
            .id = ++self->last_id, .items = batch.count, .detail = ""};
        self->in_flight++;
        cr_assert_lt (self->requests, SCENARIO_REQUESTS_MAX);
        self->times[self->requests++] = self->now;
        if (self->most_items < batch.count)
            self->most_items = batch.count;
        self->peer (self, &batch, attempt);
    }
}

static void
s_end (lane_scenario_t *self, scenario_attempt_t *attempt)
{
    zpeer_result_t result = attempt->result;
    const zpeer_verdict_row_t *row = zpeer_verdict_row (attempt->end);
    bool announce = false;
    bool reached = zpeer_counter_reached (&self->counter);
    if (row->resets)
        zpeer_counter_reset (&self->counter);
    else if (row->counts)
        reached = zpeer_counter_fail (&self->counter, row->gated, &announce);
    zpeer_verdict_judge (attempt->end, reached, announce, &result);
    self->ends[attempt->end]++;
    self->escalations += result.escalated;
    self->in_flight--;
    attempt->at = 0;
    zpeer_lane_done (self->lane, self->now, &result);
    cr_assert (zpeer_lane_check (self->lane));
}

void
lane_scenario_run (lane_scenario_t *self, uint64_t ms)
{
    uint64_t begin = self->now;
    for (;;) {
        s_send (self);
        uint64_t at = zpeer_lane_wake (self->lane, self->now,
                                       SCENARIO_CREDIT - self->in_flight);
        for (unsigned i = 0; i < SCENARIO_CREDIT; i++)
            if (self->attempts[i].at && self->attempts[i].at < at)
                at = self->attempts[i].at;
        if (at == UINT64_MAX || at > begin + ms)
            break;
        self->now = at;
        scenario_attempt_t *attempt = s_attempt (self, at);
        if (attempt)
            s_end (self, attempt);
    }
}

zpeer_lane_stats_t
lane_scenario_stats (const lane_scenario_t *self)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (self->lane, &stats);
    return stats;
}

void
lane_scenario_expect_all_told (const lane_scenario_t *self)
{
    zpeer_lane_stats_t stats = lane_scenario_stats (self);
    cr_expect_eq (stats.waiting + stats.in_flight, 0);
    cr_expect_eq (stats.owed, 0);
    cr_expect_eq (stats.ended[ZPEER_ENDED_ESCALATED], 0);
}
