#include <inttypes.h>
#include "sampler.h"
#include "banned.h"

bool
zpeer_sampler_pass (zpeer_sampler_t *self, uint64_t now,
                    zpeer_message_t message, char held[ZPEER_THROTTLE_TEXT_MAX])
{
    zpeer_throttle_t *kind = &self->kinds[message];
    if (zpeer_throttle_pass (kind, now, held))
        return true;
    if (!self->holds || kind->again_at < self->wake_at)
        self->wake_at = kind->again_at;
    self->holds = true;
    return false;
}

uint64_t
zpeer_sampler_wake (const zpeer_sampler_t *self)
{
    return self->holds ? self->wake_at : UINT64_MAX;
}

int64_t
zpeer_sampler_wait_us (const zpeer_sampler_t *self, uint64_t now)
{
    if (!self->holds)
        return -1;
    return now < self->wake_at ? (int64_t) (self->wake_at - now) * 1000 : 0;
}

void
zpeer_sampler_say (const zpeer_log_t *log, zpeer_message_t message,
                   const char *about, zpeer_throttle_t *throttle, uint64_t now)
{
    uint64_t held = zpeer_throttle_take (throttle, now);
    if (held)
        zpeer_log_write (log, message, "%" PRIu64 " more held back%s%s", held,
                         about ? ", peer " : "", about ? about : "");
}

void
zpeer_sampler_tell (zpeer_sampler_t *self, uint64_t now)
{
    if (now < zpeer_sampler_wake (self))
        return;
    self->wake_at = UINT64_MAX;
    for (int i = 0; i < ZPR_MESSAGES; i++) {
        zpeer_throttle_t *kind = &self->kinds[i];
        zpeer_sampler_say (&self->log, (zpeer_message_t) i, self->about, kind,
                           now);
        if (zpeer_throttle_wake (kind) < self->wake_at)
            self->wake_at = zpeer_throttle_wake (kind);
    }
    self->holds = self->wake_at != UINT64_MAX;
}

void
zpeer_sampler_end (zpeer_sampler_t *self)
{
    zpeer_sampler_tell (self, UINT64_MAX);
}
