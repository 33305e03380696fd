#include <criterion/criterion.h>
#include <jansson.h>
#include "dump.h"
#include "banned.h"

static zpeer_buffer_t s_out;

static void
s_teardown (void)
{
    zpeer_buffer_free (&s_out);
}

//  The JSON of the bytes, or NULL; valid until the next
static const char *
s_json (const void *data, size_t size)
{
    zpeer_buffer_reset (&s_out);
    if (zpeer_dump_json (&s_out, data, size))
        return NULL;
    zpeer_buffer_add (&s_out, "", 1);
    return s_out.data;
}

#define JSON(literal) s_json (literal, sizeof (literal) - 1)

TestSuite (dump, .fini = s_teardown);

Test (dump, every_kind_of_value_has_its_json)
{
    cr_expect_str_eq (JSON ("\xc0"), "null");
    cr_expect_str_eq (JSON ("\xc2"), "false");
    cr_expect_str_eq (JSON ("\xc3"), "true");
    cr_expect_str_eq (JSON ("\x07"), "7");
    cr_expect_str_eq (JSON ("\xff"), "-1");
    cr_expect_str_eq (JSON ("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
                      "18446744073709551615");
    cr_expect_str_eq (JSON ("\xd3\x80\0\0\0\0\0\0\0"), "-9223372036854775808");
    cr_expect_str_eq (JSON ("\xcb\x3f\xf8\0\0\0\0\0\0"), "1.5");
    cr_expect_str_eq (JSON ("\xa2hi"), "\"hi\"");
    cr_expect_str_eq (JSON ("\x90"), "[]");
    cr_expect_str_eq (JSON ("\x80"), "{}");
    cr_expect_str_eq (JSON ("\x93\x01\x91\x02\x80"), "[1,[2],{}]");
    cr_expect_str_eq (JSON ("\x82\xa1"
                            "a\x01\xa1"
                            "b\xde\0\1\xa1"
                            "c\xc0"),
                      "{\"a\":1,\"b\":{\"c\":null}}");
}

Test (dump, text_is_escaped_as_json_wants_it)
{
    cr_expect_str_eq (JSON ("\xa6\"\\\n\x01\xc3\xa9"),
                      "\"\\\"\\\\\\n\\u0001\xc3\xa9\"");
}

Test (dump, bytes_become_the_characters_of_their_number)
{
    const char *text = JSON ("\xc4\x04\x00\x41\x80\xff");
    cr_expect_str_eq (text, "\"\\u0000A\xc2\x80\xc3\xbf\"");
    cr_expect_str_eq (JSON ("\xa2\xff\x41"), "\"\xc3\xbf\x41\"");
    cr_expect_str_eq (JSON ("\xd4\x05\x06"), "\"\\u0005\\u0006\"");
}

Test (dump, what_json_has_no_number_for_is_null)
{
    cr_expect_str_eq (JSON ("\xcb\x7f\xf0\0\0\0\0\0\0"), "null");
    cr_expect_str_eq (JSON ("\xcb\x7f\xf8\0\0\0\0\0\0"), "null");
}

Test (dump, a_key_that_is_no_text_becomes_one)
{
    cr_expect_str_eq (JSON ("\x82\x05\x01\xc0\x02"), "{\"5\":1,\"null\":2}");
    cr_expect_null (JSON ("\x81\x90\x01"));
    cr_expect_null (JSON ("\x81\x80\x01"));
}

Test (dump, what_is_not_one_whole_value_is_refused_without_a_trace)
{
    cr_expect_null (JSON (""));
    cr_expect_null (JSON ("\xc1"));
    cr_expect_null (JSON ("\x82\xa1x\x01"));
    cr_expect_null (JSON ("\x01\x01"));
    cr_expect_null (JSON ("\xdd\xff\xff\xff\xff"));
    cr_expect_null (JSON ("\xa5hi"));
    zpeer_buffer_lit (&s_out, "before");
    cr_expect_eq (zpeer_dump_json (&s_out, "\x92\x01\xc1", 3), ZPEER_E_PARSE);
    cr_expect_eq (s_out.size, 6);
}

Test (dump, nesting_has_a_limit)
{
    cr_expect_str_eq (JSON ("\x91\x91\x91\x91\x91\x91\x91\x91\x01"),
                      "[[[[[[[[1]]]]]]]]");
    cr_expect_null (JSON ("\x91\x91\x91\x91\x91\x91\x91\x91\x91\x01"));
    char deep[100000];
    memset (deep, '\x91', sizeof deep);
    cr_expect_null (s_json (deep, sizeof deep));
}

Test (dump, whatever_the_bytes_it_is_json_or_nothing)
{
    unsigned seed = 1;
    size_t good = 0;
    for (int round = 0; round < 20000; round++) {
        unsigned char bytes[8];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (unsigned char) (seed >> 24);
        }
        size_t size = 1 + (seed >> 16) % sizeof bytes;
        const char *text = s_json (bytes, size);
        if (!text)
            continue;
        good++;
        json_error_t error;
        json_t *json = json_loads (
            text, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL,
            &error);
        cr_assert (json, "%s: %s", text, error.text);
        json_decref (json);
    }
    cr_expect_gt (good, 500);
}
