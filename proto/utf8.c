#include <stdint.h>
#include "utf8.h"
#include "banned.h"

#define EACH(byte) (0x0101010101010101u * (byte))
#define HIGH       EACH (0x80)

//  Not zero if a byte of word is not printable ASCII, or one that JSON escapes.
//  For 7-bit bytes x - 1 has its high bit set where x is zero, and x - 0x20
//  where x is a control character; a borrow can only follow such a byte.
static inline uint64_t
s_special (uint64_t word)
{
    return (word | (word - EACH (0x20)) | ((word ^ EACH ('"')) - EACH (1)) |
            ((word ^ EACH ('\\')) - EACH (1)) |
            ((word ^ EACH (0x7f)) - EACH (1))) &
           HIGH;
}

static inline uint64_t
s_load8 (const char *at)
{
    uint64_t word;
    memcpy (&word, at, sizeof word);
    return word;
}

static inline uint64_t
s_load4 (const char *at)
{
    uint32_t word;
    memcpy (&word, at, sizeof word);
    return word;
}

//  1 to 7 bytes in a word; some twice, which does not matter here
static inline uint64_t
s_load_few (const char *at, size_t size)
{
    if (size >= 4)
        return s_load4 (at) | s_load4 (at + size - 4) << 32;
    uint64_t first = (uint8_t) at[0];
    uint64_t middle = (uint8_t) at[size / 2];
    uint64_t last = (uint8_t) at[size - 1];
    return first | middle << 8 | last << 16 |
           (EACH (' ') & ~UINT64_C (0xffffff));
}

static bool
s_ascii (zpeer_slice_t text)
{
    if (!text.size)
        return true;
    if (text.size < sizeof (uint64_t))
        return !s_special (s_load_few (text.data, text.size));
    const char *last = text.data + text.size - sizeof (uint64_t);
    for (const char *at = text.data; at < last; at += sizeof (uint64_t))
        if (s_special (s_load8 (at)))
            return false;
    return !s_special (s_load8 (last));
}

//  Sequences by their first byte: how long, and what the second byte may be
//  (RFC 3629, section 4)
static const struct {
    uint8_t first;
    uint8_t last;
    uint8_t size;
    uint8_t low;
    uint8_t high;
} s_sequences[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

//  The size of the sequence at the start of the bytes, 0 if there is none
static size_t
s_sequence (const uint8_t *at, size_t size)
{
    if (*at < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof s_sequences / sizeof *s_sequences; i++) {
        if (*at < s_sequences[i].first || *at > s_sequences[i].last)
            continue;
        if (size < s_sequences[i].size || at[1] < s_sequences[i].low ||
            at[1] > s_sequences[i].high)
            return 0;
        for (size_t k = 2; k < s_sequences[i].size; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return s_sequences[i].size;
    }
    return 0;
}

zpeer_utf8_t
zpeer_utf8_look (zpeer_slice_t text)
{
    if (s_ascii (text))
        return ZPEER_UTF8_ASCII;
    const uint8_t *bytes = (const uint8_t *) text.data;
    zpeer_utf8_t found = ZPEER_UTF8_PLAIN;
    for (size_t i = 0; i < text.size;) {
        size_t size = s_sequence (bytes + i, text.size - i);
        if (!size)
            return ZPEER_UTF8_INVALID;
        if (!bytes[i])
            found = ZPEER_UTF8_NUL;
        else if ((bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\') &&
                 found == ZPEER_UTF8_PLAIN)
            found = ZPEER_UTF8_ESCAPED;
        i += size;
    }
    return found;
}

bool
zpeer_utf8_control (zpeer_slice_t text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = (uint8_t) text.data[i];
        if (byte < 0x20 || byte == 0x7f)
            return true;
        //  U+0080..U+009F are C2 80..C2 9F
        if (byte == 0xc2 && i + 1 < text.size &&
            (uint8_t) text.data[i + 1] < 0xa0)
            return true;
    }
    return false;
}

void
zpeer_utf8_clean (char *text)
{
    for (size_t left = strlen (text); left;) {
        size_t size = s_sequence ((const uint8_t *) text, left);
        zpeer_slice_t sequence = {text, size ? size : 1};
        if (!size || zpeer_utf8_control (sequence))
            memset (text, '?', sequence.size);
        text += sequence.size;
        left -= sequence.size;
    }
}

bool
zpeer_utf8_blank (zpeer_slice_t text)
{
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.data[i];
        if (byte != ' ' && (byte < '\t' || byte > '\r'))
            return false;
    }
    return true;
}

bool
zpeer_utf8_dots (zpeer_slice_t text)
{
    return zpeer_slice_eq (text, ZPEER_SLICE (".")) ||
           zpeer_slice_eq (text, ZPEER_SLICE (".."));
}
