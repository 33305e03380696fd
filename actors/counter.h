/*  counter.h - the failures in a row of one peer

    Counts up to its maximum and stays there until something succeeds. A core,
    and a plain struct; the health actor has one per peer.
*/
#ifndef ZPEER_COUNTER_H_INCLUDED
#define ZPEER_COUNTER_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

//  Room for a counter's text, NUL included
#define ZPEER_COUNTER_TEXT_MAX 24

typedef struct {
    uint32_t max;
    uint32_t count;
    bool announced;  //  The escalation of this cycle
} zpeer_counter_t;

//  Starts at 0. A maximum of 0 is 1, as in the reference (EUREKA.md 5.2).
void zpeer_counter_init (zpeer_counter_t *self, uint32_t max);

//  hasReachedMax
static inline bool
zpeer_counter_reached (const zpeer_counter_t *self)
{
    return self->count >= self->max;
}

//  Counts a failure, then compares: returns whether the maximum is reached.
//  gated: this kind of failure escalates at the maximum. announce is set for
//  the first gated failure there since the last reset, else cleared.
bool zpeer_counter_fail (zpeer_counter_t *self, bool gated, bool *announce);

//  Something succeeded: starts again at 0
void zpeer_counter_reset (zpeer_counter_t *self);

//  Writes "3/10", or "10+/10" at the maximum; returns text
const char *zpeer_counter_text (uint32_t count, uint32_t max,
                                char text[ZPEER_COUNTER_TEXT_MAX]);

#endif
