/*  test_answer.c - replies of a peer to a batch
*/
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include "answer.h"
#include "banned.h"

static zpeer_answer_t s_answer;
static char s_error[256];

static int
s_parse (const char *text, size_t expected)
{
    zpeer_answer_free (&s_answer);
    //  A copy of exact size: reading past the end is seen by ASan
    zpeer_slice_t reply = zpeer_slice_str (text);
    char *copy = (char *) malloc (reply.size ? reply.size : 1);
    memcpy (copy, reply.data, reply.size);
    int rc = zpeer_answer_parse (&s_answer, copy, reply.size, expected, s_error,
                                 sizeof s_error);
    free (copy);
    return rc;
}

static void
s_refused (const char *text, size_t expected, const char *reason)
{
    cr_assert_eq (s_parse (text, expected), ZPEER_E_PARSE, "taken: %s", text);
    cr_assert (strstr (s_error, reason), "\"%s\" lacks \"%s\"", s_error,
               reason);
    cr_assert_null (s_answer.codes);
    cr_assert_null (s_answer.copies);
}

static void
s_copy_is (size_t i, uint32_t index, uint64_t timestamp, const char *json)
{
    cr_assert_lt (i, s_answer.copy_count);
    const zpeer_copy_t *copy = &s_answer.copies[i];
    cr_assert_eq (copy->index, index);
    cr_assert_eq (copy->timestamp, timestamp);
    cr_assert (zpeer_slice_eq (copy->json, zpeer_slice_str (json)), "%.*s",
               (int) copy->json.size, copy->json.data);
}

static void
s_teardown (void)
{
    zpeer_answer_free (&s_answer);
}

TestSuite (answer, .fini = s_teardown);

Test (answer, all_200_keeps_no_codes)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":200},"
                           "{\"statusCode\":200}]}",
                           2),
                  ZPEER_OK);
    cr_assert (s_answer.all_ok);
    cr_assert_eq (s_answer.count, 2);
    cr_assert_null (s_answer.codes);
}

Test (answer, blanks_do_not_matter)
{
    cr_assert_eq (s_parse (" {\r\n\t\"responseList\" : [ { \"statusCode\" : "
                           "200 } ,\n{\"statusCode\":\t200 }\n] }\n",
                           2),
                  ZPEER_OK);
    cr_assert (s_answer.all_ok);
}

Test (answer, an_empty_list_answers_no_items)
{
    cr_assert_eq (s_parse ("{\"responseList\":[]}", 0), ZPEER_OK);
    cr_assert (s_answer.all_ok);
}

Test (answer, one_other_code_keeps_all_codes)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":200},"
                           "{\"statusCode\":404},{\"statusCode\":200}]}",
                           3),
                  ZPEER_OK);
    cr_assert_not (s_answer.all_ok);
    cr_assert_eq (s_answer.codes[0], 200);
    cr_assert_eq (s_answer.codes[1], 404);
    cr_assert_eq (s_answer.codes[2], 200);
}

Test (answer, a_missing_or_null_status_counts_as_0)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":200},{},"
                           "{\"statusCode\":null}]}",
                           3),
                  ZPEER_OK);
    cr_assert_eq (s_answer.codes[0], 200);
    cr_assert_eq (s_answer.codes[1], 0);
    cr_assert_eq (s_answer.codes[2], 0);
}

Test (answer, a_numeric_string_is_a_status)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":\"409\"},"
                           "{\"statusCode\":\"200\"}]}",
                           2),
                  ZPEER_OK);
    cr_assert_eq (s_answer.codes[0], 409);
    cr_assert_eq (s_answer.codes[1], 200);
}

Test (answer, unknown_members_are_tolerated)
{
    cr_assert_eq (s_parse ("{\"took\":[1,{\"a\":\"b\"}],\"responseList\":"
                           "[{\"x\":{},\"statusCode\":200}],\"z\":null}",
                           1),
                  ZPEER_OK);
    cr_assert (s_answer.all_ok);
}

Test (answer, an_entity_becomes_a_copy_with_its_timestamp)
{
    cr_assert_eq (
        s_parse (
            "{\"responseList\":[{\"statusCode\":200},"
            "{\"statusCode\":409,\"responseEntity\":"
            "{ \"app\" : \"A\", \"lastDirtyTimestamp\":\"17\"}},"
            "{\"responseEntity\":{\"lastDirtyTimestamp\":18},"
            "\"statusCode\":409},"
            "{\"statusCode\":409,\"responseEntity\":{\"b\":\"\\u00e9\"}}]}",
            4),
        ZPEER_OK);
    cr_assert_eq (s_answer.copy_count, 3);
    s_copy_is (0, 1, 17, "{\"app\":\"A\",\"lastDirtyTimestamp\":\"17\"}");
    s_copy_is (1, 2, 18, "{\"lastDirtyTimestamp\":18}");
    s_copy_is (2, 3, 0, "{\"b\":\"\xc3\xa9\"}");
}

Test (answer, a_timestamp_that_is_no_number_is_none)
{
    static const char *const stamps[] = {
        "\"abc\"", "\"\"", "null", "-5",
        "\"-5\"",  "1.5",  "{}",   "\"99999999999999999999\""};
    for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++) {
        char text[256];
        snprintf (text, sizeof text,
                  "{\"responseList\":[{\"statusCode\":409,"
                  "\"responseEntity\":{\"lastDirtyTimestamp\":%s}}]}",
                  stamps[i]);
        cr_assert_eq (s_parse (text, 1), ZPEER_OK);
        cr_assert_eq (s_answer.copies[0].timestamp, 0, "%s", stamps[i]);
    }
}

Test (answer, an_entity_with_a_success_means_nothing)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":200,"
                           "\"responseEntity\":{\"app\":\"A\"}}]}",
                           1),
                  ZPEER_OK);
    cr_assert (s_answer.all_ok);
    cr_assert_eq (s_answer.copy_count, 0);
}

Test (answer, an_entity_that_is_no_object_is_no_copy)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":409,"
                           "\"responseEntity\":null}]}",
                           1),
                  ZPEER_OK);
    cr_assert_eq (s_answer.copy_count, 0);
}

Test (answer, another_number_of_entries_is_refused)
{
    const char *two =
        "{\"responseList\":[{\"statusCode\":200},{\"statusCode\":404}]}";
    s_refused (two, 1, "more than 1 entries");
    s_refused (two, 3, "2 entries for 3 items");
}

Test (answer, every_cut_of_an_answer_is_refused)
{
    char text[] = "{\"responseList\":[{\"statusCode\":200},{\"statusCode\":409,"
                  "\"responseEntity\":{\"app\":\"A\"}}]}";
    for (size_t size = strlen (text); size-- > 0;) {
        text[size] = 0;
        cr_assert_eq (s_parse (text, 2), ZPEER_E_PARSE, "%s", text);
    }
}

Test (answer, what_is_not_the_json_expected_is_refused)
{
    s_refused ("", 1, "cut off after 0 bytes");
    s_refused ("<html>\n<body>Gateway", 1, "found: <html>?<body>Gateway");
    //  At most 40 bytes of it are shown
    s_refused ("0123456789012345678901234567890123456789X", 1,
               "found: 0123456789012345678901234567890123456789");
    cr_assert_null (strchr (s_error, 'X'));
    s_refused ("~ \x7f", 1, "found: ~ ?");
    s_refused ("{ \n", 1, "a member expected");
    s_refused ("[]", 1, "a JSON object expected");
    s_refused ("{}", 0, "no responseList");
    s_refused ("{\"error\":\"busy\"}", 1, "no responseList");
    s_refused ("{\"responseList\":null}", 1, "the array responseList");
    s_refused ("{\"responseList\":[7]}", 1, "entry 0 is not an object");
    s_refused ("{\"responseList\":[null]}", 1, "entry 0 is not an object");
    s_refused ("{\"responseList\":[{\"statusCode\":200}]}x", 1, "the end");
    s_refused ("{\"responseList\":[{\"statusCode\":200},]}", 2, "bad JSON");
    s_refused ("{\"responseList\":[{\"statusCode\":200}]]", 1, "expected");
    s_refused ("{\"responseList\":[],\"responseList\":[]}", 0, "one response");
    s_refused ("{,}", 0, "a member expected");
    s_refused ("{7:1}", 0, "a member expected");
}

Test (answer, codes_are_taken_as_they_come)
{
    cr_assert_eq (s_parse ("{\"responseList\":[{\"statusCode\":100},"
                           "{\"statusCode\":65535},{\"statusCode\":7}]}",
                           3),
                  ZPEER_OK);
    cr_assert_eq (s_answer.codes[0], 100);
    cr_assert_eq (s_answer.codes[1], 65535);
    cr_assert_eq (s_answer.codes[2], 7);
}

Test (answer, a_status_that_is_no_code_is_refused)
{
    static const char *const codes[] = {"-1",      "65536", "true",
                                        "\"two\"", "2e2",   "[]"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char text[128];
        snprintf (text, sizeof text, "{\"responseList\":[{\"statusCode\":%s}]}",
                  codes[i]);
        s_refused (text, 1, "statusCode of entry 0");
    }
    s_refused ("{\"responseList\":[{\"statusCode\":0200}]}", 1, "bad JSON");
    s_refused ("{\"responseList\":[{\"statusCode\":2:0}]}", 1, "bad JSON");
}

Test (answer, a_value_beyond_any_instance_is_refused)
{
    size_t size = (size_t) 2 * 1048576;
    char *text = (char *) malloc (size + 1);
    memset (text, ' ', size);
    const char head[] = "{\"responseList\":[{\"statusCode\":409,\"x\":[";
    memcpy (text, head, sizeof head - 1);
    memcpy (text + size - 5, "1]}]}", 6);
    s_refused (text, 1, "bad JSON");
    free (text);
}

Test (answer, deep_nesting_is_refused)
{
    char text[40000] = "{\"responseList\":[{\"x\":";
    size_t start = strlen (text);
    memset (text + start, '[', sizeof text - start - 1);
    s_refused (text, 1, "bad JSON");
}

Test (answer, a_single_conflict_has_its_instance)
{
    const char *body =
        "{\"instance\":{\"app\":\"A\",\"lastDirtyTimestamp\":\"21\"}}";
    cr_assert_eq (zpeer_answer_entity (&s_answer, body, strlen (body)),
                  ZPEER_OK);
    s_copy_is (0, 0, 21, "{\"app\":\"A\",\"lastDirtyTimestamp\":\"21\"}");
}

Test (answer, another_body_of_a_conflict_is_no_copy)
{
    static const char *const bodies[] = {
        "", "{\"timestamp\":1,\"status\":409,\"error\":\"Conflict\"}",
        "{\"instance\":7}", "<html>", "[]"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        cr_assert_eq (
            zpeer_answer_entity (&s_answer, bodies[i], strlen (bodies[i])),
            ZPEER_E_PARSE);
    cr_assert_eq (zpeer_answer_entity (&s_answer, NULL, 0), ZPEER_E_PARSE);
    cr_assert_eq (s_answer.copy_count, 0);
}

Test (answer, every_end_has_its_text)
{
    cr_assert_str_eq (zpeer_end_text (ZPEER_END_OK), "2xx");
    cr_assert_str_eq (zpeer_end_text (ZPEER_END_TAKEN_BACK), "dispatcher lost");
    cr_assert_str_eq (zpeer_end_text (ZPEER_END_COUNT), "?");
    //  999 is one, too
    cr_assert_str_eq (zpeer_end_text (ZPEER_END_STATUS_5XX),
                      "HTTP status from 500");
}
