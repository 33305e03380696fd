/*  attempt.h - one try to send a batch: its requests, and what came of them

    A batch is one request; a ZPEER_MODE_SINGLE body is several, made one after
    the other, whose statuses take the place of the item codes. Pure.

    Threads: one at a time.
*/
#ifndef ZPEER_ATTEMPT_H_INCLUDED
#define ZPEER_ATTEMPT_H_INCLUDED

#include "answer.h"
#include "options.h"
#include "wire.h"

//  Where batches are posted, below the base URL (EUREKA.md 1.2)
#define ZPEER_ATTEMPT_BATCH_PATH "peerreplication/batch/"

//  Longest detail of a result that is kept, with NUL
#define ZPEER_ATTEMPT_DETAIL_MAX 256

//  How an HTTP request ended
typedef struct {
    zpeer_end_t end;  //  OK: an answer came, whatever its status
    uint16_t status;  //  0: none came
    bool repeated;    //  It went out twice: the first one may be applied, too
    uint32_t retry_after_ms;
    zpeer_slice_t body;  //  Borrowed for the call
    const char *detail;  //  Borrowed for the call; "" if there is none
} zpeer_reply_t;

typedef struct zpeer_attempt zpeer_attempt_t;

//  The body must stay readable as long as requests are asked for
zpeer_attempt_t *
zpeer_attempt_new (const zpeer_wire_batch_t *batch, zpeer_slice_t body);

void zpeer_attempt_destroy (zpeer_attempt_t **self_p);

//  The next request to make. Returns ZPEER_OK, ZPEER_E_AGAIN (that was all), or
//  ZPEER_E_PARSE (the body is not what a batch of so many items has).
int zpeer_attempt_next (zpeer_attempt_t *self, zpeer_wire_request_t *request);

//  Takes the end of a request in, says what it is by its status: OK, and ITEM
//  of a single request, mean that the next may be made. busy: statuses that
//  mean BUSY.
zpeer_end_t
zpeer_attempt_reply (zpeer_attempt_t *self, const zpeer_statuses_t *busy,
                     const zpeer_reply_t *reply);

//  The attempt ends here: end, unless it is OK and some item's status is not
zpeer_end_t zpeer_attempt_end (zpeer_attempt_t *self, zpeer_end_t end);

//  The result so far; what health and verdict say is the caller's to fill in.
//  Valid as long as the attempt.
zpeer_result_t *zpeer_attempt_result (zpeer_attempt_t *self);

//  Whether the requests are single ones
bool zpeer_attempt_single (const zpeer_attempt_t *self);

#endif
