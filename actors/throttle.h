/*  throttle.h - lets one log line of a kind through in 10 s, counts the others

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

#endif
