#include <assert.h>
#include "item.h"
#include "prefetch.h"
#include "banned.h"

//  Everything around the texts of an item and its numbers: the names of all
//  members and the longest action and statuses (about 220 bytes)
#define FRAME_MAX 320

//  What a name's start of an item has beside app and id, and how much longer they
//  become there: they have no control characters, so that an escape is two bytes
#define NAME_FRAME_MAX 32
#define ESCAPE_MAX     2

//  The names of a large registry lie all over its memory: each is fetched so many
//  items before it is written, as far as most names go. Waiting for it took
//  three quarters of the time that writing a Heartbeat takes.
#define FETCH_AHEAD 4
#define FETCH_BYTES 256

//  How an item ends. A Heartbeat is what a peer is sent over a million times a
//  second: its status and action are one text.
#define TAIL(action, status)                                                   \
    {                                                                          \
        ",\"status\":\"" status "\",\"action\":\"" action "\"}",               \
            sizeof (",\"status\":\"" status "\",\"action\":\"" action "\"}") - \
                1                                                              \
    }
#define TAILS(action)                                                          \
    {                                                                          \
        [ZPEER_UNKNOWN] = TAIL (action, "UNKNOWN"),                            \
        [ZPEER_UP] = TAIL (action, "UP"),                                      \
        [ZPEER_DOWN] = TAIL (action, "DOWN"),                                  \
        [ZPEER_STARTING] = TAIL (action, "STARTING"),                          \
        [ZPEER_OUT_OF_SERVICE] = TAIL (action, "OUT_OF_SERVICE"),              \
    }

static const zpeer_slice_t s_tails[ZPEER_ACTIONS][ZPEER_STATUSES] = {
    [ZPEER_HEARTBEAT] = TAILS ("Heartbeat"),
    [ZPEER_STATUS_UPDATE] = TAILS ("StatusUpdate"),
    [ZPEER_DELETE_STATUS_OVERRIDE] = TAILS ("DeleteStatusOverride"),
};

static void
s_status (zpeer_buffer_t *out, uint8_t status)
{
    zpeer_buffer_slice (
        out, zpeer_slice_str (zpeer_status_name ((zpeer_status_t) status)));
}

//  The text of the instance ends before its status, so that it serves for any
//  later state. Here lastDirtyTimestamp is a string, and must be there: without
//  it the peer's copy would look newest of all.
static void
s_info (const zpeer_item_t *self, zpeer_buffer_t *out)
{
    const zpeer_text_t *info = self->state->info;
    assert (info);
    zpeer_buffer_add (out, info->data, info->size);
    zpeer_buffer_lit (out, ",\"status\":\"");
    s_status (out, self->status);
    zpeer_buffer_lit (out, "\",\"overriddenStatus\":\"");
    s_status (out, self->override);
    zpeer_buffer_lit (out, "\",\"lastDirtyTimestamp\":\"");
    zpeer_buffer_uint (out, self->timestamp);
    zpeer_buffer_lit (out, "\"}");
}

size_t
zpeer_item_bound (const zpeer_item_t *self)
{
    size_t info = self->action == ZPEER_REGISTER ? self->state->info->size : 0;
    return self->state->name->item_size + info + FRAME_MAX;
}

size_t
zpeer_item_batch_bound (zpeer_slice_t app, zpeer_slice_t id, size_t info_size)
{
    size_t items = info_size ? 2 : 1;
    size_t name = NAME_FRAME_MAX + ESCAPE_MAX * (app.size + id.size);
    return sizeof ZPEER_BATCH_HEAD + sizeof ZPEER_BATCH_TAIL + info_size +
           items * (name + FRAME_MAX);
}

void
zpeer_item_write (const zpeer_item_t *self, zpeer_buffer_t *out)
{
    const zpeer_name_t *name = self->state->name;
    assert (name->app_size && self->status < ZPEER_STATUSES);
    zpeer_buffer_reserve (out, zpeer_item_bound (self));
    zpeer_buffer_slice (out, zpeer_name_item (name));
    if (self->action == ZPEER_CANCEL) {
        zpeer_buffer_lit (out, ",\"action\":\"Cancel\"}");
        return;
    }
    if (self->timestamp) {
        zpeer_buffer_lit (out, ",\"lastDirtyTimestamp\":");
        zpeer_buffer_uint (out, self->timestamp);
    }
    if (self->action == ZPEER_REGISTER) {
        zpeer_buffer_lit (out, ",\"status\":\"");
        s_status (out, self->status);
        zpeer_buffer_lit (out, "\",\"instanceInfo\":");
        s_info (self, out);
        zpeer_buffer_lit (out, ",\"action\":\"Register\"}");
        return;
    }
    zpeer_slice_t tail = s_tails[self->action][self->status];
    assert (tail.size);
    zpeer_buffer_slice (out, tail);
}

void
zpeer_item_write_all (const zpeer_item_t *items, size_t count,
                      zpeer_buffer_t *out)
{
    zpeer_buffer_lit (out, ZPEER_BATCH_HEAD);
    for (size_t i = 0; i < count; i++) {
        if (i + FETCH_AHEAD < count &&
            items[i + FETCH_AHEAD].action != ZPEER_REGISTER)
            zpeer_prefetch (items[i + FETCH_AHEAD].state->name, FETCH_BYTES);
        if (i)
            zpeer_buffer_lit (out, ",");
        zpeer_item_write (&items[i], out);
    }
    zpeer_buffer_lit (out, ZPEER_BATCH_TAIL);
}

//  What stands for itself in a path segment. More would be legal, but ";"
//  begins a parameter for Java's servers, and "+" is a blank for some.
static bool
s_plain (char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') ||
           (byte && strchr ("-._~:@", byte) != NULL);
}

static void
s_segment (zpeer_buffer_t *path, zpeer_slice_t text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char) text.data[i];
        if (s_plain (text.data[i])) {
            zpeer_buffer_add (path, text.data + i, 1);
            continue;
        }
        char encoded[3] = {'%', hex[byte >> 4], hex[byte & 15]};
        zpeer_buffer_add (path, encoded, sizeof encoded);
    }
}

static void
s_instance_path (const zpeer_item_t *self, zpeer_buffer_t *path)
{
    zpeer_buffer_lit (path, "apps/");
    s_segment (path, zpeer_name_app (self->state->name));
    zpeer_buffer_lit (path, "/");
    s_segment (path, zpeer_name_id (self->state->name));
}

static void
s_timestamp_parameter (const zpeer_item_t *self, zpeer_buffer_t *path)
{
    if (!self->timestamp)
        return;
    zpeer_buffer_lit (path, "&lastDirtyTimestamp=");
    zpeer_buffer_uint (path, self->timestamp);
}

static const char *
s_register (const zpeer_item_t *self, zpeer_buffer_t *path,
            zpeer_buffer_t *body)
{
    zpeer_buffer_lit (path, "apps/");
    s_segment (path, zpeer_name_app (self->state->name));
    zpeer_buffer_lit (body, "{\"instance\":");
    s_info (self, body);
    zpeer_buffer_lit (body, "}");
    return "POST";
}

static const char *
s_heartbeat (const zpeer_item_t *self, zpeer_buffer_t *path)
{
    s_instance_path (self, path);
    zpeer_buffer_lit (path, "?status=");
    s_status (path, self->status);
    s_timestamp_parameter (self, path);
    return "PUT";
}

//  StatusUpdate and DeleteStatusOverride differ in the method only: the server
//  takes the status to fall back to from "value" as well
static const char *
s_override (const zpeer_item_t *self, zpeer_buffer_t *path, const char *method)
{
    s_instance_path (self, path);
    zpeer_buffer_lit (path, "/status?value=");
    s_status (path, self->status);
    s_timestamp_parameter (self, path);
    return method;
}

static const char *
s_asg (const zpeer_item_t *self, zpeer_buffer_t *path)
{
    zpeer_buffer_lit (path, "asg/");
    s_segment (path, zpeer_name_id (self->state->name));
    zpeer_buffer_lit (path, "/status?value=");
    zpeer_buffer_slice (path, self->status == ZPEER_UP
                                  ? ZPEER_SLICE ("ENABLED")
                                  : ZPEER_SLICE ("DISABLED"));
    return "PUT";
}

const char *
zpeer_item_request (const zpeer_item_t *self, zpeer_buffer_t *path,
                    zpeer_buffer_t *body)
{
    switch ((zpeer_action_t) self->action) {
    case ZPEER_ITEM_FETCH: s_instance_path (self, path); return "GET";
    case ZPEER_REGISTER: return s_register (self, path, body);
    case ZPEER_HEARTBEAT: return s_heartbeat (self, path);
    case ZPEER_CANCEL: s_instance_path (self, path); return "DELETE";
    case ZPEER_STATUS_UPDATE: return s_override (self, path, "PUT");
    case ZPEER_DELETE_STATUS_OVERRIDE: return s_override (self, path, "DELETE");
    case ZPEER_ASG_STATUS_UPDATE: return s_asg (self, path);
    default: break;
    }
    assert (!"an action without a request");
    return NULL;
}
