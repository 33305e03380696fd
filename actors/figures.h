/*  figures.h - the tables of figures that are published as stats

    One entry of a table writes one figure and one row of FIGURES.md. What an
    expression is made of is in scope where the table is expanded.
*/
#ifndef ZPEER_FIGURES_H_INCLUDED
#define ZPEER_FIGURES_H_INCLUDED

//  Whether a figure only grows while the engine runs, or is as it is at present
typedef enum { ZPEER_FIGURE_TOTAL, ZPEER_FIGURE_NOW } zpeer_figure_kind_t;

//  Of the acceptor, beside the events accepted of each action. kind, key, value,
//  sentence
#define ZPEER_ACCEPTOR_FIGURES(X)                                              \
    X (TOTAL, "requests", intake->requests, "Requests of feeders read.")       \
    X (TOTAL, "rejected", intake->rejected,                                    \
       "Events rejected; a request that is no event at all counts as one.")    \
    X (TOTAL, "replies-dropped", intake->replies_dropped,                      \
       "Replies lost because the feeder did not read, or had gone.")           \
    X (TOTAL, "feeders-ended", self->ended,                                    \
       "Connections of feeders ended here: too many, or cut off, mostly "      \
       "because of a frame that was too large.")                               \
    X (TOTAL, "outdated", view.outdated,                                       \
       "Events accepted and ignored: the engine knows something newer.")       \
    X (TOTAL, "aged-out", view.aged_out,                                       \
       "Instances let go of because no event came for two lease durations.")   \
    X (TOTAL, "need-register", self->need_register,                            \
       "Outcomes need-register of the engine itself; growth means that a "     \
       "feeder renews what it never registered.")                              \
    X (NOW, "instances", view.instances, "Instances the engine knows alive.")  \
    X (NOW, "tombstones", view.tombstones,                                     \
       "Instances remembered though they are cancelled, forgotten or were "    \
       "never registered.")                                                    \
    X (NOW, "unknown", view.unknown,                                           \
       "Of the tombstones, instances that renew and lack a Register: peers "   \
       "that do not have them refuse that, resync and verify leave them "      \
       "out; above 0 for minutes is worth an alert: have the registry fed. "   \
       "One whose heartbeats stop counts as long as tombstones do.")           \
    X (NOW, "releasing", view.releasing,                                       \
       "Instances gone that a peer's lane still holds.")                       \
    X (NOW, "releasing-bytes", view.releasing_bytes,                           \
       "Most memory these take; at `zpeer.cancels.max-bytes` the oldest are "  \
       "given up.")                                                            \
    X (TOTAL, "cancels-given-up", view.given_up,                               \
       "Such instances given up; a peer that was not told keeps them until "   \
       "their leases run out there.")                                          \
    X (NOW, "asgs", view.asgs, "Auto scaling groups with a known status.")     \
    X (NOW, "lanes", handover.lanes, "Peers that are told of changes.")        \
    X (NOW, "lanes-behind", handover.behind,                                   \
       "Peers whose batcher does not keep up; above 0 for long is worth an "   \
       "alert.")                                                               \
    X (NOW, "changes-noted", handover.noted,                                   \
       "Instances such peers must still be told of, all together.")            \
    X (TOTAL, "changes-owed", handover.owed,                                   \
       "Changes handed over late, as the present state, to peers that were "   \
       "behind.")                                                              \
    X (TOTAL, "chunks", handover.chunks,                                       \
       "Groups of changes that batchers took.")                                \
    X (TOTAL, "chunks-refused", handover.refused,                              \
       "Groups of changes a batcher had no room for at once; feeders wait "    \
       "for up to a second then.")                                             \
    X (TOTAL, "walks", walker.begun,                                           \
       "Times a peer began to be told everything the engine knows, or to be "  \
       "asked about it: resync and verify.")                                   \
    X (NOW, "walks-waiting", walker.waiting,                                   \
       "Peers that wait for that; they are served one after the other.")       \
    X (NOW, "walks-under-way", walker.under_way,                               \
       "Peers that are being told or asked at present, 0 or 1.")               \
    X (TOTAL, "outcomes-lost", self->report.lost,                              \
       "Outcomes the reporter had no room for.")

//  Of a peer, beside the tasks of its lane by ending (lane.h). kind, key, value,
//  sentence
#define ZPEER_PEER_FIGURES(X)                                                  \
    X (TOTAL, "accepted", tasks.accepted,                                      \
       "Tasks: changes this peer had to be told of. Each ends in one of the "  \
       "ways below, waits, or is in flight. What a resync, a verify or a "     \
       "repair sends is no task.")                                             \
    X (NOW, "waiting", tasks.waiting, "Tasks not sent yet.")                   \
    X (NOW, "in-flight", tasks.in_flight, "Tasks sent and not answered.")      \
    X (NOW, "instances", tasks.instances, "Instances the peer's lane knows.")  \
    X (NOW, "queued", tasks.queued,                                            \
       "Instances with a change waiting; growth for minutes means that the "   \
       "peer does not keep up.")                                               \
    X (NOW, "owed", tasks.owed,                                                \
       "Instances the peer is to be asked about, and told of: what was sent "  \
       "in vain, or is resynced or verified; above 0 for minutes is worth an " \
       "alert.")                                                               \
    X (NOW, "renew", tasks.renew,                                              \
       "Of these, instances to be asked about only: a Heartbeat was lost, or " \
       "the peer is verified.")                                                \
    X (NOW, "unsure", tasks.unsure,                                            \
       "Instances of which the peer may have applied a change, or may yet.")   \
    X (NOW, "failures", self->count,                                           \
       "Failures in a row; at apiml.discovery.maxPeerRetries they are "        \
       "permanent.")                                                           \
    X (NOW, "away-ms", self->row.on ? self->now - self->row.since : 0,         \
       "How long the peer has answered nothing usable; 0: it does answer.")    \
    X (NOW, "resync-left", walk.left,                                          \
       "Instances of the peer's present resync or verify that have come and "  \
       "are not done with.")                                                   \
    X (NOW, "refused", tasks.rejected,                                         \
       "Instances the peer does not take, or does not keep; they are tried "   \
       "again.")                                                               \
    X (NOW, "resting", tasks.resting,                                          \
       "Instances to be tried again at a time of their own: what the peer "    \
       "refused, or has newer from elsewhere.")                                \
    X (NOW, "batches-in-flight", tasks.batches_in_flight,                      \
       "Batches sent and not answered.")                                       \
    X (NOW, "batch-size", tasks.size,                                          \
       "Items a batch may have; halved when a peer refuses or does not "       \
       "manage larger ones.")                                                  \
    X (NOW, "batch-bytes", tasks.byte_limit, "Bytes a batch may have.")        \
    X (NOW, "window", tasks.window,                                            \
       "Batches that may be in flight; 1 after a failure, more again as the "  \
       "peer answers.")                                                        \
    X (NOW, "memory-bytes", tasks.memory_bytes,                                \
       "Memory of the peer's lane, without the instances' states.")            \
    X (TOTAL, "asg-accepted", asg.accepted,                                    \
       "ASG status updates this peer had to be told of.")                      \
    X (TOTAL, "asg-delivered", asg.ended[ZPEER_ENDED_DELIVERED],               \
       "ASG status updates the peer confirmed.")                               \
    X (NOW, "asg-waiting", asg.waiting + asg.in_flight,                        \
       "ASG status updates not confirmed yet.")                                \
    X (NOW, "dispatchers", dispatchers,                                        \
       "Dispatchers that send to this peer; 0 is worth an alert.")             \
    X (TOTAL, "done-unknown", unknown_done,                                    \
       "Reports of batches nobody knows, such as those of a dispatcher that "  \
       "was thought lost.")                                                    \
    X (TOTAL, "outcomes-lost", self->report.lost,                              \
       "Outcomes the reporter had no room for.")

#endif
