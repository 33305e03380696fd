#include <zpeer/base.h>
#include "banned.h"

const char *
zpeer_strerror (int code)
{
    switch (code) {
#define X(name, value, text, action)                                           \
    case value: return text;
        ZPEER_ERRORS (X)
#undef X
    default: return "unknown error";
    }
}

zpeer_action_hint_t
zpeer_error_hint (int code)
{
    switch (code) {
#define X(name, value, text, action)                                           \
    case value: return ZPEER_ACTION_##action;
        ZPEER_ERRORS (X)
#undef X
    default: return ZPEER_ACTION_FATAL;
    }
}

const char *
zpeer_version (void)
{
    return ZPEER_VERSION;
}
