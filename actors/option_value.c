#include <assert.h>
#include <stdlib.h>
#include <strings.h>
#include "option_value.h"
#include "banned.h"

static const char s_blanks[] = " \t\r\n";

static bool
s_is_blank (char byte)
{
    return memchr (s_blanks, byte, sizeof s_blanks - 1) != NULL;
}

zpeer_slice_t
zpeer_option_trim (zpeer_slice_t text)
{
    while (text.size && s_is_blank (text.data[text.size - 1]))
        text.size--;
    while (text.size && s_is_blank (*text.data)) {
        text.data++;
        text.size--;
    }
    return text;
}

bool
zpeer_option_part (zpeer_slice_t *text, zpeer_slice_t *part)
{
    while (text->size) {
        const char *comma = memchr (text->data, ',', text->size);
        size_t size = comma ? (size_t) (comma - text->data) : text->size;
        *part = zpeer_option_trim ((zpeer_slice_t){text->data, size});
        text->data += size + (comma != NULL);
        text->size -= size + (comma != NULL);
        if (part->size)
            return true;
    }
    return false;
}

char *
zpeer_option_copy (zpeer_slice_t text)
{
    char *copy = strndup (text.data ? text.data : "", text.size);
    assert (copy);
    return copy;
}

//  Reading: each returns whether the text was a value

static bool
s_read_number (const zpeer_option_t *self, uint32_t *field, zpeer_slice_t text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        number = number * 10 + (uint64_t) (text.data[i] - '0');
        if (number > self->max)
            return false;
    }
    if (!text.size || number < self->min)
        return false;
    *field = (uint32_t) number;
    return true;
}

static bool
s_read_flag (bool *field, zpeer_slice_t text)
{
    //  Even: false, odd: true
    static const char *const words[] = {"false", "true", "off", "on",
                                        "no",    "yes",  "0",   "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen (words[i]) == text.size &&
            !strncasecmp (words[i], text.data, text.size)) {
            *field = i % 2;
            return true;
        }
    return false;
}

static bool
s_read_statuses (const zpeer_option_t *self, zpeer_statuses_t *field,
                 zpeer_slice_t text)
{
    zpeer_statuses_t statuses = {0};
    zpeer_slice_t part;
    while (zpeer_option_part (&text, &part)) {
        uint32_t status = 0;
        if (statuses.count == ZPEER_OPTIONS_STATUSES_MAX ||
            !s_read_number (self, &status, part))
            return false;
        statuses.codes[statuses.count++] = (uint16_t) status;
    }
    *field = statuses;
    return true;
}

static bool
s_read_text (char **field, zpeer_slice_t text)
{
    free (*field);
    *field = zpeer_option_copy (text);
    return true;
}

bool
zpeer_option_read (const zpeer_option_t *self, void *field, zpeer_slice_t text)
{
    switch (self->type) {
    case ZPEER_OPTION_NUMBER: return s_read_number (self, field, text);
    case ZPEER_OPTION_FLAG: return s_read_flag (field, text);
    case ZPEER_OPTION_STATUSES: return s_read_statuses (self, field, text);
    case ZPEER_OPTION_TEXT:
    case ZPEER_OPTION_URLS: return s_read_text (field, text);
    case ZPEER_OPTION_ZONES: break;
    }
    return false;
}

//  Writing

static void
s_write_text (const char *text, zpeer_buffer_t *out)
{
    zpeer_buffer_slice (out, zpeer_slice_str (text));
}

static void
s_write_statuses (const zpeer_statuses_t *statuses, zpeer_buffer_t *out)
{
    for (uint32_t i = 0; i < statuses->count; i++) {
        if (i)
            zpeer_buffer_lit (out, ",");
        zpeer_buffer_uint (out, statuses->codes[i]);
    }
}

void
zpeer_option_redact (const char *urls, zpeer_buffer_t *out)
{
    const char *scheme;
    while ((scheme = strstr (urls, "://")) != NULL) {
        const char *host = scheme + 3;
        zpeer_buffer_add (out, urls, (size_t) (host - urls));
        //  A password may hold a bare '@': the last one ends it
        const char *at = memrchr (host, '@', strcspn (host, "/, \t"));
        if (at)
            zpeer_buffer_lit (out, "***");
        urls = at ? at : host;
    }
    s_write_text (urls, out);
}

void
zpeer_option_write (const zpeer_option_t *self, const void *field, bool redact,
                    zpeer_buffer_t *out)
{
    switch (self->type) {
    case ZPEER_OPTION_NUMBER:
        zpeer_buffer_uint (out, *(const uint32_t *) field);
        break;
    case ZPEER_OPTION_FLAG:
        s_write_text (*(const bool *) field ? "true" : "false", out);
        break;
    case ZPEER_OPTION_STATUSES: s_write_statuses (field, out); break;
    case ZPEER_OPTION_TEXT: s_write_text (*(char *const *) field, out); break;
    case ZPEER_OPTION_URLS:
        if (redact)
            zpeer_option_redact (*(char *const *) field, out);
        else
            s_write_text (*(char *const *) field, out);
        break;
    case ZPEER_OPTION_ZONES: break;
    }
}
