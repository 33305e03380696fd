#include "scripted_case.h"
#include "banned.h"

TestSuite (scripted_peer, .init = s_setup, .fini = s_teardown, .timeout = 60);

//  Posts a registration under a rule and reads for limit_ms
static void
s_post_under (const speer_rule_t *rule, int limit_ms)
{
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert (fd >= 0);
    speer_rule (s_peer, rule);
    s_send (fd, REGISTER_AT ("5"));
    speer_response_free (&s_response);
    speer_client_read (fd, limit_ms, &s_response);
    close (fd);
}

Test (scripted_peer, answers_a_batch_and_shows_the_registry)
{
    cr_assert_eq (s_post (REGISTER_AT ("5")), 200);
    cr_assert_str_eq (s_response.body,
                      "{\"responseList\":[{\"statusCode\":200}]}");
    speer_response_free (&s_response);
    speer_call (speer_port (s_peer), "GET", "/eureka/v2/apps", NULL, NULL,
                &s_response);
    cr_assert (strstr (s_response.body, "\"apps__hashcode\":\"UP_1_\""));
    cr_assert (strstr (s_response.body, "\"instanceId\":\"a1\""));
}

Test (scripted_peer, hangs_before_the_answer_and_has_applied)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_HANG}, QUIET_MS);
    cr_assert_eq (s_response.end, SPEER_END_LIMIT);
    cr_assert_eq (s_response.status, 0);
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    cr_assert (speer_wait (s_peer, SPEER_ABANDONED, 1, LIMIT_MS));
}

Test (scripted_peer, hangs_without_applying)
{
    s_post_under (
        &(speer_rule_t){.answer = SPEER_HANG, .apply = SPEER_APPLY_NEVER},
        QUIET_MS);
    cr_assert_eq (s_response.end, SPEER_END_LIMIT);
    cr_assert_not (speer_lease (s_peer, "A", "a1", NULL));
}

Test (scripted_peer, hangs_in_the_middle_of_the_answer)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_HANG_HALF}, QUIET_MS);
    cr_assert_eq (s_response.end, SPEER_END_LIMIT);
    cr_assert_eq (s_response.status, 200);
    cr_assert_gt (s_response.body_bytes, 0);
    cr_assert_lt (s_response.body_bytes, s_response.length);
}

Test (scripted_peer, waits_until_it_is_released)
{
    int fd = speer_client_connect (speer_port (s_peer));
    speer_rule (s_peer, &(speer_rule_t){.delay_ms = SPEER_HELD, .count = 1});
    s_send (fd, REGISTER_AT ("5"));
    cr_assert (speer_wait (s_peer, SPEER_PENDING, 1, LIMIT_MS));
    cr_assert_not (speer_lease (s_peer, "A", "a1", NULL));
    cr_assert_eq (speer_release (s_peer), 1);
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_response.end, SPEER_END_WHOLE);
    cr_assert (speer_lease (s_peer, "A", "a1", NULL));
    close (fd);
}

Test (scripted_peer, applies_long_after_the_client_has_gone)
{
    int fd = speer_client_connect (speer_port (s_peer));
    speer_rule (s_peer, &(speer_rule_t){.delay_ms = SPEER_HELD});
    s_send (fd, REGISTER_AT ("5"));
    cr_assert (speer_wait (s_peer, SPEER_PENDING, 1, LIMIT_MS));
    close (fd);
    cr_assert (speer_wait (s_peer, SPEER_ABANDONED, 1, LIMIT_MS));
    cr_assert_not (speer_lease (s_peer, "A", "a1", NULL));
    speer_release (s_peer);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, LIMIT_MS));
}

Test (scripted_peer, applies_late_what_it_has_reset)
{
    //  What is late is made whatever the answer said
    speer_item_rule (s_peer, &(speer_item_rule_t){.status = 500});
    s_post_under (&(speer_rule_t){.answer = SPEER_RESET,
                                  .apply = SPEER_APPLY_LATE,
                                  .late_ms = SPEER_HELD},
                  LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_RESET);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    cr_assert_eq (speer_release (s_peer), 1);
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, LIMIT_MS));
    cr_assert (speer_wait_at_most (s_peer, SPEER_PENDING, 0, LIMIT_MS));
}

Test (scripted_peer, resets_after_applying_and_before_it)
{
    s_post_under (
        &(speer_rule_t){.answer = SPEER_RESET, .apply = SPEER_APPLY_NEVER},
        LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_RESET);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    s_post_under (&(speer_rule_t){.answer = SPEER_RESET}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_RESET);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 1);
}

Test (scripted_peer, resets_before_reading)
{
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert (speer_wait (s_peer, SPEER_OPEN, 1, LIMIT_MS));
    speer_mode (s_peer, SPEER_RESET_ALL);
    s_send (fd, REGISTER_AT ("5"));
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_response.end, SPEER_END_RESET);
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 0);
    close (fd);
}

Test (scripted_peer, closes_without_and_within_an_answer)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_CLOSE}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_CLOSED);
    cr_assert_eq (s_response.status, 0);
    s_post_under (&(speer_rule_t){.answer = SPEER_CLOSE_HALF}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_CLOSED);
    cr_assert_lt (s_response.body_bytes, s_response.length);
    s_post_under (&(speer_rule_t){.answer = SPEER_RESET_HALF}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_RESET);
}

Test (scripted_peer, refuses_and_listens_again_on_the_same_port)
{
    int port = speer_port (s_peer);
    int fd = speer_client_connect (port);
    cr_assert (speer_wait (s_peer, SPEER_OPEN, 1, LIMIT_MS));
    cr_assert (speer_mode (s_peer, SPEER_REFUSE));
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_response.end, SPEER_END_CLOSED);
    close (fd);
    cr_assert_eq (s_post (HEARTBEAT ("5")), 0);
    cr_assert_eq (s_response.end, SPEER_END_REFUSED);
    cr_assert (speer_mode (s_peer, SPEER_LISTEN));
    cr_assert_eq (speer_port (s_peer), port);
    cr_assert_eq (s_post (HEARTBEAT ("5")), 200);
}

Test (scripted_peer, reads_nothing_as_a_black_hole)
{
    int fd = speer_client_connect (speer_port (s_peer));
    speer_mode (s_peer, SPEER_BLACK_HOLE);
    s_send (fd, HEARTBEAT ("5"));
    speer_client_read (fd, QUIET_MS, &s_response);
    cr_assert_eq (s_response.end, SPEER_END_LIMIT);
    cr_assert_eq (speer_get (s_peer, SPEER_REQUESTS), 0);
    speer_response_free (&s_response);
    speer_mode (s_peer, SPEER_LISTEN);
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_response.status, 200);
    close (fd);
}

Test (scripted_peer, forgets_connections_the_client_closed_in_a_black_hole)
{
    speer_mode (s_peer, SPEER_BLACK_HOLE);
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert (speer_wait (s_peer, SPEER_OPEN, 1, LIMIT_MS));
    s_send (fd, HEARTBEAT ("5"));
    close (fd);
    cr_assert (speer_wait_at_most (s_peer, SPEER_OPEN, 0, LIMIT_MS));
    cr_assert_eq (speer_get (s_peer, SPEER_ABANDONED), 1);
}
