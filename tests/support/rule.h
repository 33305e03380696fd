/*  rule.h - what a scripted peer does to the requests that match

    A rule says which requests, when they are answered, when their changes are
    made, and what the answer looks like. Zeroed is: every request, at once, the
    proper answer, until cleared. So a test names only what is wrong:

        speer_rule (peer, &(speer_rule_t){.answer = SPEER_HANG, .count = 3});

    POST /script knows the same members by the same names (script.h).
*/
#ifndef SPEER_RULE_H_INCLUDED
#define SPEER_RULE_H_INCLUDED

#include <stdbool.h>

//  A delay that ends with speer_release
#define SPEER_HELD (-1)

//  What is sent: name, JSON name, meaning
#define SPEER_ANSWERS(X)                                                       \
    X (PROPER, "proper", "the whole answer")                                   \
    X (HANG, "hang", "nothing; the connection stays open")                     \
    X (HANG_HALF, "hang-half", "head and half of the body, then nothing")      \
    X (CLOSE, "close", "nothing; the connection is closed")                    \
    X (CLOSE_HALF, "close-half", "head and half of the body, then closed")     \
    X (RESET, "reset", "nothing; the connection is reset")                     \
    X (RESET_HALF, "reset-half", "head and half of the body, then reset")      \
    X (GARBAGE, "garbage", "a body that is no JSON")                           \
    X (NOT_HTTP, "not-http", "bytes that are no HTTP, then closed")            \
    X (LONG, "long", "Content-Length 16 too large, then nothing")              \
    X (SHORT, "short", "Content-Length half of what follows, then closed")     \
    X (FEWER, "fewer", "one entry too few")                                    \
    X (MORE, "more", "one entry too many")

typedef enum {
#define X(name, label, meaning) SPEER_##name,
    SPEER_ANSWERS (X)
#undef X
        SPEER_ANSWERS_MAX
} speer_answer_t;

//  When the changes are made: name, JSON name, meaning
#define SPEER_APPLIES(X)                                                       \
    X (AUTO, "auto", "after the delay, before the answer; with status: never") \
    X (FIRST, "first", "as soon as the request has been read")                 \
    X (LATE, "late", "late_ms after the answer, or what came in its place")    \
    X (NEVER, "never", "not at all; the answer then says 200 to everything")

typedef enum {
#define X(name, label, meaning) SPEER_APPLY_##name,
    SPEER_APPLIES (X)
#undef X
        SPEER_APPLIES_MAX
} speer_apply_t;

typedef struct {
    //  Which requests
    const char *method;  //  NULL: any
    const char *path;    //  Any part of the path with its query; NULL: any
    int skip;            //  So many that match are let pass first
    int count;           //  Then it holds for so many; 0: until cleared

    //  When
    int delay_ms;         //  Before the answer; SPEER_HELD
    int item_ms;          //  In addition, per item
    speer_apply_t apply;  //  LATE goes with a 200 for every item
    int late_ms;          //  For LATE; SPEER_HELD

    //  What
    speer_answer_t answer;
    int status;           //  HTTP status; 0: the proper one
    const char *headers;  //  Whole lines, "Retry-After: 3\r\n"
    const char *body;     //  In place of the proper one; NULL: that
    int body_bytes;       //  Blanks fill the body up to this size
    bool gzip;            //  Content-Encoding: gzip
    bool chunked;         //  Transfer-Encoding: chunked, without Content-Length
    bool close;           //  Connection: close
    int drip_ms;          //  The body comes byte by byte, so far apart
} speer_rule_t;

//  A rule for items of batches. Zeroed fields match everything.
typedef struct {
    const char *action;  //  "Register", …
    const char *app;     //  In upper case
    const char *id;
    int nth;             //  Position in its batch, from 1
    int skip;            //  So many that match are let pass first
    int count;           //  Then it holds for so many; 0: until cleared
    int status;          //  statusCode
    bool apply;          //  The change is made all the same
    bool whole;          //  The whole batch is answered with the status, and
                         //  nothing of it is done
    const char *entity;  //  responseEntity as JSON text; NULL: none, or with
                         //  409 the stored copy
} speer_item_rule_t;

#endif
