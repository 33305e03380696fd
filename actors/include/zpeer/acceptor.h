/*  acceptor.h - takes registry events in, keeps the view, tells the lanes

    Threads: an actor, zactor_new (zpeer_acceptor, args); see actor.h.

    Sockets: a ROUTER for feeders (protocol ZPEER/1, proto/PROTOCOL.md), a PUSH
    per lane for chunks (inproc), a PULL for what lanes answer, a PUSH to the
    reporter for outcomes and stats.

    Options read: zpeer.events.max-frame-bytes, zpeer.events.max-connections,
    zpeer.batch.max-bytes (what could not be sent is rejected),
    zpeer.tombstone-ms, zpeer.view.age-out, zpeer.stats.interval-ms.

    command    frames            answer        when
    BIND       endpoint          OK endpoint   before START; several times
    UPLINK     endpoint          OK            before START; binds the PULL;
                                               inproc
    REPORT     endpoint          OK            before START; reporter's inbox
    START                        OK            once
    ORIGIN     lane URL          OK            any time; its peer's URL: events
                                               that name it came from there
    ADDLANE    lane endpoint     OK            any time; lane 0..63, its inbox;
                                               inproc
    DELLANE    lane              OK            any time; nothing comes after OK
    RESYNC     lane              OK            after START; the lane is made to
                                               owe its peer all that is known
    VERIFY     lane              OK            after START; the lane is made to
                                               ask its peer about all of it
    CLOSE      ms                OK            after START; stops reading
                                               feeders. What they sent before is
                                               handled first, for at most ms.
                                               RESYNC and VERIFY end.

    Every request is answered once, in order; a reply is dropped only when its
    feeder does not read. What an event changes is handed to all lanes at the
    end of the turn that read it.

    Feeders beyond zpeer.events.max-connections are refused: the connection made
    last is ended again, those that were there are served on.

    A lane whose inbox is full holds up all feeders for at most a second. Then
    the others go on, and what it misses is noted by instance: when it reads
    again it is told their present states as owed, before anything newer.

    RESYNC and VERIFY walk the view, some entries a turn, for one lane at a time:
    OK means that the walk will come, in the order of asking. The next begins when
    the lane says it has walked, or 30 s after it got everything. A lane that is
    added when something is known begins with a RESYNC by itself.

    Outcomes: need-register, and stats every interval (source acceptor):
    Register, Heartbeat, Cancel, StatusUpdate, DeleteStatusOverride,
    AsgStatusUpdate, Forget: events accepted; requests, rejected (events),
    replies-dropped, outdated, aged-out, need-register, chunks, chunks-refused,
    changes-owed, walks, outcomes-lost: in all; instances, tombstones, unknown,
    releasing, asgs, lanes, lanes-behind, changes-noted, walks-waiting,
    walks-under-way: at present.
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
