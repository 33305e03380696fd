/*  event_fixture.h - events written down as text, for the parser's tests

    The text is JSON with apostrophes for quotes. It says what JSON cannot: a
    key twice, bytes that are no UTF-8 (\xHH), b'...' for bin, x'...' for ext,
    n.n for a double, f before one for a float.
*/
#ifndef ZPEER_EVENT_FIXTURE_H_INCLUDED
#define ZPEER_EVENT_FIXTURE_H_INCLUDED

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "event.h"

static inline const char *pack_value (zpeer_buffer_t *out, const char *at);

static inline void
pack_number (zpeer_buffer_t *out, char format, uint64_t value, unsigned width)
{
    zpeer_buffer_add (out, &format, 1);
    while (width--) {
        char byte = (char) (value >> 8 * width);
        zpeer_buffer_add (out, &byte, 1);
    }
}

static inline const char *
pack_text (zpeer_buffer_t *out, const char *at, char format)
{
    zpeer_buffer_t text = {0};
    for (; *at != '\''; at++) {
        cr_assert (*at, "the text does not end");
        char byte = *at;
        if (at[0] == '\\' && at[1] == 'x') {
            char hex[3] = {at[2], at[3], 0};
            byte = (char) strtol (hex, NULL, 16);
            at += 3;
        }
        zpeer_buffer_add (&text, &byte, 1);
    }
    pack_number (out, format, text.size, 4);
    if (format == '\xc9')  //  The type of an ext
        zpeer_buffer_lit (out, "\x05");
    zpeer_buffer_add (out, text.data, text.size);
    zpeer_buffer_free (&text);
    return at + 1;
}

static inline const char *
pack_real (zpeer_buffer_t *out, const char *at, bool small)
{
    char *end;
    double real = strtod (at, &end);
    cr_assert (end > at, "no value: %s", at);
    float single = (float) real;
    uint64_t bits = 0;
    uint32_t few = 0;
    memcpy (&bits, &real, sizeof real);
    memcpy (&few, &single, sizeof single);
    if (small)
        pack_number (out, '\xca', few, 4);
    else
        pack_number (out, '\xcb', bits, 8);
    return end;
}

static inline const char *
pack_scalar (zpeer_buffer_t *out, const char *at)
{
    static const struct {
        const char *word;
        char byte;
    } words[] = {{"null", '\xc0'}, {"false", '\xc2'}, {"true", '\xc3'}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp (at, words[i].word, strlen (words[i].word))) {
            zpeer_buffer_add (out, &words[i].byte, 1);
            return at + strlen (words[i].word);
        }
    if (*at == 'f')
        return pack_real (out, at + 1, true);
    size_t digits = strspn (at, "-0123456789");
    if (!digits || at[digits] == '.' || at[digits] == 'i')
        return pack_real (out, at, false);
    char *end;
    if (*at == '-')
        pack_number (out, '\xd3', (uint64_t) strtoll (at, &end, 10), 8);
    else
        pack_number (out, '\xcf', strtoull (at, &end, 10), 8);
    return end;
}

//  A map or an array; its count is known at the end
static inline const char *
pack_all (zpeer_buffer_t *out, const char *at, char format, char close)
{
    size_t head = out->size;
    uint32_t count = 0;
    pack_number (out, format, 0, 4);
    for (;; count++) {
        at += strspn (at, " ,:\n");
        if (*at == close)
            break;
        at = pack_value (out, at);
    }
    if (close == '}')
        count /= 2;
    for (unsigned i = 0; i < 4; i++)
        out->data[head + 1 + i] = (char) (count >> (24 - 8 * i));
    return at + 1;
}

static inline const char *
pack_value (zpeer_buffer_t *out, const char *at)
{
    switch (*at) {
    case '{': return pack_all (out, at + 1, '\xdf', '}');
    case '[': return pack_all (out, at + 1, '\xdd', ']');
    case '\'': return pack_text (out, at + 1, '\xdb');
    case 'b': return pack_text (out, at + 2, '\xc6');
    case 'x': return pack_text (out, at + 2, '\xc9');
    default: return pack_scalar (out, at);
    }
}

//  What the parser said to the first event of a text
typedef struct {
    int rc;
    zpeer_parsed_t event;
    char reason[ZPEER_REASON_MAX];
    size_t size;    //  Of the frame
    size_t offset;  //  Behind the event
} verdict_t;

//  The slices in the verdict point into these until the next parse
static zpeer_buffer_t s_frame;
static zpeer_parser_t *s_parser;

static inline void
parse_frame (verdict_t *verdict, const char *data, size_t size)
{
    if (!s_parser)
        s_parser = zpeer_parser_new ();
    memset (verdict, 0, sizeof *verdict);
    verdict->size = size;
    verdict->rc = zpeer_parser_next (s_parser, data, size, &verdict->offset,
                                     &verdict->event, verdict->reason);
}

static inline void
parse_text (verdict_t *verdict, const char *text)
{
    zpeer_buffer_reset (&s_frame);
    pack_value (&s_frame, text);
    //  Exactly as long as it is, so that ASan sees a read behind it
    char *exact = (char *) realloc (s_frame.data, s_frame.size);
    s_frame = (zpeer_buffer_t){exact, s_frame.size, s_frame.size};
    parse_frame (verdict, s_frame.data, s_frame.size);
}

static inline void
fixture_free (void)
{
    zpeer_buffer_free (&s_frame);
    zpeer_parser_destroy (&s_parser);
}

#define assert_slice(slice, text)                                              \
    cr_assert (zpeer_slice_eq ((slice), zpeer_slice_str (text)),               \
               "\"%.*s\" is not \"%s\"", (int) (slice).size, (slice).data,     \
               (text))

#endif
