//  Answers of a peer that takes nothing: how it is does not look well

#include <criterion/criterion.h>
#include "peerlog_fixture.h"
#include "banned.h"

#define HTTP_STATUS "ZPR035"
#define ITEM_STATUS "ZPR045"

//  Longer than any pause of a lane
#define PAUSE_MS 12000

static peerlog_fixture_t s;

static void
s_setup (void)
{
    peerlog_fixture_init (&s);
}

static void
s_teardown (void)
{
    peerlog_fixture_fini (&s);
}

TestSuite (peerlog_trouble, .init = s_setup, .fini = s_teardown);

#define SAID(text) cr_expect_str_eq (peerlog_fixture_said (&s, "peer"), text)

static void
s_says (const char *state)
{
    const char *said = peerlog_fixture_said (&s, "peer");
    cr_expect (strstr (said, state), "%s is not %s", said, state);
}

static void
s_single (uint32_t handle, zpeer_action_t action, uint16_t status)
{
    peerlog_fixture_change (&s, handle, action);
    cr_assert (peerlog_fixture_single (&s, status));
}

//  A wrong path
Test (peerlog_trouble, a_peer_that_answers_404_to_everything_fails)
{
    s_single (1, ZPEER_REGISTER, 404);
    s_says ("\"failing\"");
    cr_expect_eq (peerlog_fixture_lines (&s, HTTP_STATUS), 1);
    cr_expect_not_null (strstr (s.lines, "HTTP status 404"));
    s.now += PAUSE_MS;
    s_single (2, ZPEER_HEARTBEAT, 404);
    SAID ("");
    s.now += PAUSE_MS;
    s_single (3, ZPEER_REGISTER, 404);
    SAID ("");
    cr_expect_eq (peerlog_fixture_lines (&s, HTTP_STATUS), 2);
    cr_expect (s.log.row.on, "its absence goes on");
}

//  It may have forgotten the instance, or be no Eureka server
Test (peerlog_trouble, a_404_to_a_heartbeat_says_nothing_of_a_peer)
{
    s_single (1, ZPEER_HEARTBEAT, 404);
    SAID ("");
    cr_expect_str_eq (s.lines, "");
    cr_assert (peerlog_fixture_single (&s, 200), "it is told what it forgot");
    s_says ("\"healthy\"");
}

Test (peerlog_trouble, one_that_takes_something_is_well_again)
{
    s_single (1, ZPEER_REGISTER, 404);
    s_says ("\"failing\"");
    s.now += PAUSE_MS;
    s_single (2, ZPEER_REGISTER, 204);
    s_says ("\"healthy\"");
    cr_expect_not (s.log.row.on);
}

Test (peerlog_trouble, one_that_has_something_newer_is_well)
{
    s_single (1, ZPEER_HEARTBEAT, 409);
    s_says ("\"healthy\"");
}

Test (peerlog_trouble, a_500_to_the_only_item_is_a_failure_too)
{
    s_single (1, ZPEER_REGISTER, 500);
    s_says ("\"failing\"");
    cr_expect_not_null (strstr (s.lines, "HTTP status 500"));
}

Test (peerlog_trouble, in_a_batch_it_is_the_status_of_the_items)
{
    peerlog_fixture_change (&s, 1, ZPEER_REGISTER);
    peerlog_fixture_change (&s, 2, ZPEER_REGISTER);
    cr_assert (peerlog_fixture_items (&s, 500));
    s_says ("\"failing\"");
    cr_expect_eq (peerlog_fixture_lines (&s, ITEM_STATUS), 1);
    cr_expect_not_null (strstr (s.lines, "item status 500"));
    cr_expect_eq (peerlog_fixture_lines (&s, HTTP_STATUS), 0);
}

//  It came as an answer to a batch, with one entry for each item
Test (peerlog_trouble, a_batch_of_heartbeats_all_forgotten_is_answered_well)
{
    peerlog_fixture_change (&s, 1, ZPEER_HEARTBEAT);
    peerlog_fixture_change (&s, 2, ZPEER_HEARTBEAT);
    cr_assert (peerlog_fixture_items (&s, 404));
    s_says ("\"healthy\"");
}

//  Spring servers know no ASGs
Test (peerlog_trouble, an_asg_that_is_refused_says_nothing_of_a_peer)
{
    peerlog_fixture_change (&s, 1, ZPEER_ASG_STATUS_UPDATE);
    cr_assert (peerlog_fixture_asg (&s, 404));
    SAID ("");
    cr_expect_eq (peerlog_fixture_lines (&s, HTTP_STATUS), 0);
}
