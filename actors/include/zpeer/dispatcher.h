/*  dispatcher.h - sends a peer's batches over HTTP and judges the answers

    Threads: an actor, zactor_new (zpeer_dispatcher, args); see actor.h. One or
    more per peer, in the engine's process or in any other.

    Sockets: a DEALER to the peer's batcher, a DEALER to health, a PUSH to the
    reporter (not needed); messages in proto/wire.h and PROTOCOL.md.

    Options read: eureka.server.peer-node-connect-timeout-ms, peer-node-
    read-timeout-ms, max-threads-for-peer-replication, zpeer.request.deadline-
    ms, zpeer.reply.max-bytes, zpeer.congestion-statuses, zpeer.tls.ca-file,
    zpeer.stats.interval-ms.

    command    frames            answer        when
    PEER       id url            OK            before START; id below 1024, the
                                               url may hold credentials
    AUTH       user password     OK            after PEER, before START; instead
                                               of those
    CONNECT    endpoint          OK            before START; the batcher. ipc
                                               and tcp make it remote: it sends
                                               HEARTBEAT and gives up without
                                               its batcher
    HEALTH     endpoint          OK            before START
    REPORT     endpoint          OK            before START; may be left out
    BEAT       ms                OK            before START; how often a remote
                                               one sends HEARTBEAT, up to 2000;
                                               0: 1000. After three without a
                                               word from the batcher it aborts
                                               its requests.
    START                        OK            once; refused (INVALID) when the
                                               peer speaks https and the CA
                                               file cannot be read
*/
#ifndef ZPEER_DISPATCHER_H_INCLUDED
#define ZPEER_DISPATCHER_H_INCLUDED

#include <zpeer/actor.h>
#include <czmq.h>

#ifdef __cplusplus
extern "C" {
#endif

ZPEER_EXPORT void zpeer_dispatcher (zsock_t *pipe, void *args);

#ifdef __cplusplus
}
#endif

#endif
