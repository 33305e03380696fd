#include "remote.h"
#include "world.h"
#include "banned.h"

//  When anything was registered that a copy tells of, and how long a lease lasts, s
#define EPOCH 1000000
#define LASTS 90

//  Since when the peer has it, for its lease was renewed just now
static void
s_lease (const item_t *item, zpeer_buffer_t *out)
{
    zpeer_buffer_lit (out, ",\"leaseInfo\":{\"durationInSecs\":");
    zpeer_buffer_uint (out, LASTS);
    zpeer_buffer_lit (out, ",\"registrationTimestamp\":");
    zpeer_buffer_uint (out, EPOCH);
    zpeer_buffer_lit (out, ",\"lastRenewalTimestamp\":");
    zpeer_buffer_uint (out, EPOCH + item->age_ms + LASTS * UINT64_C (1000));
    zpeer_buffer_lit (out, "}");
}

//  What the peer has, as far as anybody reads it
static void
s_copy (const item_t *item, zpeer_buffer_t *out)
{
    zpeer_buffer_lit (out, "{\"lastDirtyTimestamp\":\"");
    zpeer_buffer_uint (out, item->copy);
    zpeer_buffer_lit (out, "\"");
    if (item->action == ZPEER_ITEM_FETCH)
        s_lease (item, out);
    zpeer_buffer_lit (out, "}");
}

static void
s_entry (const peer_t *peer, const item_t *item, zpeer_buffer_t *out)
{
    zpeer_buffer_lit (out, "{\"statusCode\":");
    zpeer_buffer_uint (out, item->code);
    if (item->code == 409 && peer->copies) {
        zpeer_buffer_lit (out, ",\"responseEntity\":");
        s_copy (item, out);
    }
    zpeer_buffer_lit (out, "}");
}

//  An answer to a batch, with so many entries
static void
s_batch (const request_t *request, uint32_t entries, zpeer_buffer_t *out)
{
    const batch_t *batch = request->batch;
    zpeer_buffer_lit (out, "{\"responseList\":[");
    for (uint32_t i = 0; i < entries; i++) {
        if (i)
            zpeer_buffer_lit (out, ",");
        s_entry (batch->peer, &batch->items[i < batch->count ? i : 0], out);
    }
    zpeer_buffer_lit (out, "]}");
}

static void
s_proper (const request_t *request, zpeer_buffer_t *out)
{
    const batch_t *batch = request->batch;
    const item_t *item = &batch->items[request->from];
    if (!batch->single)
        s_batch (request, batch->count, out);
    else if ((item->code == 409 && batch->peer->copies) ||
             (item->code == 200 && item->action == ZPEER_ITEM_FETCH)) {
        zpeer_buffer_lit (out, "{\"instance\":");
        s_copy (item, out);
        zpeer_buffer_lit (out, "}");
    }
}

void
reply_write (const request_t *request, zpeer_buffer_t *out)
{
    uint32_t count = request->batch->count;
    switch (request->body) {
    case BODY_NONE: break;
    case BODY_PROPER: s_proper (request, out); break;
    case BODY_GARBAGE: zpeer_buffer_lit (out, "<html>"); break;
    case BODY_FEWER: s_batch (request, count - 1, out); break;
    case BODY_MORE: s_batch (request, count + 1, out);
    }
}
