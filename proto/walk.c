#include <assert.h>
#include <endian.h>
#include <zpeer/base.h>
#include "walk.h"
#include "banned.h"

#define NEVER   ZPEER_TOKEN_NEVER
#define FIXEXT  0x80  //  Width of a fixed ext: this, and its bytes
#define TABLED  0xc0  //  First byte the table below speaks of
#define NEGFIX  0xe0  //  First of the small negative integers
#define FIXSTR  0xa0
#define FIXARR  0x90
#define FIXMAP  0x80
#define EXT_TAG 1  //  The type byte of an ext

static const char s_cut_off[] = "cut off";

//  What follows the first byte: a number of width bytes, which is the value or
//  says how much comes behind it
static const struct {
    uint8_t kind;  //  zpeer_token_kind_t
    uint8_t width;
} s_formats[] = {
    {ZPEER_TOKEN_NIL, 0},           {NEVER, 0},
    {ZPEER_TOKEN_BOOL, 0},          {ZPEER_TOKEN_BOOL, 0},
    {ZPEER_TOKEN_BIN, 1},           {ZPEER_TOKEN_BIN, 2},
    {ZPEER_TOKEN_BIN, 4},           {ZPEER_TOKEN_EXT, 1},
    {ZPEER_TOKEN_EXT, 2},           {ZPEER_TOKEN_EXT, 4},
    {ZPEER_TOKEN_FLOAT32, 4},       {ZPEER_TOKEN_FLOAT, 8},
    {ZPEER_TOKEN_UINT, 1},          {ZPEER_TOKEN_UINT, 2},
    {ZPEER_TOKEN_UINT, 4},          {ZPEER_TOKEN_UINT, 8},
    {ZPEER_TOKEN_INT, 1},           {ZPEER_TOKEN_INT, 2},
    {ZPEER_TOKEN_INT, 4},           {ZPEER_TOKEN_INT, 8},
    {ZPEER_TOKEN_EXT, FIXEXT | 1},  {ZPEER_TOKEN_EXT, FIXEXT | 2},
    {ZPEER_TOKEN_EXT, FIXEXT | 4},  {ZPEER_TOKEN_EXT, FIXEXT | 8},
    {ZPEER_TOKEN_EXT, FIXEXT | 16}, {ZPEER_TOKEN_STR, 1},
    {ZPEER_TOKEN_STR, 2},           {ZPEER_TOKEN_STR, 4},
    {ZPEER_TOKEN_ARRAY, 2},         {ZPEER_TOKEN_ARRAY, 4},
    {ZPEER_TOKEN_MAP, 2},           {ZPEER_TOKEN_MAP, 4},
};

static int
s_fail (zpeer_walk_t *self, const char *error)
{
    self->error = error;
    return ZPEER_E_PARSE;
}

static inline size_t
s_left (const zpeer_walk_t *self)
{
    return (size_t) (self->end - self->at);
}

//  The token is size bytes from here
static inline int
s_bytes (zpeer_walk_t *self, zpeer_token_t *token, zpeer_token_kind_t kind,
         size_t size)
{
    if (size > s_left (self))
        return s_fail (self, s_cut_off);
    token->kind = kind;
    token->bytes = (zpeer_slice_t){self->at, size};
    self->at += size;
    return ZPEER_OK;
}

//  The token has elements: there must be a byte for each, and a budget
static inline int
s_elements (zpeer_walk_t *self, zpeer_token_t *token, zpeer_token_kind_t kind,
            uint32_t count)
{
    uint64_t elements = kind == ZPEER_TOKEN_MAP ? 2 * (uint64_t) count : count;
    if (elements > s_left (self))
        return s_fail (self, s_cut_off);
    if (elements > self->budget)
        return s_fail (self, "more elements than an event may have");
    token->kind = kind;
    token->count = count;
    return ZPEER_OK;
}

//  Big-endian number of width bytes
static uint64_t
s_load (const char *at, unsigned width)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (width) {
    case 1: return (uint8_t) *at;
    case 2: memcpy (&two, at, sizeof two); return be16toh (two);
    case 4: memcpy (&four, at, sizeof four); return be32toh (four);
    case 8: memcpy (&eight, at, sizeof eight); return be64toh (eight);
    default: return 0;
    }
}

static int64_t
s_signed (uint64_t value, unsigned width)
{
    switch (width) {
    case 1: return (int8_t) value;
    case 2: return (int16_t) value;
    case 4: return (int32_t) value;
    default: return (int64_t) value;
    }
}

static double
s_real (uint64_t value, unsigned width)
{
    double real;
    float small;
    uint32_t bits = (uint32_t) value;
    if (width == sizeof real) {
        memcpy (&real, &value, sizeof real);
        return real;
    }
    memcpy (&small, &bits, sizeof small);
    return (double) small;
}

static int
s_tabled (zpeer_walk_t *self, zpeer_token_t *token, uint8_t first)
{
    zpeer_token_kind_t kind = s_formats[first - TABLED].kind;
    unsigned width = s_formats[first - TABLED].width;
    if (width & FIXEXT)
        return s_bytes (self, token, kind, (width & ~FIXEXT) + EXT_TAG);
    if (width > s_left (self))
        return s_fail (self, s_cut_off);
    uint64_t value = s_load (self->at, width);
    self->at += width;
    token->kind = kind;
    switch (kind) {
    case ZPEER_TOKEN_BOOL: token->as.flag = first & 1; return ZPEER_OK;
    case ZPEER_TOKEN_UINT: token->as.uint = value; return ZPEER_OK;
    case ZPEER_TOKEN_INT:
        token->as.integer = s_signed (value, width);
        return ZPEER_OK;
    case ZPEER_TOKEN_FLOAT:
    case ZPEER_TOKEN_FLOAT32:
        token->as.real = s_real (value, width);
        return ZPEER_OK;
    case ZPEER_TOKEN_STR:
    case ZPEER_TOKEN_BIN: return s_bytes (self, token, kind, value);
    case ZPEER_TOKEN_EXT: return s_bytes (self, token, kind, value + EXT_TAG);
    case ZPEER_TOKEN_ARRAY:
    case ZPEER_TOKEN_MAP:
        return s_elements (self, token, kind, (uint32_t) value);
    case ZPEER_TOKEN_NIL: return ZPEER_OK;
    default: return s_fail (self, "a byte that msgpack never uses (0xc1)");
    }
}

int
zpeer_walk_any (zpeer_walk_t *self, zpeer_token_t *token)
{
    if (self->at == self->end)
        return s_fail (self, s_cut_off);
    if (!self->budget)
        return s_fail (self, "more elements than an event may have");
    self->budget--;
    uint8_t first = (uint8_t) *self->at++;
    if (first >= NEGFIX) {
        token->kind = ZPEER_TOKEN_INT;
        token->as.integer = (int64_t) first - 256;
        return ZPEER_OK;
    }
    if (first >= TABLED)
        return s_tabled (self, token, first);
    if (first >= FIXSTR)
        return s_bytes (self, token, ZPEER_TOKEN_STR, first & 0x1f);
    if (first >= FIXARR)
        return s_elements (self, token, ZPEER_TOKEN_ARRAY, first & 0x0f);
    if (first >= FIXMAP)
        return s_elements (self, token, ZPEER_TOKEN_MAP, first & 0x0f);
    token->kind = ZPEER_TOKEN_UINT;
    token->as.uint = first;
    return ZPEER_OK;
}

int
zpeer_walk_skip (zpeer_walk_t *self, unsigned depth)
{
    assert (depth <= ZPEER_DEPTH_MAX);
    //  How many elements each level still lacks; the value itself is level 0
    uint64_t lacking[ZPEER_DEPTH_MAX + 1] = {1};
    unsigned level = 0;
    while (lacking[level] || level) {
        if (!lacking[level]) {
            level--;
            continue;
        }
        lacking[level]--;
        zpeer_token_t token;
        token.count = 0;  //  Only maps and arrays set it, which gcc cannot see
        int rc = zpeer_walk_next (self, &token);
        if (rc)
            return rc;
        if (token.kind != ZPEER_TOKEN_MAP && token.kind != ZPEER_TOKEN_ARRAY)
            continue;
        if (depth + level == ZPEER_DEPTH_MAX)
            return s_fail (self, "nested deeper than 8");
        lacking[++level] = token.kind == ZPEER_TOKEN_MAP
                               ? 2 * (uint64_t) token.count
                               : token.count;
    }
    return ZPEER_OK;
}
