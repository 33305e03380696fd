#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include "reader.h"
#include "utf8.h"
#include "banned.h"

#define DIGITS_MAX 19  //  Of any int64_t
#define TWO_63     9223372036854775808.0

const char *
zpeer_quote (char out[ZPEER_QUOTE_MAX], zpeer_slice_t text)
{
    static const char more[] = "...";
    size_t size = text.size;
    if (size > ZPEER_QUOTE_MAX - 1)
        size = ZPEER_QUOTE_MAX - sizeof more;
    for (size_t i = 0; i < size; i++) {
        char byte = text.data[i];
        out[i] = (char) (byte >= ' ' && byte <= '~' ? byte : '?');
    }
    out[size] = 0;
    if (size < text.size)
        memcpy (out + size, more, sizeof more);
    return out;
}

int
zpeer_field_reject (const zpeer_field_t *self, const char *format, ...)
{
    char name[ZPEER_QUOTE_MAX];
    int size = snprintf (self->reason, ZPEER_REASON_MAX, "%s%s ", self->scope,
                         zpeer_quote (name, self->name));
    assert (size >= 0 && size < ZPEER_REASON_MAX);
    va_list args;
    va_start (args, format);
    vsnprintf (self->reason + size, ZPEER_REASON_MAX - (size_t) size, format,
               args);
    va_end (args);
    return ZPEER_E_REJECTED;
}

int
zpeer_field_text (const zpeer_field_t *self, const zpeer_token_t *token,
                  zpeer_piece_t *piece)
{
    if (token->kind != ZPEER_TOKEN_STR)
        return zpeer_field_reject (self, "is not a string");
    zpeer_utf8_t look = zpeer_utf8_look (token->bytes);
    if (look == ZPEER_UTF8_INVALID)
        return zpeer_field_reject (self, "is not valid UTF-8");
    if (look == ZPEER_UTF8_NUL)
        return zpeer_field_reject (self, "has a NUL in it");
    *piece = (zpeer_piece_t){token->bytes, look == ZPEER_UTF8_ASCII,
                             look <= ZPEER_UTF8_PLAIN};
    return ZPEER_OK;
}

int
zpeer_field_name (const zpeer_field_t *self, const zpeer_token_t *token,
                  size_t max, zpeer_slice_t *name)
{
    zpeer_piece_t piece = {0};
    int rc = zpeer_field_text (self, token, &piece);
    if (rc)
        return rc;
    if (piece.text.size > max)
        return zpeer_field_reject (self, "is longer than %zu bytes", max);
    if (zpeer_utf8_blank (piece.text))
        return zpeer_field_reject (self, "is blank");
    if (!piece.ascii && zpeer_utf8_control (piece.text))
        return zpeer_field_reject (self, "has a control character in it");
    if (zpeer_utf8_dots (piece.text))
        return zpeer_field_reject (self, "is what stands for a folder in a "
                                         "URL: no peer can be told of it");
    *name = piece.text;
    return ZPEER_OK;
}

//  Digits, with a minus before them or not; at most as many as fit
static bool
s_digits (zpeer_slice_t text, int64_t *number)
{
    size_t minus = text.size && text.data[0] == '-';
    if (text.size == minus || text.size - minus > DIGITS_MAX)
        return false;
    uint64_t value = 0;
    for (size_t i = minus; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        value = value * 10 + (uint64_t) (text.data[i] - '0');
    }
    if (value > INT64_MAX)
        return false;
    *number = minus ? -(int64_t) value : (int64_t) value;
    return true;
}

//  Below 2^63 every whole double is an int64_t
static bool
s_whole (double real, int64_t *number)
{
    if (!(real > -TWO_63 && real < TWO_63))
        return false;
    *number = (int64_t) real;
    return (double) *number == real;
}

static bool
s_number (const zpeer_token_t *token, int64_t *number)
{
    switch (token->kind) {
    case ZPEER_TOKEN_UINT:
        *number = (int64_t) token->as.uint;
        return token->as.uint <= INT64_MAX;
    case ZPEER_TOKEN_INT: *number = token->as.integer; return true;
    case ZPEER_TOKEN_FLOAT:
    case ZPEER_TOKEN_FLOAT32: return s_whole (token->as.real, number);
    case ZPEER_TOKEN_STR: return s_digits (token->bytes, number);
    default: return false;
    }
}

int
zpeer_field_number (const zpeer_field_t *self, const zpeer_token_t *token,
                    int64_t min, int64_t max, int64_t *number)
{
    int64_t value;
    if (!s_number (token, &value) || value < min || value > max)
        return zpeer_field_reject (self, "is not a number from %lld to %lld",
                                   (long long) min, (long long) max);
    *number = value;
    return ZPEER_OK;
}

int
zpeer_field_timestamp (const zpeer_field_t *self, const zpeer_token_t *token,
                       int64_t *number)
{
    int64_t value;
    if (!s_number (token, &value) || value < 1 || value > ZPEER_TIMESTAMP_MAX)
        return zpeer_field_reject (self,
                                   "is not a number of ms from 1 to %lld, the "
                                   "year 2200",
                                   (long long) ZPEER_TIMESTAMP_MAX);
    *number = value;
    return ZPEER_OK;
}

int
zpeer_field_flag (const zpeer_field_t *self, const zpeer_token_t *token,
                  bool *flag)
{
    if (token->kind == ZPEER_TOKEN_BOOL)
        *flag = token->as.flag;
    else if (token->kind == ZPEER_TOKEN_STR &&
             zpeer_slice_eq (token->bytes, ZPEER_SLICE ("true")))
        *flag = true;
    else if (token->kind == ZPEER_TOKEN_STR &&
             zpeer_slice_eq (token->bytes, ZPEER_SLICE ("false")))
        *flag = false;
    else
        return zpeer_field_reject (self, "is neither true nor false");
    return ZPEER_OK;
}

int
zpeer_field_status (const zpeer_field_t *self, const zpeer_token_t *token,
                    zpeer_status_t *status)
{
    if (token->kind != ZPEER_TOKEN_STR)
        return zpeer_field_reject (self, "is not a string");
    char quote[ZPEER_QUOTE_MAX];
    if (zpeer_status_parse (token->bytes.data, token->bytes.size, status))
        return zpeer_field_reject (self,
                                   "\"%s\" is none of UNKNOWN, UP, DOWN, "
                                   "STARTING, OUT_OF_SERVICE",
                                   zpeer_quote (quote, token->bytes));
    return ZPEER_OK;
}

int
zpeer_field_map (const zpeer_field_t *self, const zpeer_token_t *token)
{
    if (token->kind != ZPEER_TOKEN_MAP)
        return zpeer_field_reject (self, "is not a map");
    return ZPEER_OK;
}

int
zpeer_reader_skip (zpeer_reader_t *self, const zpeer_token_t *token)
{
    uint64_t values = 0;
    if (token->kind == ZPEER_TOKEN_MAP)
        values = 2 * (uint64_t) token->count;
    else if (token->kind == ZPEER_TOKEN_ARRAY)
        values = token->count;
    int rc = ZPEER_OK;
    while (values-- && !rc)
        rc = zpeer_walk_skip (&self->walk, self->depth + 1);
    return rc;
}

//  "a key of info.port", from the scope "info.port."
static const char *
s_key_name (char name[ZPEER_QUOTE_MAX], const char *scope)
{
    size_t size = strlen (scope);
    if (size)
        snprintf (name, ZPEER_QUOTE_MAX, "a key of %.*s", (int) size - 1,
                  scope);
    else
        snprintf (name, ZPEER_QUOTE_MAX, "a key");
    return name;
}

//  Says of a key what is said of any text that is none
static int
s_bad_key (zpeer_reader_t *self, const char *scope, const zpeer_token_t *token,
           zpeer_piece_t *key)
{
    char name[ZPEER_QUOTE_MAX];
    zpeer_field_t field = {"", zpeer_slice_str (s_key_name (name, scope)),
                           self->reason};
    return zpeer_field_text (&field, token, key);
}

//  What was read as a key must be a text
static int
s_key (zpeer_reader_t *self, const char *scope, const zpeer_token_t *token,
       zpeer_piece_t *key)
{
    zpeer_utf8_t look = token->kind == ZPEER_TOKEN_STR
                            ? zpeer_utf8_look (token->bytes)
                            : ZPEER_UTF8_INVALID;
    if (look == ZPEER_UTF8_INVALID || look == ZPEER_UTF8_NUL)
        return s_bad_key (self, scope, token, key);
    *key = (zpeer_piece_t){token->bytes, look == ZPEER_UTF8_ASCII,
                           look <= ZPEER_UTF8_PLAIN};
    return ZPEER_OK;
}

int
zpeer_reader_key (zpeer_reader_t *self, const char *scope, zpeer_piece_t *key)
{
    zpeer_token_t token;
    char name[ZPEER_QUOTE_MAX];
    int rc = zpeer_reader_next (self, &token);
    if (!rc)
        rc = s_key (self, scope, &token, key);
    if (rc || key->text.size <= ZPEER_KEY_MAX)
        return rc;
    zpeer_field_t field = {"", zpeer_slice_str (s_key_name (name, scope)),
                           self->reason};
    return zpeer_field_reject (&field, "is longer than %zu bytes",
                               ZPEER_KEY_MAX);
}

static int
s_twice (zpeer_reader_t *self, const char *scope, zpeer_slice_t key)
{
    zpeer_field_t field = {scope, key, self->reason};
    return zpeer_field_reject (&field, "is given twice");
}

int
zpeer_reader_once (zpeer_reader_t *self, const char *scope,
                   const void *scope_id, zpeer_slice_t key)
{
    if (zpeer_keys_add (self->keys, scope_id, key))
        return ZPEER_OK;
    return s_twice (self, scope, key);
}

//  The index of key in names, or count; first is tried first
static size_t
s_find (const zpeer_slice_t *names, size_t count, size_t first,
        const zpeer_token_t *key)
{
    if (key->kind != ZPEER_TOKEN_STR)
        return count;
    for (size_t i = first; i < count; i++)
        if (zpeer_slice_eq (names[i], key->bytes))
            return i;
    for (size_t i = 0; i < first; i++)
        if (zpeer_slice_eq (names[i], key->bytes))
            return i;
    return count;
}

//  A member nobody knows: it must be a proper key, and there only once
static int
s_unknown (zpeer_reader_t *self, const char *scope, const void *scope_id,
           const zpeer_token_t *token)
{
    zpeer_piece_t key = {0};
    zpeer_token_t value;
    int rc = s_key (self, scope, token, &key);
    if (!rc)
        rc = zpeer_reader_once (self, scope, scope_id, key.text);
    if (!rc)
        rc = zpeer_reader_next (self, &value);
    return rc ? rc : zpeer_reader_skip (self, &value);
}

static int
s_members (zpeer_reader_t *self, const zpeer_token_t *map, const char *scope,
           const zpeer_slice_t *names, size_t names_count, uint8_t *order,
           zpeer_member_t *member, void *arg)
{
    const void *scope_id = self->walk.at;
    uint32_t seen = 0;
    size_t next = 0;
    int rc = ZPEER_OK;
    for (uint32_t i = 0; !rc && i < map->count; i++) {
        zpeer_token_t key;
        rc = zpeer_reader_next (self, &key);
        if (rc)
            break;
        bool ordered = order && i < names_count;
        size_t index =
            s_find (names, names_count, ordered ? order[i] : next, &key);
        if (index == names_count) {
            rc = s_unknown (self, scope, scope_id, &key);
            continue;
        }
        if (seen & UINT32_C (1) << index)
            return s_twice (self, scope, key.bytes);
        seen |= UINT32_C (1) << index;
        next = index + 1;
        if (ordered)
            order[i] = (uint8_t) index;
        zpeer_token_t value;
        rc = zpeer_reader_next (self, &value);
        zpeer_field_t field = {scope, names[index], self->reason};
        if (!rc && value.kind != ZPEER_TOKEN_NIL)
            rc = member (arg, self, index, &field, &value);
    }
    return rc;
}

int
zpeer_reader_map (zpeer_reader_t *self, const zpeer_token_t *map,
                  const char *scope, const zpeer_slice_t *names,
                  size_t names_count, uint8_t *order, zpeer_member_t *member,
                  void *arg)
{
    assert (names_count <= 32 && self->depth < ZPEER_DEPTH_MAX);
    self->depth++;
    int rc =
        s_members (self, map, scope, names, names_count, order, member, arg);
    self->depth--;
    return rc;
}
