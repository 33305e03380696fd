//  What a peer that is too slow, or dead, costs

#include <criterion/criterion.h>
#include "lane_scenario.h"
#include "banned.h"

static lane_scenario_t s;

static void
s_teardown (void)
{
    lane_scenario_end (&s);
}

TestSuite (lane_sick_peer, .fini = s_teardown);

static void
s_slow (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
        scenario_attempt_t *attempt)
{
    uint64_t begin = self->now;
    if (self->serial && self->busy_until > begin)
        begin = self->busy_until;
    uint64_t done_at = begin + (uint64_t) batch->count * self->item_ms;
    self->busy_until = done_at;
    if (done_at - self->now < SCENARIO_TIMEOUT_MS) {
        attempt->at = done_at + !self->item_ms;
        attempt->end = ZPEER_END_OK;
        return;
    }
    attempt->at = self->now + SCENARIO_TIMEOUT_MS;
    attempt->end = ZPEER_END_READ_TIMEOUT;
}

static void
s_dead (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
        scenario_attempt_t *attempt)
{
    (void) batch;
    attempt->at = self->now + 1;
    attempt->end = ZPEER_END_UNSENT;
}

static void
s_untrusted (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
             scenario_attempt_t *attempt)
{
    (void) batch;
    attempt->at = self->now + 1;
    attempt->end = ZPEER_END_TLS;
}

static void
s_slow_peer (bool serial, unsigned most_timeouts)
{
    lane_scenario_begin (&s, s_slow);
    s.item_ms = 70;
    s.serial = serial;
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 600000);
    lane_scenario_expect_all_told (&s);
    cr_expect_eq (lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED],
                  SCENARIO_INSTANCES);
    cr_expect_eq (s.escalations, 0);
    cr_expect_leq (s.ends[ZPEER_END_READ_TIMEOUT], most_timeouts, "%u",
                   s.ends[ZPEER_END_READ_TIMEOUT]);

    //  It is well again
    s.item_ms = 0;
    s.most_items = 0;
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 60000);
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 60000);
    lane_scenario_expect_all_told (&s);
    cr_expect_eq (s.most_items, 250, "%u", s.most_items);
}

Test (lane_sick_peer, a_peer_that_needs_70_ms_an_item_and_works_in_turn)
{
    s_slow_peer (true, 12);
}

Test (lane_sick_peer, a_peer_that_needs_70_ms_an_item_and_works_in_parallel)
{
    s_slow_peer (false, 12);
}

//  Six full batches are on their way when it becomes slow
Test (lane_sick_peer, a_peer_that_becomes_slow_is_not_escalated)
{
    lane_scenario_begin (&s, s_slow);
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 60000);
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 60000);
    cr_assert_eq (lane_scenario_stats (&s).size, 250);
    s.item_ms = 70;
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 600000);
    lane_scenario_expect_all_told (&s);
    cr_expect_eq (s.escalations, 0);
    cr_expect_leq (s.ends[ZPEER_END_READ_TIMEOUT], 12, "%u",
                   s.ends[ZPEER_END_READ_TIMEOUT]);
}

//  An answer takes a third of the read timeout, or more, whatever is asked
static void
s_distant (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
           scenario_attempt_t *attempt)
{
    (void) batch;
    attempt->at = self->now + (self->serial ? 600 : 300);
    attempt->end = ZPEER_END_OK;
}

Test (lane_sick_peer, a_peer_that_is_far_away_is_told_all_in_time)
{
    for (int slow = 0; slow < 2; slow++) {
        lane_scenario_begin (&s, s_distant);
        s.serial = slow;
        for (int i = 0; i < 20; i++) {  //  One at a time: little is known
            lane_scenario_register (&s, 0, 1);
            lane_scenario_run (&s, 2000);
        }
        lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
        uint64_t begin = s.now;
        lane_scenario_run (&s, 600000);
        lane_scenario_expect_all_told (&s);
        cr_expect_leq (s.now - begin, 30000, "%llu ms",
                       (unsigned long long) (s.now - begin));
        lane_scenario_end (&s);
    }
    lane_scenario_begin (&s, s_distant);
}

//  It does what it is asked, and after a while answers too late, however little
//  that is
#define SERVICES   200
#define RENEWAL_MS 30000
#define LEASE_MS   180000

static bool s_is_late;
static uint64_t s_renewed[SERVICES];  //  When each was, last
static uint64_t s_longest;            //  Between two renewals of one

static void
s_late (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
        scenario_attempt_t *attempt)
{
    //  Done when the answer would have come, a third later than it may
    uint64_t done_at = self->now + s_is_late * self->timeout_ms * 4 / 3;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t *renewed = &s_renewed[batch->items[i].state->handle];
        if (*renewed && s_longest < done_at - *renewed)
            s_longest = done_at - *renewed;
        *renewed = done_at;
    }
    attempt->at = s_is_late ? self->now + self->timeout_ms : self->now + 5;
    attempt->end = s_is_late ? ZPEER_END_READ_TIMEOUT : ZPEER_END_OK;
}

static void
s_beat (uint64_t ms)
{
    for (uint64_t end = s.now + ms; s.now < end;) {
        uint64_t at = s.now;
        lane_scenario_renew (&s, 0, SERVICES);
        lane_scenario_run (&s, RENEWAL_MS);
        s.now = at + RENEWAL_MS;
    }
}

//  This is what the project began with: no answer came in time, and services
//  vanished, for their leases ran out
static void
s_late_peer (uint32_t timeout_ms)
{
    lane_scenario_begin_with (&s, s_late, timeout_ms);
    s_is_late = false;
    lane_scenario_register (&s, 0, SERVICES);
    s_beat (300000);
    s_is_late = true;
    s_longest = 0;
    s_beat (3600000);
    cr_expect_gt (s.escalations, 0);
    for (unsigned i = 0; i < SERVICES; i++)
        if (s_renewed[i] < s.now && s_longest < s.now - s_renewed[i])
            s_longest = s.now - s_renewed[i];
    cr_expect_lt (s_longest, LEASE_MS, "%llu ms without a renewal",
                  (unsigned long long) s_longest);
}

Test (lane_sick_peer, leases_live_on_at_a_peer_that_answers_too_late)
{
    s_late_peer (1000);
    lane_scenario_end (&s);
    s_late_peer (30000);
}

//  It needs so long for each item, and works in turn: six full batches are on
//  their way, and what is asked to keep leases alive is behind them. The source
//  goes on for ten minutes, and then says nothing more.
Test (lane_sick_peer, a_peer_that_gets_through_with_nothing_does_so_in_silence)
{
    static const uint32_t slow_ms[] = {200, 490};
    for (size_t i = 0; i < sizeof slow_ms / sizeof *slow_ms; i++) {
        lane_scenario_begin (&s, s_slow);
        s.serial = true;
        for (int round = 0; round < 2; round++) {
            lane_scenario_register (&s, 0, 300);
            lane_scenario_run (&s, 60000);
        }
        s.item_ms = slow_ms[i];
        lane_scenario_register (&s, 0, 300);
        for (int round = 0; round < 20; round++) {
            uint64_t at = s.now;
            lane_scenario_run (&s, RENEWAL_MS);
            s.now = at + RENEWAL_MS;
            lane_scenario_renew (&s, 0, 300);
        }
        s.requests = 0;  //  There is no room for all of them
        lane_scenario_run (&s, 10000000);
        cr_expect_eq (lane_scenario_stats (&s).owed, 0, "%u ms: %u are owed",
                      slow_ms[i], lane_scenario_stats (&s).owed);
        cr_expect_eq (lane_scenario_stats (&s).waiting, 0);
        lane_scenario_end (&s);
    }
    lane_scenario_begin (&s, s_slow);
}

//  Requests from, up to not including to, ms after the begin
static unsigned
s_requests_within (uint64_t begin, uint64_t from, uint64_t to)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s.requests; i++)
        count += s.times[i] - begin >= from && s.times[i] - begin < to;
    return count;
}

static void
s_dead_peer (scenario_peer_fn *peer)
{
    uint64_t begin;
    lane_scenario_begin (&s, peer);
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    begin = s.now;
    lane_scenario_run (&s, 600000);
    //  Nine retries at most are 100 ms apart
    cr_expect_leq (s_requests_within (begin, 0, 3000), 10 + 3);
    //  Then never two within a second
    for (unsigned i = SCENARIO_RETRIES + 6; i < s.requests; i++)
        cr_expect_geq (s.times[i] - s.times[i - 1], 1000, "%u", i);
    unsigned last = s_requests_within (begin, 300000, 600000);
    cr_expect_leq (last, 38, "%u in five minutes", last);
    cr_expect_geq (last, 30, "%u in five minutes", last);
}

Test (lane_sick_peer, a_dead_peer_costs_one_attempt_in_ten_seconds)
{
    s_dead_peer (s_dead);
}

Test (lane_sick_peer, a_wrong_certificate_costs_one_attempt_in_ten_seconds)
{
    s_dead_peer (s_untrusted);
}
