/*  fuzz_event.c - the event parser and the reply reader, fed with anything

    Beside crashes it looks for broken promises: an accepted event is what the
    view may rely on, its JSON is JSON, and encoding what was decoded gives the
    same event again.
*/
#include <stdlib.h>
#include <jansson.h>
#include <zpeer/event.h>
#include "event.h"
#include "reply.h"
#include "banned.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

//  An assert that is there in every build
static void
s_must (bool condition)
{
    if (!condition)
        abort ();
}

static void
s_check_info (const zpeer_parsed_t *event)
{
    zpeer_buffer_t text = {0};
    zpeer_buffer_slice (&text, event->info);
    zpeer_buffer_lit (&text, "}");
    json_t *json = json_loadb (text.data, text.size,
                               JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    s_must (json != NULL);
    s_must (json_is_object (json_object_get (json, "dataCenterInfo")));
    s_must (json_is_object (json_object_get (json, "metadata")));
    s_must (json_is_string (json_object_get (json, "hostName")));
    s_must (json_is_string (json_object_get (json, "ipAddr")));
    s_must (!json_object_get (json, "status"));
    json_decref (json);
    zpeer_buffer_free (&text);
}

static void
s_check (const zpeer_parsed_t *event)
{
    bool asg = event->action == ZPEER_ASG_STATUS_UPDATE;
    s_must (event->id.size > 0 && event->id.size <= ZPEER_ID_MAX);
    s_must (asg ? !event->app.size : event->app.size > 0);
    s_must (event->app.size <= ZPEER_APP_MAX);
    s_must (event->has_timestamp == (event->timestamp != 0));
    s_must (!event->replicated || (!event->snapshot && !event->origin.size));
    s_must (!event->snapshot || event->action == ZPEER_REGISTER);
    s_must (!event->as_of || event->snapshot);
    s_must (event->origin.size <= ZPEER_ORIGIN_MAX);
    for (size_t i = 0; i < event->app.size; i++)
        s_must (event->app.data[i] < 'a' || event->app.data[i] > 'z');
    if (event->action == ZPEER_REGISTER)
        s_check_info (event);
    else
        s_must (!event->info.size);
}

//  Decodes, encodes, decodes: the second encoding is the first
static void
s_check_again (const char *frame, size_t size, size_t offset)
{
    zpeer_event_t *event = NULL;
    zpeer_event_t *again = NULL;
    s_must (!zpeer_event_decode (frame, size, &offset, &event, NULL, 0));
    size_t capacity = zpeer_event_size (event);
    char *first = (char *) malloc (capacity);
    char *second = (char *) malloc (capacity);
    size_t first_size = 0;
    size_t second_size = 0;
    size_t from = 0;
    s_must (!zpeer_event_encode (event, first, capacity, &first_size));
    s_must (first_size == capacity);
    s_must (!zpeer_event_decode (first, first_size, &from, &again, NULL, 0));
    s_must (!zpeer_event_encode (again, second, capacity, &second_size));
    s_must (first_size == second_size && !memcmp (first, second, first_size));
    free (first);
    free (second);
    zpeer_event_destroy (&event);
    zpeer_event_destroy (&again);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static zpeer_parser_t *parser;
    static zpeer_reply_reader_t reply;
    if (!parser)
        parser = zpeer_parser_new ();
    const char *frame = (const char *) data;
    size_t offset = 0;
    while (offset < size) {
        size_t start = offset;
        zpeer_parsed_t event;
        char reason[ZPEER_REASON_MAX];
        int rc =
            zpeer_parser_next (parser, frame, size, &offset, &event, reason);
        if (rc)
            s_must (strlen (reason) > 0);
        if (rc == ZPEER_E_PARSE)
            break;
        s_must (offset > start);
        if (!rc) {
            s_check (&event);
            s_check_again (frame, size, start);
        }
    }
    zpeer_reply_read (&reply, data, size);
    return 0;
}
