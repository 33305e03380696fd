#include "pace.h"
#include "banned.h"

static void
s_begin (zpeer_pace_t *self, uint64_t now, bool dozes)
{
    self->dozes = dozes;
    self->begun = now;
    self->events = 0;
}

//  A stretch without dozing has ended; few: its last events came one by one
static void
s_end_awake (zpeer_pace_t *self, uint64_t now, bool few)
{
    bool trial = few && !self->wait;
    self->awake_ms = now - self->begun;
    if (self->wait)
        self->wait--;
    s_begin (self, now, trial);
}

//  Whether feeders have become slower since it dozes
static bool
s_is_slower (const zpeer_pace_t *self, uint64_t now)
{
    return now - self->begun > self->awake_ms + self->awake_ms / 4 + 1;
}

void
zpeer_pace_turn (zpeer_pace_t *self, uint64_t now, uint32_t events,
                 uint32_t pipelined)
{
    bool few = events < ZPEER_PACE_MANY;
    if (!few || !pipelined)
        zpeer_pace_wake (self, now);
    if (self->dozes && s_is_slower (self, now)) {
        zpeer_pace_wake (self, now);
        self->wait = ZPEER_PACE_WAIT;
    }
    if (!events)
        return;
    if (!self->dozes && (!self->events || now - self->last > ZPEER_PACE_GAP_MS))
        s_begin (self, now, false);
    self->last = now;
    self->events += events;
    if (self->events < ZPEER_PACE_STRETCH)
        return;
    if (self->dozes)
        s_begin (self, now, true);
    else
        s_end_awake (self, now, few);
}

void
zpeer_pace_wake (zpeer_pace_t *self, uint64_t now)
{
    if (self->dozes)
        s_begin (self, now, false);
}
