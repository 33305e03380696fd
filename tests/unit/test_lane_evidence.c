//  Whatever a bad item provokes, it does not take the others along; and a peer that
//  takes nothing is not searched for one

#include <criterion/criterion.h>
#include "lane_scenario.h"
#include "banned.h"

#define INSTANCES  300
#define BAD        137
#define RENEWAL_MS 30000

static lane_scenario_t s;
static uint16_t s_status;  //  0: it runs into the read timeout
static zpeer_end_t s_end;
static bool s_everything;  //  is refused
static bool s_told[SCENARIO_INSTANCES];
static unsigned s_refusals;

static void
s_teardown (void)
{
    lane_scenario_end (&s);
}

TestSuite (lane_evidence, .fini = s_teardown);

static void
s_picky (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
         scenario_attempt_t *attempt)
{
    bool bad = s_everything;
    for (uint32_t i = 0; i < batch->count; i++)
        bad |= self->bad[batch->items[i].state->handle] &&
               batch->items[i].action == ZPEER_REGISTER;
    s_refusals += bad;
    attempt->at = self->now + 5;
    attempt->end = ZPEER_END_OK;
    if (bad) {
        attempt->end = s_end;
        attempt->result.status = s_status;
        attempt->at += s_end == ZPEER_END_READ_TIMEOUT ? self->timeout_ms : 0;
        return;
    }
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->items[i].action == ZPEER_REGISTER)
            s_told[batch->items[i].state->handle] = true;
}

static void
s_begin (zpeer_end_t end, uint16_t status, uint32_t timeout_ms)
{
    lane_scenario_begin_with (&s, s_picky, timeout_ms);
    s_end = end;
    s_status = status;
    s_everything = false;
    s.bad[BAD] = true;
    s_refusals = 0;
    memset (s_told, 0, sizeof s_told);
}

//  All are renewed
static void
s_live (unsigned minutes)
{
    for (unsigned i = 0; i < minutes * 60000 / RENEWAL_MS; i++) {
        uint64_t at = s.now;
        lane_scenario_run (&s, RENEWAL_MS);
        s.now = at + RENEWAL_MS;
        lane_scenario_renew (&s, 0, INSTANCES);
        s.requests = 0;
    }
}

//  One that is well, so that the peer is known, then all
static void
s_play (unsigned minutes)
{
    lane_scenario_register (&s, SCENARIO_INSTANCES - 1, SCENARIO_INSTANCES);
    lane_scenario_run (&s, 1000);
    lane_scenario_register (&s, 0, INSTANCES);
    s_live (minutes);
}

static unsigned
s_untold (void)
{
    unsigned untold = 0;
    for (unsigned i = 0; i < INSTANCES; i++)
        untold += !s_told[i];
    return untold;
}

Test (lane_evidence, whatever_the_status_all_others_are_told)
{
    static const uint16_t statuses[] = {403, 406, 415, 422, 500, 501, 502, 400};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        uint16_t status = statuses[i];
        s_begin (status < 500 ? ZPEER_END_STATUS : ZPEER_END_STATUS_5XX, status,
                 1000);
        s_play (2);
        cr_expect_eq (s_untold (), 1, "%u: %u are untold", status, s_untold ());
        cr_expect_leq (s_refusals, 2 * 17 + 4, "%u: %u requests refused",
                       status, s_refusals);
        s_live (60);
        cr_expect_eq (lane_scenario_stats (&s).rejected, 1);
        lane_scenario_end (&s);
    }
    s_begin (ZPEER_END_STATUS, 403, 1000);
}

static void
s_break_off (zpeer_end_t end, unsigned most)
{
    s_begin (end, 0, 30000);
    s_play (15);
    cr_expect_eq (s_untold (), 1, "%u are untold", s_untold ());
    cr_expect_leq (s_refusals, most, "%u attempts", s_refusals);
    unsigned before = s_refusals;
    s_live (120);
    cr_expect_leq (s_refusals - before, 12, "%u attempts in two hours",
                   s_refusals - before);
    cr_expect_eq (s.rejected, 1);
}

//  Each attempt costs a read timeout: so they become few
Test (lane_evidence, an_item_that_hangs_does_not_hold_up_the_others)
{
    s_break_off (ZPEER_END_READ_TIMEOUT, 16);
}

Test (lane_evidence,
      an_item_that_resets_connections_does_not_hold_up_the_others)
{
    s_break_off (ZPEER_END_RESET, 30);
}

//  A peer that refuses everything -------------------------------------------------------

static void
s_refuse_everything (zpeer_end_t end, uint16_t status)
{
    s_begin (end, status, 1000);
    s.bad[BAD] = false;
    s_play (1);
    cr_assert_eq (s_untold (), 0);
    s_everything = true;
    s_refusals = 0;
    lane_scenario_register (&s, 0, INSTANCES);
    uint64_t begin = s.now;
    lane_scenario_run (&s, 120000);
    cr_expect_leq (s_refusals, 10 + 120 / 7, "%u in two minutes", s_refusals);
    cr_expect_eq (s.rejected, 0);
    cr_expect_eq (lane_scenario_stats (&s).resting, 0);
    s.now = begin + 120000;
    s_everything = false;
    unsigned before = s.requests;
    lane_scenario_run (&s, 60000);
    lane_scenario_expect_all_told (&s);
    cr_expect_leq (s.requests - before, 40, "it is told in %u requests",
                   s.requests - before);
    lane_scenario_end (&s);
}

Test (lane_evidence, a_peer_that_refuses_everything_is_not_searched)
{
    s_refuse_everything (ZPEER_END_STATUS, 403);
    s_refuse_everything (ZPEER_END_STATUS_5XX, 500);
    s_begin (ZPEER_END_STATUS, 403, 1000);
}
