#include <inttypes.h>
#include <stdio.h>
#include <zpeer/names.h>
#include "item.h"
#include "registry.h"
#include "banned.h"

//  Status rules 1, 2 and 5
static uint8_t
s_effective (uint8_t status, uint8_t held)
{
    bool yields = status == ZPEER_UP || status == ZPEER_OUT_OF_SERVICE;
    return yields && held != ZPEER_UNKNOWN ? held : status;
}

static uint64_t
s_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint16_t
s_register (record_t *record, const item_t *item, writer_t by, uint64_t now)
{
    if (record->there && record->timestamp > item->timestamp) {
        record->status = s_effective (record->status, record->override);
        return 200;
    }
    uint8_t held = record->there && record->override != ZPEER_UNKNOWN
                       ? record->override
                       : item->override;
    *record = (record_t){
        .timestamp = item->timestamp,
        .since = now,
        .lapses_at = record->lapses_at,
        .version = item->version,
        .status = s_effective (item->status, held),
        .override = held,
        .by = (uint8_t) by,
        .there = true,
    };
    return 200;
}

static uint16_t
s_heartbeat (record_t *record, const item_t *item)
{
    uint8_t status = s_effective (record->status, record->override);
    if (status == ZPEER_UNKNOWN)
        return 404;
    record->status = status;
    if (!item->timestamp || item->timestamp == record->timestamp)
        return 200;
    if (item->timestamp < record->timestamp)
        return 409;
    if (item->override != ZPEER_UNKNOWN)
        record->override = item->override;
    return 404;
}

static uint16_t
s_status_update (record_t *record, const item_t *item)
{
    if (record->status == item->status)
        return 200;
    record->status = record->override = item->status;
    record->timestamp = s_max (record->timestamp, item->timestamp);
    return 200;
}

static uint16_t
s_delete_override (record_t *record, const item_t *item)
{
    if (!item->timestamp)
        return 500;
    if (record->override == ZPEER_UNKNOWN)
        return 200;
    record->status = item->status;
    record->override = ZPEER_UNKNOWN;
    record->timestamp = s_max (record->timestamp, item->timestamp);
    return 200;
}

unsigned
registry_expire (registry_t *self, uint64_t now)
{
    unsigned count = 0;
    for (unsigned key = 0; self->lease_ms && key < KEYS_MAX; key++) {
        record_t *record = &self->records[key];
        if (!record->there || record->by == BY_OTHER ||
            now <= record->lapses_at)
            continue;
        record->there = false;
        count++;
    }
    return count;
}

void
registry_clear (registry_t *self)
{
    *self = (registry_t){.lease_ms = self->lease_ms};
}

static uint16_t
s_renew (registry_t *self, record_t *record, const item_t *item, uint64_t now)
{
    uint16_t code;
    switch (item->action) {
    case ZPEER_HEARTBEAT: code = s_heartbeat (record, item); break;
    case ZPEER_STATUS_UPDATE: code = s_status_update (record, item); break;
    default: code = s_delete_override (record, item);
    }
    //  A Heartbeat of an instance at UNKNOWN is none
    if (self->lease_ms && record->status != ZPEER_UNKNOWN && code != 500)
        record->lapses_at = now + 2 * self->lease_ms;
    return code;
}

uint16_t
registry_apply (registry_t *self, const item_t *item, writer_t by, uint64_t now)
{
    record_t *record = &self->records[item->key];
    if (item->action == ZPEER_ASG_STATUS_UPDATE) {
        *record = (record_t){.status = item->status, .there = true};
        return 200;
    }
    registry_expire (self, now);
    if (item->action == ZPEER_ITEM_FETCH)
        return record->there ? 200 : 404;
    if (item->action == ZPEER_REGISTER) {
        record->lapses_at = self->lease_ms ? now + self->lease_ms : 0;
        return s_register (record, item, by, now);
    }
    if (!record->there)
        return 404;
    if (item->action == ZPEER_CANCEL) {
        record->there = false;
        return 200;
    }
    return s_renew (self, record, item, now);
}

bool
item_only_asks (const item_t *self)
{
    return self->action == ZPEER_HEARTBEAT || self->action == ZPEER_ITEM_FETCH;
}

const char *
item_text (const item_t *self, char text[REGISTRY_TEXT_MAX])
{
    snprintf (text, REGISTRY_TEXT_MAX, "%s %c%u v%u %s/%s @%" PRIu64 "%s",
              self->action == ZPEER_ITEM_FETCH
                  ? "Fetch"
                  : zpeer_action_name ((zpeer_action_t) self->action),
              key_letter (self->key), key_number (self->key), self->version,
              zpeer_status_name ((zpeer_status_t) self->status),
              zpeer_status_name ((zpeer_status_t) self->override),
              self->timestamp, self->guarded ? " guarded" : "");
    return text;
}

const char *
record_text (const record_t *self, char text[REGISTRY_TEXT_MAX])
{
    if (!self->there)
        snprintf (text, REGISTRY_TEXT_MAX, "absent");
    else
        snprintf (text, REGISTRY_TEXT_MAX, "v%u %s/%s @%" PRIu64, self->version,
                  zpeer_status_name ((zpeer_status_t) self->status),
                  zpeer_status_name ((zpeer_status_t) self->override),
                  self->timestamp);
    return text;
}
