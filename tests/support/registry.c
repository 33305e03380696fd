#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "registry.h"
#include "banned.h"

#define OVERRIDE_HELD_MS 3600000  //  Eureka's cache forgets after an hour

//  An override is held for an id, whatever the application
typedef struct {
    UT_hash_handle hh;
    char *id;  //  Owned
    speer_status_t status;
    int64_t used;
} s_override_t;

struct speer_registry {
    speer_entry_t *leases;
    s_override_t *overrides;
    bool sync;
};

//  ---- Overrides

static void
s_override_free (s_override_t *held)
{
    free (held->id);
    free (held);
}

static void
s_override_drop (speer_registry_t *self, s_override_t *held)
{
    HASH_DEL (self->overrides, held);
    s_override_free (held);
}

static s_override_t *
s_override (speer_registry_t *self, const char *id, int64_t now)
{
    s_override_t *held;
    HASH_FIND_STR (self->overrides, id, held);
    if (held && now - held->used > OVERRIDE_HELD_MS) {
        s_override_drop (self, held);
        held = NULL;
    }
    if (held)
        held->used = now;
    return held;
}

static void
s_override_set (speer_registry_t *self, const char *id, int64_t now,
                speer_status_t status)
{
    s_override_t *held = s_override (self, id, now);
    if (!held) {
        held = (s_override_t *) calloc (1, sizeof *held);
        assert (held);
        held->id = strdup (id);
        held->used = now;
        HASH_ADD_KEYPTR (hh, self->overrides, held->id, strlen (id), held);
    }
    held->status = status;
}

//  Returns whether one was held
static bool
s_override_remove (speer_registry_t *self, const char *id, int64_t now)
{
    s_override_t *held = s_override (self, id, now);
    if (held)
        s_override_drop (self, held);
    return held != NULL;
}

//  ---- Leases

static char *
s_key (const char *app, const char *id, size_t *size)
{
    size_t app_size = strlen (app) + 1;
    *size = app_size + strlen (id);
    char *key = (char *) malloc (*size + 1);
    assert (key);
    memcpy (key, app, app_size);
    memcpy (key + app_size, id, *size - app_size + 1);
    return key;
}

static speer_entry_t *
s_lease (const speer_registry_t *self, const char *app, const char *id)
{
    size_t size;
    speer_entry_t *lease;
    char *key = s_key (app, id, &size);
    HASH_FIND (hh, self->leases, key, size, lease);
    free (key);
    return lease;
}

static speer_entry_t *
s_lease_new (speer_registry_t *self, const char *app, const char *id)
{
    speer_entry_t *lease = (speer_entry_t *) calloc (1, sizeof *lease);
    assert (lease);
    lease->key = s_key (app, id, &lease->key_size);
    lease->app = lease->key;
    lease->id = lease->key + strlen (app) + 1;
    HASH_ADD_KEYPTR (hh, self->leases, lease->key, lease->key_size, lease);
    return lease;
}

static void
s_lease_free (speer_entry_t *lease)
{
    speer_info_destroy (&lease->info);
    free (lease->key);
    free (lease);
}

static void
s_lease_drop (speer_registry_t *self, speer_entry_t *lease)
{
    HASH_DEL (self->leases, lease);
    s_lease_free (lease);
}

static void
s_lease_renew (speer_entry_t *lease, int64_t now)
{
    lease->renewed = now + lease->duration_ms;
}

static void
s_lease_set_status (speer_entry_t *lease, int64_t now, speer_status_t status)
{
    lease->info->status = status;
    if (status == SPEER_STATUS_UP && !lease->up_at)
        lease->up_at = now;
}

//  The first rule that matches: neither UP nor OUT_OF_SERVICE stands; the held
//  override; for a client the status the lease had; what the copy says.
static speer_status_t
s_effective (speer_registry_t *self, int64_t now, const speer_info_t *info,
             const speer_status_t *leased, bool replication)
{
    s_override_t *held = s_override (self, info->id, now);
    if (info->status != SPEER_STATUS_UP &&
        info->status != SPEER_STATUS_OUT_OF_SERVICE)
        return info->status;
    if (held)
        return held->status;
    if (!replication && leased &&
        (*leased == SPEER_STATUS_UP || *leased == SPEER_STATUS_OUT_OF_SERVICE))
        return *leased;
    return info->status;
}

//  ---- Changes

static int
s_register (speer_registry_t *self, int64_t now, speer_change_t *change)
{
    speer_info_t *info = change->info;
    speer_entry_t *lease = s_lease (self, info->app, info->id);
    speer_status_t before = lease ? lease->info->status : SPEER_STATUS_UNKNOWN;
    speer_status_t *leased = lease ? &before : NULL;
    int64_t duration_ms = (int64_t) info->duration_secs * 1000;
    if (!lease)
        lease = s_lease_new (self, info->app, info->id);
    //  An older copy is dropped, yet the lease is a new one
    if (!leased || lease->info->dirty <= info->dirty) {
        speer_info_destroy (&lease->info);
        lease->info = info;
        change->info = NULL;
    }
    info = lease->info;
    lease->duration_ms = duration_ms;
    lease->registered = now;
    lease->renewed = now;
    if (info->overridden != SPEER_STATUS_UNKNOWN &&
        !s_override (self, info->id, now))
        s_override_set (self, info->id, now, info->overridden);
    s_override_t *held = s_override (self, info->id, now);
    if (held)
        info->overridden = held->status;
    s_lease_set_status (
        lease, now, s_effective (self, now, info, leased, change->replication));
    info->done = SPEER_ADDED;
    lease->updated = now;
    return 200;
}

//  What the timestamps say of a renewed lease
static int
s_compare (speer_registry_t *self, int64_t now, speer_entry_t *lease,
           const speer_change_t *change)
{
    if (change->dirty == SPEER_NONE || !self->sync ||
        change->dirty == lease->info->dirty)
        return 200;
    if (change->dirty < lease->info->dirty)
        return change->replication ? 409 : 200;
    if (!change->overridden || !change->replication ||
        !strcmp (change->overridden, "UNKNOWN"))
        return 404;
    speer_status_t status = speer_status_parse (change->overridden);
    if (status == SPEER_STATUS_NOT_ONE)
        return 500;
    s_override_t *held = s_override (self, lease->id, now);
    if (!held || held->status != status) {
        s_override_set (self, lease->id, now, status);
        lease->info->overridden = status;
    }
    return 404;
}

static int
s_heartbeat (speer_registry_t *self, int64_t now, speer_change_t *change)
{
    speer_entry_t *lease = s_lease (self, change->app, change->id);
    if (!lease)
        return 404;
    speer_status_t status = s_effective (
        self, now, lease->info, &lease->info->status, change->replication);
    if (status == SPEER_STATUS_UNKNOWN)
        return 404;
    lease->info->status = status;
    s_lease_renew (lease, now);
    return s_compare (self, now, lease, change);
}

static int
s_cancel (speer_registry_t *self, int64_t now, speer_change_t *change)
{
    speer_entry_t *lease = s_lease (self, change->app, change->id);
    s_override_remove (self, change->id, now);
    if (!lease)
        return 404;
    lease->info->done = SPEER_DELETED;
    s_lease_drop (self, lease);
    return 200;
}

//  A new status by hand; the timestamp never goes back
static void
s_modify (speer_entry_t *lease, int64_t now, const speer_change_t *change,
          speer_status_t status, speer_status_t overridden)
{
    s_lease_set_status (lease, now, status);
    lease->info->overridden = overridden;
    if (change->dirty > lease->info->dirty)
        lease->info->dirty = change->dirty;
    lease->info->done = SPEER_MODIFIED;
    lease->updated = now;
}

static int
s_status_update (speer_registry_t *self, int64_t now, speer_change_t *change)
{
    speer_entry_t *lease = s_lease (self, change->app, change->id);
    if (!lease)
        return 404;
    speer_status_t status = change->status ? speer_status_parse (change->status)
                                           : SPEER_STATUS_NOT_ONE;
    if (status == SPEER_STATUS_NOT_ONE)
        return 500;
    s_lease_renew (lease, now);
    if (lease->info->status != status) {
        s_override_set (self, lease->id, now, status);
        s_modify (lease, now, change, status, status);
    }
    return 200;
}

static int
s_delete_override (speer_registry_t *self, int64_t now, speer_change_t *change)
{
    speer_entry_t *lease = s_lease (self, change->app, change->id);
    if (!lease)
        return 404;
    speer_status_t status = change->status ? speer_status_parse (change->status)
                                           : SPEER_STATUS_UNKNOWN;
    if (status == SPEER_STATUS_NOT_ONE)
        return 500;
    s_lease_renew (lease, now);
    if (s_override_remove (self, lease->id, now))
        s_modify (lease, now, change, status, SPEER_STATUS_UNKNOWN);
    return 200;
}

static bool
s_has_app (const speer_registry_t *self, const char *app)
{
    const speer_entry_t *lease = self->leases;
    while (lease && strcmp (lease->app, app) != 0)
        lease = (const speer_entry_t *) lease->hh.next;
    return lease != NULL;
}

int
speer_registry_apply (speer_registry_t *self, int64_t now,
                      speer_change_t *change)
{
    typedef int (s_change_fn) (speer_registry_t *, int64_t, speer_change_t *);
    static s_change_fn *const changes[SPEER_ACTIONS] = {
        [SPEER_HEARTBEAT] = s_heartbeat,
        [SPEER_REGISTER] = s_register,
        [SPEER_CANCEL] = s_cancel,
        [SPEER_STATUS_UPDATE] = s_status_update,
        [SPEER_DELETE_OVERRIDE] = s_delete_override,
    };
    if (change->action == SPEER_REGISTER ? !change->info : !change->app)
        return 500;
    //  The id is looked up where the application is known, and then fails
    if (change->action != SPEER_REGISTER && !change->id)
        return s_has_app (self, change->app) ? 500 : 404;
    return changes[change->action](self, now, change);
}

void
speer_registry_evict (speer_registry_t *self, int64_t now)
{
    speer_entry_t *lease = NULL;
    speer_entry_t *next = NULL;
    HASH_ITER (hh, self->leases, lease, next) {
        if (now <= lease->renewed + lease->duration_ms)
            continue;
        s_override_remove (self, lease->id, now);
        s_lease_drop (self, lease);
    }
}

speer_registry_t *
speer_registry_new (void)
{
    speer_registry_t *self = (speer_registry_t *) calloc (1, sizeof *self);
    assert (self);
    self->sync = true;
    return self;
}

void
speer_registry_destroy (speer_registry_t **self_p)
{
    speer_registry_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    //  The tables go first, then what they led to
    speer_entry_t *lease = self->leases;
    s_override_t *held = self->overrides;
    HASH_CLEAR (hh, self->leases);
    HASH_CLEAR (hh, self->overrides);
    while (lease) {
        speer_entry_t *next = (speer_entry_t *) lease->hh.next;
        s_lease_free (lease);
        lease = next;
    }
    while (held) {
        s_override_t *next = (s_override_t *) held->hh.next;
        s_override_free (held);
        held = next;
    }
    free (self);
}

void
speer_registry_sync (speer_registry_t *self, bool on)
{
    self->sync = on;
}

size_t
speer_registry_size (const speer_registry_t *self)
{
    return HASH_COUNT (self->leases);
}

const speer_entry_t *
speer_registry_find (const speer_registry_t *self, const char *app,
                     const char *id)
{
    return s_lease (self, app, id);
}

const speer_entry_t *
speer_registry_first (const speer_registry_t *self)
{
    return self->leases;
}

const speer_entry_t *
speer_registry_next (const speer_entry_t *entry)
{
    return (const speer_entry_t *) entry->hh.next;
}

speer_status_t
speer_registry_held (const speer_registry_t *self, const char *id)
{
    s_override_t *held;
    HASH_FIND_STR (self->overrides, id, held);
    return held ? held->status : SPEER_STATUS_NOT_ONE;
}
