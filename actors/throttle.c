#include "throttle.h"
#include "banned.h"

bool
zpeer_throttle_pass (zpeer_throttle_t *self, uint64_t now, uint64_t *held)
{
    if (now < self->again_at) {
        self->held++;
        return false;
    }
    *held = self->held;
    self->held = 0;
    self->again_at = now + ZPEER_THROTTLE_MS;
    return true;
}
