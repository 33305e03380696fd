//  Many bad items, spread over a view: the good ones are told, and go on being
//  renewed, although whole batches are refused for the bad ones

#include <inttypes.h>
#include <criterion/criterion.h>
#include "lane_scenario.h"
#include "banned.h"

#define KNOWN      (SCENARIO_INSTANCES - 1)  //  Told before the others
#define RENEWAL_MS 30000
#define MINUTES_20 1200000
#define PIECES     30  //  In which all are renewed, one after the other

//  When the good ones have to be told; and where the bad ones came together, so that
//  the peer seems to refuse everything at first
#define TOLD_MS       10000
#define TOLD_FIRST_MS 30000

//  And how long one of them may not have been renewed then: a lease lives 90 s
#define LONGEST_MS 60000

//  Requests that are refused for a bad one, until it rests
#define REFUSALS_MOST 11

static lane_scenario_t s;
static uint16_t s_status;
static uint32_t s_answer_ms;
static uint64_t s_heard[SCENARIO_INSTANCES];  //  When it was taken last
static uint64_t s_longest;                    //  Between two such times
static unsigned s_refusals;
static unsigned s_piece;

static void
s_teardown (void)
{
    lane_scenario_end (&s);
}

TestSuite (lane_many, .fini = s_teardown);

static void
s_hear (uint32_t handle, uint64_t now)
{
    uint64_t since = now - s_heard[handle];
    if (s_heard[handle] && s_longest < since)
        s_longest = since;
    s_heard[handle] = now;
}

//  Refuses a batch that names a bad one, with whatever it is
static void
s_firewall (lane_scenario_t *self, const zpeer_lane_batch_t *batch,
            scenario_attempt_t *attempt)
{
    bool bad = false;
    for (uint32_t i = 0; i < batch->count; i++)
        bad |= self->bad[batch->items[i].state->handle];
    s_refusals += bad;
    attempt->at = self->now + s_answer_ms;
    attempt->end = ZPEER_END_OK;
    if (bad) {
        bool ours = s_status < 500;
        attempt->end = ours ? ZPEER_END_STATUS : ZPEER_END_STATUS_5XX;
        attempt->result.status = s_status;
        return;
    }
    for (uint32_t i = 0; i < batch->count; i++)
        s_hear (batch->items[i].state->handle, attempt->at);
}

//  Goes on for so long, and neither longer nor shorter
static void
s_run (uint64_t ms)
{
    uint64_t end = s.now + ms;
    lane_scenario_run (&s, ms);
    s.now = end;
    s.requests = 0;
}

//  All are renewed in turn, so that there is something to say all the time
static void
s_live (unsigned instances, uint64_t ms)
{
    unsigned step = instances / PIECES;
    for (uint64_t end = s.now + ms; s.now < end; s_piece++) {
        s_run (RENEWAL_MS / PIECES);
        unsigned from = s_piece % PIECES * step;
        lane_scenario_renew (&s, from, from + step);
    }
}

static unsigned
s_untold (unsigned instances)
{
    unsigned untold = 0;
    for (unsigned i = 0; i < instances; i++)
        untold += !s.bad[i] && !s_heard[i];
    return untold;
}

//  Of the instances every so many'th is bad; or, first, as many of the first
static void
s_play_with (unsigned instances, unsigned every, bool first)
{
    unsigned bad = 0;
    lane_scenario_begin_with (&s, s_firewall, 30000);
    s_longest = s_refusals = s_piece = 0;
    memset (s_heard, 0, sizeof s_heard);
    for (unsigned i = 0; i < instances; i++)
        bad += s.bad[i] =
            first ? i < instances / every : i % every == every / 2;
    lane_scenario_register (&s, KNOWN, KNOWN + 1);
    s_run (1000);
    lane_scenario_register (&s, 0, instances);
    s_live (instances, first ? TOLD_FIRST_MS : TOLD_MS);
    cr_expect_eq (s_untold (instances), 0, "%u, every %u: %u are untold",
                  s_status, every, s_untold (instances));
    s_live (instances, MINUTES_20);
    cr_expect_leq (s_longest, LONGEST_MS,
                   "%u, every %u: one not renewed for %" PRIu64 " ms", s_status,
                   every, s_longest);
    cr_expect_leq (s_refusals, REFUSALS_MOST * bad,
                   "%u, every %u: %u refused for %u", s_status, every,
                   s_refusals, bad);
    unsigned before = s_refusals;
    s_live (instances, MINUTES_20);
    cr_expect_leq (s_refusals - before, 10,
                   "%u, every %u: %u refused in 20 minutes", s_status, every,
                   s_refusals - before);
    cr_expect_eq (lane_scenario_stats (&s).rejected, bad);
    lane_scenario_end (&s);
}

static void
s_play (unsigned instances, unsigned every)
{
    s_play_with (instances, every, false);
    if (every > 2)
        s_play_with (instances, every, true);
}

static void
s_play_all (unsigned instances, uint32_t answer_ms)
{
    static const uint16_t statuses[] = {403, 500, 400};
    static const unsigned every[] = {2, 3, 10, 30};
    s_answer_ms = answer_ms;
    for (unsigned i = 0; i < sizeof statuses / sizeof *statuses; i++)
        for (unsigned j = 0; j < sizeof every / sizeof *every; j++) {
            s_status = statuses[i];
            s_play (instances, every[j]);
        }
    lane_scenario_begin_with (&s, s_firewall, 30000);
}

Test (lane_many, all_others_are_told_and_renewed)
{
    s_play_all (300, 5);
}

Test (lane_many, so_they_are_where_each_answer_takes_its_time)
{
    s_play_all (300, 50);
}

Test (lane_many, so_they_are_in_a_larger_view)
{
    s_play_all (1200, 5);
}
