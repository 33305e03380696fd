/*  health.h - counts the failures in a row of every peer

    Answers one question: has the maximum been reached? That decides between
    another try and a permanent error. It knows peers by number, never a URL or
    a socket of theirs.

    Threads: an actor, zactor_new (zpeer_health, args); see actor.h.

    Sockets: a ROUTER for dispatchers and anyone who asks (FAIL, OK,
    HASREACHEDMAX; proto/wire.h and PROTOCOL.md).

    Options read: apiml.discovery.maxPeerRetries.

    command    frames            answer        when
    BIND       endpoint          OK endpoint   any time; several times
    START                        OK            once
    FORGET     peer              OK            any time; its counter is 0 again
    IGNORED                      OK number     any time; messages that made no
                                               sense, and were not answered

    A peer is any number below 1024. A counter is at 0 before its first failure.
*/
#ifndef ZPEER_HEALTH_H_INCLUDED
#define ZPEER_HEALTH_H_INCLUDED

#include <zpeer/actor.h>
#include <czmq.h>

#ifdef __cplusplus
extern "C" {
#endif

ZPEER_EXPORT void zpeer_health (zsock_t *pipe, void *args);

#ifdef __cplusplus
}
#endif

#endif
