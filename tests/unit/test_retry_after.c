/*  test_retry_after.c - seconds, dates, and what only looks like them
*/
#include <criterion/criterion.h>
#include "retry_after.h"
#include "banned.h"

//  Sun, 06 Nov 2044 08:49:37 GMT
#define THEN ((time_t) 2362034977)

static void
s_is (const char *value, uint32_t ms)
{
    uint32_t read_ms = zpeer_retry_after_ms (value, THEN - 7);
    cr_expect_eq (read_ms, ms, "\"%s\" is %u ms", value, read_ms);
}

Test (retry_after, digits_are_seconds)
{
    s_is ("0", 0);
    s_is ("7", 7000);
    s_is ("120", 120000);
    s_is ("007", 7000);
}

Test (retry_after, blanks_around_it_are_none_of_it)
{
    s_is (" \t7", 7000);
    s_is ("7\t ", 7000);
    s_is ("\t Sun, 06 Nov 2044 08:49:37 GMT \t", 7000);
}

Test (retry_after, any_number_of_seconds_has_a_limit)
{
    s_is ("4294967", 4294967000);
    s_is ("4294968", UINT32_MAX);
    //  Where 32 and 64 bits end
    s_is ("4294967296", UINT32_MAX);
    s_is ("18446744073709551616", UINT32_MAX);
    s_is ("18446744073709551617", UINT32_MAX);
    s_is ("99999999999999999999", UINT32_MAX);
    s_is ("00000000000000000000000000000000000000007", 7000);
}

Test (retry_after, a_date_is_read_in_each_of_three_forms)
{
    s_is ("Sun, 06 Nov 2044 08:49:37 GMT", 7000);
    s_is ("Sunday, 06-Nov-44 08:49:37 GMT", 7000);
    s_is ("Sun Nov  6 08:49:37 2044", 7000);
    s_is ("Wed Nov 16 08:49:37 2044", 864007000);
}

Test (retry_after, a_date_that_has_passed_is_none)
{
    s_is ("Sun, 06 Nov 2044 08:49:31 GMT", 1000);
    s_is ("Sun, 06 Nov 2044 08:49:30 GMT", 0);
    s_is ("Sun, 06 Nov 2044 08:49:29 GMT", 0);
    s_is ("Sun, 06 Nov 1994 08:49:37 GMT", 0);
    s_is ("Wed, 31 Dec 1969 23:59:59 GMT", 0);
}

Test (retry_after, a_date_has_a_limit_as_seconds_have)
{
    s_is ("Sat, 06 Nov 9999 08:49:37 GMT", UINT32_MAX);
}

Test (retry_after, what_is_not_digits_alone_is_no_seconds)
{
    s_is ("", 0);
    s_is (" ", 0);
    s_is ("-5", 0);
    s_is ("+5", 0);
    s_is ("5s", 0);
    s_is ("5 s", 0);
    s_is ("5 5", 0);
    s_is ("5, 7", 0);
    s_is ("5.5", 0);
    s_is ("5e3", 0);
    s_is ("0x10", 0);
    s_is ("\"5\"", 0);
    s_is ("\v5", 0);
    s_is ("soon", 0);
}

Test (retry_after, what_has_none_of_the_forms_is_no_date)
{
    s_is ("2044-11-06T08:49:37Z", 0);
    s_is ("06 Nov 2044 08:49:37 GMT", 0);
    s_is (", 06 Nov 2044 08:49:37 GMT", 0);
    s_is ("Nov 6 2044", 0);
    s_is ("Sun, 06 Nov 2044", 0);
    s_is ("Sun, 06 Nov 2044 08:49:37", 0);
    s_is ("Sun, 06 Nov 2044 08:49:37 CET", 0);
    s_is ("Sun, 06 Nov 2044 08:49:37 GMT;", 0);
    s_is ("(Sun, 06 Nov 2044 08:49:37 GMT)", 0);
    s_is ("Sun, 06-Nov 2044 08:49:37 GMT", 0);
}

Test (retry_after, what_is_not_in_the_calendar_is_no_date)
{
    s_is ("Now, 06 Nov 2044 08:49:37 GMT", 0);
    s_is ("Sun, 06 Foo 2044 08:49:37 GMT", 0);
    s_is ("Sun, 00 Nov 2044 08:49:37 GMT", 0);
    s_is ("Sun, 99 Nov 2044 08:49:37 GMT", 0);
    s_is ("Sun, 06 Nov 2044 25:49:37 GMT", 0);
}
