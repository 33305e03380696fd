/*  acceptor.h - takes registry events in, keeps the view, tells the lanes

    Threads: an actor, zactor_new (zpeer_acceptor, args); see actor.h.

    Sockets: a ROUTER for feeders (protocol ZPEER/1, proto/PROTOCOL.md), a PUSH
    per lane for chunks (inproc), a PULL for what lanes answer, a PUSH to the
    reporter for outcomes and stats.

    Options read: zpeer.events.max-frame-bytes, zpeer.tombstone-ms,
    zpeer.view.age-out.

    command    frames            answer        when
    BIND       endpoint          OK endpoint   before START; several times
    UPLINK     endpoint          OK            before START; binds the PULL
    REPORT     endpoint          OK            before START; reporter's inbox
    START                        OK            once
    ADDLANE    lane endpoint     OK            any time; lane 0..63, its inbox
    DELLANE    lane              OK            any time; nothing comes after OK
    CLOSE                        OK            stops reading feeders; what they
                                               sent before is handled first

    A lane whose inbox is full holds up all feeders for at most a second, then
    its instances in that chunk are marked as owed and the others go on.
*/
#ifndef ZPEER_ACCEPTOR_H_INCLUDED
#define ZPEER_ACCEPTOR_H_INCLUDED

#include <zpeer/actor.h>
#include <czmq.h>

#ifdef __cplusplus
extern "C" {
#endif

ZPEER_EXPORT void zpeer_acceptor (zsock_t *pipe, void *args);

#ifdef __cplusplus
}
#endif

#endif
