#include <criterion/criterion.h>
#include <stdio.h>
#include "reply.h"
#include "banned.h"

static zpeer_reply_writer_t s_writer;
static zpeer_reply_reader_t s_reader;

static int
s_again (uint32_t accepted)
{
    zpeer_slice_t reply = zpeer_reply_end (&s_writer, accepted);
    return zpeer_reply_read (&s_reader, reply.data, reply.size);
}

Test (reply, what_is_written_is_read)
{
    zpeer_reply_begin (&s_writer);
    zpeer_reply_reject (&s_writer, 1, "info.hostName is missing");
    zpeer_reply_reject (&s_writer, 70000, "app is blank");
    cr_assert_eq (s_again (3), ZPEER_OK);
    cr_assert_eq (s_reader.accepted, 3);
    cr_assert_eq (s_reader.rejected, 2);
    cr_assert_eq (s_reader.listed, 2);
    cr_assert_eq (s_reader.indexes[0], 1);
    cr_assert_eq (s_reader.indexes[1], 70000);
    cr_assert_str_eq (s_reader.reasons[0], "info.hostName is missing");
    cr_assert_str_eq (s_reader.reasons[1], "app is blank");
}

Test (reply, the_mark_is_read)
{
    zpeer_reply_begin (&s_writer);
    cr_assert_eq (s_again (UINT32_MAX), ZPEER_OK);
    cr_assert_eq (s_reader.mark, 0);
    zpeer_reply_begin (&s_writer);
    zpeer_reply_reject (&s_writer, UINT32_MAX, "app is blank");
    zpeer_reply_mark (&s_writer, INT64_MAX);
    cr_assert_eq (s_again (UINT32_MAX), ZPEER_OK);
    cr_assert_eq (s_reader.mark, INT64_MAX);
    cr_assert_eq (s_reader.accepted, UINT32_MAX);
    cr_assert_eq (s_reader.indexes[0], UINT32_MAX);
    cr_assert_str_eq (s_reader.reasons[0], "app is blank");
    zpeer_reply_begin (&s_writer);
    cr_assert_eq (s_again (1), ZPEER_OK);
    cr_assert_eq (s_reader.mark, 0);
}

Test (reply, is_byte_for_byte_what_the_protocol_page_shows)
{
    static const char bytes[] = "\x83"
                                "\xa8"
                                "accepted\x01"
                                "\xad"
                                "rejectedCount\x01"
                                "\xa8"
                                "rejected\x91\x82"
                                "\xa5"
                                "index\x00"
                                "\xa5"
                                "error\xac"
                                "app is blank";
    zpeer_reply_begin (&s_writer);
    zpeer_reply_reject (&s_writer, 0, "app is blank");
    zpeer_slice_t reply = zpeer_reply_end (&s_writer, 1);
    cr_assert_eq (reply.size, sizeof bytes - 1);
    cr_assert_arr_eq (reply.data, bytes, sizeof bytes - 1);
}

Test (reply, a_writer_is_used_again)
{
    zpeer_reply_begin (&s_writer);
    zpeer_reply_reject (&s_writer, 1, "x");
    cr_assert_eq (s_again (UINT32_MAX), ZPEER_OK);
    zpeer_reply_begin (&s_writer);
    cr_assert_eq (s_again (UINT32_MAX), ZPEER_OK);
    cr_assert_eq (s_reader.accepted, UINT32_MAX);
    cr_assert_eq (s_reader.rejected, 0);
    cr_assert_eq (s_reader.listed, 0);
}

Test (reply, lists_a_hundred_rejections_and_counts_them_all)
{
    char reason[ZPEER_REASON_MAX];
    memset (reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = 0;
    zpeer_reply_begin (&s_writer);
    for (uint32_t i = 0; i < 5000; i++)
        zpeer_reply_reject (&s_writer, UINT32_MAX - i, reason);
    cr_assert_eq (s_again (7), ZPEER_OK);
    cr_assert_eq (s_reader.rejected, 5000);
    cr_assert_eq (s_reader.listed, ZPEER_REPLY_LISTED);
    cr_assert_eq (s_reader.indexes[99], UINT32_MAX - 99);
    cr_assert_str_eq (s_reader.reasons[99], reason);
}

Test (reply, a_reason_that_is_too_long_is_cut_off)
{
    char reason[2 * ZPEER_REASON_MAX];
    memset (reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = 0;
    zpeer_reply_begin (&s_writer);
    zpeer_reply_reject (&s_writer, 0, reason);
    cr_assert_eq (s_again (0), ZPEER_OK);
    cr_assert_eq (strlen (s_reader.reasons[0]), ZPEER_REASON_MAX - 1);
}

Test (reply, every_reply_that_is_cut_off_is_refused)
{
    zpeer_reply_begin (&s_writer);
    zpeer_reply_reject (&s_writer, 5, "action is missing");
    zpeer_slice_t reply = zpeer_reply_end (&s_writer, 200);
    for (size_t size = 0; size < reply.size; size++)
        cr_assert_eq (zpeer_reply_read (&s_reader, reply.data, size),
                      ZPEER_E_PARSE, "%zu bytes", size);
}

Test (reply, what_is_no_reply_is_refused)
{
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\x01", 1},      //  No map
        {"\x80\x80", 2},  //  Something behind it
        {"\x81\xa8"
         "accepted\xff",
         11},  //  Below zero
        {"\x81\xa8"
         "rejected\x80",
         11},  //  No list
        {"\x81\xa8"
         "rejected\x91\x01",
         12},
        {"\x81\xa8"
         "rejected\x91\x81\xa5"
         "index\xc0\xc0",
         20},
        {"\x81\xa8"
         "rejected\x91\x81\xa5"
         "error\x01",
         19},
        {"\x81\xa8"
         "rejected\xdd\xff\xff\xff\xff",
         15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq (
            zpeer_reply_read (&s_reader, cases[i].bytes, cases[i].size),
            ZPEER_E_PARSE, "case %zu", i);
}

Test (reply, keys_a_later_version_may_add_are_ignored)
{
    static const char bytes[] = "\x82\xa4"
                                "more\x91\x80\xa8"
                                "accepted\x09";
    cr_assert_eq (zpeer_reply_read (&s_reader, bytes, sizeof bytes - 1),
                  ZPEER_OK);
    cr_assert_eq (s_reader.accepted, 9);
}
