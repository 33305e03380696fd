/*  fuzz_wire.c - no message of another actor can harm

    Input: one byte, which frame it is, then the frame. Beyond not crashing:
    what is taken gives the same bytes again when it is written.
*/
#include <assert.h>
#include <stdint.h>
#include "wire.h"
#include "banned.h"

//  More entries than this are refused
#define ENTRIES_MAX 64

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
s_same (const void *written, size_t written_size, const void *data, size_t size)
{
    assert (written_size == size);
    assert (!size || !memcmp (written, data, size));
}

//  The buffer holds what was read; it is freed
static void
s_same_buffer (zpeer_buffer_t *out, const void *data, size_t size)
{
    s_same (out->data, out->size, data, size);
    zpeer_buffer_free (out);
}

static void
s_ready (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint32_t credit;
    bool remote;
    if (zpeer_wire_get_ready (data, size, &credit, &remote) == ZPEER_OK)
        s_same (out, zpeer_wire_put_ready (out, credit, remote), data, size);
}

static void
s_batch (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    zpeer_wire_batch_t batch;
    if (zpeer_wire_get_batch (data, size, &batch) == ZPEER_OK)
        s_same (out, zpeer_wire_put_batch (out, &batch), data, size);
}

static void
s_id (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t id;
    if (zpeer_wire_get_id (data, size, &id) == ZPEER_OK)
        s_same (out, zpeer_wire_put_id (out, id), data, size);
}

static void
s_last (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t last;
    uint64_t sent;
    if (zpeer_wire_get_last (data, size, &last, &sent) == ZPEER_OK)
        s_same (out, zpeer_wire_put_last (out, last, sent), data, size);
}

static void
s_held (const void *data, size_t size)
{
    zpeer_buffer_t out = {0};
    uint64_t ids[ENTRIES_MAX];
    zpeer_wire_beat_t beat;
    size_t count;
    if (zpeer_wire_get_held (data, size, &beat, ids, ENTRIES_MAX, &count))
        return;
    zpeer_wire_put_held (&out, &beat, ids, count);
    s_same_buffer (&out, data, size);
}

static void
s_done (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    zpeer_result_t result;
    if (zpeer_wire_get_done (data, size, &result) == ZPEER_OK)
        s_same (out, zpeer_wire_put_done (out, &result), data, size);
}

static void
s_codes (const void *data, size_t size)
{
    zpeer_buffer_t out = {0};
    uint16_t codes[ENTRIES_MAX];
    size_t count;
    if (zpeer_wire_get_codes (data, size, codes, ENTRIES_MAX, &count))
        return;
    zpeer_result_t result = {.codes = codes, .items = (uint32_t) count};
    zpeer_wire_put_codes (&out, &result);
    s_same_buffer (&out, data, size);
}

static void
s_copies (const void *data, size_t size)
{
    zpeer_buffer_t out = {0};
    zpeer_copy_t copies[ENTRIES_MAX];
    zpeer_result_t result = {.copies = copies};
    if (zpeer_wire_get_copies (data, size, copies, ENTRIES_MAX,
                               &result.copy_count))
        return;
    zpeer_wire_put_copies (&out, &result);
    s_same_buffer (&out, data, size);
}

//  Every request lies inside, and nothing is between them
static void
s_requests (const void *data, size_t size)
{
    size_t offset = 0;
    size_t read = 0;
    zpeer_wire_request_t request;
    int rc;
    while ((rc = zpeer_wire_get_request (data, size, &offset, &request)) ==
           ZPEER_OK) {
        assert (request.path.size > 0);
        assert (!memchr (request.path.data, '\n', request.path.size));
        read += 7 + request.path.size + request.body.size;
        assert (read == offset && offset <= size);
    }
    assert (rc == ZPEER_E_PARSE || offset == size);
}

static void
s_fail (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t token;
    uint32_t peer;
    bool gated;
    if (zpeer_wire_get_fail (data, size, &token, &peer, &gated))
        return;
    assert (peer < ZPEER_WIRE_PEERS_MAX);
    s_same (out, zpeer_wire_put_fail (out, token, peer, gated), data, size);
}

static void
s_failed (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    zpeer_wire_failed_t failed;
    if (zpeer_wire_get_failed (data, size, &failed) == ZPEER_OK)
        s_same (out, zpeer_wire_put_failed (out, &failed), data, size);
}

static void
s_peer (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint32_t peer;
    if (zpeer_wire_get_peer (data, size, &peer) == ZPEER_OK)
        s_same (out, zpeer_wire_put_peer (out, peer), data, size);
}

static void
s_walked (const void *data, size_t size)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint32_t lane;
    uint64_t walk;
    if (zpeer_wire_get_walked (data, size, &lane, &walk) == ZPEER_OK)
        s_same (out, zpeer_wire_put_walked (out, lane, walk), data, size);
}

static void
s_released (const void *data, size_t size)
{
    zpeer_buffer_t out = {0};
    size_t offset = 0;
    uint32_t lane;
    uint32_t handle;
    uint64_t seq;
    while (zpeer_wire_get_released (data, size, &offset, &lane, &handle,
                                    &seq) == ZPEER_OK)
        zpeer_wire_put_released (&out, lane, handle, seq);
    if (out.size)
        s_same (out.data, out.size, data, size);
    zpeer_buffer_free (&out);
}

static void
s_command (const void *data, size_t size)
{
    zpeer_wire_command_t command = zpeer_wire_command (data, size);
    const char *text = zpeer_wire_command_text (command);
    if (command < ZPEER_WIRE_COMMAND_COUNT)
        s_same (text, strlen (text), data, size);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static void (*const readers[]) (const void *, size_t) = {
        s_ready, s_batch,    s_id,       s_held, s_done,
        s_codes, s_copies,   s_requests, s_fail, s_failed,
        s_peer,  s_released, s_command,  s_last, s_walked,
    };
    if (size && data[0] < sizeof readers / sizeof *readers)
        readers[data[0]](data + 1, size - 1);
    return 0;
}
