#include "json.h"
#include "metadata.h"
#include "banned.h"

//  One key and its value; first: no comma before it
static int
s_pair (zpeer_reader_t *reader, const char *scope, const void *scope_id,
        zpeer_buffer_t *out, bool first)
{
    zpeer_piece_t key;
    int rc = zpeer_reader_key (reader, scope, &key);
    if (!rc)
        rc = zpeer_reader_once (reader, scope, scope_id, key.text);
    if (rc)
        return rc;
    zpeer_token_t value;
    rc = zpeer_reader_next (reader, &value);
    if (rc)
        return rc;
    if (zpeer_slice_eq (key.text, ZPEER_SLICE ("@class")))
        return zpeer_reader_skip (reader, &value);
    if (!first)
        zpeer_buffer_lit (out, ",");
    zpeer_json_text (out, &key);
    zpeer_buffer_lit (out, ":");
    zpeer_field_t field = {scope, key.text, reader->reason};
    return zpeer_json_scalar_text (out, &field, &value);
}

int
zpeer_metadata_read (zpeer_reader_t *reader, const zpeer_field_t *field,
                     const zpeer_token_t *token, const char *scope,
                     zpeer_buffer_t *out, zpeer_range_t *range)
{
    int rc = zpeer_field_map (field, token);
    const void *scope_id = reader->walk.at;
    size_t from = out->size;
    reader->depth++;
    for (uint32_t i = 0; !rc && i < token->count; i++)
        rc = s_pair (reader, scope, scope_id, out, out->size == from);
    reader->depth--;
    *range = (zpeer_range_t){from, out->size - from};
    return rc;
}
