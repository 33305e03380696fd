/*  result.h - how an attempt to send a batch ended

    Made by the dispatcher, read by the lane; between them it is the DONE
    message (wire.h).
*/
#ifndef ZPEER_RESULT_H_INCLUDED
#define ZPEER_RESULT_H_INCLUDED

#include <zpeer/names.h>
#include "slice.h"

//  How an attempt ended, before anybody judges it: name, text
#define ZPEER_ENDS(X)                                                          \
    X (OK, "2xx")                                                              \
    X (UNUSABLE, "unusable answer")                                            \
    X (BUSY, "busy")                                                           \
    X (STATUS, "HTTP status")                                                  \
    X (STATUS_5XX, "HTTP status from 500")                                     \
    X (ITEM, "item status")                                                    \
    X (READ_TIMEOUT, "read timeout")                                           \
    X (UNSENT, "not sent")                                                     \
    X (RESET, "connection lost")                                               \
    X (TLS, "TLS failure")                                                     \
    X (INTERNAL, "internal failure")                                           \
    X (TAKEN_BACK, "dispatcher lost")

typedef enum {
#define X(name, text) ZPEER_END_##name,
    ZPEER_ENDS (X)
#undef X
        ZPEER_END_COUNT
} zpeer_end_t;

//  Static text for an end; "?" when out of range
const char *zpeer_end_text (zpeer_end_t end);

//  The peer's own copy of an instance, as a 409 carries it
typedef struct {
    uint32_t index;      //  Of the item in its batch
    uint64_t timestamp;  //  lastDirtyTimestamp of the copy; 0: it has none
    zpeer_slice_t json;  //  InstanceInfo, as the peer wrote it
} zpeer_copy_t;

typedef struct {
    uint64_t id;  //  Of the batch
    zpeer_end_t end;
    zpeer_verdict_t verdict;
    bool reached;    //  The counter stands at its maximum
    bool ambiguous;  //  The peer may have applied it, or may yet
    bool announce;   //  Say that the peer is escalated: once a cycle
    bool escalated;  //  Permanent only because of the maximum
    uint32_t count;  //  The counter, and its maximum
    uint32_t max;
    uint16_t status;             //  HTTP; 0: none came
    uint32_t retry_after_ms;     //  0: none
    uint32_t elapsed_ms;         //  From the start of the request
    uint32_t items;              //  How many the batch had
    const uint16_t *codes;       //  Borrowed; one per item; NULL: all are 200
    const zpeer_copy_t *copies;  //  Borrowed
    size_t copy_count;
    const char *detail;  //  Borrowed; what the library said; may be ""
} zpeer_result_t;

#endif
