/*  malformed.h - malformed.txt: items that break a batch, as items and events

        malformed_t *table = malformed_load (app, &count);
        malformed_pack (table[0].event, &frame);
        malformed_free (&table, count);

    An event is JSON here, and packed as it stands. What JSON cannot hold is
    written in its strings: ~xx is the byte of that number, "~:nan", "~:inf",
    "~:uint" (2^63), "~:bin" and "~:ext" are values of msgpack.
*/
#ifndef MALFORMED_H_INCLUDED
#define MALFORMED_H_INCLUDED

#include <jansson.h>
#include "buffer.h"

typedef enum {
    MALFORMED_SPRING,
    MALFORMED_NETFLIX,
    MALFORMED_KINDS
} malformed_kind_t;

typedef struct {
    char *name;
    char *id;          //  Of the instance it is about
    char *item;        //  As it is posted; NULL: no item says it
    size_t item_size;  //  There may be a NUL in it
    json_t *event;     //  NULL: no event says it
    char *info;        //  Of the event, as text; NULL: not one of those
    char *says;        //  NULL: the acceptor takes it
    char *does[MALFORMED_KINDS];  //  By kind of server; NULL: no item
} malformed_t;

//  The table, all of it about one application; fails the test if it is wrong
malformed_t *malformed_load (const char *app, size_t *count);

void malformed_free (malformed_t **self_p, size_t count);

//  A text with what stands for %a, %i and the others of malformed.txt in it; the
//  caller's to free
char *malformed_expand (const char *text, const char *app, const char *id);

//  Appends an event as msgpack
void malformed_pack (const json_t *event, zpeer_buffer_t *frame);

#endif
