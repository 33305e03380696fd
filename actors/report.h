/*  report.h - an actor's way to the reporter

    What an actor reports must never hold it up: a message that does not fit is
    lost and counted. A plain struct; zeroed it reports to nobody.

        zpeer_outcome_need_register (zpeer_report_map (&report), …);
        zpeer_report_send (&report, ZPEER_TOPIC_NEED_REGISTER);

    Threads: one. Blocking: never.
*/
#ifndef ZPEER_REPORT_H_INCLUDED
#define ZPEER_REPORT_H_INCLUDED

#include <czmq.h>
#include "outcome.h"

typedef struct {
    zsock_t *socket;     //  Owned PUSH; NULL: nobody listens
    zpeer_buffer_t map;  //  Owned; the outcome that is being written
    uint64_t lost;       //  Outcomes the reporter had no room for
} zpeer_report_t;

//  Connects to the reporter's inbox. Returns ZPEER_OK, ZPEER_E_EXISTS (it is
//  connected), ZPEER_E_BIND or ZPEER_E_RESOURCES.
int zpeer_report_connect (zpeer_report_t *self, const char *endpoint);

void zpeer_report_close (zpeer_report_t *self);

//  The buffer for one outcome, empty
zpeer_buffer_t *zpeer_report_map (zpeer_report_t *self);

//  Sends what is in the buffer
void zpeer_report_send (zpeer_report_t *self, zpeer_topic_t topic);

#endif
