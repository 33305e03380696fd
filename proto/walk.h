/*  walk.h - steps through msgpack bytes nobody has checked

    A walk reads tokens from a frame: no allocation, no recursion, never a byte
    behind the end. What a header promises is held against the bytes that are
    left and against a budget of elements before anything believes it: five
    hostile bytes can promise 4,294,967,295 elements.

    After a failure the walk stands somewhere, and only its error is of use.
*/
#ifndef ZPEER_WALK_H_INCLUDED
#define ZPEER_WALK_H_INCLUDED

#include <stdint.h>
#include <zpeer/base.h>
#include "slice.h"

//  Deepest nesting of maps and arrays, the outermost counted
#define ZPEER_DEPTH_MAX 8

//  Most elements of one event: every key and value, and the maps themselves
#define ZPEER_ELEMENTS_MAX 4096

typedef enum {
    ZPEER_TOKEN_NIL,
    ZPEER_TOKEN_BOOL,
    ZPEER_TOKEN_UINT,
    ZPEER_TOKEN_INT,    //  Below zero, or sent in a signed format
    ZPEER_TOKEN_FLOAT,  //  64 bits
    ZPEER_TOKEN_FLOAT32,
    ZPEER_TOKEN_STR,
    ZPEER_TOKEN_BIN,
    ZPEER_TOKEN_EXT,
    ZPEER_TOKEN_ARRAY,
    ZPEER_TOKEN_MAP,
    ZPEER_TOKEN_NEVER  //  0xc1, which msgpack never uses
} zpeer_token_kind_t;

typedef struct {
    zpeer_token_kind_t kind;
    uint32_t count;       //  ARRAY: elements; MAP: pairs
    zpeer_slice_t bytes;  //  STR, BIN, EXT: in the frame
    union {
        bool flag;        //  BOOL
        uint64_t uint;    //  UINT
        int64_t integer;  //  INT
        double real;      //  FLOAT, FLOAT32
    } as;
} zpeer_token_t;

typedef struct {
    const char *at;     //  Where the next token begins
    const char *end;    //  Behind the last byte
    uint32_t budget;    //  How many tokens may still come
    const char *error;  //  After a failure: what was wrong; static
} zpeer_walk_t;

//  The same as zpeer_walk_next, for any kind of token
int zpeer_walk_any (zpeer_walk_t *self, zpeer_token_t *token);

//  Reads one token; of a map or an array only its header. Returns ZPEER_OK, or
//  ZPEER_E_PARSE and sets error.
static inline int
zpeer_walk_next (zpeer_walk_t *self, zpeer_token_t *token)
{
    //  Most of what there is are strings of less than 32 bytes: 101xxxxx
    size_t left = (size_t) (self->end - self->at);
    size_t size = left ? (unsigned char) *self->at ^ 0xa0u : left;
    if (size >= 32 || size >= left || !self->budget)
        return zpeer_walk_any (self, token);
    self->budget--;
    token->kind = ZPEER_TOKEN_STR;
    token->bytes.data = self->at + 1;
    token->bytes.size = size;
    self->at += size + 1;
    return ZPEER_OK;
}

//  Steps over one value and all that is in it. depth: in how many maps and
//  arrays it stands. Returns ZPEER_OK, or ZPEER_E_PARSE and sets error.
int zpeer_walk_skip (zpeer_walk_t *self, unsigned depth);

#endif
