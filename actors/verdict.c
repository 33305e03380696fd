#include <assert.h>
#include "verdict.h"
#include "banned.h"

//  resets, counts, gated, ambiguous, verdict unless escalated
static const zpeer_verdict_row_t s_rows[ZPEER_END_COUNT] = {
    [ZPEER_END_OK] = {1, 0, 0, 0, ZPEER_SUCCESS},
    [ZPEER_END_UNUSABLE] = {0, 1, 1, 1, ZPEER_TRANSIENT_ERROR},
    [ZPEER_END_BUSY] = {0, 1, 0, 0, ZPEER_CONGESTION},
    [ZPEER_END_STATUS] = {0, 0, 0, 0, ZPEER_PERMANENT_ERROR},
    //  A proxy's 502 or 504 says nothing of what the peer does with the
    //  request; a 500 may be half done
    [ZPEER_END_STATUS_5XX] = {0, 0, 0, 1, ZPEER_PERMANENT_ERROR},
    //  A single request's status is its item's: the request itself went well
    [ZPEER_END_ITEM] = {0, 0, 0, 0, ZPEER_SUCCESS},
    [ZPEER_END_READ_TIMEOUT] = {0, 1, 1, 1, ZPEER_CONGESTION},
    [ZPEER_END_UNSENT] = {0, 1, 1, 0, ZPEER_TRANSIENT_ERROR},
    [ZPEER_END_RESET] = {0, 1, 1, 1, ZPEER_TRANSIENT_ERROR},
    [ZPEER_END_TLS] = {0, 1, 0, 0, ZPEER_PERMANENT_ERROR},
    [ZPEER_END_INTERNAL] = {0, 1, 0, 0, ZPEER_PERMANENT_ERROR},
    [ZPEER_END_TAKEN_BACK] = {0, 0, 0, 1, ZPEER_TRANSIENT_ERROR},
};

const zpeer_verdict_row_t *
zpeer_verdict_row (zpeer_end_t end)
{
    assert ((unsigned) end < ZPEER_END_COUNT);
    return &s_rows[end];
}

void
zpeer_verdict_judge (zpeer_end_t end, bool reached, bool announce,
                     zpeer_result_t *result)
{
    const zpeer_verdict_row_t *row = zpeer_verdict_row (end);
    bool failed = row->below != ZPEER_SUCCESS;
    result->end = end;
    result->reached = failed && reached;
    result->ambiguous = row->ambiguous;
    result->announce = row->gated && announce;
    result->escalated = row->gated && reached;
    result->verdict = result->escalated ? ZPEER_PERMANENT_ERROR : row->below;
}
