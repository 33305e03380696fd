#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "retry_after.h"
#include "banned.h"

#define BLANKS  " \t"
#define DIGITS  "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

//  More seconds are not told apart
#define SECONDS_MAX (UINT32_MAX / 1000)

//  The three forms of a date (RFC 9110, 5.6.7) from the end of the day's name:
//  "a" stands for a letter, "0" for a digit, "_" for a digit or a blank
static const char *const s_forms[] = {
    ", 00 aaa 0000 00:00:00 GMT",  //  As it should be
    ", 00-aaa-00 00:00:00 GMT",    //  RFC 850
    " aaa _0 00:00:00 0000",       //  asctime ()
};

static uint32_t
s_ms (uint64_t seconds)
{
    return seconds > SECONDS_MAX ? UINT32_MAX : (uint32_t) seconds * 1000;
}

static bool
s_is_blank (const char *text)
{
    return !text[strspn (text, BLANKS)];
}

static uint64_t
s_seconds (const char *digits, size_t size)
{
    uint64_t seconds = 0;
    for (size_t i = 0; i < size && seconds <= SECONDS_MAX; i++)
        seconds = seconds * 10 + (uint64_t) (digits[i] - '0');
    return seconds;
}

static bool
s_is_of (char byte, const char *set)
{
    return byte && strchr (set, byte);
}

static bool
s_fits (char byte, char sign)
{
    switch (sign) {
    case 'a': return s_is_of (byte, LETTERS);
    case '0': return s_is_of (byte, DIGITS);
    case '_': return s_is_of (byte, DIGITS " ");
    default: return byte == sign;
    }
}

static bool
s_has_form (const char *text, const char *form)
{
    for (; *form; form++, text++)
        if (!s_fits (*text, *form))
            return false;
    return s_is_blank (text);
}

//  Curl reads dates in many more forms: "20300101" is one, and so is a date
//  among brackets
static bool
s_is_date (const char *text)
{
    size_t day = strspn (text, LETTERS);
    for (size_t i = 0; day && i < sizeof s_forms / sizeof *s_forms; i++)
        if (s_has_form (text + day, s_forms[i]))
            return true;
    return false;
}

uint32_t
zpeer_retry_after_ms (const char *value, time_t now)
{
    value += strspn (value, BLANKS);
    size_t size = strspn (value, DIGITS);
    if (size)
        return s_is_blank (value + size) ? s_ms (s_seconds (value, size)) : 0;
    //  -1 when there is no such date, which is long past too
    time_t date = s_is_date (value) ? curl_getdate (value, NULL) : -1;
    return date > now ? s_ms ((uint64_t) date - (uint64_t) now) : 0;
}
