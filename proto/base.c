#include <zpeer/base.h>
#include "banned.h"

static const struct {
    const char *text;
    int code;
    zpeer_action_hint_t hint;
} s_errors[] = {
#define X(name, value, text, action) {text, value, ZPEER_ACTION_##action},
    ZPEER_ERRORS (X)
#undef X
};

#define ERROR_COUNT (sizeof s_errors / sizeof *s_errors)

const char *
zpeer_strerror (int code)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (s_errors[i].code == code)
            return s_errors[i].text;
    return "unknown error";
}

zpeer_action_hint_t
zpeer_error_hint (int code)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (s_errors[i].code == code)
            return s_errors[i].hint;
    return ZPEER_ACTION_FATAL;
}

const char *
zpeer_version (void)
{
    return ZPEER_VERSION;
}
