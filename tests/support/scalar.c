#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scalar.h"
#include "banned.h"

#define REAL_MAX 9e18  //  Below, a double fits into 64 bits

static const char *const s_statuses[] = {"UP", "DOWN", "STARTING",
                                         "OUT_OF_SERVICE", "UNKNOWN"};

const char *
speer_status_name (speer_status_t status)
{
    assert (status < SPEER_STATUS_NOT_ONE);
    return s_statuses[status];
}

speer_status_t
speer_status_parse (const char *name)
{
    int status = SPEER_STATUS_UP;
    while (status < SPEER_STATUS_NOT_ONE &&
           strcmp (s_statuses[status], name) != 0)
        status++;
    return (speer_status_t) status;
}

char *
speer_scalar_text (const json_t *value, bool *fits)
{
    char *text = NULL;
    if (json_is_string (value))
        text = strdup (json_string_value (value));
    else if (json_is_boolean (value))
        text = strdup (json_is_true (value) ? "true" : "false");
    else if (json_is_number (value))
        text = json_dumps (value, JSON_ENCODE_ANY | JSON_REAL_PRECISION (17));
    else if (value && !json_is_null (value))
        *fits = false;
    return text;
}

int64_t
speer_scalar_number (const json_t *value, bool *fits)
{
    if (json_is_integer (value))
        return json_integer_value (value);
    if (json_is_real (value)) {
        double real = json_real_value (value);
        *fits = *fits && real > -REAL_MAX && real < REAL_MAX;
        return *fits ? (int64_t) real : 0;
    }
    if (!value || json_is_null (value))
        return SPEER_NONE;
    if (!json_is_string (value)) {
        *fits = false;
        return 0;
    }
    char *text = speer_trim (strdup (json_string_value (value)));
    bool none = !*text || !strcmp (text, "null");
    char *end;
    errno = 0;
    int64_t number = none ? SPEER_NONE : strtoll (text, &end, 10);
    if (!none && (*end || errno))
        *fits = false;
    free (text);
    return number;
}

//  The text of a number, or 0: with a fraction it is cut off
static int64_t
s_coerced_text (const char *string, int64_t min, int64_t max)
{
    char *text = speer_trim (strdup (string));
    char *end;
    errno = 0;
    int64_t number = strtoll (text, &end, 10);
    if (*text && *end && !errno) {
        double real = strtod (text, &end);
        number = real > -REAL_MAX && real < REAL_MAX ? (int64_t) real : 0;
    }
    if (!*text || *end || errno || number < min || number > max)
        number = 0;
    free (text);
    return number;
}

int64_t
speer_scalar_coerced (const json_t *value, int64_t min, int64_t max, bool *fits)
{
    if (!value)
        return SPEER_NONE;
    if (json_is_object (value) || json_is_array (value))
        *fits = false;
    if (json_is_string (value))
        return s_coerced_text (json_string_value (value), min, max);
    if (!json_is_number (value))
        return json_is_true (value);
    int64_t number = speer_scalar_number (value, fits);
    if (number < min || number > max)
        *fits = false;
    return number;
}

char *
speer_trim (char *text)
{
    static const char blanks[] = " \t\r\n";
    if (!text)
        return NULL;
    size_t before = strspn (text, blanks);
    size_t size = strlen (text + before);
    while (size && strchr (blanks, text[before + size - 1]))
        size--;
    memmove (text, text + before, size);
    text[size] = 0;
    return text;
}

char *
speer_upper (char *text)
{
    for (char *at = text; at && *at; at++)
        *at = (char) toupper ((unsigned char) *at);
    return text;
}
