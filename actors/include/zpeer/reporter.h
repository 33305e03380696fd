/*  reporter.h - publishes outcomes and figures

    A relay: what the other actors send (two frames, topic and msgpack map) goes
    out on a PUB socket as it is. It blocks nobody: a sender whose message does
    not fit counts the loss and goes on.

    Threads: an actor, zactor_new (zpeer_reporter, args); see actor.h.

    Sockets: a PULL for the actors, a PUB for hosts, zpeerctl and monitors.

    command    frames            answer        when
    INBOX      endpoint          OK endpoint   before START; binds the PULL
    PUB        endpoint          OK endpoint   before START; several times
    START                        OK            once
    DRAIN                        OK            relays what is in the inbox, then
                                               answers
*/
#ifndef ZPEER_REPORTER_H_INCLUDED
#define ZPEER_REPORTER_H_INCLUDED

#include <zpeer/actor.h>
#include <czmq.h>

#ifdef __cplusplus
extern "C" {
#endif

ZPEER_EXPORT void zpeer_reporter (zsock_t *pipe, void *args);

#ifdef __cplusplus
}
#endif

#endif
