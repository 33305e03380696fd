/*  verdict.h - from the end of an attempt to what it came to

    One pure function and its table. The counter that is asked in between is the
    health actor's: row says whether and how to ask, judge takes the answer.
*/
#ifndef ZPEER_VERDICT_H_INCLUDED
#define ZPEER_VERDICT_H_INCLUDED

#include "result.h"

typedef struct {
    bool resets;            //  The peer works: its counter starts at 0 again
    bool counts;            //  One more failure in a row
    bool gated;             //  Permanent once the maximum is reached
    bool ambiguous;         //  The peer may have applied it, or may yet
    zpeer_verdict_t below;  //  The verdict otherwise
} zpeer_verdict_row_t;

//  Static; end must be one of the list
const zpeer_verdict_row_t *zpeer_verdict_row (zpeer_end_t end);

//  Judges the attempt: fills end, verdict, reached, ambiguous, announce and
//  escalated of result, nothing else. reached and announce are what the counter
//  said, false when it was not asked.
void zpeer_verdict_judge (zpeer_end_t end, bool reached, bool announce,
                          zpeer_result_t *result);

#endif
