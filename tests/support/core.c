#include <assert.h>
#include <time.h>
#include "core.h"
#include "banned.h"

#define EVICT_EVERY_MS 1000  //  Of the registry's clock; Eureka: 60 s

static const int64_t s_defaults[SPEER_SETTINGS_MAX] = {
#define X(name, label, value, meaning) value,
    SPEER_SETTINGS (X)
#undef X
};

static int64_t
s_clock_ns (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
speer_now_ns (void)
{
    return s_clock_ns (CLOCK_MONOTONIC);
}

int64_t
speer_core_now (speer_core_t *self)
{
    int64_t now = s_clock_ns (CLOCK_REALTIME) / 1000000 + self->offset_ms;
    if (self->settings[SPEER_SET_EXPIRE] &&
        now - self->evicted_at >= EVICT_EVERY_MS) {
        speer_registry_evict (self->registry, now);
        self->evicted_at = now;
    }
    return now;
}

void
speer_core_init (speer_core_t *self)
{
    *self = (speer_core_t){.registry = speer_registry_new (),
                           .rules = speer_rules_new (),
                           .journal = speer_journal_new (),
                           .asgs = json_object ()};
    for (int i = 0; i < SPEER_SETTINGS_MAX; i++)
        self->settings[i] = s_defaults[i];
}

void
speer_core_fini (speer_core_t *self)
{
    speer_registry_destroy (&self->registry);
    speer_rules_destroy (&self->rules);
    speer_journal_destroy (&self->journal);
    json_decref (self->asgs);
}
