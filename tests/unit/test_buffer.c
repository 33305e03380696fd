/*  test_buffer.c - the buffer that grows
*/
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "buffer.h"
#include "banned.h"

static zpeer_buffer_t s_buffer;

static void
s_teardown (void)
{
    zpeer_buffer_free (&s_buffer);
}

TestSuite (buffer, .fini = s_teardown);

static void
s_holds (const char *text)
{
    zpeer_slice_t slice = {s_buffer.data, s_buffer.size};
    cr_assert (zpeer_slice_eq (slice, zpeer_slice_str (text)),
               "\"%.*s\", not \"%s\"", (int) slice.size, slice.data, text);
    zpeer_buffer_reset (&s_buffer);
}

Test (buffer, numbers_are_written_in_decimal)
{
    char text[32];
    uint64_t value = 1;
    for (int digits = 0; digits < 20; digits++, value *= 10)
        for (uint64_t around = value - 1; around <= value + 1; around++) {
            snprintf (text, sizeof text, "%" PRIu64, around);
            zpeer_buffer_uint (&s_buffer, around);
            s_holds (text);
        }
    zpeer_buffer_uint (&s_buffer, UINT64_MAX);
    s_holds ("18446744073709551615");
    zpeer_buffer_uint (&s_buffer, 1718272205117);
    s_holds ("1718272205117");
}

Test (buffer, text_is_escaped_as_json_demands)
{
    zpeer_buffer_json (&s_buffer, ZPEER_SLICE ("a\"\\/\b\f\n\r\t\x01\x1f\x7f"
                                               "\xc3\xa9"));
    s_holds ("\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xc3\xa9\"");
    zpeer_buffer_json (&s_buffer, ZPEER_SLICE ("a\0b"));
    s_holds ("\"a\\u0000b\"");
    zpeer_buffer_json (&s_buffer, ZPEER_SLICE (""));
    s_holds ("\"\"");
    zpeer_buffer_json (&s_buffer, (zpeer_slice_t){NULL, 0});
    s_holds ("\"\"");
}

Test (buffer, what_is_taken_is_the_callers)
{
    zpeer_buffer_add (&s_buffer, "text", sizeof "text");
    char *text = zpeer_buffer_take (&s_buffer);
    cr_assert_str_eq (text, "text");
    cr_assert_eq (s_buffer.size, 0);
    cr_assert_null (s_buffer.data);
    free (text);
}

Test (buffer, a_reset_keeps_the_memory)
{
    zpeer_buffer_reserve (&s_buffer, 10000);
    const char *data = s_buffer.data;
    cr_assert_geq (s_buffer.capacity, 10000);
    zpeer_buffer_lit (&s_buffer, "abc");
    zpeer_buffer_reset (&s_buffer);
    zpeer_buffer_lit (&s_buffer, "d");
    cr_assert_eq (s_buffer.data, data);
    s_holds ("d");
}
