#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fields.h"
#include "banned.h"

#define PLAIN_CLASS  "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
#define MY_CLASS     "com.netflix.appinfo.MyDataCenterInfo"
#define RENEWAL_SECS 30  //  Of a lease without leaseInfo

static json_t *
s_read_text (const json_t *value, bool *fits)
{
    char *text = speer_scalar_text (value, fits);
    json_t *stored = text ? json_string (text) : NULL;
    free (text);
    return stored;
}

//  An empty text is none
static json_t *
s_read_filled (const json_t *value, bool *fits)
{
    char *text = speer_scalar_text (value, fits);
    json_t *stored = text && *text ? json_string (text) : NULL;
    free (text);
    return stored;
}

static json_t *
s_read_upper (const json_t *value, bool *fits)
{
    char *text = speer_upper (speer_scalar_text (value, fits));
    json_t *stored = text ? json_string (text) : NULL;
    free (text);
    return stored;
}

static json_t *
s_read_status (const json_t *value, bool *fits)
{
    char *text = speer_scalar_text (value, fits);
    bool known = text && speer_status_parse (text) != SPEER_STATUS_NOT_ONE;
    json_t *stored = text ? json_string (known ? text : "UNKNOWN") : NULL;
    free (text);
    return stored;
}

//  These two are shown as if they were not given
static json_t *
s_read_sid (const json_t *value, bool *fits)
{
    char *text = speer_scalar_text (value, fits);
    bool shown =
        text && strcmp (text, "na") != 0 && strcmp (text, "unknown") != 0;
    json_t *stored = shown ? json_string (text) : NULL;
    free (text);
    return stored;
}

static json_t *
s_read_number (const json_t *value, bool *fits)
{
    return json_integer (
        speer_scalar_coerced (value, INT32_MIN, INT32_MAX, fits));
}

//  Timestamps are strings in what is written
static json_t *
s_read_stamp (const json_t *value, bool *fits)
{
    int64_t stamp = speer_scalar_coerced (value, INT64_MIN, INT64_MAX, fits);
    char text[24];
    snprintf (text, sizeof text, "%lld", (long long) stamp);
    return json_string (text);
}

//  "true", or a whole number other than 0
static json_t *
s_read_enabled (const json_t *value, bool *fits)
{
    char *text = speer_trim (speer_scalar_text (value, fits));
    bool enabled = json_is_integer (value) ? json_integer_value (value) != 0
                                           : text && !strcmp (text, "true");
    free (text);
    return json_string (enabled ? "true" : "false");
}

static json_t *
s_read_port (const json_t *value, bool *fits)
{
    if (!value || json_is_null (value))
        return NULL;
    json_t *port = json_object ();
    const char *key;
    json_t *member;
    *fits = *fits && json_is_object (value);
    json_object_foreach ((json_t *) value, key, member)
    {
        if (!strcmp (key, "$"))
            json_object_set_new (port, key, s_read_number (member, fits));
        else if (!strcmp (key, "@enabled"))
            json_object_set_new (port, key, s_read_enabled (member, fits));
        else
            *fits = false;
    }
    return port;
}

//  A map of texts without "@class". null becomes the text null.
static json_t *
s_read_metadata (const json_t *value, bool *fits)
{
    if (!value || json_is_null (value))
        return NULL;
    json_t *map = json_object ();
    const char *key;
    json_t *member;
    *fits = *fits && json_is_object (value);
    json_object_foreach ((json_t *) value, key, member)
    {
        json_t *text = s_read_text (member, fits);
        if (!strcmp (key, "@class"))
            json_decref (text);
        else
            json_object_set_new (map, key, text ? text : json_string ("null"));
    }
    return map;
}

static json_t *
s_read_lease (const json_t *value, bool *fits)
{
    if (!value || json_is_null (value))
        return NULL;
    *fits = *fits && json_is_object (value);
    const char *key;
    json_t *member;
    json_object_foreach ((json_t *) value, key,
                         member) if (json_is_object (member) ||
                                     json_is_array (member)) *fits = false;
    int64_t interval =
        speer_scalar_coerced (json_object_get (value, "renewalIntervalInSecs"),
                              INT32_MIN, INT32_MAX, fits);
    int64_t duration = speer_scalar_coerced (
        json_object_get (value, "durationInSecs"), INT32_MIN, INT32_MAX, fits);
    return json_pack ("{sIsI}", "renewalIntervalInSecs",
                      interval > 0 ? interval : RENEWAL_SECS, "durationInSecs",
                      duration > 0 ? duration : SPEER_DURATION_SECS);
}

//  Amazon's metadata must stand behind the name and be the last member
static bool
s_amazon_order_fits (const json_t *value)
{
    const char *key;
    json_t *member;
    bool named = false;
    bool ended = false;
    json_object_foreach ((json_t *) value, key, member)
    {
        if (ended || (!named && !strcmp (key, "metadata")))
            return false;
        named = named || !strcmp (key, "name");
        ended = !strcmp (key, "metadata");
    }
    return true;
}

//  A name of the enum, or its ordinal as number or text; NULL for none
static const char *
s_data_center_name (const json_t *value, bool *fits)
{
    static const char *const names[] = {"Netflix", "Amazon", "MyOwn"};
    static const char *const ordinals[] = {"0", "1", "2"};
    size_t i = 0;
    if (!value || json_is_null (value))
        return NULL;
    char *text = speer_trim (speer_scalar_text (value, fits));
    while (i < 3 && text && strcmp (text, names[i]) != 0 &&
           strcmp (text, ordinals[i]) != 0)
        i++;
    *fits = *fits && i < 3;
    free (text);
    return i < 3 ? names[i] : NULL;
}

static json_t *
s_read_data_center (const json_t *value, bool *fits)
{
    if (!value || json_is_null (value))
        return NULL;
    const char *class = json_string_value (json_object_get (value, "@class"));
    json_t *given = json_object_get (value, "name");
    const char *name = s_data_center_name (given, fits);
    json_t *metadata = json_object_get (value, "metadata");
    bool amazon = class && !strcmp (class, SPEER_AMAZON_CLASS);
    bool plain =
        class && (!strcmp (class, PLAIN_CLASS) || !strcmp (class, MY_CLASS));
    size_t known = 1 + (given != NULL) + (amazon && metadata);
    *fits =
        *fits && (amazon || plain) && json_object_size (value) == known &&
        (plain || (s_amazon_order_fits (value) && !json_is_null (metadata)));
    json_t *center = json_object ();
    json_object_set_new (
        center, "@class",
        json_string (amazon ? SPEER_AMAZON_CLASS : PLAIN_CLASS));
    if (amazon || name)
        json_object_set_new (center, "name",
                             json_string (amazon ? "Amazon" : name));
    if (amazon) {
        json_t *map = s_read_metadata (metadata, fits);
        json_object_set_new (center, "metadata", map ? map : json_object ());
    }
    return center;
}

//  What comes out of the registry is computed when it is handed out
static json_t *
s_read_nothing (const json_t *value, bool *fits)
{
    (void) value;
    (void) fits;
    return NULL;
}

const speer_field_t speer_fields[SPEER_FIELDS] = {
    {"instanceId", s_read_text, NULL},
    {"hostName", s_read_filled, NULL},
    {"app", s_read_upper, NULL},
    {"ipAddr", s_read_text, NULL},
    {"sid", s_read_sid, NULL},
    {"status", s_read_status, "\"UP\""},
    {"overriddenStatus", s_read_status, "\"UNKNOWN\""},
    {"port", s_read_port, "{\"$\":7001,\"@enabled\":\"true\"}"},
    {"securePort", s_read_port, "{\"$\":7002,\"@enabled\":\"false\"}"},
    {"countryId", s_read_number, "1"},
    {"dataCenterInfo", s_read_data_center, NULL},
    {"leaseInfo", s_read_lease,
     "{\"renewalIntervalInSecs\":30,\"durationInSecs\":90}"},
    {"metadata", s_read_metadata, "{}"},
    {"appGroupName", s_read_upper, NULL},
    {"homePageUrl", s_read_text, NULL},
    {"statusPageUrl", s_read_text, NULL},
    {"healthCheckUrl", s_read_text, NULL},
    {"secureHealthCheckUrl", s_read_text, NULL},
    {"vipAddress", s_read_text, NULL},
    {"secureVipAddress", s_read_text, NULL},
    {"isCoordinatingDiscoveryServer", s_read_text, "\"false\""},
    {"lastUpdatedTimestamp", s_read_stamp, "\"0\""},
    {"lastDirtyTimestamp", s_read_stamp, NULL},
    {"actionType", s_read_text, "\"ADDED\""},
    {"asgName", s_read_text, NULL},
    {"identifyingAttribute", s_read_nothing, NULL},
};

size_t
speer_field (const char *name)
{
    if (!strcmp (name, "overriddenstatus"))
        name = "overriddenStatus";
    size_t field = 0;
    while (field < SPEER_FIELDS && strcmp (speer_fields[field].name, name) != 0)
        field++;
    return field;
}
