/*  answer.h - a peer's reply to a batch

    Facts: EUREKA.md 2.2 (the shape), 3.1 (which codes come). A reply that is
    not the JSON expected, that is cut off, or that has another number of
    entries than the batch had items is unusable as a whole.
*/
#ifndef ZPEER_ANSWER_H_INCLUDED
#define ZPEER_ANSWER_H_INCLUDED

#include "buffer.h"
#include "result.h"

typedef struct {
    bool all_ok;           //  Every item was answered 200: codes are not kept
    size_t count;          //  Entries
    uint16_t *codes;       //  Owned; count of them, unless all_ok
    zpeer_copy_t *copies;  //  Owned array; of refused items with an entity,
                           //  in their order
    size_t copy_count;
    zpeer_buffer_t text;  //  Owned; what the copies point into
} zpeer_answer_t;

//  Parses a reply of size bytes to a batch of expected items. Returns ZPEER_OK,
//  or ZPEER_E_PARSE with a sentence in error (at most error_size bytes with
//  NUL). On success free it with zpeer_answer_free; on failure it is empty.
int zpeer_answer_parse (zpeer_answer_t *self, const char *data, size_t size,
                        size_t expected, char *error, size_t error_size);

//  Parses the body of a single call's 409: {"instance": {…}}. Returns ZPEER_OK
//  with one copy of index 0, or ZPEER_E_PARSE; other bodies are no copy.
int zpeer_answer_entity (zpeer_answer_t *self, const char *data, size_t size);

void zpeer_answer_free (zpeer_answer_t *self);

//  How long the peer has had the instance of a copy when it wrote it, by its own
//  clock, ms: from its registration to the Heartbeat that the copy answers. -1: the
//  copy does not tell. (A lease that was just renewed is dated by its duration into
//  the future: EUREKA.md 3.4.)
int64_t zpeer_copy_age_ms (const zpeer_copy_t *copy);

#endif
