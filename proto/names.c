#include <string.h>
#include <zpeer/names.h>
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

static const char *const s_actions[] = {
    [ZPEER_REGISTER] = "Register",
    [ZPEER_HEARTBEAT] = "Heartbeat",
    [ZPEER_CANCEL] = "Cancel",
    [ZPEER_STATUS_UPDATE] = "StatusUpdate",
    [ZPEER_DELETE_STATUS_OVERRIDE] = "DeleteStatusOverride",
    [ZPEER_ASG_STATUS_UPDATE] = "AsgStatusUpdate",
    [ZPEER_FORGET] = "Forget",
};

static const char *const s_statuses[] = {
    [ZPEER_UNKNOWN] = "UNKNOWN",
    [ZPEER_UP] = "UP",
    [ZPEER_DOWN] = "DOWN",
    [ZPEER_STARTING] = "STARTING",
    [ZPEER_OUT_OF_SERVICE] = "OUT_OF_SERVICE",
};

static const char *const s_verdicts[] = {
    [ZPEER_SUCCESS] = "Success",
    [ZPEER_CONGESTION] = "Congestion",
    [ZPEER_TRANSIENT_ERROR] = "TransientError",
    [ZPEER_PERMANENT_ERROR] = "PermanentError",
};

static const char *
s_name (const char *const *names, size_t count, unsigned value)
{
    return value < count ? names[value] : "?";
}

//  Returns the index of text in names, or -1
static int
s_find (const char *const *names, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen (names[i]) == length && !memcmp (names[i], text, length))
            return (int) i;
    return -1;
}

const char *
zpeer_action_name (zpeer_action_t action)
{
    return s_name (s_actions, LENGTH (s_actions), (unsigned) action);
}

const char *
zpeer_status_name (zpeer_status_t status)
{
    return s_name (s_statuses, LENGTH (s_statuses), (unsigned) status);
}

const char *
zpeer_verdict_name (zpeer_verdict_t verdict)
{
    return s_name (s_verdicts, LENGTH (s_verdicts), (unsigned) verdict);
}

int
zpeer_action_parse (const char *text, size_t length, zpeer_action_t *action)
{
    int found = s_find (s_actions, LENGTH (s_actions), text, length);
    if (found < 0)
        return ZPEER_E_UNKNOWN;
    *action = (zpeer_action_t) found;
    return ZPEER_OK;
}

int
zpeer_status_parse (const char *text, size_t length, zpeer_status_t *status)
{
    int found = s_find (s_statuses, LENGTH (s_statuses), text, length);
    if (found < 0)
        return ZPEER_E_UNKNOWN;
    *status = (zpeer_status_t) found;
    return ZPEER_OK;
}
