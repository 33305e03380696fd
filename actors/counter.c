#include <inttypes.h>
#include <stdio.h>
#include "counter.h"
#include "banned.h"

void
zpeer_counter_init (zpeer_counter_t *self, uint32_t max)
{
    *self = (zpeer_counter_t){.max = max ? max : 1};
}

bool
zpeer_counter_fail (zpeer_counter_t *self, bool gated, bool *announce)
{
    if (self->count < self->max)
        self->count++;
    bool reached = zpeer_counter_reached (self);
    //  The failure that reached the maximum may have been one that does not
    //  escalate (503): then the next gated one is announced
    *announce = gated && reached && !self->announced;
    self->announced |= *announce;
    return reached;
}

void
zpeer_counter_reset (zpeer_counter_t *self)
{
    self->count = 0;
    self->announced = false;
}

const char *
zpeer_counter_text (uint32_t count, uint32_t max,
                    char text[ZPEER_COUNTER_TEXT_MAX])
{
    snprintf (text, ZPEER_COUNTER_TEXT_MAX, "%" PRIu32 "%s/%" PRIu32, count,
              count >= max ? "+" : "", max);
    return text;
}
