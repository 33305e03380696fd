#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "apps.h"
#include "banned.h"

#define STAMP_MAX 24  //  Bytes of a timestamp as text

static void
s_set_stamp (json_t *json, const char *name, int64_t stamp)
{
    char text[STAMP_MAX];
    snprintf (text, sizeof text, "%" PRId64, stamp);
    json_object_set_new (json, name, json_string (text));
}

static json_t *
s_lease_info (const speer_entry_t *entry)
{
    json_t *lease =
        json_copy (json_object_get (entry->info->json, "leaseInfo"));
    json_object_set_new (lease, "registrationTimestamp",
                         json_integer (entry->registered));
    json_object_set_new (lease, "lastRenewalTimestamp",
                         json_integer (entry->renewed));
    json_object_set_new (lease, "evictionTimestamp", json_integer (0));
    json_object_set_new (lease, "serviceUpTimestamp",
                         json_integer (entry->up_at));
    return lease;
}

void
speer_apps_refresh (json_t *json, const speer_info_t *info)
{
    static const char *const done[] = {"ADDED", "MODIFIED", "DELETED"};
    json_object_set_new (json, "status",
                         json_string (speer_status_name (info->status)));
    json_object_set_new (json, "overriddenStatus",
                         json_string (speer_status_name (info->overridden)));
    json_object_set_new (json, "actionType", json_string (done[info->done]));
    s_set_stamp (json, "lastDirtyTimestamp", info->dirty);
}

json_t *
speer_apps_info (const speer_entry_t *entry)
{
    json_t *json = json_copy (entry->info->json);
    speer_apps_refresh (json, entry->info);
    json_object_set_new (json, "leaseInfo", s_lease_info (entry));
    if (!json_object_size (json_object_get (json, "metadata")))
        json_object_set_new (
            json, "metadata",
            json_pack ("{ss}", "@class", "java.util.Collections$EmptyMap"));
    json_object_set_new (json, "isCoordinatingDiscoveryServer",
                         json_string ("false"));
    s_set_stamp (json, "lastUpdatedTimestamp", entry->updated);
    return json;
}

//  The number of instances by status, in alphabetical order: "DOWN_1_UP_2_"
static json_t *
s_hash_code (const speer_registry_t *registry)
{
    static const speer_status_t order[] = {
        SPEER_STATUS_DOWN, SPEER_STATUS_OUT_OF_SERVICE, SPEER_STATUS_STARTING,
        SPEER_STATUS_UNKNOWN, SPEER_STATUS_UP};
    size_t counts[SPEER_STATUS_NOT_ONE] = {0};
    char text[256];
    size_t size = 0;
    for (const speer_entry_t *entry = speer_registry_first (registry); entry;
         entry = speer_registry_next (entry))
        counts[entry->info->status]++;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (counts[order[i]])
            size += (size_t) snprintf (text + size, sizeof text - size,
                                       "%s_%zu_", speer_status_name (order[i]),
                                       counts[order[i]]);
    return json_stringn (text, size);
}

//  app is NULL for all. Returns an object of arrays, by application.
static json_t *
s_by_app (const speer_registry_t *registry, const char *app)
{
    json_t *apps = json_object ();
    for (const speer_entry_t *entry = speer_registry_first (registry); entry;
         entry = speer_registry_next (entry)) {
        if (app && strcmp (app, entry->app) != 0)
            continue;
        if (!json_object_get (apps, entry->app))
            json_object_set_new (apps, entry->app, json_array ());
        json_array_append_new (json_object_get (apps, entry->app),
                               speer_apps_info (entry));
    }
    return apps;
}

json_t *
speer_apps_all (const speer_registry_t *registry)
{
    json_t *apps = s_by_app (registry, NULL);
    json_t *list = json_array ();
    const char *name;
    json_t *instances;
    json_object_foreach (apps, name, instances) json_array_append_new (
        list, json_pack ("{sssO}", "name", name, "instance", instances));
    json_decref (apps);
    return json_pack ("{s{sssoso}}", "applications", "versions__delta", "1",
                      "apps__hashcode", s_hash_code (registry), "application",
                      list);
}

json_t *
speer_apps_one (const speer_registry_t *registry, const char *app)
{
    json_t *apps = s_by_app (registry, app);
    json_t *instances = json_object_get (apps, app);
    json_t *one = instances ? json_pack ("{s{sssO}}", "application", "name",
                                         app, "instance", instances)
                            : NULL;
    json_decref (apps);
    return one;
}

json_t *
speer_apps_instance (const speer_registry_t *registry, const char *app,
                     const char *id)
{
    const speer_entry_t *entry = speer_registry_find (registry, app, id);
    return entry ? json_pack ("{so}", "instance", speer_apps_info (entry))
                 : NULL;
}
