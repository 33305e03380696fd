#include <inttypes.h>
#include <stdio.h>
#include "throttle.h"
#include "banned.h"

bool
zpeer_throttle_pass (zpeer_throttle_t *self, uint64_t now,
                     char held[ZPEER_THROTTLE_TEXT_MAX])
{
    if (now < self->again_at) {
        self->held++;
        return false;
    }
    held[0] = 0;
    if (self->held)
        snprintf (held, ZPEER_THROTTLE_TEXT_MAX,
                  " (%" PRIu64 " more held back)", self->held);
    self->held = 0;
    self->again_at = now + ZPEER_THROTTLE_MS;
    return true;
}

uint64_t
zpeer_throttle_wake (const zpeer_throttle_t *self)
{
    return self->held ? self->again_at : UINT64_MAX;
}

uint64_t
zpeer_throttle_take (zpeer_throttle_t *self, uint64_t now)
{
    uint64_t held = self->held;
    if (!held || now < self->again_at)
        return 0;
    self->held = 0;
    self->again_at = now + ZPEER_THROTTLE_MS;
    return held;
}
