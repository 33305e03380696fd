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

static void
s_end_dozing (zpeer_pace_t *self, uint64_t now)
{
    uint64_t most_ms = self->awake_ms + self->awake_ms / 4 + 1;
    bool slower = now - self->begun > most_ms;
    if (slower)
        self->wait = ZPEER_PACE_WAIT;
    s_begin (self, now, !slower);
}

void
zpeer_pace_turn (zpeer_pace_t *self, uint64_t now, uint32_t events,
                 uint32_t pipelined)
{
    bool few = events < ZPEER_PACE_MANY;
    if (!few || !pipelined)
        zpeer_pace_wake (self, now);
    if (!self->events && !self->dozes)
        self->begun = now;
    self->events += events;
    if (self->events < ZPEER_PACE_STRETCH)
        return;
    if (self->dozes)
        s_end_dozing (self, now);
    else
        s_end_awake (self, now, few);
}

void
zpeer_pace_wake (zpeer_pace_t *self, uint64_t now)
{
    if (self->dozes)
        s_begin (self, now, false);
}
