/*  test_stderr_log.c - lines on standard error, without ever blocking
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "stderr_log.h"
#include "banned.h"

//  More than a pipe holds, in lines of 100 bytes
#define MANY 2000

#define TEXT_MAX 262144

static int s_reader;

static void
s_setup (void)
{
    int ends[2];
    cr_assert_eq (pipe (ends), 0);
    cr_assert_eq (dup2 (ends[1], STDERR_FILENO), STDERR_FILENO);
    close (ends[1]);
    s_reader = ends[0];
    fcntl (s_reader, F_SETFL, O_NONBLOCK);
}

//  What has been written so far; valid until the next call
static const char *
s_written (void)
{
    static char text[TEXT_MAX];
    size_t used = 0;
    ssize_t got = 0;
    while ((got = read (s_reader, text + used, TEXT_MAX - 1 - used)) > 0)
        used += (size_t) got;
    text[used] = '\0';
    return text;
}

TestSuite (stderr_log, .init = s_setup);

Test (stderr_log, a_line_has_time_level_id_and_text)
{
    stderr_log_t log = STDERR_LOG_INIT;
    stderr_log (&log, ZPEER_LOG_WARNING, "ZPR020", "event rejected");
    const char *text = s_written ();
    cr_assert_eq (text[4], '-');
    cr_assert_eq (text[10], 'T');
    cr_assert_eq (text[23], 'Z');
    cr_assert_str_eq (text + 24, " warning ZPR020 event rejected\n");
}

Test (stderr_log, lower_levels_are_left_out)
{
    stderr_log_t log = STDERR_LOG_INIT;
    stderr_log (&log, ZPEER_LOG_DEBUG, "ZPR999", "detail");
    cr_assert_str_empty (s_written ());
    cr_assert_eq (stderr_log_parse_level ("debug", &log.level), ZPEER_OK);
    stderr_log (&log, ZPEER_LOG_DEBUG, "ZPR999", "detail");
    cr_assert_not_null (strstr (s_written (), "detail"));
    cr_assert_eq (stderr_log_parse_level ("loud", &log.level), ZPEER_E_UNKNOWN);
    cr_assert_eq (log.level, ZPEER_LOG_DEBUG);
}

Test (stderr_log, a_peers_text_neither_begins_a_line_nor_steers_a_terminal)
{
    stderr_log_t log = STDERR_LOG_INIT;
    stderr_log (&log, ZPEER_LOG_ERROR, "ZPR034", "a\nb\033[2Jc\x7f");
    cr_assert_not_null (strstr (s_written (), "ZPR034 a?b?[2Jc?\n"));
}

Test (stderr_log, a_long_text_is_cut)
{
    stderr_log_t log = STDERR_LOG_INIT;
    char *text = calloc (1, 10000);
    memset (text, 'x', 9999);
    stderr_log (&log, ZPEER_LOG_ERROR, "ZPR034", text);
    const char *line = s_written ();
    cr_assert_eq (strlen (line), 4096);
    cr_assert_eq (line[4095], '\n');
    free (text);
}

Test (stderr_log, nobody_reading_blocks_nobody_and_is_told_later)
{
    stderr_log_t log = STDERR_LOG_INIT;
    for (int i = 0; i < MANY; i++)
        stderr_log (&log, ZPEER_LOG_INFO, "ZPR001",
                    "a line that is as long as lines of a log usually are");
    cr_assert_gt (log.lost, 0);
    s_written ();
    stderr_log (&log, ZPEER_LOG_INFO, "ZPR001", "after that");
    cr_assert_eq (log.lost, 0);
    const char *text = s_written ();
    const char *lost = strstr (text, "lines of log left out\n");
    cr_assert_not_null (lost);
    cr_assert_not_null (strstr (lost, "after that"));
}
