/*  reporting.h - how an actor sends outcomes to the reporter

    It never waits: when the reporter's inbox is full, or there is no reporter,
    the outcome is lost and counted.

    Threads: belongs to one actor. Sockets: a PUSH to the reporter's inbox.
*/
#ifndef ZPEER_REPORTING_H_INCLUDED
#define ZPEER_REPORTING_H_INCLUDED

#include <czmq.h>
#include "outcome.h"

//  Most outcomes on their way from one actor to the reporter
#define ZPEER_REPORTING_HWM 4096

typedef struct {
    zsock_t *push;  //  Owned; NULL: nobody wants to know
    uint64_t sent;
    uint64_t lost;
} zpeer_reporting_t;

//  Connects to the reporter's inbox; before, nothing is sent and nothing counts
//  as lost. Returns ZPEER_OK, or as zpeer_socket_connect; ZPEER_E_STATE when it
//  is connected already.
int zpeer_reporting_connect (zpeer_reporting_t *self, const char *endpoint);

//  Closes; empty and usable again
void zpeer_reporting_close (zpeer_reporting_t *self);

//  True if it is worth writing an outcome
static inline bool
zpeer_reporting_on (const zpeer_reporting_t *self)
{
    return self->push != NULL;
}

//  Sends the map in the buffer, and resets the buffer
void zpeer_reporting_send (zpeer_reporting_t *self, zpeer_topic_t topic,
                           zpeer_buffer_t *map);

#endif
