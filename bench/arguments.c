#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "banned.h"

void
arguments_open (arguments_t *self, int argc, char **argv, const char *usage)
{
    *self = (arguments_t){argc, argv, usage, 1};
}

static _Noreturn void
s_refuse (const arguments_t *self, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    fprintf (stderr, "%s: ", self->argv[0]);
    vfprintf (stderr, format, args);
    fprintf (stderr, "\nusage: %s %s\n", self->argv[0], self->usage);
    va_end (args);
    exit (EXIT_FAILURE);
}

static const char *
s_next (arguments_t *self)
{
    if (!arguments_left (self))
        s_refuse (self, "an argument is missing");
    return self->argv[self->next++];
}

const char *
arguments_word (arguments_t *self, const char *words)
{
    const char *text = s_next (self);
    if (!arguments_is_word (text, words))
        s_refuse (self, "\"%s\" is none of %s", text, words);
    return text;
}

uint64_t
arguments_number (arguments_t *self, uint64_t least, uint64_t most)
{
    uint64_t value = 0;
    const char *text = s_next (self);
    if (!arguments_is_number (text, least, most, &value))
        s_refuse (self, "\"%s\" is no number from %" PRIu64 " to %" PRIu64,
                  text, least, most);
    return value;
}

double
arguments_real (arguments_t *self, double least, double most)
{
    char *end;
    const char *text = s_next (self);
    double value = strtod (text, &end);
    //  What does not begin with a digit is a sign, a blank, "nan" or "inf"
    if (!isdigit ((unsigned char) *text) || *end || value < least ||
        value > most)
        s_refuse (self, "\"%s\" is no number from %g to %.0f", text, least,
                  most);
    return value;
}

bool
arguments_left (const arguments_t *self)
{
    return self->next < self->argc;
}

void
arguments_close (arguments_t *self)
{
    if (arguments_left (self))
        s_refuse (self, "\"%s\" is one argument too many", s_next (self));
}

bool
arguments_is_word (const char *text, const char *words)
{
    size_t size = strlen (text);
    for (;;) {
        size_t length = strcspn (words, "|");
        if (length == size && !strncmp (words, text, size))
            return true;
        if (!words[length])
            return false;
        words += length + 1;
    }
}

bool
arguments_is_number (const char *text, uint64_t least, uint64_t most,
                     uint64_t *value)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull (text, &end, 10);
    if (!isdigit ((unsigned char) *text) || *end || errno || number < least ||
        number > most)
        return false;
    *value = number;
    return true;
}
