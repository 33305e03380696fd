/*  reply.h - what the acceptor answers to a request

        {"accepted": 3, "rejectedCount": 1,
         "rejected": [{"index": 1, "error": "info.hostName is missing"}]}

    and "mark", the engine's time, if it was asked for it.

    At most ZPEER_REPLY_LISTED rejections are listed; rejectedCount is their
    number. Both structs are of fixed size and own nothing, so a reply costs no
    allocation and needs no freeing.
*/
#ifndef ZPEER_REPLY_H_INCLUDED
#define ZPEER_REPLY_H_INCLUDED

#include "event.h"

//  Most rejections in the list
#define ZPEER_REPLY_LISTED 100

#define ZPEER_REPLY_HEAD_MAX  64
#define ZPEER_REPLY_ENTRY_MAX (ZPEER_REASON_MAX + 32)

typedef struct {
    uint64_t mark;      //  0: it was not asked for
    uint32_t rejected;  //  In all
    size_t size;        //  Of the entries, which come behind the head's room
    char
        data[ZPEER_REPLY_HEAD_MAX + ZPEER_REPLY_LISTED * ZPEER_REPLY_ENTRY_MAX];
} zpeer_reply_writer_t;

//  Starts a reply that rejects nothing
void zpeer_reply_begin (zpeer_reply_writer_t *self);

//  Rejects the event of that index in the request. reason: shorter than
//  ZPEER_REASON_MAX, the rest is cut off.
void zpeer_reply_reject (zpeer_reply_writer_t *self, uint32_t index,
                         const char *reason);

//  Adds the engine's time, which is above 0
void zpeer_reply_mark (zpeer_reply_writer_t *self, uint64_t mark);

//  The finished reply; valid until the next begin
zpeer_slice_t zpeer_reply_end (zpeer_reply_writer_t *self, uint32_t accepted);

typedef struct {
    uint64_t mark;  //  0: there is none
    uint32_t accepted;
    uint32_t rejected;  //  In all
    uint32_t listed;    //  Entries of the two arrays
    uint32_t indexes[ZPEER_REPLY_LISTED];
    const char *reasons[ZPEER_REPLY_LISTED];  //  In texts
    char texts[ZPEER_REPLY_LISTED][ZPEER_REASON_MAX];
} zpeer_reply_reader_t;

//  Reads a reply. Returns ZPEER_OK; or ZPEER_E_PARSE if it is none, and what it
//  holds then means nothing.
int
zpeer_reply_read (zpeer_reply_reader_t *self, const void *data, size_t size);

#endif
