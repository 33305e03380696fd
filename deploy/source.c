/*  source.c - events out of the JSON that Eureka, or we, write
 */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"
#include "banned.h"

//  Longest reason
#define REASON_MAX 256

//  What is read, and for whom
typedef struct {
    const source_sink_t *sink;
    uint64_t item;  //  Of the event at hand; 0: the value is the event
} self_t;

//  The member of either name, as text; NULL if it is absent or no string
static const char *
s_text (const json_t *object, const char *name, const char *other)
{
    const char *text = json_string_value (json_object_get (object, name));
    if (!text && other)
        text = json_string_value (json_object_get (object, other));
    return text;
}

static bool
s_given (const json_t *value)
{
    return value && !json_is_null (value);
}

static void
s_reject (const self_t *self, const char *format, ...)
{
    char reason[REASON_MAX];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (reason, sizeof reason, format, arguments);
    va_end (arguments);
    self->sink->reject (self->sink->arg, self->item, reason);
}

//  Eureka's timestamps come as numbers or as strings of digits
static bool
s_timestamp (const json_t *value, uint64_t *timestamp)
{
    if (json_is_integer (value) && json_integer_value (value) >= 0) {
        *timestamp = (uint64_t) json_integer_value (value);
        return true;
    }
    const char *text = json_string_value (value);
    if (!text || *text < '0' || *text > '9')
        return false;
    char *end = NULL;
    errno = 0;
    *timestamp = strtoull (text, &end, 10);
    return !*end && !errno;
}

//  Sets what events have besides an InstanceInfo. Returns NULL, or what is
//  wrong.
static const char *
s_fill_timestamp (zpeer_event_t *event, const json_t *value)
{
    const json_t *timestamp = json_object_get (value, "lastDirtyTimestamp");
    uint64_t number = 0;
    if (!s_given (timestamp))
        return NULL;
    if (!s_timestamp (timestamp, &number) ||
        zpeer_event_set_timestamp (event, number) != ZPEER_OK)
        return "lastDirtyTimestamp is no number of milliseconds above 0";
    return NULL;
}

static const char *
s_fill_status (zpeer_event_t *event, const json_t *value)
{
    zpeer_status_t status = ZPEER_UNKNOWN;
    const char *text = s_text (value, "status", NULL);
    bool asg = zpeer_event_action (event) == ZPEER_ASG_STATUS_UPDATE;
    if (text && asg && !strcmp (text, "ENABLED"))
        text = "UP";
    else if (text && asg && !strcmp (text, "DISABLED"))
        text = "OUT_OF_SERVICE";
    if (text && zpeer_status_parse (text, strlen (text), &status) != ZPEER_OK)
        return "status is none of Eureka's";
    if (text)
        zpeer_event_set_status (event, status);

    text = s_text (value, "overriddenStatus", "overriddenstatus");
    if (text && zpeer_status_parse (text, strlen (text), &status) != ZPEER_OK)
        return "overriddenStatus is none of Eureka's";
    if (text)
        zpeer_event_set_overridden_status (event, status);
    return NULL;
}

static const char *
s_fill_name (zpeer_event_t *event, const json_t *value)
{
    const char *app = s_text (value, "app", "appName");
    const char *id = s_text (value, "id", NULL);
    const char *asg = s_text (value, "asg", NULL);
    if (app && zpeer_event_set_app (event, app) != ZPEER_OK)
        return "app is no name of an application";
    if (id && zpeer_event_set_id (event, id) != ZPEER_OK)
        return "id is no id of an instance";
    if (asg && zpeer_event_set_asg (event, asg) != ZPEER_OK)
        return "asg is no name of a group";
    if (json_is_true (json_object_get (value, "replicated")))
        zpeer_event_set_replicated (event, true);
    return NULL;
}

//  An InstanceInfo goes first: it sets whatever it has, and what the event says
//  beside it counts more
static int
s_fill_info (zpeer_event_t *event, const json_t *info, char *reason)
{
    char *text = json_dumps (info, JSON_COMPACT);
    assert (text);
    int rc = zpeer_event_set_info_json (event, text, strlen (text), reason,
                                        REASON_MAX);
    free (text);
    return rc;
}

static void
s_pass_on (const self_t *self, zpeer_event_t *event, const char *fault)
{
    if (fault)
        s_reject (self, "%s", fault);
    else
        self->sink->event (self->sink->arg, self->item, event);
    zpeer_event_destroy (&event);
}

//  An event of ours, or an item of Eureka's peer replication
static void
s_read_event (const self_t *self, const json_t *value)
{
    zpeer_action_t action = ZPEER_REGISTER;
    const char *name = s_text (value, "action", NULL);
    if (!name ||
        zpeer_action_parse (name, strlen (name), &action) != ZPEER_OK) {
        s_reject (self, name ? "action is \"%s\"" : "action is missing", name);
        return;
    }
    char reason[REASON_MAX] = "";
    const char *fault = NULL;
    zpeer_event_t *event = zpeer_event_new (action);
    const json_t *info = json_object_get (value, "info");
    if (!s_given (info))
        info = json_object_get (value, "instanceInfo");
    if (s_given (info) && action == ZPEER_REGISTER &&
        s_fill_info (event, info, reason) != ZPEER_OK)
        fault = reason;
    if (!fault)
        fault = s_fill_name (event, value);
    if (!fault)
        fault = s_fill_timestamp (event, value);
    //  Only the InstanceInfo counts for a Register, as at every receiver
    if (!fault && action != ZPEER_REGISTER)
        fault = s_fill_status (event, value);
    s_pass_on (self, event, fault);
}

static void
s_read_instance (const self_t *self, const json_t *info)
{
    char reason[REASON_MAX] = "";
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    int rc = s_fill_info (event, info, reason);
    s_pass_on (self, event, rc == ZPEER_OK ? NULL : reason);
}

typedef void (read_fn) (self_t *self, const json_t *value);

//  Reads each element of a list. Some servers write a list of one without the
//  brackets.
static void
s_each (self_t *self, const json_t *list, read_fn *read)
{
    size_t count = json_is_array (list) ? json_array_size (list) : 1;
    if (!s_given (list))
        count = 0;
    for (size_t i = 0; i < count; i++)
        read (self, json_is_array (list) ? json_array_get (list, i) : list);
}

static void
s_read_item (self_t *self, const json_t *value)
{
    self->item++;
    s_read_event (self, value);
}

static void
s_read_listed_instance (self_t *self, const json_t *value)
{
    self->item++;
    s_read_instance (self, value);
}

static void
s_read_application (self_t *self, const json_t *value)
{
    s_each (self, json_object_get (value, "instance"), s_read_listed_instance);
}

static void
s_read_applications (self_t *self, const json_t *value)
{
    s_each (self, json_object_get (value, "application"), s_read_application);
}

static void
s_read_items (self_t *self, const json_t *value)
{
    s_each (self, value, s_read_item);
}

static void
s_read_one_instance (self_t *self, const json_t *value)
{
    s_read_instance (self, value);
}

//  A value with this member is read by this function, from the member
static const struct {
    const char *member;
    read_fn *read;
} s_shapes[] = {
    {"applications", s_read_applications},
    {"application", s_read_application},
    {"replicationList", s_read_items},
    {"instance", s_read_one_instance},
};

void
source_read (const json_t *value, const source_sink_t *sink)
{
    self_t self = {.sink = sink};
    for (size_t i = 0; i < sizeof s_shapes / sizeof *s_shapes; i++) {
        const json_t *member = json_object_get (value, s_shapes[i].member);
        if (s_given (member)) {
            s_shapes[i].read (&self, member);
            return;
        }
    }
    if (s_given (json_object_get (value, "action")) ||
        s_given (json_object_get (value, "appName")))
        s_read_event (&self, value);
    else if (s_given (json_object_get (value, "hostName")))
        s_read_instance (&self, value);
    else
        s_reject (&self, "neither an event nor anything Eureka writes");
}
