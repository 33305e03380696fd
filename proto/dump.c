#include <math.h>
#include "dump.h"
#include "json.h"
#include "utf8.h"
#include "walk.h"
#include "banned.h"

//  Bytes as characters of the same number; UTF-8 has two bytes from 0x80 on
static void
s_bytes (zpeer_buffer_t *out, zpeer_slice_t bytes)
{
    zpeer_buffer_t text = {0};
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = (unsigned char) bytes.data[i];
        if (byte >= 0x80) {
            unsigned char head = 0xc0 | byte >> 6;
            zpeer_buffer_add (&text, &head, 1);
            byte = 0x80 | (byte & 0x3f);
        }
        zpeer_buffer_add (&text, &byte, 1);
    }
    zpeer_buffer_json (out, (zpeer_slice_t){text.data, text.size});
    zpeer_buffer_free (&text);
}

static void
s_text (zpeer_buffer_t *out, zpeer_slice_t text)
{
    if (zpeer_utf8_look (text) == ZPEER_UTF8_INVALID)
        s_bytes (out, text);
    else
        zpeer_buffer_json (out, text);
}

//  A number as JSON has it: without the quotes
static void
s_real (zpeer_buffer_t *out, const zpeer_token_t *token)
{
    if (!isfinite (token->as.real)) {
        zpeer_buffer_lit (out, "null");
        return;
    }
    zpeer_buffer_t quoted = {0};
    zpeer_json_real_text (&quoted, token->as.real,
                          token->kind == ZPEER_TOKEN_FLOAT32);
    zpeer_buffer_add (out, quoted.data + 1, quoted.size - 2);
    zpeer_buffer_free (&quoted);
}

static int
s_scalar (zpeer_buffer_t *out, const zpeer_token_t *token)
{
    switch (token->kind) {
    case ZPEER_TOKEN_NIL: zpeer_buffer_lit (out, "null"); break;
    case ZPEER_TOKEN_BOOL:
        zpeer_buffer_slice (
            out, zpeer_slice_str (token->as.flag ? "true" : "false"));
        break;
    case ZPEER_TOKEN_UINT: zpeer_buffer_uint (out, token->as.uint); break;
    case ZPEER_TOKEN_INT: zpeer_json_int (out, token->as.integer); break;
    case ZPEER_TOKEN_FLOAT:
    case ZPEER_TOKEN_FLOAT32: s_real (out, token); break;
    case ZPEER_TOKEN_STR: s_text (out, token->bytes); break;
    case ZPEER_TOKEN_BIN:
    case ZPEER_TOKEN_EXT: s_bytes (out, token->bytes); break;
    default: return ZPEER_E_PARSE;
    }
    return ZPEER_OK;
}

//  A key: text as it is, any other scalar between quotes
static int
s_key (zpeer_buffer_t *out, zpeer_walk_t *walk)
{
    zpeer_token_t token;
    int rc = zpeer_walk_next (walk, &token);
    if (rc)
        return rc;
    bool quoted = token.kind == ZPEER_TOKEN_STR ||
                  token.kind == ZPEER_TOKEN_BIN ||
                  token.kind == ZPEER_TOKEN_EXT;
    if (!quoted)
        zpeer_buffer_lit (out, "\"");
    rc = s_scalar (out, &token);
    if (!quoted)
        zpeer_buffer_lit (out, "\"");
    zpeer_buffer_lit (out, ":");
    return rc;
}

//  Reads one value; depth: in how many maps and arrays it stands
static int
s_value (zpeer_buffer_t *out, zpeer_walk_t *walk, unsigned depth)
{
    zpeer_token_t token;
    int rc = zpeer_walk_next (walk, &token);
    if (rc)
        return rc;
    bool map = token.kind == ZPEER_TOKEN_MAP;
    if (!map && token.kind != ZPEER_TOKEN_ARRAY)
        return s_scalar (out, &token);
    if (depth == ZPEER_DEPTH_MAX)
        return ZPEER_E_PARSE;

    zpeer_buffer_add (out, map ? "{" : "[", 1);
    for (uint32_t i = 0; i < token.count && !rc; i++) {
        if (i)
            zpeer_buffer_lit (out, ",");
        if (map)
            rc = s_key (out, walk);
        if (!rc)
            rc = s_value (out, walk, depth + 1);
    }
    zpeer_buffer_add (out, map ? "}" : "]", 1);
    return rc;
}

int
zpeer_dump_json (zpeer_buffer_t *out, const void *data, size_t size)
{
    //  Every element has a byte of its own: that is budget enough
    const char *at = (const char *) data;
    zpeer_walk_t walk = {at, at + size, UINT32_MAX, NULL};
    size_t before = out->size;
    int rc = s_value (out, &walk, 0);
    if (rc == ZPEER_OK && walk.at != walk.end)
        rc = ZPEER_E_PARSE;
    if (rc)
        out->size = before;
    return rc;
}
