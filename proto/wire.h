/*  wire.h - messages between batcher and dispatcher, dispatcher and health

    Frame 0 is the command as ASCII text, frame 1 its fixed fields, numbers in
    network byte order. PROTOCOL.md shows every one byte by byte.

    batcher (ROUTER) and dispatcher (DEALER):

      READY      d > b   credit u32, remote u8
                         It can hold credit batches; again whenever that
                         changes. remote: it sends HEARTBEAT (ipc, tcp).
      BATCH      b > d   id u64, mode u8, items u16; frame 2: body
      DONE       d > b   the fields of zpeer_result_t; frame 2: codes, u16 each
                         (empty: all 200); frame 3: copies; frame 4: detail
      ACK        b > d   id u64; DONE of that batch arrived, known or not
      HEARTBEAT  d > b   credit u32, echo u64, sent u64, then the ids held, u64
                         each. echo: last, of the newest HEARTBEAT it got; sent:
                         its own clock, ms
      HEARTBEAT  b > d   last u64: the newest id sent to it so far; sent u64, of
                         the HEARTBEAT that this answers
      GOODBYE    d > b   (no fields) It ends: what it holds is taken back

    Whatever the batcher sent up to echo, and the dispatcher neither holds nor
    has reported, is lost. Only remote dispatchers send HEARTBEAT and get ACK;
    such a one works only while a HEARTBEAT of the last 3 s has been answered.

    dispatcher (DEALER) and health (ROUTER):

      FAIL           d > h   token u64, peer u32, gated u8
      FAILED         h > d   token u64, count u32, max u32, reached u8,
                             announce u8; answers FAIL and HASREACHEDMAX
      OK             d > h   peer u32; not answered
      HASREACHEDMAX  d > h   the fields of FAIL, gated 0; nothing is counted,
                             announce is 0 in the answer

    batcher (PUSH) and acceptor (PULL):

      RELEASED   b > a   lane u32, then handle u32 and seq u64, repeated: the
                         lane has dropped these instances
      WALKED     b > a   lane u32, number u64: it is done with that walk of the
                         view (chunk.h), as far as the peer takes it
      chunks     a > b   one frame: a pointer to a zpeer_chunk_t and its free
                         function; inproc only
*/
#ifndef ZPEER_WIRE_H_INCLUDED
#define ZPEER_WIRE_H_INCLUDED

#include "buffer.h"
#include "item.h"
#include "result.h"

//  Frame 0 of every message: name, its text
#define ZPEER_WIRE_COMMANDS(X)                                                 \
    X (READY)                                                                  \
    X (BATCH)                                                                  \
    X (DONE)                                                                   \
    X (ACK)                                                                    \
    X (HEARTBEAT)                                                              \
    X (GOODBYE)                                                                \
    X (FAIL)                                                                   \
    X (FAILED)                                                                 \
    X (OK)                                                                     \
    X (HASREACHEDMAX)                                                          \
    X (RELEASED)                                                               \
    X (WALKED)

typedef enum {
#define X(name) ZPEER_WIRE_##name,
    ZPEER_WIRE_COMMANDS (X)
#undef X
        ZPEER_WIRE_COMMAND_COUNT  //  Also: no such command
} zpeer_wire_command_t;

//  Static text of frame 0
const char *zpeer_wire_command_text (zpeer_wire_command_t command);

//  Which command frame 0 names; ZPEER_WIRE_COMMAND_COUNT for any other bytes
zpeer_wire_command_t zpeer_wire_command (const void *data, size_t size);

//  What the body of a BATCH is
typedef enum {
    ZPEER_MODE_BATCH = 0,  //  JSON for one POST of the batch endpoint
    ZPEER_MODE_SINGLE = 1  //  Requests, one per item, to be made in order
} zpeer_mode_t;

typedef struct {
    uint64_t id;
    zpeer_mode_t mode;
    uint32_t items;
} zpeer_wire_batch_t;

//  Longest fixed frame
#define ZPEER_WIRE_MAX 64

//  Peers have numbers below this; any other is ZPEER_E_PARSE
#define ZPEER_WIRE_PEERS_MAX 1024

//  Most batches a dispatcher holds, those not yet acknowledged among them
#define ZPEER_WIRE_HELD_MAX 1024

//  Each _put writes the fixed frame into out and returns its size; each _get
//  reads it and returns ZPEER_OK, or ZPEER_E_PARSE for a wrong size or value;
//  its outputs are untouched then, but for what arrays have room for.

size_t zpeer_wire_put_ready (uint8_t out[ZPEER_WIRE_MAX], uint32_t credit,
                             bool remote);

int zpeer_wire_get_ready (const void *data, size_t size, uint32_t *credit,
                          bool *remote);

size_t zpeer_wire_put_batch (uint8_t out[ZPEER_WIRE_MAX],
                             const zpeer_wire_batch_t *batch);

int
zpeer_wire_get_batch (const void *data, size_t size, zpeer_wire_batch_t *batch);

//  ACK
size_t zpeer_wire_put_id (uint8_t out[ZPEER_WIRE_MAX], uint64_t id);

int zpeer_wire_get_id (const void *data, size_t size, uint64_t *id);

//  HEARTBEAT of the dispatcher
typedef struct {
    uint32_t credit;
    uint64_t echo;
    uint64_t sent;
} zpeer_wire_beat_t;

//  Appended to out, with the ids held
void zpeer_wire_put_held (zpeer_buffer_t *out, const zpeer_wire_beat_t *beat,
                          const uint64_t *ids, size_t count);

//  ids has room for max entries; more in the message is ZPEER_E_PARSE
int zpeer_wire_get_held (const void *data, size_t size, zpeer_wire_beat_t *beat,
                         uint64_t *ids, size_t max, size_t *count);

//  HEARTBEAT of the batcher
size_t
zpeer_wire_put_last (uint8_t out[ZPEER_WIRE_MAX], uint64_t last, uint64_t sent);

int zpeer_wire_get_last (const void *data, size_t size, uint64_t *last,
                         uint64_t *sent);

//  DONE: fixed fields here, codes and copies as frames of their own. _get sets
//  codes and copies to NULL and detail to "".
size_t
zpeer_wire_put_done (uint8_t out[ZPEER_WIRE_MAX], const zpeer_result_t *result);

int zpeer_wire_get_done (const void *data, size_t size, zpeer_result_t *result);

void zpeer_wire_put_codes (zpeer_buffer_t *out, const zpeer_result_t *result);

//  codes has room for max entries
int zpeer_wire_get_codes (const void *data, size_t size, uint16_t *codes,
                          size_t max, size_t *count);

void zpeer_wire_put_copies (zpeer_buffer_t *out, const zpeer_result_t *result);

//  The copies point into data; ZPEER_E_PARSE, too, if they are not in the order
//  of their items. copies has room for max entries.
int zpeer_wire_get_copies (const void *data, size_t size, zpeer_copy_t *copies,
                           size_t max, size_t *count);

//  One request of a ZPEER_MODE_SINGLE body
typedef struct {
    const char *method;  //  Static: DELETE, POST, PUT or GET
    zpeer_slice_t path;  //  Below the base URL, query included; visible ASCII
    zpeer_slice_t body;  //  May be empty
} zpeer_wire_request_t;

//  Appends the request that stands for item to the body of a BATCH
void zpeer_wire_put_request (zpeer_buffer_t *out, const zpeer_item_t *item);

//  Reads the request at *offset and moves it on; slices point into data.
//  ZPEER_E_AGAIN at the end.
int zpeer_wire_get_request (const void *data, size_t size, size_t *offset,
                            zpeer_wire_request_t *request);

//  FAIL, and HASREACHEDMAX with gated false
size_t zpeer_wire_put_fail (uint8_t out[ZPEER_WIRE_MAX], uint64_t token,
                            uint32_t peer, bool gated);

int zpeer_wire_get_fail (const void *data, size_t size, uint64_t *token,
                         uint32_t *peer, bool *gated);

typedef struct {
    uint64_t token;
    uint32_t count;
    uint32_t max;
    bool reached;
    bool announce;
} zpeer_wire_failed_t;

size_t zpeer_wire_put_failed (uint8_t out[ZPEER_WIRE_MAX],
                              const zpeer_wire_failed_t *failed);

int zpeer_wire_get_failed (const void *data, size_t size,
                           zpeer_wire_failed_t *failed);

//  A peer alone: OK
size_t zpeer_wire_put_peer (uint8_t out[ZPEER_WIRE_MAX], uint32_t peer);

int zpeer_wire_get_peer (const void *data, size_t size, uint32_t *peer);

//  A peer's lane has its number
size_t zpeer_wire_put_walked (uint8_t out[ZPEER_WIRE_MAX], uint32_t lane,
                              uint64_t number);

int zpeer_wire_get_walked (const void *data, size_t size, uint32_t *lane,
                           uint64_t *number);

//  RELEASED: the first call for a message puts the lane, each adds an instance
void zpeer_wire_put_released (zpeer_buffer_t *out, uint32_t lane,
                              uint32_t handle, uint64_t seq);

//  Reads the instance at *offset and moves it on; 0 is the start. ZPEER_E_AGAIN
//  at the end.
int zpeer_wire_get_released (const void *data, size_t size, size_t *offset,
                             uint32_t *lane, uint32_t *handle, uint64_t *seq);

#endif
