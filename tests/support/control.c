#include <stdlib.h>
#include <string.h>
#include "control.h"
#include "script.h"
#include "banned.h"

#define RECORDS_AT_ONCE 100
#define SAMPLES_AT_ONCE 4096

typedef void (s_handle_fn) (speer_t *peer, const speer_http_t *request,
                            speer_reply_t *reply);

static const char *const s_counters[] = {
#define X(name, label, meaning) label,
    SPEER_COUNTERS (X)
#undef X
};

static void
s_answer_json (speer_reply_t *reply, json_t *json)
{
    speer_reply_set (reply, 200, SPEER_JSON, json_dumps (json, JSON_COMPACT));
    json_decref (json);
}

static void
s_handle_script (speer_t *peer, const speer_http_t *request,
                 speer_reply_t *reply)
{
    char *wrong = speer_script_run (peer, request->body, request->body_size);
    speer_reply_set (reply, wrong ? 400 : 204, wrong ? "text/plain" : NULL,
                     wrong);
}

static void
s_handle_counters (speer_t *peer, const speer_http_t *request,
                   speer_reply_t *reply)
{
    (void) request;
    json_t *counters = json_object ();
    for (int i = 0; i < SPEER_COUNTERS_MAX; i++)
        json_object_set_new (
            counters, s_counters[i],
            json_integer ((json_int_t) speer_get (peer, (speer_counter_t) i)));
    s_answer_json (reply, counters);
}

//  The text, null if it is no UTF-8
static json_t *
s_text (const char *text)
{
    json_t *json = json_string (text);
    return json ? json : json_null ();
}

static json_t *
s_record (const speer_record_t *record)
{
    return json_pack ("{sIsIsisIsssssoso}", "at_ms", (json_int_t) record->at_ms,
                      "done_ms", (json_int_t) record->done_ms, "status",
                      record->status, "items", (json_int_t) record->items,
                      "method", record->method, "path", record->path, "head",
                      s_text (record->head), "body", s_text (record->body));
}

static void
s_handle_requests (speer_t *peer, const speer_http_t *request,
                   speer_reply_t *reply)
{
    char *from = speer_http_query (request, "from");
    uint64_t first = from ? strtoull (from, NULL, 10) : 0;
    json_t *list = json_array ();
    speer_record_t record;
    for (uint64_t n = first;
         n < first + RECORDS_AT_ONCE && speer_request (peer, n, &record); n++) {
        json_array_append_new (list, s_record (&record));
        speer_record_free (&record);
    }
    free (from);
    s_answer_json (reply, list);
}

static void
s_handle_samples (speer_t *peer, const speer_http_t *request,
                  speer_reply_t *reply)
{
    (void) request;
    speer_sample_t *samples =
        (speer_sample_t *) calloc (SAMPLES_AT_ONCE, sizeof *samples);
    size_t count = samples ? speer_samples (peer, samples, SAMPLES_AT_ONCE) : 0;
    json_t *list = json_array ();
    for (size_t i = 0; i < count; i++)
        json_array_append_new (list, json_pack ("[II]", samples[i].received_ns,
                                                samples[i].timestamp));
    free (samples);
    s_answer_json (reply, list);
}

static void
s_handle_apps (speer_t *peer, const speer_http_t *request, speer_reply_t *reply)
{
    (void) request;
    speer_reply_set (reply, 200, SPEER_JSON, speer_apps (peer));
}

void
speer_control_handle (speer_t *peer, const speer_http_t *request,
                      speer_reply_t *reply)
{
    static const struct {
        const char *line;
        s_handle_fn *handle;
    } calls[] = {
        {"POST /script", s_handle_script},
        {"GET /counters", s_handle_counters},
        {"GET /requests", s_handle_requests},
        {"GET /samples", s_handle_samples},
        {"GET /apps", s_handle_apps},
    };
    speer_reply_set (reply, 404, NULL, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        size_t size = strlen (calls[i].line);
        if (request->head_size > size &&
            !memcmp (request->head, calls[i].line, size) &&
            strchr (" ?", request->head[size]))
            calls[i].handle (peer, request, reply);
    }
}
