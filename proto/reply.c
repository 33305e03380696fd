#include <assert.h>
#include <stdio.h>
#include <msgpack.h>
#include "reader.h"
#include "reply.h"
#include "banned.h"

enum { ACCEPTED, REJECTED_COUNT, REJECTED, MARK, MEMBERS };

static const zpeer_slice_t s_members[] = {
    ZPEER_NAME ("accepted"), ZPEER_NAME ("rejectedCount"),
    ZPEER_NAME ("rejected"), ZPEER_NAME ("mark")};

enum { INDEX, ERROR };

static const zpeer_slice_t s_entry_members[] = {ZPEER_NAME ("index"),
                                                ZPEER_NAME ("error")};

//  Writing

//  Bytes that are known to fit
typedef struct {
    char *data;
    size_t size;
} sink_t;

static int
s_write (void *arg, const char *data, size_t size)
{
    sink_t *sink = (sink_t *) arg;
    memcpy (sink->data + sink->size, data, size);
    sink->size += size;
    return 0;
}

static void
s_pack_text (msgpack_packer *packer, zpeer_slice_t text)
{
    msgpack_pack_str (packer, text.size);
    msgpack_pack_str_body (packer, text.data, text.size);
}

void
zpeer_reply_begin (zpeer_reply_writer_t *self)
{
    self->mark = 0;
    self->rejected = 0;
    self->size = 0;
}

void
zpeer_reply_reject (zpeer_reply_writer_t *self, uint32_t index,
                    const char *reason)
{
    if (self->rejected++ >= ZPEER_REPLY_LISTED)
        return;
    zpeer_slice_t text = {reason, strnlen (reason, ZPEER_REASON_MAX - 1)};
    sink_t sink = {self->data + ZPEER_REPLY_HEAD_MAX + self->size, 0};
    msgpack_packer packer;
    msgpack_packer_init (&packer, &sink, s_write);
    msgpack_pack_map (&packer, 2);
    s_pack_text (&packer, s_entry_members[INDEX]);
    msgpack_pack_uint32 (&packer, index);
    s_pack_text (&packer, s_entry_members[ERROR]);
    s_pack_text (&packer, text);
    assert (sink.size <= ZPEER_REPLY_ENTRY_MAX);
    self->size += sink.size;
}

void
zpeer_reply_mark (zpeer_reply_writer_t *self, uint64_t mark)
{
    self->mark = mark;
}

//  The head is known last and stands first: it goes right before the entries
zpeer_slice_t
zpeer_reply_end (zpeer_reply_writer_t *self, uint32_t accepted)
{
    char head[ZPEER_REPLY_HEAD_MAX];
    sink_t sink = {head, 0};
    msgpack_packer packer;
    msgpack_packer_init (&packer, &sink, s_write);
    msgpack_pack_map (&packer, self->mark ? 4 : 3);
    if (self->mark) {
        s_pack_text (&packer, s_members[MARK]);
        msgpack_pack_uint64 (&packer, self->mark);
    }
    s_pack_text (&packer, s_members[ACCEPTED]);
    msgpack_pack_uint32 (&packer, accepted);
    s_pack_text (&packer, s_members[REJECTED_COUNT]);
    msgpack_pack_uint32 (&packer, self->rejected);
    s_pack_text (&packer, s_members[REJECTED]);
    msgpack_pack_array (&packer, self->rejected < ZPEER_REPLY_LISTED
                                     ? self->rejected
                                     : ZPEER_REPLY_LISTED);
    assert (sink.size <= sizeof head);
    char *start = self->data + ZPEER_REPLY_HEAD_MAX - sink.size;
    memcpy (start, head, sink.size);
    return (zpeer_slice_t){start, sink.size + self->size};
}

//  Reading

static int
s_number (const zpeer_field_t *field, const zpeer_token_t *token,
          uint32_t *number)
{
    int64_t value = 0;
    int rc = zpeer_field_number (field, token, 0, UINT32_MAX, &value);
    *number = (uint32_t) value;
    return rc;
}

static int
s_entry_member (void *arg, zpeer_reader_t *reader, size_t index,
                const zpeer_field_t *field, const zpeer_token_t *token)
{
    (void) reader;
    zpeer_reply_reader_t *self = (zpeer_reply_reader_t *) arg;
    if (index == INDEX)
        return s_number (field, token, &self->indexes[self->listed]);
    zpeer_piece_t piece;
    int rc = zpeer_field_text (field, token, &piece);
    if (!rc)
        snprintf (self->texts[self->listed], ZPEER_REASON_MAX, "%.*s",
                  (int) piece.text.size, piece.text.data);
    return rc;
}

static int
s_entries (zpeer_reply_reader_t *self, zpeer_reader_t *reader,
           const zpeer_field_t *field, const zpeer_token_t *token)
{
    if (token->kind != ZPEER_TOKEN_ARRAY || token->count > ZPEER_REPLY_LISTED)
        return zpeer_field_reject (field, "is not a list of at most %d",
                                   ZPEER_REPLY_LISTED);
    int rc = ZPEER_OK;
    reader->depth++;
    for (uint32_t i = 0; !rc && i < token->count; i++) {
        zpeer_token_t map;
        self->indexes[i] = 0;
        self->texts[i][0] = 0;
        self->reasons[i] = self->texts[i];
        rc = zpeer_reader_next (reader, &map);
        if (!rc)
            rc = zpeer_field_map (field, &map);
        if (!rc)
            rc = zpeer_reader_map (reader, &map, "", s_entry_members, 2, NULL,
                                   s_entry_member, self);
        self->listed += !rc;
    }
    reader->depth--;
    return rc;
}

static int
s_mark (const zpeer_field_t *field, const zpeer_token_t *token, uint64_t *mark)
{
    int64_t value = 0;
    int rc = zpeer_field_number (field, token, 0, INT64_MAX, &value);
    *mark = (uint64_t) value;
    return rc;
}

static int
s_member (void *arg, zpeer_reader_t *reader, size_t index,
          const zpeer_field_t *field, const zpeer_token_t *token)
{
    zpeer_reply_reader_t *self = (zpeer_reply_reader_t *) arg;
    switch (index) {
    case ACCEPTED: return s_number (field, token, &self->accepted);
    case REJECTED_COUNT: return s_number (field, token, &self->rejected);
    case MARK: return s_mark (field, token, &self->mark);
    default: return s_entries (self, reader, field, token);
    }
}

int
zpeer_reply_read (zpeer_reply_reader_t *self, const void *data, size_t size)
{
    const char *start = (const char *) data;
    self->mark = 0;
    self->accepted = self->rejected = self->listed = 0;
    zpeer_keys_t keys = {0};
    zpeer_keys_reset (&keys);
    char reason[ZPEER_REASON_MAX];
    zpeer_reader_t reader = {
        {start, start + size, ZPEER_ELEMENTS_MAX, NULL}, 0, &keys, reason};
    zpeer_field_t field = {"", ZPEER_SLICE ("reply"), reason};
    zpeer_token_t map;
    int rc = zpeer_reader_next (&reader, &map);
    if (!rc)
        rc = zpeer_field_map (&field, &map);
    if (!rc)
        rc = zpeer_reader_map (&reader, &map, "", s_members, MEMBERS, NULL,
                               s_member, self);
    zpeer_keys_free (&keys);
    return rc || reader.walk.at != reader.walk.end ? ZPEER_E_PARSE : ZPEER_OK;
}
