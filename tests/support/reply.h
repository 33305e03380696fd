/*  reply.h - an answer, from its meaning to the bytes that are sent */
#ifndef SPEER_REPLY_H_INCLUDED
#define SPEER_REPLY_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include "rule.h"

#define SPEER_JSON "application/json"
#define SPEER_XML  "application/xml"

//  What is to be said; zeroed is empty
typedef struct {
    int status;
    const char *type;  //  Static; NULL without a body
    char *body;        //  Owned; NULL: none
    size_t size;
} speer_reply_t;

//  What becomes of the connection when the bytes are out
typedef enum {
    SPEER_THEN_KEEP,  //  The next request
    SPEER_THEN_CLOSE,
    SPEER_THEN_RESET,
    SPEER_THEN_HANG  //  Stays open, nothing is read or sent any more
} speer_then_t;

//  What is sent
typedef struct {
    char *data;  //  Owned; NULL: nothing
    size_t size;
    size_t head_size;  //  From here on it may drip
    speer_then_t then;
    bool whole;  //  The client gets a whole answer
    int status;  //  0: none
} speer_output_t;

void speer_reply_free (speer_reply_t *self);

//  Sets the answer; body, which may be NULL, becomes the reply's
void
speer_reply_set (speer_reply_t *self, int status, const char *type, char *body);

//  Writes the answer, spoiled as the rule says (NULL: not). Consumes the reply.
speer_output_t speer_reply_write (speer_reply_t *self, const speer_rule_t *rule,
                                  bool keep_alive);

//  Inflates gzip; the caller's to free. NULL if it is none, or larger than max.
char *speer_gunzip (const char *data, size_t size, size_t max, size_t *out);

#endif
