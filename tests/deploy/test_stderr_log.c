/*  test_stderr_log.c - lines on standard error, without ever blocking
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "clock.h"
#include "stderr_log.h"
#include "banned.h"

//  More than a pipe and the log hold together, in lines of 100 bytes
#define MANY 6000

#define TEXT_MAX 1048576

//  Longer than anything here takes
#define LIMIT_MS 20000

static int s_reader;
static stderr_log_t *s_log;

static void
s_become_stderr (int fd)
{
    cr_assert_eq (dup2 (fd, STDERR_FILENO), STDERR_FILENO);
    close (fd);
    fcntl (s_reader, F_SETFL, O_NONBLOCK);
    s_log = stderr_log_new (ZPEER_LOG_INFO);
    cr_assert_not_null (s_log);
}

static void
s_setup (void)
{
    int ends[2];
    cr_assert_eq (pipe (ends), 0);
    s_reader = ends[0];
    s_become_stderr (ends[1]);
}

static void
s_teardown (void)
{
    stderr_log_destroy (&s_log);
    close (s_reader);
}

//  All that was logged; valid until the next call
static const char *
s_written (void)
{
    static char text[TEXT_MAX];
    size_t used = 0;
    bool flushed = false;
    int64_t until = clock_now () + LIMIT_MS;
    while (!flushed && clock_now () < until) {
        ssize_t got = 0;
        flushed = stderr_log_flush (s_log, 1);
        while ((got = read (s_reader, text + used, TEXT_MAX - 1 - used)) > 0)
            used += (size_t) got;
    }
    cr_assert (flushed);
    text[used] = '\0';
    return text;
}

TestSuite (stderr_log, .init = s_setup, .fini = s_teardown, .timeout = 60);

Test (stderr_log, a_line_has_time_level_id_and_text)
{
    stderr_log (s_log, ZPEER_LOG_WARNING, "ZPR020", "event rejected");
    const char *text = s_written ();
    cr_assert_eq (text[4], '-');
    cr_assert_eq (text[10], 'T');
    cr_assert_eq (text[23], 'Z');
    cr_assert_str_eq (text + 24, " warning ZPR020 event rejected\n");
}

Test (stderr_log, lower_levels_are_left_out)
{
    zpeer_log_level_t level = ZPEER_LOG_INFO;
    stderr_log (s_log, ZPEER_LOG_DEBUG, "ZPR999", "detail");
    cr_assert_str_empty (s_written ());
    cr_assert_eq (stderr_log_parse_level ("debug", &level), ZPEER_OK);
    stderr_log_destroy (&s_log);
    s_log = stderr_log_new (level);
    stderr_log (s_log, ZPEER_LOG_DEBUG, "ZPR999", "detail");
    cr_assert_not_null (strstr (s_written (), "detail"));
    cr_assert_eq (stderr_log_parse_level ("loud", &level), ZPEER_E_UNKNOWN);
    cr_assert_eq (level, ZPEER_LOG_DEBUG);
}

Test (stderr_log, a_peers_text_neither_begins_a_line_nor_steers_a_terminal)
{
    stderr_log (s_log, ZPEER_LOG_ERROR, "ZPR034", "a\nb\033[2Jc\x7f");
    cr_assert_not_null (strstr (s_written (), "ZPR034 a?b?[2Jc?\n"));
}

Test (stderr_log, a_long_text_is_cut)
{
    char *text = calloc (1, 10000);
    memset (text, 'x', 9999);
    stderr_log (s_log, ZPEER_LOG_ERROR, "ZPR034", text);
    const char *line = s_written ();
    cr_assert_eq (strlen (line), 4096);
    cr_assert_eq (line[4095], '\n');
    free (text);
}

//  Lines of several threads at once, each whole
static void *
s_log_some (void *arg)
{
    for (int i = 0; i < 100; i++)
        stderr_log (s_log, ZPEER_LOG_INFO, "ZPR001", (const char *) arg);
    return NULL;
}

Test (stderr_log, each_line_is_whole)
{
    static char texts[4][64];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        memset (texts[i], 'a' + i, sizeof texts[i] - 1);
        pthread_create (&threads[i], NULL, s_log_some, texts[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join (threads[i], NULL);
    const char *text = s_written ();
    size_t lines = 0;
    for (; *text; text = strchr (text, '\n') + 1, lines++) {
        size_t size = strspn (text + 24 + strlen (" info ZPR001 "),
                              (char[2]){text[24 + strlen (" info ZPR001 ")]});
        cr_assert_eq (size, sizeof texts[0] - 1);
    }
    cr_expect_eq (lines, 400);
}

static void
s_log_many (void)
{
    for (int i = 0; i < MANY; i++)
        stderr_log (s_log, ZPEER_LOG_INFO, "ZPR001",
                    "a line that is as long as lines of a log usually are");
}

//  How many were left out is told by the next line there is room for: that may be one
//  of the many, or the one after them
static void
s_expect_told (void)
{
    static const char left_out[] = "lines of log left out\n";
    bool told = strstr (s_written (), left_out);
    stderr_log (s_log, ZPEER_LOG_INFO, "ZPR001", "after that");
    const char *after = s_written ();
    cr_assert_not_null (strstr (after, "after that"));
    cr_assert (told || strstr (after, left_out));
}

Test (stderr_log, nobody_reading_blocks_nobody_and_is_told_later)
{
    s_log_many ();
    s_expect_told ();
}

//  Unlike a pipe it has room for less than a line at times
Test (stderr_log, a_terminal_that_nobody_reads_blocks_nobody)
{
    int terminal;
    s_teardown ();
    cr_assert_eq (openpty (&s_reader, &terminal, NULL, NULL, NULL), 0);
    struct termios raw;
    tcgetattr (terminal, &raw);
    cfmakeraw (&raw);
    tcsetattr (terminal, TCSANOW, &raw);
    s_become_stderr (terminal);
    s_log_many ();
    cr_expect_not (stderr_log_flush (s_log, 10));
    s_expect_told ();
}

Test (stderr_log, the_end_does_not_wait_for_ever)
{
    s_log_many ();
    int64_t from = clock_now ();
    stderr_log_destroy (&s_log);
    cr_expect_lt (clock_now () - from, STDERR_LOG_END_MS + LIMIT_MS);
    cr_expect_null (s_log);
    s_log = stderr_log_new (ZPEER_LOG_INFO);
}
