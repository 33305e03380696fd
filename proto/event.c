#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <jansson.h>
#include <zpeer/event.h>
#include "info.h"
#include "utf8.h"
#include "banned.h"

void
zpeer_event_destroy (zpeer_event_t **self_p)
{
    zpeer_event_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    json_decref (self->info);
    free (self->origin);
    free (self);
}

zpeer_event_t *
zpeer_event_new (zpeer_action_t action)
{
    assert ((unsigned) action < ZPEER_ACTIONS);
    zpeer_event_t *self = (zpeer_event_t *) calloc (1, sizeof *self);
    assert (self);
    self->action = action;
    if (action == ZPEER_REGISTER) {
        self->info = json_object ();
        assert (self->info);
        zpeer_event_put_data_center (self, "MyOwn");
    }
    return self;
}

static int
s_set_name (char *name, size_t max, const char *value)
{
    zpeer_slice_t text = zpeer_slice_str (value);
    if (text.size > max)
        return ZPEER_E_TOO_LARGE;
    if (zpeer_utf8_look (text) == ZPEER_UTF8_INVALID ||
        zpeer_utf8_blank (text) || zpeer_utf8_control (text) ||
        zpeer_utf8_dots (text))
        return ZPEER_E_INVALID;
    memcpy (name, value, text.size + 1);
    return ZPEER_OK;
}

int
zpeer_event_set_app (zpeer_event_t *self, const char *app)
{
    return s_set_name (self->app, ZPEER_APP_MAX, app);
}

int
zpeer_event_set_id (zpeer_event_t *self, const char *id)
{
    return s_set_name (self->id, ZPEER_ID_MAX, id);
}

int
zpeer_event_set_asg (zpeer_event_t *self, const char *name)
{
    return s_set_name (self->id, ZPEER_ASG_MAX, name);
}

int
zpeer_event_set_timestamp (zpeer_event_t *self, uint64_t timestamp_ms)
{
    if (!timestamp_ms || timestamp_ms > ZPEER_TIMESTAMP_MAX)
        return ZPEER_E_RANGE;
    self->timestamp = timestamp_ms;
    return ZPEER_OK;
}

void
zpeer_event_set_replicated (zpeer_event_t *self, bool replicated)
{
    self->replicated = replicated;
}

void
zpeer_event_set_snapshot (zpeer_event_t *self, bool snapshot)
{
    self->snapshot = snapshot;
}

int
zpeer_event_set_as_of (zpeer_event_t *self, uint64_t as_of)
{
    if (as_of > INT64_MAX)
        return ZPEER_E_RANGE;
    self->as_of = as_of;
    return ZPEER_OK;
}

int
zpeer_event_set_origin (zpeer_event_t *self, const char *url)
{
    char checked[ZPEER_ORIGIN_MAX + 1];
    int rc = *url ? s_set_name (checked, ZPEER_ORIGIN_MAX, url) : ZPEER_OK;
    if (rc)
        return rc;
    free (self->origin);
    self->origin = *url ? strdup (url) : NULL;
    assert (self->origin || !*url);
    return ZPEER_OK;
}

//  InstanceInfo

//  Puts a value into a map; takes the value, NULL is one that cannot be
static int
s_put (json_t *map, const char *key, json_t *value)
{
    if (!value)
        return ZPEER_E_INVALID;
    return json_object_set_new (map, key, value) ? ZPEER_E_INVALID : ZPEER_OK;
}

//  Whether a member may be put as one of these kinds (bits)
static int
s_may_put (const zpeer_event_t *self, const char *name, unsigned kinds)
{
    if (!self->info)
        return ZPEER_E_STATE;
    zpeer_info_kind_t kind = zpeer_info_kind (name);
    if (kind == ZPEER_KINDS)
        return ZPEER_E_UNKNOWN;
    return kinds & 1u << kind ? ZPEER_OK : ZPEER_E_INVALID;
}

int
zpeer_event_put_str (zpeer_event_t *self, const char *name, const char *value)
{
    int rc =
        s_may_put (self, name,
                   1u << ZPEER_KIND_TEXT | 1u << ZPEER_KIND_UPPER |
                       1u << ZPEER_KIND_ACTION_TYPE | 1u << ZPEER_KIND_STATUS);
    return rc ? rc : s_put (self->info, name, json_string (value));
}

int
zpeer_event_put_int (zpeer_event_t *self, const char *name, int64_t value)
{
    int rc = s_may_put (self, name,
                        1u << ZPEER_KIND_NUMBER | 1u << ZPEER_KIND_TIME |
                            1u << ZPEER_KIND_STAMP);
    return rc ? rc : s_put (self->info, name, json_integer (value));
}

int
zpeer_event_put_bool (zpeer_event_t *self, const char *name, bool value)
{
    int rc = s_may_put (self, name, 1u << ZPEER_KIND_FLAG);
    return rc ? rc : s_put (self->info, name, json_boolean (value));
}

static int
s_put_port (zpeer_event_t *self, const char *name, unsigned port, bool enabled)
{
    if (!self->info)
        return ZPEER_E_STATE;
    if (port > UINT16_MAX)
        return ZPEER_E_RANGE;
    return s_put (self->info, name,
                  json_pack ("{s:i, s:s}", "$", (int) port, "@enabled",
                             enabled ? "true" : "false"));
}

int
zpeer_event_put_port (zpeer_event_t *self, unsigned port, bool enabled)
{
    return s_put_port (self, "port", port, enabled);
}

int
zpeer_event_put_secure_port (zpeer_event_t *self, unsigned port, bool enabled)
{
    return s_put_port (self, "securePort", port, enabled);
}

int
zpeer_event_put_lease (zpeer_event_t *self, unsigned renewal_interval_secs,
                       unsigned duration_secs)
{
    if (!self->info)
        return ZPEER_E_STATE;
    if (!renewal_interval_secs || renewal_interval_secs > INT32_MAX ||
        !duration_secs || duration_secs > INT32_MAX)
        return ZPEER_E_RANGE;
    return s_put (self->info, "leaseInfo",
                  json_pack ("{s:i, s:i}", "renewalIntervalInSecs",
                             (int) renewal_interval_secs, "durationInSecs",
                             (int) duration_secs));
}

int
zpeer_event_put_data_center (zpeer_event_t *self, const char *name)
{
    if (!self->info)
        return ZPEER_E_STATE;
    bool amazon = strcmp (name, "Amazon") == 0;
    if (!amazon && strcmp (name, "MyOwn") != 0 && strcmp (name, "Netflix") != 0)
        return ZPEER_E_UNKNOWN;
    return s_put (self->info, "dataCenterInfo",
                  json_pack ("{s:s, s:s}", "@class",
                             amazon ? ZPEER_CLASS_AMAZON : ZPEER_CLASS_PLAIN,
                             "name", name));
}

//  Puts text into the map of that name, which is made if there is none
static int
s_put_into (json_t *parent, const char *name, const char *key,
            const char *value)
{
    json_t *text = json_string (value);
    zpeer_slice_t slice = zpeer_slice_str (key);
    if (!text || zpeer_utf8_look (slice) == ZPEER_UTF8_INVALID ||
        !strcmp (key, "@class")) {
        json_decref (text);
        return ZPEER_E_INVALID;
    }
    json_t *map = json_object_get (parent, name);
    if (!json_is_object (map)) {
        map = json_object ();
        json_object_set_new (parent, name, map);
    }
    return s_put (map, key, text);
}

int
zpeer_event_put_metadata (zpeer_event_t *self, const char *key,
                          const char *value)
{
    if (!self->info)
        return ZPEER_E_STATE;
    return s_put_into (self->info, "metadata", key, value);
}

int
zpeer_event_put_amazon (zpeer_event_t *self, const char *key, const char *value)
{
    if (!self->info)
        return ZPEER_E_STATE;
    json_t *center = json_object_get (self->info, "dataCenterInfo");
    const char *name = json_string_value (json_object_get (center, "name"));
    if (!name || strcmp (name, "Amazon") != 0)
        zpeer_event_put_data_center (self, "Amazon");
    center = json_object_get (self->info, "dataCenterInfo");
    return s_put_into (center, "metadata", key, value);
}

//  The statuses of a Register are members of info, of other events their own

int
zpeer_event_set_status (zpeer_event_t *self, zpeer_status_t status)
{
    if ((unsigned) status >= ZPEER_STATUSES)
        return ZPEER_E_RANGE;
    if (self->info)
        return zpeer_event_put_str (self, "status", zpeer_status_name (status));
    self->status = status;
    self->has_status = true;
    return ZPEER_OK;
}

int
zpeer_event_set_overridden_status (zpeer_event_t *self, zpeer_status_t status)
{
    if ((unsigned) status >= ZPEER_STATUSES)
        return ZPEER_E_RANGE;
    if (self->info)
        return zpeer_event_put_str (self, "overriddenStatus",
                                    zpeer_status_name (status));
    self->override = status;
    self->has_override = true;
    return ZPEER_OK;
}

int
zpeer_event_set_info_json (zpeer_event_t *self, const char *json, size_t size,
                           char *error, size_t error_size)
{
    if (!self->info)
        return ZPEER_E_STATE;
    json_error_t fault;
    json_t *info = json_loadb (json, size, JSON_REJECT_DUPLICATES, &fault);
    if (!info) {
        if (error_size)
            snprintf (error, error_size, "line %d, column %d: %s", fault.line,
                      fault.column, fault.text);
        return ZPEER_E_PARSE;
    }
    json_t *inner = json_object_get (info, "instance");
    if (json_is_object (inner)) {
        json_incref (inner);
        json_decref (info);
        info = inner;
    }
    if (!json_is_object (info)) {
        json_decref (info);
        zpeer_event_say (error, error_size, "not a JSON object");
        return ZPEER_E_PARSE;
    }
    json_decref (self->info);
    self->info = info;
    const char *app = json_string_value (json_object_get (info, "app"));
    const char *id = json_string_value (json_object_get (info, "instanceId"));
    if (app && !*self->app)
        zpeer_event_set_app (self, app);
    if (id && !*self->id)
        zpeer_event_set_id (self, id);
    return ZPEER_OK;
}

//  Reading

zpeer_action_t
zpeer_event_action (const zpeer_event_t *self)
{
    return self->action;
}

const char *
zpeer_event_app (const zpeer_event_t *self)
{
    return self->app;
}

const char *
zpeer_event_id (const zpeer_event_t *self)
{
    return self->id;
}

bool
zpeer_event_replicated (const zpeer_event_t *self)
{
    return self->replicated;
}

bool
zpeer_event_snapshot (const zpeer_event_t *self)
{
    return self->snapshot;
}

uint64_t
zpeer_event_as_of (const zpeer_event_t *self)
{
    return self->as_of;
}

const char *
zpeer_event_origin (const zpeer_event_t *self)
{
    return self->origin ? self->origin : "";
}

uint64_t
zpeer_event_timestamp (const zpeer_event_t *self)
{
    if (self->timestamp || !self->info)
        return self->timestamp;
    json_t *value = json_object_get (self->info, "lastDirtyTimestamp");
    if (json_is_string (value))
        return strtoull (json_string_value (value), NULL, 10);
    return (uint64_t) json_integer_value (value);
}

static zpeer_status_t
s_info_status (const zpeer_event_t *self, const char *name,
               zpeer_status_t status)
{
    json_t *value = json_object_get (self->info, name);
    if (json_is_string (value))
        zpeer_status_parse (json_string_value (value),
                            json_string_length (value), &status);
    return status;
}

zpeer_status_t
zpeer_event_status (const zpeer_event_t *self)
{
    return self->info ? s_info_status (self, "status", ZPEER_UP) : self->status;
}

zpeer_status_t
zpeer_event_overridden_status (const zpeer_event_t *self)
{
    return self->info ? s_info_status (self, "overriddenStatus", ZPEER_UNKNOWN)
                      : self->override;
}

char *
zpeer_event_info_json (const zpeer_event_t *self)
{
    if (!self->info)
        return NULL;
    char *json = json_dumps (self->info, JSON_COMPACT);
    assert (json);
    return json;
}
