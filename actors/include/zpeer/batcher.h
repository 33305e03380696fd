/*  batcher.h - keeps what one peer still has to be told, builds batches

    Threads: an actor, zactor_new (zpeer_batcher, args); see actor.h.

    Sockets: a PULL for the acceptor's chunks (inproc), a ROUTER for the peer's
    dispatchers (any transport; messages in proto/wire.h and PROTOCOL.md), a
    PUSH to the acceptor, a PUSH to the reporter.

    Options read: zpeer.batch.*, eureka.server.peer-node-read-timeout-ms,
    max-elements-in-peer-replication-pool, max-elements-in-status-
    replication-pool, max-threads-for-status-replication,
    max-time-for-replication, zpeer.outcomes.delivered.

    command    frames            answer        when
    PEER       id url            OK            before START; id 0..63, also the
                                               lane; url without credentials
    INHERIT                      OK            before START; an earlier batcher
                                               of this peer left attempts
                                               unsettled
    INBOX      endpoint          OK            before START; binds the PULL;
                                               inproc
    BIND       endpoint          OK endpoint   any time; several times
    UPLINK     endpoint          OK            before START; acceptor's PULL;
                                               inproc
    REPORT     endpoint          OK            before START; reporter's inbox
    START                        OK            once
    RETRY-NOW                    OK            after START; ends the peer's
                                               pause: what waits or is owed is
                                               tried at once
    DRAIN      ms ending         OK left       sends what waits, and what is
                                               owed while the peer answers, for
                                               at most ms; left: tasks that were
                                               not sent, ended as ending
                                               (shutdown or peer-removed), and
                                               instances owed without one. Behind
                                               it and a blank is 1 if attempts
                                               are unsettled: the peer may yet
                                               apply them
*/
#ifndef ZPEER_BATCHER_H_INCLUDED
#define ZPEER_BATCHER_H_INCLUDED

#include <zpeer/actor.h>
#include <czmq.h>

#ifdef __cplusplus
extern "C" {
#endif

ZPEER_EXPORT void zpeer_batcher (zsock_t *pipe, void *args);

#ifdef __cplusplus
}
#endif

#endif
