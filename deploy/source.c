/*  source.c - events out of the JSON that Eureka, or we, write
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"
#include "banned.h"

//  Longest reason
#define REASON_MAX 256

//  Most of a wrong value that a reason repeats, bytes
#define QUOTE_MAX 63

//  What is read, and for whom
typedef struct {
    const source_sink_t *sink;
    uint64_t item;  //  Of the event at hand; 0: the value is the event
} self_t;

static bool
s_given (const json_t *value)
{
    return value && !json_is_null (value);
}

static void
s_reject (const self_t *self, const char *reason)
{
    self->sink->reject (self->sink->arg, self->item, reason);
}

//  Writes down what is wrong. Returns ZPEER_E_INVALID.
static int
s_fault (char reason[REASON_MAX], const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (reason, REASON_MAX, format, arguments);
    va_end (arguments);
    return ZPEER_E_INVALID;
}

//  "name \"text\" is none of" and all names there are
static int
s_none_of (char reason[REASON_MAX], const char *name, const char *text,
           const char *(*nth) (unsigned), unsigned count)
{
    int used = snprintf (reason, REASON_MAX, "%s \"%.*s\" is none of", name,
                         QUOTE_MAX, text);
    for (char *at = reason; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';  //  What a terminal could take for a command
    for (unsigned i = 0; i < count && used < REASON_MAX; i++)
        used += snprintf (reason + used, (size_t) (REASON_MAX - used), "%s %s",
                          i ? "," : "", nth (i));
    return ZPEER_E_INVALID;
}

static const char *
s_nth_action (unsigned number)
{
    return zpeer_action_name ((zpeer_action_t) number);
}

static const char *
s_nth_status (unsigned number)
{
    return zpeer_status_name ((zpeer_status_t) number);
}

//  A member that is a string
typedef struct {
    const char *name;  //  As it was written
    const char *text;  //  NULL: it is not given
} member_t;

//  The member of either name
static int
s_find (const json_t *object, const char *name, const char *other,
        member_t *member, char reason[REASON_MAX])
{
    const json_t *value = json_object_get (object, name);
    if (!s_given (value) && other) {
        name = other;
        value = json_object_get (object, name);
    }
    *member = (member_t){name, json_string_value (value)};
    if (s_given (value) && !member->text)
        return s_fault (reason, "%s is not a string", name);
    return ZPEER_OK;
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

//  What follows sets what events have besides an InstanceInfo

static int
s_fill_timestamp (zpeer_event_t *event, const json_t *value,
                  char reason[REASON_MAX])
{
    const json_t *timestamp = json_object_get (value, "lastDirtyTimestamp");
    uint64_t number = 0;
    if (!s_given (timestamp))
        return ZPEER_OK;
    if (!s_timestamp (timestamp, &number) ||
        zpeer_event_set_timestamp (event, number) != ZPEER_OK)
        return s_fault (reason,
                        "lastDirtyTimestamp is not a number of ms from 1 to "
                        "%" PRId64 ", the year 2200",
                        (int64_t) ZPEER_TIMESTAMP_MAX);
    return ZPEER_OK;
}

static int
s_asg_status (const member_t *member, zpeer_status_t *status,
              char reason[REASON_MAX])
{
    if (!strcmp (member->text, "ENABLED"))
        *status = ZPEER_UP;
    else if (!strcmp (member->text, "DISABLED"))
        *status = ZPEER_OUT_OF_SERVICE;
    else
        return s_fault (reason, "%s is neither ENABLED nor DISABLED",
                        member->name);
    return ZPEER_OK;
}

static int
s_status (const member_t *member, zpeer_status_t *status,
          char reason[REASON_MAX])
{
    if (zpeer_status_parse (member->text, strlen (member->text), status) ==
        ZPEER_OK)
        return ZPEER_OK;
    return s_none_of (reason, member->name, member->text, s_nth_status,
                      ZPEER_STATUSES);
}

static int
s_fill_status (zpeer_event_t *event, const json_t *value,
               char reason[REASON_MAX])
{
    member_t member;
    zpeer_status_t status = ZPEER_UNKNOWN;
    bool asg = zpeer_event_action (event) == ZPEER_ASG_STATUS_UPDATE;
    int rc = s_find (value, "status", NULL, &member, reason);
    if (rc == ZPEER_OK && member.text) {
        rc = asg ? s_asg_status (&member, &status, reason)
                 : s_status (&member, &status, reason);
        if (rc == ZPEER_OK)
            zpeer_event_set_status (event, status);
    }
    if (rc == ZPEER_OK)
        rc = s_find (value, "overriddenStatus", "overriddenstatus", &member,
                     reason);
    if (rc == ZPEER_OK && member.text) {
        rc = s_status (&member, &status, reason);
        if (rc == ZPEER_OK)
            zpeer_event_set_overridden_status (event, status);
    }
    return rc;
}

static int
s_fill_text (zpeer_event_t *event, const json_t *value, const char *name,
             const char *other, int (*set) (zpeer_event_t *, const char *),
             char reason[REASON_MAX])
{
    member_t member;
    int rc = s_find (value, name, other, &member, reason);
    if (rc != ZPEER_OK || !member.text)
        return rc;
    rc = set (event, member.text);
    if (rc == ZPEER_OK)
        return rc;
    size_t size = strlen (member.text);
    if (rc == ZPEER_E_TOO_LARGE)
        return s_fault (reason, "%s is too long, %zu bytes", member.name, size);
    const char *wrong = "has a control character in it";
    if (strspn (member.text, " \t\n\v\f\r") == size)
        wrong = "is blank";
    else if (!strcmp (member.text, ".") || !strcmp (member.text, ".."))
        wrong = "is what stands for a folder in a URL";
    return s_fault (reason, "%s %s", member.name, wrong);
}

static int
s_fill_name (zpeer_event_t *event, const json_t *value, char reason[REASON_MAX])
{
    int rc = s_fill_text (event, value, "app", "appName", zpeer_event_set_app,
                          reason);
    if (rc == ZPEER_OK)
        rc = s_fill_text (event, value, "id", NULL, zpeer_event_set_id, reason);
    if (rc == ZPEER_OK)
        rc = s_fill_text (event, value, "asg", NULL, zpeer_event_set_asg,
                          reason);
    return rc;
}

static int
s_fill_flag (zpeer_event_t *event, const json_t *value, const char *name,
             void (*set) (zpeer_event_t *, bool), char reason[REASON_MAX])
{
    const json_t *flag = json_object_get (value, name);
    if (!s_given (flag))
        return ZPEER_OK;
    if (!json_is_boolean (flag))
        return s_fault (reason, "%s is neither true nor false", name);
    set (event, json_is_true (flag));
    return ZPEER_OK;
}

//  Whose word the event is
static int
s_fill_marks (zpeer_event_t *event, const json_t *value,
              char reason[REASON_MAX])
{
    const json_t *as_of = json_object_get (value, "asOf");
    uint64_t number = 0;
    int rc = s_fill_flag (event, value, "replicated",
                          zpeer_event_set_replicated, reason);
    if (rc == ZPEER_OK)
        rc = s_fill_flag (event, value, "snapshot", zpeer_event_set_snapshot,
                          reason);
    if (rc == ZPEER_OK)
        rc = s_fill_text (event, value, "origin", NULL, zpeer_event_set_origin,
                          reason);
    if (rc == ZPEER_OK && s_given (as_of) &&
        (!s_timestamp (as_of, &number) || !number ||
         zpeer_event_set_as_of (event, number) != ZPEER_OK))
        rc = s_fault (reason, "asOf is not a number from 1 to %" PRId64,
                      INT64_MAX);
    return rc;
}

//  An InstanceInfo goes first: it sets whatever it has, and what the event says
//  beside it counts more. name: as it was written.
static int
s_fill_info (zpeer_event_t *event, const char *name, const json_t *info,
             char reason[REASON_MAX])
{
    if (!json_is_object (info))
        return s_fault (reason, "%s is not an object", name);
    char *text = json_dumps (info, JSON_COMPACT);
    assert (text);
    int rc = zpeer_event_set_info_json (event, text, strlen (text), reason,
                                        REASON_MAX);
    free (text);
    return rc;
}

static int
s_find_action (const json_t *value, zpeer_action_t *action,
               char reason[REASON_MAX])
{
    member_t member;
    int rc = s_find (value, "action", NULL, &member, reason);
    if (rc != ZPEER_OK)
        return rc;
    if (!member.text)
        return s_fault (reason, "action is missing");
    if (zpeer_action_parse (member.text, strlen (member.text), action) !=
        ZPEER_OK)
        return s_none_of (reason, "action", member.text, s_nth_action,
                          ZPEER_ACTIONS);
    return ZPEER_OK;
}

//  What stands beside an InstanceInfo and in it must be the same; both were read, and
//  are statuses
static int
s_agree (const json_t *value, const json_t *info, char reason[REASON_MAX])
{
    static const char *const names[][2] = {
        {"status", NULL}, {"overriddenStatus", "overriddenstatus"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        member_t here, there;
        int rc = s_find (value, names[i][0], names[i][1], &here, reason);
        if (rc == ZPEER_OK)
            rc = s_find (info, names[i][0], names[i][1], &there, reason);
        if (rc != ZPEER_OK)
            return rc;
        if (here.text && there.text && strcmp (here.text, there.text) != 0)
            return s_fault (reason, "%s is %.*s, in info it is %.*s", here.name,
                            QUOTE_MAX, here.text, QUOTE_MAX, there.text);
    }
    return ZPEER_OK;
}

static int
s_fill (zpeer_event_t *event, const json_t *value, char reason[REASON_MAX])
{
    bool registers = zpeer_event_action (event) == ZPEER_REGISTER;
    const char *name = "info";
    const json_t *info = json_object_get (value, name);
    bool ours = s_given (info);
    if (!ours) {
        name = "instanceInfo";
        info = json_object_get (value, name);
    }
    int rc = ZPEER_OK;
    if (s_given (info) && registers)
        rc = s_fill_info (event, name, info, reason);
    if (rc == ZPEER_OK)
        rc = s_fill_name (event, value, reason);
    if (rc == ZPEER_OK)
        rc = s_fill_timestamp (event, value, reason);
    if (rc == ZPEER_OK)
        rc = s_fill_marks (event, value, reason);
    //  Of a Register of Eureka's only the InstanceInfo counts, as at every receiver
    if (rc == ZPEER_OK && (!registers || ours))
        rc = s_fill_status (event, value, reason);
    if (rc == ZPEER_OK && registers && ours)
        rc = s_agree (value, info, reason);
    return rc;
}

static void
s_pass_on (const self_t *self, zpeer_event_t *event, int rc, const char *reason)
{
    if (rc != ZPEER_OK)
        s_reject (self, reason);
    else
        self->sink->event (self->sink->arg, self->item, event);
    zpeer_event_destroy (&event);
}

//  An event of ours, or an item of Eureka's peer replication
static void
s_read_event (const self_t *self, const json_t *value)
{
    char reason[REASON_MAX] = "";
    zpeer_action_t action = ZPEER_REGISTER;
    if (s_find_action (value, &action, reason) != ZPEER_OK) {
        s_reject (self, reason);
        return;
    }
    zpeer_event_t *event = zpeer_event_new (action);
    s_pass_on (self, event, s_fill (event, value, reason), reason);
}

static void
s_read_instance (const self_t *self, const json_t *info)
{
    char reason[REASON_MAX] = "";
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    s_pass_on (self, event, s_fill_info (event, "instance", info, reason),
               reason);
}

//  Whether a value can have members; rejects it if not
static bool
s_is_object (const self_t *self, const char *name, const json_t *value)
{
    char reason[REASON_MAX];
    if (json_is_object (value))
        return true;
    s_fault (reason, "%s is not an object", name);
    s_reject (self, reason);
    return false;
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
    if (s_is_object (self, "an item of replicationList", value))
        s_read_event (self, value);
}

//  What a registry has of an instance, which is all it has
static void
s_read_listed_instance (self_t *self, const json_t *value)
{
    char reason[REASON_MAX] = "";
    member_t type;
    self->item++;
    int rc = s_find (value, "actionType", NULL, &type, reason);
    if (rc == ZPEER_OK && type.text && !strcmp (type.text, "DELETED"))
        rc = s_fault (reason,
                      "actionType is DELETED: the registry has it no more");
    if (rc != ZPEER_OK) {
        s_reject (self, reason);
        return;
    }
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    zpeer_event_set_snapshot (event, true);
    if (self->sink->as_of)
        zpeer_event_set_as_of (event, self->sink->as_of (self->sink->arg));
    s_pass_on (self, event, s_fill_info (event, "instance", value, reason),
               reason);
}

//  An application is no item: only its instances are counted
static void
s_read_application (self_t *self, const json_t *value)
{
    self_t whole = {.sink = self->sink};
    if (!s_is_object (&whole, "application", value))
        return;
    s_each (self, json_object_get (value, "instance"), s_read_listed_instance);
}

static void
s_read_applications (self_t *self, const json_t *value)
{
    if (!s_is_object (self, "applications", value))
        return;
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
