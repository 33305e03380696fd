/*  batch.h - POST peerreplication/batch (EUREKA.md 2.1, 2.2, 3.1) */
#ifndef SPEER_BATCH_H_INCLUDED
#define SPEER_BATCH_H_INCLUDED

#include "core.h"

//  How a batch is treated
typedef struct {
    bool apply;  //  Make the changes; else every item is answered 200
    bool rules;  //  Item rules count
    int extra;   //  Entries too many (1) or too few (-1) in the answer
} speer_batch_way_t;

//  Returns the HTTP status; with 200 *answer is the body, the caller's to free,
//  else NULL. The body of the request must have a NUL behind it.
int speer_batch_apply (speer_core_t *core, const char *body, size_t size,
                       speer_batch_way_t way, char **answer);

//  The answer to count items, all 200
char *speer_batch_all_ok (size_t count);

#endif
