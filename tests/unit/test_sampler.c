#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "sampler.h"
#include "banned.h"

static char s_lines[4096];  //  Each with its id before it

static void
s_on_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    size_t used = strlen (s_lines);
    (void) arg;
    (void) level;
    snprintf (s_lines + used, sizeof s_lines - used, "%s %s\n", id, text);
}

static zpeer_sampler_t s_sampler = {.log = {s_on_log, NULL}};

static void
s_reject (uint64_t now)
{
    zpeer_sample (&s_sampler, now, EVENT_REJECTED, "x");
}

static void
s_trouble (uint64_t now)
{
    zpeer_sample (&s_sampler, now, ITEM_STATUS, "p", 500u);
}

Test (sampler, what_is_held_back_is_said_when_no_line_follows)
{
    cr_expect_eq (zpeer_sampler_wake (&s_sampler), UINT64_MAX);
    for (uint64_t now = 1000; now < 1020; now++)
        s_reject (now);
    cr_expect_eq (zpeer_sampler_wake (&s_sampler), 11000);
    zpeer_sampler_tell (&s_sampler, 10999);
    cr_expect_str_eq (s_lines, "ZPR020 event rejected: x\n");
    zpeer_sampler_tell (&s_sampler, 11000);
    cr_expect_str_eq (s_lines, "ZPR020 event rejected: x\n"
                               "ZPR020 19 more held back\n");
    cr_expect_eq (zpeer_sampler_wake (&s_sampler), UINT64_MAX);
    zpeer_sampler_tell (&s_sampler, 99999);
    cr_expect_null (strstr (strstr (s_lines, "more"), "ZPR020"), "once");
}

Test (sampler, the_line_that_follows_says_it_too_and_then_nobody_else)
{
    s_reject (0);
    s_reject (1);
    s_reject (10000);
    zpeer_sampler_tell (&s_sampler, 10000);
    cr_expect_str_eq (s_lines, "ZPR020 event rejected: x\n"
                               "ZPR020 event rejected: x (1 more held back)\n");
    cr_expect_eq (zpeer_sampler_wake (&s_sampler), UINT64_MAX);
}

Test (sampler, what_is_said_alone_is_a_line_of_its_kind)
{
    s_reject (0);
    s_reject (1);
    zpeer_sampler_tell (&s_sampler, 10000);
    s_reject (10001);
    cr_expect_eq (zpeer_sampler_wake (&s_sampler), 20000);
}

Test (sampler, each_kind_has_a_time_of_its_own_and_names_the_peer)
{
    s_sampler.about = "http://p/";
    s_trouble (0);
    s_trouble (1);
    s_reject (5000);
    s_reject (5001);
    s_lines[0] = 0;
    zpeer_sampler_tell (&s_sampler, 10000);
    cr_expect_str_eq (s_lines, "ZPR045 1 more held back, peer http://p/\n");
    cr_expect_eq (zpeer_sampler_wake (&s_sampler), 15000);
}

Test (sampler, what_is_held_back_at_the_end_is_said)
{
    s_reject (0);
    s_reject (1);
    zpeer_sampler_end (&s_sampler);
    cr_expect_not_null (strstr (s_lines, "ZPR020 1 more held back\n"));
}
