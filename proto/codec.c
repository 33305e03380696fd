#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <jansson.h>
#include <msgpack.h>
#include "event.h"
#include "banned.h"

//  Where encoded bytes go: size counts on where there is no room any more
typedef struct {
    char *data;
    size_t capacity;
    size_t size;
} sink_t;

//  Encoding

static int
s_write (void *arg, const char *data, size_t size)
{
    sink_t *sink = (sink_t *) arg;
    if (sink->size <= sink->capacity && size <= sink->capacity - sink->size)
        memcpy (sink->data + sink->size, data, size);
    sink->size += size;
    return 0;
}

static void
s_pack_text (msgpack_packer *packer, const char *text, size_t size)
{
    msgpack_pack_str (packer, size);
    msgpack_pack_str_body (packer, text, size);
}

static void
s_pack_key (msgpack_packer *packer, zpeer_event_member_t member)
{
    zpeer_slice_t key = zpeer_event_key (member);
    s_pack_text (packer, key.data, key.size);
}

static void
s_pack_member (msgpack_packer *packer, zpeer_event_member_t member,
               const char *value)
{
    s_pack_key (packer, member);
    s_pack_text (packer, value, strlen (value));
}

static void s_pack_json (msgpack_packer *packer, const json_t *json);

static void
s_pack_object (msgpack_packer *packer, const json_t *json)
{
    const char *key;
    json_t *value;
    msgpack_pack_map (packer, json_object_size (json));
    json_object_foreach ((json_t *) json, key, value)
    {
        s_pack_text (packer, key, strlen (key));
        s_pack_json (packer, value);
    }
}

static void
s_pack_json (msgpack_packer *packer, const json_t *json)
{
    switch (json_typeof (json)) {
    case JSON_OBJECT: s_pack_object (packer, json); break;
    case JSON_ARRAY:
        msgpack_pack_array (packer, json_array_size (json));
        for (size_t i = 0; i < json_array_size (json); i++)
            s_pack_json (packer, json_array_get (json, i));
        break;
    case JSON_STRING:
        s_pack_text (packer, json_string_value (json),
                     json_string_length (json));
        break;
    case JSON_INTEGER:
        msgpack_pack_int64 (packer, json_integer_value (json));
        break;
    case JSON_REAL: msgpack_pack_double (packer, json_real_value (json)); break;
    case JSON_TRUE: msgpack_pack_true (packer); break;
    case JSON_FALSE: msgpack_pack_false (packer); break;
    default: msgpack_pack_nil (packer); break;
    }
}

//  The words for a status: an ASG has its own
static const char *
s_status_word (const zpeer_event_t *self)
{
    if (self->action != ZPEER_ASG_STATUS_UPDATE)
        return zpeer_status_name (self->status);
    return self->status == ZPEER_UP ? "ENABLED" : "DISABLED";
}

static void
s_pack (const zpeer_event_t *self, sink_t *sink)
{
    msgpack_packer packer;
    msgpack_packer_init (&packer, sink, s_write);
    bool asg = self->action == ZPEER_ASG_STATUS_UPDATE;
    msgpack_pack_map (&packer, 1u + (*self->app != 0) + (*self->id != 0) +
                                   (self->timestamp != 0) + self->has_status +
                                   self->has_override + self->replicated +
                                   (self->info != NULL) + self->snapshot +
                                   (self->as_of != 0) + (self->origin != NULL));
    s_pack_member (&packer, ZPEER_EVENT_ACTION,
                   zpeer_action_name (self->action));
    if (*self->app)
        s_pack_member (&packer, ZPEER_EVENT_APP, self->app);
    if (*self->id)
        s_pack_member (&packer, asg ? ZPEER_EVENT_ASG : ZPEER_EVENT_ID,
                       self->id);
    if (self->timestamp) {
        s_pack_key (&packer, ZPEER_EVENT_TIMESTAMP);
        msgpack_pack_uint64 (&packer, self->timestamp);
    }
    if (self->has_status)
        s_pack_member (&packer, ZPEER_EVENT_STATUS, s_status_word (self));
    if (self->has_override)
        s_pack_member (&packer, ZPEER_EVENT_OVERRIDE,
                       zpeer_status_name (self->override));
    if (self->replicated) {
        s_pack_key (&packer, ZPEER_EVENT_REPLICATED);
        msgpack_pack_true (&packer);
    }
    if (self->info) {
        s_pack_key (&packer, ZPEER_EVENT_INFO);
        s_pack_json (&packer, self->info);
    }
    if (self->snapshot) {
        s_pack_key (&packer, ZPEER_EVENT_SNAPSHOT);
        msgpack_pack_true (&packer);
    }
    if (self->as_of) {
        s_pack_key (&packer, ZPEER_EVENT_AS_OF);
        msgpack_pack_uint64 (&packer, self->as_of);
    }
    if (self->origin)
        s_pack_member (&packer, ZPEER_EVENT_ORIGIN, self->origin);
}

//  What was packed counts if all of it fitted
static int
s_packed (const sink_t *sink, size_t *used)
{
    if (sink->size > sink->capacity)
        return ZPEER_E_TOO_LARGE;
    *used += sink->size;
    return ZPEER_OK;
}

int
zpeer_event_encode (const zpeer_event_t *self, void *data, size_t capacity,
                    size_t *used)
{
    assert (*used <= capacity);
    sink_t sink = {(char *) data + *used, capacity - *used, 0};
    s_pack (self, &sink);
    return s_packed (&sink, used);
}

size_t
zpeer_event_size (const zpeer_event_t *self)
{
    sink_t sink = {0};
    s_pack (self, &sink);
    return sink.size;
}

int
zpeer_event_encode_simple (void *data, size_t capacity, size_t *used,
                           zpeer_action_t action, const char *app,
                           const char *id, uint64_t timestamp_ms)
{
    zpeer_event_t event = {.action = action, .timestamp = timestamp_ms};
    bool simple = action == ZPEER_HEARTBEAT || action == ZPEER_CANCEL ||
                  action == ZPEER_FORGET;
    if (!simple || zpeer_event_set_app (&event, app) ||
        zpeer_event_set_id (&event, id))
        return ZPEER_E_INVALID;
    return zpeer_event_encode (&event, data, capacity, used);
}

//  Checking and decoding

void
zpeer_event_say (char *text, size_t size, const char *what)
{
    if (size)
        snprintf (text, size, "%s", what);
}

int
zpeer_event_check (const zpeer_event_t *self, char *reason, size_t reason_size)
{
    size_t size = zpeer_event_size (self);
    char *frame = (char *) malloc (size);
    assert (frame);
    size_t used = 0;
    zpeer_event_encode (self, frame, size, &used);
    zpeer_parser_t *parser = zpeer_parser_new ();
    zpeer_parsed_t parsed;
    char why[ZPEER_REASON_MAX];
    size_t offset = 0;
    int rc = zpeer_parser_next (parser, frame, used, &offset, &parsed, why);
    zpeer_parser_destroy (&parser);
    free (frame);
    if (!rc)
        return ZPEER_OK;
    zpeer_event_say (reason, reason_size, why);
    return ZPEER_E_REJECTED;
}

//  The whole InstanceInfo of a parsed Register, as peers get it
static json_t *
s_info (const zpeer_parsed_t *parsed)
{
    zpeer_buffer_t text = {0};
    zpeer_buffer_slice (&text, parsed->info);
    zpeer_buffer_lit (&text, ",\"status\":\"");
    zpeer_buffer_slice (&text,
                        zpeer_slice_str (zpeer_status_name (parsed->status)));
    zpeer_buffer_lit (&text, "\",\"overriddenStatus\":\"");
    zpeer_buffer_slice (&text,
                        zpeer_slice_str (zpeer_status_name (parsed->override)));
    zpeer_buffer_lit (&text, "\",\"lastDirtyTimestamp\":\"");
    zpeer_buffer_uint (&text, parsed->timestamp);
    zpeer_buffer_lit (&text, "\"}");
    json_t *info = json_loadb (text.data, text.size, 0, NULL);
    assert (info);
    zpeer_buffer_free (&text);
    return info;
}

static zpeer_event_t *
s_event (const zpeer_parsed_t *parsed)
{
    zpeer_event_t *self = (zpeer_event_t *) calloc (1, sizeof *self);
    assert (self);
    self->action = parsed->action;
    self->replicated = parsed->replicated;
    self->snapshot = parsed->snapshot;
    self->as_of = parsed->as_of;
    if (parsed->origin.size) {
        self->origin = strndup (parsed->origin.data, parsed->origin.size);
        assert (self->origin);
    }
    self->timestamp = parsed->timestamp;
    if (parsed->app.size)
        memcpy (self->app, parsed->app.data, parsed->app.size);
    memcpy (self->id, parsed->id.data, parsed->id.size);
    if (parsed->action == ZPEER_REGISTER)
        self->info = s_info (parsed);
    else {
        self->has_status = parsed->has_status;
        self->has_override = parsed->override != ZPEER_UNKNOWN;
        self->status = parsed->status;
        self->override = parsed->override;
    }
    return self;
}

int
zpeer_event_decode (const void *data, size_t size, size_t *offset,
                    zpeer_event_t **event, char *reason, size_t reason_size)
{
    zpeer_parser_t *parser = zpeer_parser_new ();
    zpeer_parsed_t parsed;
    char why[ZPEER_REASON_MAX];
    int rc = zpeer_parser_next (parser, (const char *) data, size, offset,
                                &parsed, why);
    if (rc)
        zpeer_event_say (reason, reason_size, why);
    else
        *event = s_event (&parsed);
    zpeer_parser_destroy (&parser);
    return rc;
}
