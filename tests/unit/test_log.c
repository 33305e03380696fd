#include <criterion/criterion.h>
#include <string.h>
#include "log.h"
#include "banned.h"

static char s_text[2 * ZPEER_LOG_TEXT_MAX];
static const char *s_id;
static zpeer_log_level_t s_level;
static unsigned s_calls;

static void
s_listen (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    cr_assert_eq (arg, (void *) s_text);
    cr_assert_lt (strlen (text), sizeof s_text);
    memcpy (s_text, text, strlen (text) + 1);
    s_id = id;
    s_level = level;
    s_calls++;
}

static const zpeer_log_t s_log = {s_listen, s_text};

Test (log, a_message_comes_with_its_id_level_and_arguments)
{
    zpeer_log (&s_log, ESCALATED, "http://peer:1/", 10u, 17u);
    cr_assert_eq (s_calls, 1);
    cr_assert_str_eq (s_id, "ZPR036");
    cr_assert_eq (s_level, ZPEER_LOG_ERROR);
    cr_assert_str_eq (s_text,
                      "peer http://peer:1/ failed 10+ times in a row, the "
                      "most allowed, 17 tasks dropped; what fails from "
                      "now on is not tried again until the peer "
                      "answers");
}

Test (log, a_read_timeout_names_the_option_to_raise)
{
    zpeer_log (&s_log, READ_TIMEOUT, "http://peer:1/", "3/10", 30000u, "");
    cr_assert_not_null (
        strstr (s_text, "eureka.server.peer-node-read-timeout-ms"));
}

Test (log, nobody_has_to_listen)
{
    const zpeer_log_t silent = {0};
    zpeer_log (&silent, PEER_ADDED, "http://peer:1/");
    cr_assert_eq (s_calls, 0);
}

Test (log, a_text_has_a_limit)
{
    char reason[2 * ZPEER_LOG_TEXT_MAX];
    memset (reason, 'x', sizeof reason);
    reason[sizeof reason - 1] = 0;
    zpeer_log (&s_log, PEER_REFUSED, "http://peer:1/", reason);
    cr_assert_eq (strlen (s_text), ZPEER_LOG_TEXT_MAX - 1);
    cr_assert_str_eq (s_text + ZPEER_LOG_TEXT_MAX - 5, "x...");
}

Test (log, a_text_stays_one_line)
{
    zpeer_log (&s_log, EVENT_REJECTED, "app is \"a\r\nERROR\x1b[2J\xff\"",
               " (3 more held back)");
    cr_assert_str_eq (s_text, "event rejected: app is \"a??ERROR?[2J?\" (3 "
                              "more held back)");
}

Test (log, ids_are_different_and_ascend)
{
    const char *last = "ZPR000";
    for (int i = 0; i < ZPR_MESSAGES; i++) {
        const zpeer_message_info_t *info =
            zpeer_message_info ((zpeer_message_t) i);
        cr_assert_eq (strlen (info->id), strlen ("ZPR000"));
        cr_assert_gt (strcmp (info->id, last), 0, "%s", info->id);
        last = info->id;
    }
    cr_assert_null (zpeer_message_info (ZPR_MESSAGES));
}

Test (log, levels_have_names)
{
    cr_assert_str_eq (zpeer_log_level_name (ZPEER_LOG_DEBUG), "debug");
    cr_assert_str_eq (zpeer_log_level_name (ZPEER_LOG_ERROR), "error");
    cr_assert_str_eq (zpeer_log_level_name ((zpeer_log_level_t) 99), "?");
}
