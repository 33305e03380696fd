/*  feeder.h - one who feeds the engine, and what he was told

    Keeps each frame until the engine has answered; then its events become the
    source's.
*/
#ifndef CHAOS_FEEDER_H_INCLUDED
#define CHAOS_FEEDER_H_INCLUDED

#include <zpeer/feed.h>
#include "source.h"

//  Unanswered frames at most; a feed's window is smaller
#define FEEDER_FRAMES 128

#define FRAME_MAX 65536

typedef struct {
    char data[FRAME_MAX];
    size_t size;
    unsigned events;
} frame_t;

typedef struct {
    zpeer_feed_t *feed;            //  Owned
    source_t *source;              //  Borrowed
    frame_t *sent[FEEDER_FRAMES];  //  Owned; a ring
    unsigned head;
    unsigned tail;
    uint64_t accepted;  //  Events
    uint64_t rejected;
} feeder_t;

//  Returns what is wrong, static; NULL: nothing. All of them do.
const char *
feeder_open (feeder_t *self, const char *endpoint, source_t *source);

void feeder_close (feeder_t *self);

//  Sends a copy of the frame
const char *feeder_send (feeder_t *self, const frame_t *frame);

//  Reads what replies there are
const char *feeder_read (feeder_t *self);

//  Waits until everything is answered
const char *feeder_flush (feeder_t *self);

#endif
