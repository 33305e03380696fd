#include "dispatcher_fixture.h"
#include "banned.h"

//  The criteria of the fault report that this project began with, by name, for
//  batches and for single requests

//  Short, but a busy machine still answers in time
#define QUICK_MS "250"

#define cr_assert_verdict(actual, expected)                                    \
    cr_assert_str_eq (zpeer_verdict_name (actual),                             \
                      zpeer_verdict_name (expected))

static void
s_assert_read_timeout_escalates (zpeer_mode_t mode, unsigned retries)
{
    char text[12];
    snprintf (text, sizeof text, "%u", retries);
    fixture_t *self = s_setup (&(setup_t){
        .retries = text,
        .read_timeout_ms = QUICK_MS,
    });
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    for (unsigned i = 1; i < retries; i++)
        cr_assert_verdict (s_attempt (self, mode), ZPEER_CONGESTION);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_verdict (s_attempt (self, mode), ZPEER_PERMANENT_ERROR);
        cr_assert_eq (self->done.end, ZPEER_END_READ_TIMEOUT);
        cr_assert (self->done.reached && self->done.escalated);
        cr_assert_eq (self->done.announce, i == 0, "once a cycle");
        cr_assert_eq (self->done.count, retries);
    }
    cr_assert_str_eq (self->log, "ZPR032 ", "one line in 10 s");
    s_teardown (self);
}

static void
s_assert_success_resets_the_counter (zpeer_mode_t mode)
{
    fixture_t *self = s_setup (&(setup_t){
        .retries = "3",
        .read_timeout_ms = QUICK_MS,
    });
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG, .count = 2});
    for (unsigned i = 0; i < 2; i++)
        cr_assert_verdict (s_attempt (self, mode), ZPEER_CONGESTION);
    cr_assert_verdict (s_attempt (self, mode), ZPEER_SUCCESS);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    cr_assert_verdict (s_attempt (self, mode), ZPEER_CONGESTION);
    cr_assert_eq (self->done.count, 1);
    s_teardown (self);
}

static void
s_assert_retried_then_escalated (fixture_t *self, zpeer_mode_t mode)
{
    s_expect (self, ZPEER_WIRE_READY);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_verdict (s_attempt (self, mode), ZPEER_TRANSIENT_ERROR);
        cr_assert_not (self->done.escalated);
    }
    cr_assert_verdict (s_attempt (self, mode), ZPEER_PERMANENT_ERROR);
    cr_assert (self->done.escalated);
    cr_assert_str_eq (self->log, "ZPR031 ");
}

static void
s_assert_refused_is_retried_then_escalated (zpeer_mode_t mode)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "3"});
    speer_mode (self->peer, SPEER_REFUSE);
    s_assert_retried_then_escalated (self, mode);
    cr_assert_eq (self->done.end, ZPEER_END_UNSENT);
    cr_assert_not (self->done.ambiguous);
    s_teardown (self);
}

static void
s_assert_lost_connection_is_retried_then_escalated (zpeer_mode_t mode)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "3"});
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_RESET});
    s_assert_retried_then_escalated (self, mode);
    cr_assert_eq (self->done.end, ZPEER_END_RESET);
    cr_assert (self->done.ambiguous);
    s_teardown (self);
}

static void
s_assert_tls_is_permanent_at_once (zpeer_mode_t mode)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "3", .https = true});
    s_expect (self, ZPEER_WIRE_READY);
    cr_assert_verdict (s_attempt (self, mode), ZPEER_PERMANENT_ERROR);
    cr_assert_eq (self->done.end, ZPEER_END_TLS);
    cr_assert_eq (self->done.count, 1);
    cr_assert_not (self->done.escalated);
    cr_assert_str_eq (self->log, "ZPR033 ");
    s_teardown (self);
}

static void
s_assert_busy_is_always_congestion (zpeer_mode_t mode)
{
    fixture_t *self = s_setup (&(setup_t){.retries = "3"});
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.status = 503,
                                            .headers = "Retry-After: 7\r\n"});
    for (uint32_t i = 1; i <= 4; i++) {
        cr_assert_verdict (s_attempt (self, mode), ZPEER_CONGESTION);
        cr_assert_eq (self->done.count, i < 3 ? i : 3);
        cr_assert_eq (self->done.reached, i >= 3);
        cr_assert_eq (self->done.retry_after_ms, 7000);
        cr_assert_not (self->done.announce);
    }
    s_teardown (self);
}

//  Every criterion for both paths
#define CRITERIA(path, mode)                                                   \
    Test (path, read_timeout_escalates_after_N_retries)                        \
    {                                                                          \
        s_assert_read_timeout_escalates (mode, 3);                             \
    }                                                                          \
    Test (path, read_timeout_escalates_at_once_with_one_retry)                 \
    {                                                                          \
        s_assert_read_timeout_escalates (mode, 1);                             \
    }                                                                          \
    Test (path, success_resets_the_counter)                                    \
    {                                                                          \
        s_assert_success_resets_the_counter (mode);                            \
    }                                                                          \
    Test (path, connection_failures_as_before_refused)                         \
    {                                                                          \
        s_assert_refused_is_retried_then_escalated (mode);                     \
    }                                                                          \
    Test (path, connection_failures_as_before_lost)                            \
    {                                                                          \
        s_assert_lost_connection_is_retried_then_escalated (mode);             \
    }                                                                          \
    Test (path, connection_failures_as_before_tls)                             \
    {                                                                          \
        s_assert_tls_is_permanent_at_once (mode);                              \
    }                                                                          \
    Test (path, connection_failures_as_before_503)                             \
    {                                                                          \
        s_assert_busy_is_always_congestion (mode);                             \
    }

CRITERIA (batch_path, ZPEER_MODE_BATCH)
CRITERIA (single_path, ZPEER_MODE_SINGLE)

//  The one counter of a peer is shared by both paths, and by 503
Test (dispatcher, all_failures_of_a_peer_share_one_counter)
{
    fixture_t *self = s_setup (&(setup_t){
        .retries = "3",
        .read_timeout_ms = QUICK_MS,
    });
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    speer_rule (self->peer, &(speer_rule_t){.status = 503, .count = 1});
    cr_assert_verdict (s_attempt (self, ZPEER_MODE_BATCH), ZPEER_CONGESTION);
    cr_assert_verdict (s_attempt (self, ZPEER_MODE_SINGLE), ZPEER_CONGESTION);
    cr_assert_verdict (s_attempt (self, ZPEER_MODE_BATCH),
                       ZPEER_PERMANENT_ERROR);
    s_teardown (self);
}

Test (dispatcher, requests_that_fail_together_are_announced_once)
{
    fixture_t *self = s_setup (&(setup_t){
        .retries = "3",
        .read_timeout_ms = QUICK_MS,
    });
    unsigned announced = 0;
    unsigned escalated = 0;
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    for (uint64_t id = 1; id <= 6; id++)
        s_send_batch (self, id, ZPEER_MODE_BATCH, 1);
    for (unsigned i = 0; i < 6; i++) {
        s_expect_done (self);
        announced += self->done.announce;
        escalated += self->done.verdict == ZPEER_PERMANENT_ERROR;
    }
    cr_assert_eq (announced, 1);
    cr_assert_eq (escalated, 4, "the third and all after it");
    s_teardown (self);
}

//  Reaching it with a 503 is no escalation: the next failure is
Test (dispatcher,
      the_first_failure_after_a_503_reached_the_maximum_is_announced)
{
    fixture_t *self = s_setup (&(setup_t){
        .retries = "1",
        .read_timeout_ms = QUICK_MS,
    });
    s_expect (self, ZPEER_WIRE_READY);
    speer_rule (self->peer, &(speer_rule_t){.answer = SPEER_HANG});
    speer_rule (self->peer, &(speer_rule_t){.status = 503, .count = 1});
    cr_assert_verdict (s_attempt (self, ZPEER_MODE_BATCH), ZPEER_CONGESTION);
    cr_assert (self->done.reached && !self->done.announce);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_verdict (s_attempt (self, ZPEER_MODE_BATCH),
                           ZPEER_PERMANENT_ERROR);
        cr_assert_eq (self->done.announce, i == 0);
    }
    s_teardown (self);
}
