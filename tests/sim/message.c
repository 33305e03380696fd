#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "message.h"
#include "banned.h"

message_t *
message_new (const zpeer_slice_t *frames, size_t count)
{
    assert (count && count <= MESSAGE_FRAMES_MAX);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += frames[i].size;
    message_t *self = (message_t *) malloc (sizeof *self + size);
    assert (self);
    *self = (message_t){.count = count};
    char *at = self->data;
    for (size_t i = 0; i < count; i++) {
        self->frames[i] = (zpeer_slice_t){at, frames[i].size};
        if (frames[i].size)
            memcpy (at, frames[i].data, frames[i].size);
        at += frames[i].size;
    }
    return self;
}

void
message_free (message_t *self)
{
    free (self);
}

zpeer_wire_command_t
message_command (const message_t *self, size_t place)
{
    if (place >= self->count)
        return ZPEER_WIRE_COMMAND_COUNT;
    return zpeer_wire_command (self->frames[place].data,
                               self->frames[place].size);
}

//  The batch that a message is about; 0: it is about none
static uint64_t
s_id (zpeer_wire_command_t command, zpeer_slice_t fields)
{
    uint64_t id = 0;
    zpeer_wire_batch_t batch = {0};
    zpeer_result_t result = {0};
    switch (command) {
    case ZPEER_WIRE_BATCH:
        zpeer_wire_get_batch (fields.data, fields.size, &batch);
        return batch.id;
    case ZPEER_WIRE_DONE:
        zpeer_wire_get_done (fields.data, fields.size, &result);
        return result.id;
    case ZPEER_WIRE_ACK:
        zpeer_wire_get_id (fields.data, fields.size, &id);
        return id;
    default: return 0;
    }
}

const char *
message_text (const message_t *self, char text[MESSAGE_TEXT_MAX])
{
    size_t place = 0;
    zpeer_wire_command_t command = message_command (self, place);
    if (command == ZPEER_WIRE_COMMAND_COUNT)
        command = message_command (self, ++place);
    uint64_t id =
        place + 1 < self->count ? s_id (command, self->frames[place + 1]) : 0;
    if (id)
        snprintf (text, MESSAGE_TEXT_MAX, "%s #%" PRIu64,
                  zpeer_wire_command_text (command), id);
    else
        snprintf (text, MESSAGE_TEXT_MAX, "%s",
                  zpeer_wire_command_text (command));
    return text;
}

void
queue_put (queue_t *self, message_t *message)
{
    message->next = NULL;
    if (self->last)
        self->last->next = message;
    else
        self->first = message;
    self->last = message;
}

message_t *
queue_take (queue_t *self)
{
    message_t *message = self->first;
    if (!message)
        return NULL;
    self->first = message->next;
    if (!self->first)
        self->last = NULL;
    return message;
}

void
queue_clear (queue_t *self)
{
    message_t *message;
    while ((message = queue_take (self)) != NULL)
        message_free (message);
}
