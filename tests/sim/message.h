/*  message.h - what actors send each other: frames, as ZeroMQ carries them */
#ifndef SIM_MESSAGE_H_INCLUDED
#define SIM_MESSAGE_H_INCLUDED

#include <stdint.h>
#include "wire.h"

//  A routing id, and the most that wire.h has
#define MESSAGE_FRAMES_MAX 6

//  Room for a message's text
#define MESSAGE_TEXT_MAX 96

typedef struct message {
    struct message *next;  //  In its queue
    uint64_t at;           //  When it arrives
    size_t count;
    zpeer_slice_t frames[MESSAGE_FRAMES_MAX];  //  Of data
    char data[];
} message_t;

//  A first in, first out queue. A plain struct: zeroed is empty.
typedef struct {
    message_t *first;  //  Owned
    message_t *last;
} queue_t;

//  Copies the frames
message_t *message_new (const zpeer_slice_t *frames, size_t count);

void message_free (message_t *self);

//  Which command the frame at this place names
zpeer_wire_command_t message_command (const message_t *self, size_t place);

//  What it says, without routing id: its command, and the batch it is about.
//  Returns text.
const char *message_text (const message_t *self, char text[MESSAGE_TEXT_MAX]);

void queue_put (queue_t *self, message_t *message);

//  NULL: it is empty
message_t *queue_take (queue_t *self);

void queue_clear (queue_t *self);

#endif
