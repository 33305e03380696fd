/*  test_lines.c - files and pipes line by line
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lines.h"
#include "banned.h"

//  A reader of a file with this content; the file is gone already
static lines_t *
s_open (const char *content, size_t size)
{
    char path[] = "/tmp/zpeer-lines-XXXXXX";
    int fd = mkstemp (path);
    cr_assert_geq (fd, 0);
    cr_assert_eq (write (fd, content, size), (ssize_t) size);
    lines_t *lines = lines_open (path);
    cr_assert_not_null (lines);
    close (fd);
    unlink (path);
    return lines;
}

static void
s_expect (lines_t *lines, const char *expected)
{
    const char *text = NULL;
    size_t size = 0;
    cr_assert_eq (lines_next (lines, &text, &size), ZPEER_OK);
    cr_assert_eq (size, strlen (expected));
    cr_assert_eq (memcmp (text, expected, size), 0);
}

static void
s_expect_end (lines_t *lines)
{
    const char *text = NULL;
    size_t size = 0;
    cr_assert_eq (lines_next (lines, &text, &size), ZPEER_E_AGAIN);
    cr_assert_eq (lines_next (lines, &text, &size), ZPEER_E_AGAIN);
    lines_close (&lines);
    cr_assert_null (lines);
}

Test (lines, come_out_one_by_one_with_their_numbers)
{
    lines_t *lines = s_open ("one\n\nthree\n", 11);
    s_expect (lines, "one");
    cr_assert_eq (lines_number (lines), 1);
    s_expect (lines, "");
    s_expect (lines, "three");
    cr_assert_eq (lines_number (lines), 3);
    s_expect_end (lines);
}

Test (lines, the_last_one_needs_no_end)
{
    lines_t *lines = s_open ("one\ntwo", 7);
    s_expect (lines, "one");
    s_expect (lines, "two");
    cr_assert_eq (lines_done (lines), lines_total (lines));
    s_expect_end (lines);
}

Test (lines, an_empty_file_has_none)
{
    s_expect_end (s_open ("", 0));
}

Test (lines, a_line_longer_than_any_buffer_comes_whole)
{
    size_t size = (size_t) 1 << 20;
    char *content = malloc (size + 1);
    memset (content, 'x', size);
    content[size / 2] = '\n';
    lines_t *lines = s_open (content, size);
    content[size / 2] = '\0';
    content[size] = '\0';
    s_expect (lines, content);
    s_expect (lines, content + size / 2 + 1);
    s_expect_end (lines);
    free (content);
}

Test (lines, the_rest_can_be_looked_at_and_left)
{
    lines_t *lines = s_open ("zero\none\ntwo\n", 13);
    s_expect (lines, "zero");
    s_expect (lines, "one");
    const char *text = NULL;
    size_t size = 0;
    cr_assert_eq (lines_rest (lines, &text, &size), ZPEER_OK);
    cr_assert_eq (size, 8);
    cr_assert_eq (memcmp (text, "one\ntwo\n", size), 0);
    s_expect (lines, "two");
    s_expect_end (lines);
}

Test (lines, the_rest_can_be_looked_at_and_taken)
{
    lines_t *lines = s_open ("one\ntwo\nthree", 13);
    s_expect (lines, "one");
    const char *text = NULL;
    size_t size = 0;
    cr_assert_eq (lines_rest (lines, &text, &size), ZPEER_OK);
    lines_end (lines);
    s_expect_end (lines);
}

Test (lines, of_a_pipe_are_waited_for)
{
    int ends[2];
    cr_assert_eq (pipe (ends), 0);
    cr_assert_eq (dup2 (ends[0], STDIN_FILENO), STDIN_FILENO);
    lines_t *lines = lines_open ("-");
    cr_assert_eq (lines_total (lines), 0);
    cr_assert (!lines_wait (lines, 0));
    cr_assert_eq (write (ends[1], "one\ntwo\n", 8), 8);
    cr_assert (lines_wait (lines, 1000));
    s_expect (lines, "one");
    cr_assert (lines_wait (lines, 0));
    s_expect (lines, "two");
    cr_assert (!lines_wait (lines, 0));
    close (ends[1]);
    cr_assert (lines_wait (lines, 1000));
    s_expect_end (lines);
}

Test (lines, a_file_that_is_not_there_is_an_error)
{
    cr_assert_null (lines_open ("/nonexistent/file"));
}
