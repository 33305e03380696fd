/*  apps.h - leases as GET apps shows them (EUREKA.md 2.4) */
#ifndef SPEER_APPS_H_INCLUDED
#define SPEER_APPS_H_INCLUDED

#include "registry.h"

//  One InstanceInfo, not wrapped; as all of these a new reference
json_t *speer_apps_info (const speer_entry_t *entry);

//  Writes into such a one what the instance has become since: status,
//  overriddenStatus, lastDirtyTimestamp, actionType
void speer_apps_refresh (json_t *json, const speer_info_t *info);

//  {"applications":{…}} of them all
json_t *speer_apps_all (const speer_registry_t *registry);

//  {"application":{…}}, {"instance":{…}}; NULL if there is none
json_t *speer_apps_one (const speer_registry_t *registry, const char *app);
json_t *speer_apps_instance (const speer_registry_t *registry, const char *app,
                             const char *id);

#endif
