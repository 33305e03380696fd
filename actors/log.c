#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "log.h"
#include "utf8.h"
#include "banned.h"

static const zpeer_message_info_t s_messages[] = {
#define X(name, id, level, format, advice)                                     \
    [ZPR_##name] = {id, format, advice, ZPEER_LOG_##level},
    ZPEER_MESSAGES (X)
#undef X
};

static const char *const s_levels[] = {
    [ZPEER_LOG_DEBUG] = "debug",
    [ZPEER_LOG_INFO] = "info",
    [ZPEER_LOG_WARNING] = "warning",
    [ZPEER_LOG_ERROR] = "error",
};

const char *
zpeer_log_level_name (zpeer_log_level_t level)
{
    return (unsigned) level < sizeof s_levels / sizeof *s_levels
               ? s_levels[level]
               : "?";
}

const zpeer_message_info_t *
zpeer_message_info (zpeer_message_t message)
{
    return (unsigned) message < ZPR_MESSAGES ? &s_messages[message] : NULL;
}

void
zpeer_log_write (const zpeer_log_t *self, zpeer_message_t message,
                 const char *format, ...)
{
    if (!self->fn)
        return;
    char text[ZPEER_LOG_TEXT_MAX];
    va_list args;
    va_start (args, format);
    int size = vsnprintf (text, sizeof text, format, args);
    va_end (args);
    if (size >= (int) sizeof text)
        memcpy (text + sizeof text - sizeof "...", "...", sizeof "...");
    zpeer_utf8_clean (text);
    self->fn (self->arg, s_messages[message].level, s_messages[message].id,
              text);
}
