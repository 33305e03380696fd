#include <criterion/criterion.h>
#include <stdio.h>
#include "walk.h"
#include "utf8.h"
#include "banned.h"

#define LENGTH(array)  (sizeof (array) / sizeof *(array))
#define BYTES(literal) (literal), sizeof (literal) - 1

static zpeer_token_t
s_token (const char *bytes, size_t size)
{
    zpeer_walk_t walk = {bytes, bytes + size, 1, NULL};
    zpeer_token_t token = {0};
    cr_assert_eq (zpeer_walk_next (&walk, &token), ZPEER_OK, "%s", walk.error);
    return token;
}

Test (walk, every_format_of_an_integer_is_read)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool negative;
        uint64_t value;
    } cases[] = {
        {BYTES ("\x00"), false, 0},
        {BYTES ("\x7f"), false, 127},
        {BYTES ("\xcc\xff"), false, 255},
        {BYTES ("\xcd\x01\x02"), false, 0x0102},
        {BYTES ("\xce\x01\x02\x03\x04"), false, 0x01020304},
        {BYTES ("\xcf\xff\x02\x03\x04\x05\x06\x07\x08"), false,
         UINT64_C (0xff02030405060708)},
        {BYTES ("\xe0"), true, (uint64_t) -32},
        {BYTES ("\xff"), true, (uint64_t) -1},
        {BYTES ("\xd0\x80"), true, (uint64_t) -128},
        {BYTES ("\xd1\x80\x00"), true, (uint64_t) -32768},
        {BYTES ("\xd2\x80\x00\x00\x00"), true, (uint64_t) INT32_MIN},
        {BYTES ("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), true,
         (uint64_t) INT64_MIN},
        {BYTES ("\xd1\x7f\xff"), true, 32767},
    };
    for (size_t i = 0; i < LENGTH (cases); i++) {
        zpeer_token_t token = s_token (cases[i].bytes, cases[i].size);
        cr_expect_eq (token.kind,
                      cases[i].negative ? ZPEER_TOKEN_INT : ZPEER_TOKEN_UINT);
        cr_expect_eq (token.as.uint, cases[i].value, "case %zu", i);
    }
}

Test (walk, every_format_of_bytes_is_read_and_lies_in_the_frame)
{
    static const struct {
        const char *bytes;
        size_t size;
        zpeer_token_kind_t kind;
        size_t length;
    } cases[] = {
        {BYTES ("\xa0"), ZPEER_TOKEN_STR, 0},
        {BYTES ("\xa2xy"), ZPEER_TOKEN_STR, 2},
        {BYTES ("\xd9\x02xy"), ZPEER_TOKEN_STR, 2},
        {BYTES ("\xda\x00\x02xy"), ZPEER_TOKEN_STR, 2},
        {BYTES ("\xdb\x00\x00\x00\x02xy"), ZPEER_TOKEN_STR, 2},
        {BYTES ("\xc4\x02xy"), ZPEER_TOKEN_BIN, 2},
        {BYTES ("\xc5\x00\x02xy"), ZPEER_TOKEN_BIN, 2},
        {BYTES ("\xc6\x00\x00\x00\x02xy"), ZPEER_TOKEN_BIN, 2},
        {BYTES ("\xd4\x05x"), ZPEER_TOKEN_EXT, 2},
        {BYTES ("\xd5\x05xy"), ZPEER_TOKEN_EXT, 3},
        {BYTES ("\xd6\x05wxyz"), ZPEER_TOKEN_EXT, 5},
        {BYTES ("\xd7\x05"
                "12345678"),
         ZPEER_TOKEN_EXT, 9},
        {BYTES ("\xd8\x05"
                "1234567890123456"),
         ZPEER_TOKEN_EXT, 17},
        {BYTES ("\xc7\x01\x05x"), ZPEER_TOKEN_EXT, 2},
        {BYTES ("\xc8\x00\x01\x05x"), ZPEER_TOKEN_EXT, 2},
        {BYTES ("\xc9\x00\x00\x00\x01\x05x"), ZPEER_TOKEN_EXT, 2},
    };
    for (size_t i = 0; i < LENGTH (cases); i++) {
        zpeer_token_t token = s_token (cases[i].bytes, cases[i].size);
        cr_expect_eq (token.kind, cases[i].kind, "case %zu", i);
        cr_expect_eq (token.bytes.size, cases[i].length, "case %zu", i);
        cr_expect_eq (token.bytes.data + token.bytes.size,
                      cases[i].bytes + cases[i].size, "case %zu", i);
    }
}

Test (walk, floats_booleans_and_nil_are_read)
{
    zpeer_token_t token = s_token (BYTES ("\xca\x3f\xc0\x00\x00"));
    cr_assert_eq (token.kind, ZPEER_TOKEN_FLOAT32);
    cr_assert_float_eq (token.as.real, 1.5, 0);
    token = s_token (BYTES ("\xcb\xbf\xf8\x00\x00\x00\x00\x00\x00"));
    cr_assert_eq (token.kind, ZPEER_TOKEN_FLOAT);
    cr_assert_float_eq (token.as.real, -1.5, 0);
    token = s_token (BYTES ("\xc3"));
    cr_assert_eq (token.kind, ZPEER_TOKEN_BOOL);
    cr_assert (token.as.flag);
    token = s_token (BYTES ("\xc2"));
    cr_assert_not (token.as.flag);
    cr_assert_eq (s_token (BYTES ("\xc0")).kind, ZPEER_TOKEN_NIL);
}

Test (walk, a_string_is_seen_for_what_it_is_at_every_length_and_place)
{
    static const struct {
        char byte;
        zpeer_utf8_t look;
    } cases[] = {
        {'a', ZPEER_UTF8_ASCII},      {' ', ZPEER_UTF8_ASCII},
        {'~', ZPEER_UTF8_ASCII},      {'!', ZPEER_UTF8_ASCII},
        {'\x7f', ZPEER_UTF8_PLAIN},   {'"', ZPEER_UTF8_ESCAPED},
        {'\\', ZPEER_UTF8_ESCAPED},   {'\x1f', ZPEER_UTF8_ESCAPED},
        {'\0', ZPEER_UTF8_NUL},       {'\x80', ZPEER_UTF8_INVALID},
        {'\xff', ZPEER_UTF8_INVALID},
    };
    char text[40];
    for (size_t i = 0; i < LENGTH (cases); i++)
        for (size_t size = 1; size <= sizeof text; size++)
            for (size_t at = 0; at < size; at++) {
                memset (text, 'x', sizeof text);
                text[at] = cases[i].byte;
                cr_assert_eq (zpeer_utf8_look ((zpeer_slice_t){text, size}),
                              cases[i].look, "case %zu at %zu of %zu", i, at,
                              size);
            }
}

Test (walk, what_is_no_text_in_a_string_can_be_cleaned)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac"},
        {"\xff\xc3", "??"},
        {"a\x1b[2J\x7f\n", "a?[2J??"},
        {"\xc2\x9b.", "??."},
        {"\xed\xa0\x80", "???"},
        {"cut \xe2\x82", "cut ??"},
    };
    char text[16];
    for (size_t i = 0; i < LENGTH (cases); i++) {
        snprintf (text, sizeof text, "%s", cases[i][0]);
        zpeer_utf8_clean (text);
        cr_assert_str_eq (text, cases[i][1], "case %zu", i);
    }
}
