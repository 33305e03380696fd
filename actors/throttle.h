/*  throttle.h - lets one log line of a kind through in 10 s, counts the others

    What was held back is said at the end of the next line, or, when none comes
    within 10 s, by itself (sampler.h): no count is left unsaid.

    A core, and a plain struct, zeroed is ready: one per peer and kind of
    failure. Units: now is the monotonic time in ms.
*/
#ifndef ZPEER_THROTTLE_H_INCLUDED
#define ZPEER_THROTTLE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define ZPEER_THROTTLE_MS 10000

//  Longest text about lines held back, with NUL
#define ZPEER_THROTTLE_TEXT_MAX 40

typedef struct {
    uint64_t again_at;  //  When the next line may go
    uint64_t held;      //  Lines held back since the last that went
} zpeer_throttle_t;

//  Whether a line may go now. If so, held is the end of it: " (3 more held
//  back)", or "" if there were none since the last one. If not, this one is
//  counted and held is untouched.
bool zpeer_throttle_pass (zpeer_throttle_t *self, uint64_t now,
                          char held[ZPEER_THROTTLE_TEXT_MAX]);

//  When it has to be said how many were held back; UINT64_MAX: none was
uint64_t zpeer_throttle_wake (const zpeer_throttle_t *self);

//  How many lines were held back, if that has to be said now, in a line of its
//  own; 0: nothing is to be said
uint64_t zpeer_throttle_take (zpeer_throttle_t *self, uint64_t now);

#endif
