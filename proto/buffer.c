#include <assert.h>
#include <stdlib.h>
#include "buffer.h"
#include "banned.h"

#define CAPACITY_MIN 256
#define DIGITS_MAX   20  //  Of 2^64 - 1

void
zpeer_buffer_free (zpeer_buffer_t *self)
{
    free (self->data);
    *self = (zpeer_buffer_t){0};
}

void
zpeer_buffer_grow (zpeer_buffer_t *self, size_t extra)
{
    size_t capacity = self->capacity ? self->capacity : CAPACITY_MIN;
    while (capacity - self->size < extra) {
        assert (capacity <= SIZE_MAX / 2);
        capacity *= 2;
    }
    self->data = (char *) realloc (self->data, capacity);
    assert (self->data);
    self->capacity = capacity;
}

char *
zpeer_buffer_take (zpeer_buffer_t *self)
{
    char *data = self->data;
    *self = (zpeer_buffer_t){0};
    return data;
}

//  Two digits at a time: a division costs more than all the rest, and every
//  item of a batch has a timestamp of thirteen digits
void
zpeer_buffer_uint (zpeer_buffer_t *self, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021"
                                "22232425262728293031323334353637383940414243"
                                "44454647484950515253545556575859606162636465"
                                "66676869707172737475767778798081828384858687"
                                "888990919293949596979899";
    char digits[DIGITS_MAX];
    char *at = digits + sizeof digits;
    while (value >= 10) {
        at -= 2;
        memcpy (at, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value || at == digits + sizeof digits)
        *--at = (char) ('0' + value);
    zpeer_buffer_add (self, at, (size_t) (digits + sizeof digits - at));
}

//  The letter behind the backslash for the bytes JSON wants escaped; 'u' for
//  the long form, 0 for bytes that stand for themselves
static char
s_escape (unsigned char byte)
{
    switch (byte) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return byte < 0x20 ? 'u' : 0;
    }
}

static void
s_add_escape (zpeer_buffer_t *self, unsigned char byte, char letter)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', letter, '0', '0'};
    text[4] = hex[byte >> 4];
    text[5] = hex[byte & 15];
    zpeer_buffer_add (self, text, letter == 'u' ? 6 : 2);
}

void
zpeer_buffer_json (zpeer_buffer_t *self, zpeer_slice_t text)
{
    zpeer_buffer_reserve (self, text.size + 2);
    zpeer_buffer_lit (self, "\"");
    if (!text.size)  //  It may be nowhere
        text = ZPEER_SLICE ("");
    size_t from = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char) text.data[i];
        //  One test for the common case: nothing to escape
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        zpeer_buffer_add (self, text.data + from, i - from);
        s_add_escape (self, byte, s_escape (byte));
        from = i + 1;
    }
    zpeer_buffer_add (self, text.data + from, text.size - from);
    zpeer_buffer_lit (self, "\"");
}
