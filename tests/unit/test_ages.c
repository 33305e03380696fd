//  How old connections are, and which one is replaced

#include <criterion/criterion.h>
#include "ages.h"
#include "banned.h"

#define AGE_MS  60000
#define IDLE_MS 30000

static zpeer_ages_t s;

static void
s_setup (void)
{
    zpeer_ages_init (&s, AGE_MS, IDLE_MS, 3);
    zpeer_ages_made (&s, 1000, 1, false);
}

static void
s_teardown (void)
{
    zpeer_ages_fini (&s);
}

TestSuite (ages, .init = s_setup, .fini = s_teardown);

//  A request a second on this connection
static void
s_keep_busy (int port, uint64_t from, uint64_t to)
{
    for (uint64_t now = from; now <= to; now += 1000)
        cr_assert_not (zpeer_ages_use (&s, now, port));
}

Test (ages, a_connection_is_due_when_it_is_too_old)
{
    s_keep_busy (1, 1000, 60000);
    cr_assert_not (zpeer_ages_due (&s, 60999));
    cr_assert (zpeer_ages_due (&s, 61000));
    cr_assert_not (zpeer_ages_due (&s, 61000), "one at a time");
}

Test (ages, an_old_one_serves_once_more_when_there_is_a_new_one)
{
    s_keep_busy (1, 1000, 61000);
    cr_assert (zpeer_ages_due (&s, 61000));
    cr_assert_not (zpeer_ages_use (&s, 61000, 1), "there is none yet");
    zpeer_ages_made (&s, 61010, 2, true);
    cr_assert_not (zpeer_ages_due (&s, 61010));
    cr_assert_not (zpeer_ages_use (&s, 61020, 2));
    cr_assert (zpeer_ages_use (&s, 61030, 1));
    s_keep_busy (2, 61030, 121000);
    cr_assert_not (zpeer_ages_due (&s, 121009));
    cr_assert (zpeer_ages_due (&s, 121010));
}

Test (ages, the_oldest_one_is_replaced_first)
{
    zpeer_ages_made (&s, 2000, 2, false);
    s_keep_busy (1, 1000, 70000);
    s_keep_busy (2, 2000, 70000);
    cr_assert (zpeer_ages_due (&s, 70000));
    zpeer_ages_made (&s, 70000, 3, true);
    cr_assert (zpeer_ages_use (&s, 70000, 1));
    cr_assert_not (zpeer_ages_use (&s, 70000, 2));
    cr_assert (zpeer_ages_due (&s, 70000));
}

Test (ages, what_could_not_be_made_is_tried_again_later)
{
    s_keep_busy (1, 1000, 61000);
    cr_assert (zpeer_ages_due (&s, 61000));
    zpeer_ages_failed (&s, 62000);
    s_keep_busy (1, 62000, 77000);
    cr_assert_not (zpeer_ages_due (&s, 76999));
    cr_assert (zpeer_ages_due (&s, 77000));
}

//  curl has closed it, or will before it is used again
Test (ages, what_is_idle_for_too_long_is_not_replaced)
{
    s_keep_busy (1, 1000, 40000);
    cr_assert_not (zpeer_ages_due (&s, 70000));
}

Test (ages, one_that_was_made_for_another_reason_replaces_none)
{
    s_keep_busy (1, 1000, 61000);
    cr_assert (zpeer_ages_due (&s, 61000));
    zpeer_ages_made (&s, 61000, 2, false);
    cr_assert_not (zpeer_ages_use (&s, 61000, 1));
    cr_assert_not (zpeer_ages_due (&s, 61000));
}

Test (ages, a_port_that_comes_again_is_another_connection)
{
    s_keep_busy (1, 1000, 61000);
    zpeer_ages_made (&s, 61000, 1, false);
    cr_assert_not (zpeer_ages_due (&s, 61000));
}

//  Of some curl does not say that it has closed them
Test (ages, there_is_room_for_the_newest)
{
    for (int port = 2; port < 20; port++)
        zpeer_ages_made (&s, 1000U + (unsigned) port, port, false);
    s_keep_busy (19, 2000, 62000);
    cr_assert (zpeer_ages_due (&s, 62000));
    zpeer_ages_made (&s, 62000, 20, true);
    cr_assert (zpeer_ages_use (&s, 62000, 19));
}

Test (ages, when_all_are_closed_none_is_due)
{
    s_keep_busy (1, 1000, 61000);
    zpeer_ages_clear (&s);
    cr_assert_not (zpeer_ages_due (&s, 61000));
    cr_assert_not (zpeer_ages_use (&s, 61000, 1));
}

Test (ages, without_a_limit_none_is_due)
{
    zpeer_ages_t self;
    zpeer_ages_init (&self, 0, 0, 3);
    zpeer_ages_made (&self, 1000, 1, false);
    cr_assert_not (zpeer_ages_due (&self, UINT64_MAX / 2));
    zpeer_ages_fini (&self);
}
