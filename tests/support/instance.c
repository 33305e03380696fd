#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fields.h"
#include "instance.h"
#include "banned.h"

//  Reads every member; false where the codec fails
static bool
s_read_members (json_t *from, json_t *values[SPEER_FIELDS])
{
    const char *key;
    json_t *member;
    bool fits = json_is_object (from);
    bool swallow = false;
    json_object_foreach (from, key, member)
    {
        size_t field = speer_field (key);
        //  An Amazon data centre without metadata takes its successor with it
        bool swallowed = swallow;
        swallow = false;
        if (swallowed || json_is_null (member))
            continue;
        if (field == SPEER_FIELDS) {
            fits = fits && !json_is_object (member) && !json_is_array (member);
            continue;
        }
        json_decref (values[field]);
        values[field] = speer_fields[field].read (member, &fits);
        const char *class =
            json_string_value (json_object_get (values[field], "@class"));
        swallow = class && !strcmp (class, SPEER_AMAZON_CLASS) &&
                  !json_object_get (member, "metadata");
    }
    //  With nothing behind it, it takes the end of the whole
    return fits && !swallow;
}

//  ---- The whole

static const char *
s_text (const speer_info_t *self, const char *name)
{
    const char *text = json_string_value (json_object_get (self->json, name));
    return text ? text : "";
}

//  Spring's codec takes an absent instanceId out of metadata, behind the host
//  name
static void
s_complete_id (speer_info_t *self)
{
    const char *host = s_text (self, "hostName");
    const char *meta = json_string_value (json_object_get (
        json_object_get (self->json, "metadata"), "instanceId"));
    if (*s_text (self, "instanceId") || !meta || !*meta)
        return;
    json_object_set_new (self->json, "instanceId",
                         strncmp (meta, host, strlen (host)) != 0
                             ? json_sprintf ("%s:%s", host, meta)
                             : json_string (meta));
}

//  instanceId; else the data centre's; else the host name
static char *
s_effective_id (const speer_info_t *self)
{
    const char *id = s_text (self, "instanceId");
    const char *center = json_string_value (json_object_get (
        json_object_get (json_object_get (self->json, "dataCenterInfo"),
                         "metadata"),
        "instance-id"));
    return strdup (*id ? id : center ? center : s_text (self, "hostName"));
}

//  An Amazon data centre without an instance-id gets the instance's id
static void
s_complete_center (speer_info_t *self)
{
    json_t *center = json_object_get (self->json, "dataCenterInfo");
    json_t *metadata = json_object_get (center, "metadata");
    if (metadata && !json_object_get (metadata, "instance-id"))
        json_object_set_new (metadata, "instance-id", json_string (self->id));
}

//  Puts the members in order, absent ones as what they become. A port keeps the
//  default of the member that is missing.
static void
s_arrange (speer_info_t *self, json_t *values[SPEER_FIELDS], int64_t now)
{
    char stamp[24];
    snprintf (stamp, sizeof stamp, "\"%lld\"", (long long) now);
    for (size_t i = 0; i < SPEER_FIELDS; i++) {
        const speer_field_t *field = &speer_fields[i];
        const char *absent =
            strcmp (field->name, "lastDirtyTimestamp") ? field->absent : stamp;
        json_t *value =
            absent ? json_loads (absent, JSON_DECODE_ANY, NULL) : NULL;
        if (!values[i])
            values[i] = json_incref (value);
        else if (json_is_object (value))
            json_object_update_missing (values[i], value);
        json_decref (value);
        if (values[i])
            json_object_set (self->json, field->name, values[i]);
    }
}

speer_info_t *
speer_info_new (json_t *from, int64_t now)
{
    json_t *values[SPEER_FIELDS] = {NULL};
    speer_info_t *self = NULL;
    if (s_read_members (from, values) && values[speer_field ("app")]) {
        self = (speer_info_t *) calloc (1, sizeof *self);
        assert (self);
        self->holders = 1;
        self->json = json_object ();
        s_arrange (self, values, now);
        bool fits = true;
        int64_t duration = speer_scalar_number (
            json_object_get (json_object_get (self->json, "leaseInfo"),
                             "durationInSecs"),
            &fits);
        self->app = strdup (s_text (self, "app"));
        s_complete_id (self);
        self->id = s_effective_id (self);
        s_complete_center (self);
        self->status = speer_status_parse (s_text (self, "status"));
        self->overridden =
            speer_status_parse (s_text (self, "overriddenStatus"));
        self->dirty = speer_scalar_number (
            json_object_get (self->json, "lastDirtyTimestamp"), &fits);
        self->duration_secs =
            duration == SPEER_NONE ? SPEER_DURATION_SECS : (int) duration;
    }
    for (size_t i = 0; i < SPEER_FIELDS; i++)
        json_decref (values[i]);
    return self;
}

speer_info_t *
speer_info_hold (speer_info_t *self)
{
    self->holders++;
    return self;
}

void
speer_info_destroy (speer_info_t **self_p)
{
    speer_info_t *self = *self_p;
    *self_p = NULL;
    if (!self || --self->holders)
        return;
    json_decref (self->json);
    free (self->app);
    free (self->id);
    free (self);
}

const char *
speer_info_invalid (const speer_info_t *self, const char *app)
{
    json_t *center = json_object_get (self->json, "dataCenterInfo");
    if (!*self->id)
        return "Missing instanceId";
    if (!*s_text (self, "hostName"))
        return "Missing hostname";
    if (!*s_text (self, "ipAddr"))
        return "Missing ip address";
    if (!*self->app)
        return "Missing appName";
    if (strcmp (self->app, app) != 0)
        return "Mismatched appName";
    if (!center)
        return "Missing dataCenterInfo";
    if (!json_object_get (center, "name"))
        return "Missing dataCenterInfo Name";
    return NULL;
}
