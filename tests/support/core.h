/*  core.h - what the parts of one scripted peer share

    A plain struct under the lock of scripted_peer.c; whoever is called with it
    holds that lock.
*/
#ifndef SPEER_CORE_H_INCLUDED
#define SPEER_CORE_H_INCLUDED

#include "journal.h"
#include "registry.h"
#include "rules.h"
#include "scripted_peer.h"

typedef struct {
    int64_t settings[SPEER_SETTINGS_MAX];
    uint64_t counters[SPEER_COUNTERS_MAX];
    int64_t offset_ms;           //  What speer_advance added
    int64_t evicted_at;          //  Last look for leases that have run out
    speer_registry_t *registry;  //  Owned
    speer_rules_t *rules;        //  Owned
    speer_journal_t *journal;    //  Owned
    json_t *asgs;                //  Owned; status by name
} speer_core_t;

//  As after speer_reset
void speer_core_init (speer_core_t *self);
void speer_core_fini (speer_core_t *self);

//  The registry's clock. With expiry on, leases that have run out go first, at
//  most once a second.
int64_t speer_core_now (speer_core_t *self);

//  CLOCK_MONOTONIC
int64_t speer_now_ns (void);
static inline int64_t
speer_now_ms (void)
{
    return speer_now_ns () / 1000000;
}

#endif
