/*  retry_after.h - what a peer asks for with the header Retry-After

    Threads: any. Units: ms; now is wall time, as time () returns it.
*/
#ifndef ZPEER_RETRY_AFTER_H_INCLUDED
#define ZPEER_RETRY_AFTER_H_INCLUDED

#include <stdint.h>
#include <time.h>

//  How long to wait, from the header's value: digits are seconds, and a date in
//  one of HTTP's three forms is the time to come again. Blanks may stand around
//  either. UINT32_MAX: so long or longer. 0: at once, a date that has passed,
//  or a value that is neither.
uint32_t zpeer_retry_after_ms (const char *value, time_t now);

#endif
