/*  registry.h - leases and overrides, as the receiving registry keeps them

    EUREKA.md 3.1 and 3.4. One entry for every change, whether it comes as an
    item of a batch or as a call of its own; it answers with Eureka's codes.

    Units: ms since the epoch, in now as in timestamps.
*/
#ifndef SPEER_REGISTRY_H_INCLUDED
#define SPEER_REGISTRY_H_INCLUDED

#include <uthash.h>
#include "instance.h"

typedef struct speer_registry speer_registry_t;

typedef enum {
    SPEER_HEARTBEAT,  //  In the order of Eureka's ordinals
    SPEER_REGISTER,
    SPEER_CANCEL,
    SPEER_STATUS_UPDATE,
    SPEER_DELETE_OVERRIDE,
    SPEER_ACTIONS
} speer_action_t;

//  One change. Texts are borrowed.
typedef struct {
    speer_action_t action;
    bool replication;        //  By a peer, not by a client
    const char *app;         //  Upper case; may be NULL
    const char *id;          //  May be NULL
    const char *status;      //  May be NULL
    const char *overridden;  //  May be NULL
    int64_t dirty;           //  lastDirtyTimestamp, or SPEER_NONE
    speer_info_t *info;      //  For Register; taken when it is stored
} speer_change_t;

//  One lease. Read it, change it through the registry only.
typedef struct {
    UT_hash_handle hh;
    char *key;  //  Owned; "app\0id"
    size_t key_size;
    const char *app;     //  Borrowed from key
    const char *id;      //  Borrowed from key
    speer_info_t *info;  //  Owned; status, overridden, dirty are the present
    int64_t updated;     //  lastUpdatedTimestamp
    int64_t duration_ms;
    int64_t registered;
    int64_t renewed;  //  The duration ahead after a renewal, as in Eureka
    int64_t up_at;    //  First UP; 0: never
} speer_entry_t;

speer_registry_t *speer_registry_new (void);
void speer_registry_destroy (speer_registry_t **self_p);

//  Compare timestamps on heartbeats (syncWhenTimestampDiffers); on at first
void speer_registry_sync (speer_registry_t *self, bool on);

//  Makes the change. Returns 200, 404, 409 or 500. The info of a Register must
//  be valid. With 409 the copy held here belongs into the answer.
int speer_registry_apply (speer_registry_t *self, int64_t now,
                          speer_change_t *change);

//  Drops the leases, and their overrides, that have run out
void speer_registry_evict (speer_registry_t *self, int64_t now);

size_t speer_registry_size (const speer_registry_t *self);

//  NULL if there is none
const speer_entry_t *speer_registry_find (const speer_registry_t *self,
                                          const char *app, const char *id);

//  The first lease, in order of arrival; the next one; NULL: no more
const speer_entry_t *speer_registry_first (const speer_registry_t *self);
const speer_entry_t *speer_registry_next (const speer_entry_t *entry);

//  The override held for an id, SPEER_STATUS_NOT_ONE if none. Does not count as
//  an access.
speer_status_t
speer_registry_held (const speer_registry_t *self, const char *id);

#endif
