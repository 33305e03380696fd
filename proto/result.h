/*  result.h - how an attempt to send a batch ended

    Made by the dispatcher, read by the lane; between them it is the DONE
    message (wire.h).
*/
#ifndef ZPEER_RESULT_H_INCLUDED
#define ZPEER_RESULT_H_INCLUDED

#include <zpeer/names.h>
#include "slice.h"

//  How an attempt ended, before anybody judges it: name, text, sentence
#define ZPEER_ENDS(X)                                                          \
    X (OK, "2xx", "The peer answered 2xx, with something usable.")             \
    X (UNUSABLE, "unusable answer",                                            \
       "A 2xx answer that cannot be read, or is none to this batch.")          \
    X (BUSY, "busy",                                                           \
       "A status of zpeer.congestion-statuses: the peer is busy.")             \
    X (STATUS, "HTTP status",                                                  \
       "Any other status below 500, such as 401 or 404 for the batch.")        \
    X (STATUS_5XX, "HTTP status from 500", "Any other status from 500 on.")    \
    X (ITEM, "item status",                                                    \
       "Single requests were made; each has a status of its own.")             \
    X (READ_TIMEOUT, "read timeout",                                           \
       "The peer got the request and was silent for too long.")                \
    X (UNSENT, "not sent", "Nothing was sent: no name, no connection.")        \
    X (RESET, "connection lost",                                               \
       "The connection went when the peer may have got the request.")          \
    X (TLS, "TLS failure",                                                     \
       "The peer's certificate or protocol was not accepted.")                 \
    X (INTERNAL, "internal failure", "This side could not make the request.")  \
    X (TAKEN_BACK, "dispatcher lost",                                          \
       "Always 0: only a batcher can tell that its dispatcher is lost.")

typedef enum {
#define X(name, text, sentence) ZPEER_END_##name,
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
    bool repeated;  //  It was sent twice, and this is how the second one ended:
                    //  the peer may yet apply the first one, too
    bool announce;  //  Say that the peer is escalated: once a cycle
    bool escalated;  //  Permanent only because of the maximum
    uint32_t count;  //  The counter, and its maximum
    uint32_t max;
    uint16_t status;             //  HTTP; 0: none came
    uint32_t retry_after_ms;     //  0: none
    uint32_t elapsed_ms;         //  From the start of the request
    uint32_t items;              //  How many the batch had
    const uint16_t *codes;       //  Borrowed; one per item; NULL: all are 200
    const zpeer_copy_t *copies;  //  Borrowed; in the order of their items
    size_t copy_count;
    const char *detail;  //  Borrowed; what the library said; may be ""
} zpeer_result_t;

#endif
