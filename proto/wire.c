#include <assert.h>
#include <string.h>
#include "wire.h"
#include "banned.h"

//  Sizes of what repeats
#define CODE_SIZE     2
#define ID_SIZE       8
#define HELD_SIZE     20  //  credit, echo, sent; the ids follow
#define COPY_SIZE     14  //  index, timestamp, size; the text follows
#define REQUEST_SIZE  7   //  method, sizes of path and body; these follow
#define LANE_SIZE     4
#define RELEASED_SIZE 12  //  handle, seq

//  Bits of DONE
#define FLAG_REACHED   1u
#define FLAG_AMBIGUOUS 2u
#define FLAG_ANNOUNCE  4u
#define FLAG_ESCALATED 8u
#define FLAG_REPEATED  16u
#define FLAGS          31u

#define LENGTH(array) (sizeof (array) / sizeof *(array))

static const char *const s_commands[] = {
#define X(name) #name,
    ZPEER_WIRE_COMMANDS (X)
#undef X
};

//  A request's method as its place in here
static const char *const s_methods[] = {"DELETE", "POST", "PUT", "GET"};

const char *
zpeer_wire_command_text (zpeer_wire_command_t command)
{
    return command < ZPEER_WIRE_COMMAND_COUNT ? s_commands[command] : "?";
}

zpeer_wire_command_t
zpeer_wire_command (const void *data, size_t size)
{
    zpeer_slice_t text = {(const char *) data, size};
    unsigned i = 0;
    while (i < ZPEER_WIRE_COMMAND_COUNT &&
           !zpeer_slice_eq (text, zpeer_slice_str (s_commands[i])))
        i++;
    return (zpeer_wire_command_t) i;
}

//  --------------------------------------------------------------------------
//  Numbers in network byte order

//  Writes value in bytes bytes at *at and moves it on
static void
s_put (uint8_t **at, unsigned bytes, uint64_t value)
{
    for (unsigned i = bytes; i-- > 0; value >>= 8)
        (*at)[i] = (uint8_t) value;
    *at += bytes;
}

static void
s_append (zpeer_buffer_t *out, unsigned bytes, uint64_t value)
{
    zpeer_buffer_reserve (out, bytes);
    uint8_t *at = (uint8_t *) out->data + out->size;
    s_put (&at, bytes, value);
    out->size += bytes;
}

//  Reads on until something is missing; then it is bad and gives zeros
typedef struct {
    const uint8_t *at;
    size_t left;
    bool bad;
} reader_t;

static reader_t
s_reader (const void *data, size_t size)
{
    return (reader_t){(const uint8_t *) data, size, false};
}

static const uint8_t *
s_take (reader_t *self, size_t bytes)
{
    if (self->bad || self->left < bytes) {
        self->bad = true;
        return NULL;
    }
    const uint8_t *at = self->at;
    self->at += bytes;
    self->left -= bytes;
    return at;
}

static uint64_t
s_get (reader_t *self, unsigned bytes)
{
    const uint8_t *at = s_take (self, bytes);
    uint64_t value = 0;
    for (unsigned i = 0; at && i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

//  Reads a number of bytes bytes that must not be above max
static unsigned
s_get_max (reader_t *self, unsigned bytes, unsigned max)
{
    uint64_t value = s_get (self, bytes);
    self->bad |= value > max;
    return (unsigned) value;
}

static zpeer_slice_t
s_get_slice (reader_t *self, size_t size)
{
    const uint8_t *at = s_take (self, size);
    return (zpeer_slice_t){(const char *) at, at ? size : 0};
}

//  All was there, and nothing is behind it
static bool
s_complete (const reader_t *self)
{
    return !self->bad && self->left == 0;
}

static uint32_t
s_get_peer (reader_t *self)
{
    return s_get_max (self, 4, ZPEER_WIRE_PEERS_MAX - 1);
}

//  --------------------------------------------------------------------------
//  Batcher and dispatcher

size_t
zpeer_wire_put_ready (uint8_t out[ZPEER_WIRE_MAX], uint32_t credit, bool remote)
{
    uint8_t *at = out;
    s_put (&at, 4, credit);
    s_put (&at, 1, remote);
    return (size_t) (at - out);
}

int
zpeer_wire_get_ready (const void *data, size_t size, uint32_t *credit,
                      bool *remote)
{
    reader_t reader = s_reader (data, size);
    uint32_t number = (uint32_t) s_get (&reader, 4);
    bool flag = s_get_max (&reader, 1, 1);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *credit = number;
    *remote = flag;
    return ZPEER_OK;
}

size_t
zpeer_wire_put_batch (uint8_t out[ZPEER_WIRE_MAX],
                      const zpeer_wire_batch_t *batch)
{
    assert (batch->items > 0 && batch->items <= UINT16_MAX);
    uint8_t *at = out;
    s_put (&at, 8, batch->id);
    s_put (&at, 1, batch->mode);
    s_put (&at, 2, batch->items);
    return (size_t) (at - out);
}

int
zpeer_wire_get_batch (const void *data, size_t size, zpeer_wire_batch_t *batch)
{
    reader_t reader = s_reader (data, size);
    zpeer_wire_batch_t read = {
        .id = s_get (&reader, 8),
    };
    read.mode = (zpeer_mode_t) s_get_max (&reader, 1, ZPEER_MODE_SINGLE);
    read.items = (uint32_t) s_get (&reader, 2);
    if (!s_complete (&reader) || read.items == 0)
        return ZPEER_E_PARSE;
    *batch = read;
    return ZPEER_OK;
}

size_t
zpeer_wire_put_id (uint8_t out[ZPEER_WIRE_MAX], uint64_t id)
{
    uint8_t *at = out;
    s_put (&at, 8, id);
    return (size_t) (at - out);
}

int
zpeer_wire_get_id (const void *data, size_t size, uint64_t *id)
{
    reader_t reader = s_reader (data, size);
    uint64_t number = s_get (&reader, 8);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *id = number;
    return ZPEER_OK;
}

void
zpeer_wire_put_held (zpeer_buffer_t *out, const zpeer_wire_beat_t *beat,
                     const uint64_t *ids, size_t count)
{
    s_append (out, 4, beat->credit);
    s_append (out, 8, beat->echo);
    s_append (out, 8, beat->sent);
    for (size_t i = 0; i < count; i++)
        s_append (out, ID_SIZE, ids[i]);
}

int
zpeer_wire_get_held (const void *data, size_t size, zpeer_wire_beat_t *beat,
                     uint64_t *ids, size_t max, size_t *count)
{
    if (size < HELD_SIZE || (size - HELD_SIZE) % ID_SIZE ||
        (size - HELD_SIZE) / ID_SIZE > max)
        return ZPEER_E_PARSE;
    reader_t reader = s_reader (data, size);
    beat->credit = (uint32_t) s_get (&reader, 4);
    beat->echo = s_get (&reader, 8);
    beat->sent = s_get (&reader, 8);
    *count = reader.left / ID_SIZE;
    for (size_t i = 0; i < *count; i++)
        ids[i] = s_get (&reader, ID_SIZE);
    return ZPEER_OK;
}

size_t
zpeer_wire_put_last (uint8_t out[ZPEER_WIRE_MAX], uint64_t last, uint64_t sent)
{
    uint8_t *at = out;
    s_put (&at, 8, last);
    s_put (&at, 8, sent);
    return (size_t) (at - out);
}

int
zpeer_wire_get_last (const void *data, size_t size, uint64_t *last,
                     uint64_t *sent)
{
    reader_t reader = s_reader (data, size);
    uint64_t newest = s_get (&reader, 8);
    uint64_t clock = s_get (&reader, 8);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *last = newest;
    *sent = clock;
    return ZPEER_OK;
}

//  --------------------------------------------------------------------------
//  DONE

static unsigned
s_flags (const zpeer_result_t *result)
{
    return (result->reached ? FLAG_REACHED : 0u) |
           (result->ambiguous ? FLAG_AMBIGUOUS : 0u) |
           (result->announce ? FLAG_ANNOUNCE : 0u) |
           (result->escalated ? FLAG_ESCALATED : 0u) |
           (result->repeated ? FLAG_REPEATED : 0u);
}

size_t
zpeer_wire_put_done (uint8_t out[ZPEER_WIRE_MAX], const zpeer_result_t *result)
{
    assert (result->items <= UINT16_MAX);
    uint8_t *at = out;
    s_put (&at, 8, result->id);
    s_put (&at, 1, result->end);
    s_put (&at, 1, result->verdict);
    s_put (&at, 1, s_flags (result));
    s_put (&at, 4, result->count);
    s_put (&at, 4, result->max);
    s_put (&at, 2, result->status);
    s_put (&at, 4, result->retry_after_ms);
    s_put (&at, 4, result->elapsed_ms);
    s_put (&at, 2, result->items);
    return (size_t) (at - out);
}

int
zpeer_wire_get_done (const void *data, size_t size, zpeer_result_t *result)
{
    reader_t reader = s_reader (data, size);
    zpeer_result_t read = {.detail = ""};
    read.id = s_get (&reader, 8);
    read.end = (zpeer_end_t) s_get_max (&reader, 1, ZPEER_END_COUNT - 1);
    read.verdict = (zpeer_verdict_t) s_get_max (&reader, 1, ZPEER_VERDICTS - 1);
    unsigned flags = s_get_max (&reader, 1, FLAGS);
    read.reached = (flags & FLAG_REACHED) != 0;
    read.ambiguous = (flags & FLAG_AMBIGUOUS) != 0;
    read.announce = (flags & FLAG_ANNOUNCE) != 0;
    read.escalated = (flags & FLAG_ESCALATED) != 0;
    read.repeated = (flags & FLAG_REPEATED) != 0;
    read.count = (uint32_t) s_get (&reader, 4);
    read.max = (uint32_t) s_get (&reader, 4);
    read.status = (uint16_t) s_get (&reader, 2);
    read.retry_after_ms = (uint32_t) s_get (&reader, 4);
    read.elapsed_ms = (uint32_t) s_get (&reader, 4);
    read.items = (uint32_t) s_get (&reader, 2);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *result = read;
    return ZPEER_OK;
}

void
zpeer_wire_put_codes (zpeer_buffer_t *out, const zpeer_result_t *result)
{
    for (uint32_t i = 0; result->codes && i < result->items; i++)
        s_append (out, CODE_SIZE, result->codes[i]);
}

int
zpeer_wire_get_codes (const void *data, size_t size, uint16_t *codes,
                      size_t max, size_t *count)
{
    if (size % CODE_SIZE || size / CODE_SIZE > max)
        return ZPEER_E_PARSE;
    reader_t reader = s_reader (data, size);
    *count = size / CODE_SIZE;
    for (size_t i = 0; i < *count; i++)
        codes[i] = (uint16_t) s_get (&reader, CODE_SIZE);
    return ZPEER_OK;
}

void
zpeer_wire_put_copies (zpeer_buffer_t *out, const zpeer_result_t *result)
{
    for (size_t i = 0; i < result->copy_count; i++) {
        const zpeer_copy_t *copy = &result->copies[i];
        assert (copy->index <= UINT16_MAX && copy->json.size <= UINT32_MAX);
        zpeer_buffer_reserve (out, COPY_SIZE + copy->json.size);
        s_append (out, 2, copy->index);
        s_append (out, 8, copy->timestamp);
        s_append (out, 4, copy->json.size);
        zpeer_buffer_slice (out, copy->json);
    }
}

int
zpeer_wire_get_copies (const void *data, size_t size, zpeer_copy_t *copies,
                       size_t max, size_t *count)
{
    reader_t reader = s_reader (data, size);
    size_t found = 0;
    for (; reader.left && found < max; found++) {
        zpeer_copy_t *copy = &copies[found];
        copy->index = (uint32_t) s_get (&reader, 2);
        copy->timestamp = s_get (&reader, 8);
        copy->json = s_get_slice (&reader, (size_t) s_get (&reader, 4));
        reader.bad |= found && copy->index <= copies[found - 1].index;
        if (reader.bad)
            return ZPEER_E_PARSE;
    }
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *count = found;
    return ZPEER_OK;
}

//  --------------------------------------------------------------------------
//  Requests one by one

static unsigned
s_method_code (const char *method)
{
    unsigned code = 0;
    while (code < LENGTH (s_methods) && strcmp (s_methods[code], method) != 0)
        code++;
    assert (code < LENGTH (s_methods));
    return code;
}

//  The path goes straight into out; the sizes before it are filled in behind
void
zpeer_wire_put_request (zpeer_buffer_t *out, const zpeer_item_t *item)
{
    size_t start = out->size;
    zpeer_buffer_t body = {0};
    zpeer_buffer_reserve (out, REQUEST_SIZE);
    out->size += REQUEST_SIZE;
    const char *method = zpeer_item_request (item, out, &body);

    size_t path_size = out->size - start - REQUEST_SIZE;
    assert (path_size <= UINT16_MAX && body.size <= UINT32_MAX);
    uint8_t *at = (uint8_t *) out->data + start;
    s_put (&at, 1, s_method_code (method));
    s_put (&at, 2, path_size);
    s_put (&at, 4, body.size);
    zpeer_buffer_add (out, body.data, body.size);
    zpeer_buffer_free (&body);
}

//  It becomes part of a request line: blanks and line ends would add to that
static bool
s_path_valid (zpeer_slice_t path)
{
    for (size_t i = 0; i < path.size; i++)
        if (path.data[i] <= ' ' || path.data[i] > '~')
            return false;
    return path.size > 0;
}

int
zpeer_wire_get_request (const void *data, size_t size, size_t *offset,
                        zpeer_wire_request_t *request)
{
    if (*offset >= size)
        return ZPEER_E_AGAIN;
    reader_t reader =
        s_reader ((const uint8_t *) data + *offset, size - *offset);
    unsigned method = s_get_max (&reader, 1, LENGTH (s_methods) - 1);
    size_t path_size = (size_t) s_get (&reader, 2);
    size_t body_size = (size_t) s_get (&reader, 4);
    zpeer_slice_t path = s_get_slice (&reader, path_size);
    zpeer_slice_t body = s_get_slice (&reader, body_size);
    if (reader.bad || !s_path_valid (path))
        return ZPEER_E_PARSE;
    *request = (zpeer_wire_request_t){s_methods[method], path, body};
    *offset = size - reader.left;
    return ZPEER_OK;
}

//  --------------------------------------------------------------------------
//  Dispatcher and health

size_t
zpeer_wire_put_fail (uint8_t out[ZPEER_WIRE_MAX], uint64_t token, uint32_t peer,
                     bool gated)
{
    uint8_t *at = out;
    s_put (&at, 8, token);
    s_put (&at, 4, peer);
    s_put (&at, 1, gated);
    return (size_t) (at - out);
}

int
zpeer_wire_get_fail (const void *data, size_t size, uint64_t *token,
                     uint32_t *peer, bool *gated)
{
    reader_t reader = s_reader (data, size);
    uint64_t token_read = s_get (&reader, 8);
    uint32_t peer_read = s_get_peer (&reader);
    bool gated_read = s_get_max (&reader, 1, 1);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *token = token_read;
    *peer = peer_read;
    *gated = gated_read;
    return ZPEER_OK;
}

size_t
zpeer_wire_put_failed (uint8_t out[ZPEER_WIRE_MAX],
                       const zpeer_wire_failed_t *failed)
{
    uint8_t *at = out;
    s_put (&at, 8, failed->token);
    s_put (&at, 4, failed->count);
    s_put (&at, 4, failed->max);
    s_put (&at, 1, failed->reached);
    s_put (&at, 1, failed->announce);
    return (size_t) (at - out);
}

int
zpeer_wire_get_failed (const void *data, size_t size,
                       zpeer_wire_failed_t *failed)
{
    reader_t reader = s_reader (data, size);
    zpeer_wire_failed_t read = {.token = s_get (&reader, 8)};
    read.count = (uint32_t) s_get (&reader, 4);
    read.max = (uint32_t) s_get (&reader, 4);
    read.reached = s_get_max (&reader, 1, 1);
    read.announce = s_get_max (&reader, 1, 1);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *failed = read;
    return ZPEER_OK;
}

size_t
zpeer_wire_put_peer (uint8_t out[ZPEER_WIRE_MAX], uint32_t peer)
{
    uint8_t *at = out;
    s_put (&at, 4, peer);
    return (size_t) (at - out);
}

int
zpeer_wire_get_peer (const void *data, size_t size, uint32_t *peer)
{
    reader_t reader = s_reader (data, size);
    uint32_t number = s_get_peer (&reader);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *peer = number;
    return ZPEER_OK;
}

//  --------------------------------------------------------------------------
//  Batcher and acceptor

size_t
zpeer_wire_put_walked (uint8_t out[ZPEER_WIRE_MAX], uint32_t lane,
                       uint64_t number)
{
    uint8_t *at = out;
    s_put (&at, 4, lane);
    s_put (&at, 8, number);
    return (size_t) (at - out);
}

int
zpeer_wire_get_walked (const void *data, size_t size, uint32_t *lane,
                       uint64_t *number)
{
    reader_t reader = s_reader (data, size);
    uint32_t lane_read = s_get_peer (&reader);
    uint64_t number_read = s_get (&reader, 8);
    if (!s_complete (&reader))
        return ZPEER_E_PARSE;
    *lane = lane_read;
    *number = number_read;
    return ZPEER_OK;
}

void
zpeer_wire_put_released (zpeer_buffer_t *out, uint32_t lane, uint32_t handle,
                         uint64_t seq)
{
    if (out->size == 0)
        s_append (out, LANE_SIZE, lane);
    s_append (out, 4, handle);
    s_append (out, 8, seq);
}

int
zpeer_wire_get_released (const void *data, size_t size, size_t *offset,
                         uint32_t *lane, uint32_t *handle, uint64_t *seq)
{
    if (size < LANE_SIZE || (size - LANE_SIZE) % RELEASED_SIZE)
        return ZPEER_E_PARSE;
    if (*offset < LANE_SIZE)
        *offset = LANE_SIZE;
    if (*offset >= size)
        return ZPEER_E_AGAIN;
    reader_t reader = s_reader (data, size);
    *lane = (uint32_t) s_get (&reader, 4);
    s_take (&reader, *offset - LANE_SIZE);
    *handle = (uint32_t) s_get (&reader, 4);
    *seq = s_get (&reader, 8);
    *offset += RELEASED_SIZE;
    return ZPEER_OK;
}
