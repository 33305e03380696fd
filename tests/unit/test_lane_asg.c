//  The second lane of a peer: ASG status updates, one by one

#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

#define LIFE_MS 30000

static lane_fixture_t s;

static void
s_setup (void)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    options.max_items = 1;
    options.max_in_flight = 1;
    options.pool = 2;
    options.asg_life_ms = LIFE_MS;
    lane_fixture_init_with (&s, &options);
}

static void
s_teardown (void)
{
    lane_fixture_fini (&s);
}

TestSuite (lane_asg, .init = s_setup, .fini = s_teardown);

#define EXPECT(text) cr_expect_str_eq (lane_fixture_next (&s), text)

static void
s_update (char name, zpeer_status_t status)
{
    lane_fixture_change (&s, name, ZPEER_ASG_STATUS_UPDATE,
                         (lane_state_t){.status = status, .absent = true});
}

Test (lane_asg, updates_go_one_by_one)
{
    s_update ('a', ZPEER_UP);
    s_update ('b', ZPEER_OUT_OF_SERVICE);
    EXPECT ("AsgStatusUpdate a UP");
    EXPECT ("");
    lane_fixture_ok (&s);
    EXPECT ("AsgStatusUpdate b OUT_OF_SERVICE");
    lane_fixture_ok (&s);
    cr_expect (zpeer_lane_idle (s.lane));
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_DELIVERED), 2);
}

Test (lane_asg, the_newest_status_counts)
{
    s_update ('a', ZPEER_UP);
    s_update ('a', ZPEER_OUT_OF_SERVICE);
    EXPECT ("AsgStatusUpdate a OUT_OF_SERVICE");
    s_update ('a', ZPEER_UP);
    lane_fixture_ok (&s);
    EXPECT ("AsgStatusUpdate a UP");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_SUPERSEDED), 1);
}

Test (lane_asg, congestion_is_tried_again)
{
    s_update ('a', ZPEER_UP);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_CONGESTION, false, 503);
    s.now += 1000;
    EXPECT ("AsgStatusUpdate a UP");
}

Test (lane_asg, an_update_is_not_worth_sending_for_ever)
{
    s_update ('a', ZPEER_UP);
    zpeer_lane_hold (s.lane, s.now + LIFE_MS);
    s.now += LIFE_MS;
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_EXPIRED), 1);
    cr_expect (zpeer_lane_idle (s.lane));
}

//  A Spring server answers 400 to every ASG update and is well otherwise
//  Nothing else waited while it was on its way
Test (lane_asg, an_update_that_came_back_is_not_worth_sending_for_ever)
{
    s_update ('a', ZPEER_UP);
    EXPECT ("AsgStatusUpdate a UP");
    EXPECT ("");
    lane_fixture_fail (&s, ZPEER_CONGESTION, false, 503);
    s.now += LIFE_MS;
    EXPECT ("");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_EXPIRED), 1);
}

Test (lane_asg, a_peer_that_knows_no_asgs_is_left_in_peace)
{
    s_update ('a', ZPEER_UP);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, false, 400);
    cr_expect_str_eq (s.said, "rejected a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_REJECTED), 1);
    cr_expect_eq (zpeer_lane_pause (s.lane), 0, "its instances must not wait");
    EXPECT ("");
    s_update ('a', ZPEER_OUT_OF_SERVICE);
    EXPECT ("AsgStatusUpdate a OUT_OF_SERVICE");
}

Test (lane_asg, an_item_status_is_the_updates_own)
{
    s_update ('a', ZPEER_UP);
    lane_fixture_next (&s);
    lane_fixture_codes (&s, (const uint16_t[]){404});
    cr_expect_str_eq (s.said, "rejected a;");
    cr_expect_eq (zpeer_lane_pause (s.lane), 0);
}

Test (lane_asg, a_lost_update_is_gone_and_owed_to_nobody)
{
    s_update ('a', ZPEER_UP);
    lane_fixture_next (&s);
    lane_fixture_fail (&s, ZPEER_PERMANENT_ERROR, true, 0);
    cr_expect_str_eq (s.said, "dropped a;");
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_FAILED), 1);
    cr_expect (zpeer_lane_idle (s.lane));
    cr_expect_gt (zpeer_lane_pause (s.lane), s.now);
}

Test (lane_asg, the_oldest_give_way_when_too_many_wait)
{
    s_update ('a', ZPEER_UP);
    s_update ('b', ZPEER_UP);
    s_update ('c', ZPEER_UP);
    cr_expect_eq (lane_fixture_ended (&s, ZPEER_ENDED_OVERFLOWED), 1);
    EXPECT ("AsgStatusUpdate b UP");
}

//  Nobody will hear of it from elsewhere
Test (lane_asg, what_gives_way_or_expires_is_reported)
{
    s_update ('a', ZPEER_UP);
    s_update ('b', ZPEER_UP);
    s_update ('c', ZPEER_UP);
    cr_expect_str_eq (s.said, "dropped a;");
    s.now += LIFE_MS;
    EXPECT ("");
    cr_expect_str_eq (s.said, "dropped a;dropped b;dropped c;");
}

//  Ours may reach the peer after the other's
Test (lane_asg, what_crossed_a_replicated_one_is_told_again)
{
    s_update ('a', ZPEER_UP);
    EXPECT ("AsgStatusUpdate a UP");
    lane_fixture_change (&s, 'a', ZPEER_ASG_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_OUT_OF_SERVICE,
                                        .absent = true,
                                        .replicated = true});
    lane_fixture_ok (&s);
    EXPECT ("AsgStatusUpdate a OUT_OF_SERVICE");
    lane_fixture_ok (&s);
    EXPECT ("");
}

Test (lane_asg, a_replicated_one_is_not_sent_on)
{
    lane_fixture_change (&s, 'a', ZPEER_ASG_STATUS_UPDATE,
                         (lane_state_t){.status = ZPEER_OUT_OF_SERVICE,
                                        .absent = true,
                                        .replicated = true});
    EXPECT ("");
}

//  Numbers of peers, and 1
#define MINE   3
#define OTHERS 2

static void
s_update_by (zpeer_status_t status, uint8_t origin)
{
    lane_fixture_change (
        &s, 'a', ZPEER_ASG_STATUS_UPDATE,
        (lane_state_t){.status = status, .absent = true, .origin = origin});
}

Test (lane_asg, an_update_of_the_peer_is_not_told_to_it)
{
    lane_fixture_fini (&s);
    zpeer_lane_options_t options = lane_fixture_options ();
    options.asg_life_ms = LIFE_MS;
    options.origin = MINE;
    lane_fixture_init_with (&s, &options);
    s_update_by (ZPEER_UP, MINE);
    EXPECT ("");
    s_update_by (ZPEER_DOWN, OTHERS);
    EXPECT ("AsgStatusUpdate a DOWN");
    s_update_by (ZPEER_UP, MINE);
    lane_fixture_ok (&s);
    EXPECT ("AsgStatusUpdate a UP");
    lane_fixture_ok (&s);
    EXPECT ("");
}
