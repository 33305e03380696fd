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
    const char *text = json_is_string (value) ? json_string_value (value) : "x";
    if (!*text)
        return SPEER_NONE;
    char *end;
    errno = 0;
    int64_t number = strtoll (text, &end, 10);
    if (*end || errno)
        *fits = false;
    return number;
}

char *
speer_upper (char *text)
{
    for (char *at = text; at && *at; at++)
        *at = (char) toupper ((unsigned char) *at);
    return text;
}
