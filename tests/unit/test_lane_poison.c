//  What bad items cost: a batch with one is answered 400

#include <criterion/criterion.h>
#include "lane_scenario.h"
#include "banned.h"

static lane_scenario_t s;

static void
s_teardown (void)
{
    lane_scenario_end (&s);
}

TestSuite (lane_poison, .fini = s_teardown);

static void
s_answers (scenario_attempt_t *attempt, uint64_t at)
{
    attempt->at = at;
    attempt->end = ZPEER_END_OK;
}

static void
s_answers_400 (lane_scenario_t *self, scenario_attempt_t *attempt)
{
    attempt->at = self->now + 1;
    attempt->end = ZPEER_END_STATUS;
    attempt->result.status = 400;
    self->with_bad++;
}

static void
s_picky (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
         scenario_attempt_t *attempt)
{
    for (uint32_t i = 0; i < batch->count; i++)
        if (self->bad[batch->items[i].state->handle] &&
            batch->items[i].action == ZPEER_REGISTER) {
            s_answers_400 (self, attempt);
            return;
        }
    s_answers (attempt, self->now + 1);
}

static void
s_all_400 (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
           scenario_attempt_t *attempt)
{
    (void) batch;
    s_answers_400 (self, attempt);
}

//  250 that go in one batch
static void
s_begin_picky (void)
{
    lane_scenario_begin (&s, s_picky);
    lane_scenario_register (&s, 0, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 60000);
    cr_assert_eq (lane_scenario_stats (&s).size, 250);
}

//  The batch itself is the first of them. Then it is tried once more alone: it is
//  asked for, and told.
Test (lane_poison, one_poisoned_item_of_250_is_found_within_17_requests)
{
    for (unsigned bad = 0; bad < 250; bad++) {
        s_begin_picky ();
        unsigned before = s.requests;
        uint64_t delivered =
            lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED];
        s.bad[bad] = true;
        lane_scenario_register (&s, 0, 250);
        lane_scenario_run (&s, 30000);
        unsigned found = s.found_after - before;
        cr_expect_leq (found, 17, "%u for item %u", found, bad);
        cr_expect_leq (s.requests - before, 17 + 3);
        cr_expect_eq (s.rejected, 1);
        cr_expect_eq (lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED] -
                          delivered,
                      249);
        cr_expect_eq (lane_scenario_stats (&s).owed, 0);
        if (bad < 249)
            s_teardown ();
    }
}

//  What is undecided is owed, then delivered
Test (lane_poison, two_poisoned_items_cost_no_more_than_the_bound_each)
{
    s_begin_picky ();
    s.bad[3] = s.bad[200] = true;
    lane_scenario_register (&s, 0, 250);
    unsigned before = s.requests;
    uint64_t delivered = lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED];
    lane_scenario_run (&s, 30000);
    cr_expect_leq (s.with_bad, 2 * 17, "%u", s.with_bad);
    cr_expect_leq (s.requests - before, 2 * 17 + 12, "%u", s.requests - before);
    cr_expect_eq (s.rejected, 2);
    cr_expect_eq (
        lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED] - delivered, 248);
    cr_expect_eq (lane_scenario_stats (&s).owed, 0);
}

Test (lane_poison, a_peer_that_answers_400_for_a_minute_makes_nothing_rejected)
{
    s_begin_picky ();
    s.peer = s_all_400;
    lane_scenario_register (&s, 0, 250);
    lane_scenario_run (&s, 60000);
    cr_expect_eq (s.rejected, 0);
    cr_expect_leq (s.with_bad, 40, "%u", s.with_bad);
    s.peer = s_picky;
    lane_scenario_run (&s, 60000);
    cr_expect_eq (s.rejected, 0);
    lane_scenario_expect_all_told (&s);
}

//  Statuses of items ------------------------------------------------------------------

static uint16_t s_codes[500];

static void
s_answers_items (scenario_attempt_t *attempt, const zpeer_lane_batch_t *batch,
                 uint16_t registers, uint16_t others)
{
    for (uint32_t i = 0; i < batch->count; i++)
        s_codes[i] =
            batch->items[i].action == ZPEER_REGISTER ? registers : others;
    attempt->result.codes = s_codes;
}

static void
s_items_500 (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
             scenario_attempt_t *attempt)
{
    s_answers (attempt, self->now + 1);
    s_answers_items (attempt, batch, 500, 500);
}

//  What a server says whose application is not there yet
static void
s_items_404 (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
             scenario_attempt_t *attempt)
{
    s_answers (attempt, self->now + 1);
    s_answers_items (attempt, batch, 404, 404);
}

static void
s_peer_in_trouble (scenario_peer_fn *trouble)
{
    s_begin_picky ();
    s.peer = trouble;
    lane_scenario_register (&s, 0, 250);
    unsigned before = s.requests;
    lane_scenario_run (&s, 60000);
    cr_expect_eq (s.rejected, 0);
    cr_expect_leq (s.requests - before, 20, "%u", s.requests - before);
    s.peer = s_picky;
    uint64_t delivered = lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED];
    lane_scenario_run (&s, 60000);
    cr_expect_eq (s.rejected, 0);
    cr_expect_eq (lane_scenario_stats (&s).ended[ZPEER_ENDED_DELIVERED],
                  delivered + 250);
    lane_scenario_expect_all_told (&s);
}

Test (lane_poison, a_peer_that_answers_500_to_every_item_makes_nothing_rejected)
{
    s_peer_in_trouble (s_items_500);
}

Test (lane_poison, a_peer_that_answers_404_to_every_item_makes_nothing_rejected)
{
    s_peer_in_trouble (s_items_404);
}
