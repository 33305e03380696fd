/*  zpeerd_messages.c - what zpeerd itself has to say
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "zpeerd_messages.h"
#include "banned.h"

//  Longest text
#define TEXT_MAX 1024

static const struct {
    zpeer_log_level_t level;
    const char *id;
    const char *format;
    const char *action;
} s_messages[] = {
#define X(name, level, id, text, action) {ZPEER_LOG_##level, id, text, action},
    ZPEERD_MESSAGES (X)
#undef X
};

void
zpeerd_say (stderr_log_t *log, zpeerd_message_t message, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start (arguments, message);
    vsnprintf (text, sizeof text, s_messages[message].format, arguments);
    va_end (arguments);
    stderr_log (log, s_messages[message].level, s_messages[message].id, text);
}

//  Prints a text with "…" for what will be filled in
static void
s_print_text (const char *format)
{
    while (*format) {
        size_t plain = strcspn (format, "%");
        printf ("%.*s", (int) plain, format);
        format += plain;
        if (*format == '%') {
            fputs ("…", stdout);
            format += strcspn (format, "dsu") + 1;
        }
    }
    putchar ('\n');
}

void
zpeerd_print_messages (void)
{
    for (size_t i = 0; i < sizeof s_messages / sizeof *s_messages; i++) {
        printf ("%s %-7s  ", s_messages[i].id,
                zpeer_log_level_name (s_messages[i].level));
        s_print_text (s_messages[i].format);
        printf ("    %s\n", s_messages[i].action);
    }
}
