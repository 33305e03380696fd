/*  messages.h - everything the library can say

    One table, from which the ids, the texts and MESSAGES.md come. An id never
    changes and is never used again; every text names at least one thing. Lines
    that are sampled (sampler.h) end with how many were held back, if any were; if
    no line follows within 10 s, one of the same id says only that.
*/
#ifndef ZPEER_MESSAGES_H_INCLUDED
#define ZPEER_MESSAGES_H_INCLUDED

#include <inttypes.h>
#include <zpeer/log.h>

//  The end of a sampled line: what zpeer_throttle_pass says
#define ZPEER_HELD "%s"

//  name, id, level, format, what to do
#define ZPEER_MESSAGES(X)                                                      \
    X (ENGINE_STARTED, "ZPR001", INFO,                                         \
       "engine started, events at %s, outcomes at %s", "Nothing.")             \
    X (ENGINE_STOPPED, "ZPR002", INFO,                                         \
       "engine stopped, %" PRIu64 " tasks or owed instances were not told",    \
       "If that is many: raise zpeer.stop.deadline-ms.")                       \
    X (OPTION_UNUSED, "ZPR003", WARNING, "option %s has no effect",            \
       "Remove it, spell it right, or leave it for the reference's sake.")     \
    X (PEER_ADDED, "ZPR010", INFO, "peer %s added", "Nothing.")                \
    X (PEER_REMOVED, "ZPR011", INFO,                                           \
       "peer %s removed, %" PRIu64 " tasks or owed instances were not told",   \
       "Nothing.")                                                             \
    X (PEER_REFUSED, "ZPR012", ERROR, "peer %s not added: %s",                 \
       "If a file of zpeer.tls is wrong, mend that; if descriptors or "        \
       "sockets ran out, raise the limit (ulimit -n, zsys_set_max_sockets). "  \
       "A running engine goes on with the peers it has.")                      \
    X (EVENT_REJECTED, "ZPR020", WARNING, "event rejected: %s" ZPEER_HELD,     \
       "Mend the feeder: the text names the field that is wrong.")             \
    X (INBOX_FULL, "ZPR021", WARNING,                                          \
       "peer %u took no changes for %u ms, %u instances are owed to "          \
       "it" ZPEER_HELD,                                                        \
       "Nothing, they are told later; if it repeats, the machine is too "      \
       "busy for what the feeders send.")                                      \
    X (FEEDER_REFUSED, "ZPR022", WARNING,                                      \
       "a feeder was refused, %u are connected" ZPEER_HELD,                    \
       "See who connects and does not leave; or raise "                        \
       "zpeer.events.max-connections and, to twice that, the limit of "        \
       "descriptors (ulimit -n).")                                             \
    X (REGISTER_MISSING, "ZPR023", WARNING,                                    \
       "a Register of %.*s/%.*s is needed, %u instances are known from "       \
       "heartbeats only" ZPEER_HELD,                                           \
       "Have the registry send the Register of each instance that the "        \
       "outcome need-register names, or feed all of it: \"zpeerctl feed\" "    \
       "takes the answer to GET apps. Until then peers refuse the heartbeats " \
       "of those they do not have, and resync and verify leave them out.")     \
    X (FEEDER_CUT, "ZPR024", WARNING,                                          \
       "a feeder at %s was cut off%s: it sent a frame of more than %zu "       \
       "bytes, wants encryption, or never greeted" ZPEER_HELD,                 \
       "Have it send smaller requests (it gets no reply to this one), or "     \
       "raise zpeer.events.max-frame-bytes, which is half as much; and see "   \
       "that it is a ZeroMQ DEALER or REQ. A connection that had ended "       \
       "before anybody looked may have left by itself: the line says so.")     \
    X (CANCEL_GIVEN_UP, "ZPR025", WARNING,                                     \
       "the Cancel of %s/%s is given up for peers that were not told: more "   \
       "than %u bytes are kept of such" ZPEER_HELD,                            \
       "Bring the peer back (the outcome dropped names it), or raise "         \
       "zpeer.cancels.max-bytes. A peer that was not told keeps the "          \
       "instance until its lease runs out there.")                             \
    X (PEER_CONGESTED, "ZPR030", WARNING,                                      \
       "peer %s is busy (HTTP status %u), %u tasks are kept" ZPEER_HELD,       \
       "Look at the peer's load; sending goes on more slowly by itself.")      \
    X (NETWORK_FAILURE, "ZPR031", ERROR,                                       \
       "peer %s cannot be reached (failure %s): %s" ZPEER_HELD,                \
       "See that the peer runs and that name, port and route are right.")      \
    X (READ_TIMEOUT, "ZPR032", ERROR,                                          \
       "peer %s was silent for too long (failure %s), a greater "              \
       "eureka.server.peer-node-read-timeout-ms than %u may help" ZPEER_HELD,  \
       "See why the peer is slow; if it always is, raise the timeout.")        \
    X (TLS_FAILURE, "ZPR033", ERROR,                                           \
       "peer %s failed in TLS, %u tasks dropped: %s" ZPEER_HELD,               \
       "Check the peer's certificate and zpeer.tls.ca-file.")                  \
    X (UNUSABLE_ANSWER, "ZPR034", ERROR,                                       \
       "peer %s gave an unusable answer (failure %s): %s" ZPEER_HELD,          \
       "Check that the URL is a Eureka server's and no proxy answers.")        \
    X (HTTP_STATUS, "ZPR035", ERROR,                                           \
       "peer %s answered HTTP status %u, %u tasks dropped" ZPEER_HELD,         \
       "401 and 403: credentials; 404: the URL's path; from 500 on: its log.") \
    X (ESCALATED, "ZPR036", ERROR,                                             \
       "peer %s failed %u+ times in a row, the most allowed, %u tasks "        \
       "dropped; what fails from now on is not tried again until the peer "    \
       "answers",                                                              \
       "Bring the peer back; apiml.discovery.maxPeerRetries is the limit.")    \
    X (RECOVERED, "ZPR037", INFO,                                              \
       "peer %s answers again after %s failures and %" PRIu64                  \
       " ms; before, it was owed %u instances, now %u",                        \
       "Nothing.")                                                             \
    X (INTERNAL_FAILURE, "ZPR038", ERROR,                                      \
       "request to peer %s failed here, %u tasks dropped: %s" ZPEER_HELD,      \
       "Report it, with the text.")                                            \
    X (PEER_WHOLE, "ZPR039", INFO,                                             \
       "peer %s is whole, %" PRIu64 " ms after it was first owed something",   \
       "Nothing.")                                                             \
    X (INSTANCE_REJECTED, "ZPR040", WARNING,                                   \
       "peer %s does not take %s/%s: status %u" ZPEER_HELD,                    \
       "See the peer's log; a new registration is tried again.")               \
    X (CONFLICT, "ZPR041", WARNING,                                            \
       "peer %s has a newer registration of %s/%s" ZPEER_HELD,                 \
       "Two registries own the instance; the outcome holds the peer's copy.")  \
    X (LANE_OVERFLOW, "ZPR042", WARNING,                                       \
       "more than %u instances wait for peer %s, heartbeats are given "        \
       "up" ZPEER_HELD,                                                        \
       "Bring the peer back, or raise "                                        \
       "eureka.server.max-elements-in-peer-replication-pool.")                 \
    X (WALK_BEGUN, "ZPR043", INFO, "%s of peer %s begins", "Nothing.")         \
    X (WALK_ENDED, "ZPR044", INFO,                                             \
       "%s of peer %s ended after %" PRIu64                                    \
       " ms: %u instances, %u repaired, %u refused",                           \
       "If some were refused, the outcomes rejected and conflict name them.")  \
    X (ITEM_STATUS, "ZPR045", ERROR,                                           \
       "peer %s takes nothing of a batch: item status %u" ZPEER_HELD,          \
       "See the peer's log; what it does not take is tried again.")            \
    X (DISPATCHER_LOST, "ZPR050", WARNING,                                     \
       "a dispatcher of peer %s is gone or holds on, %u batches taken "        \
       "back" ZPEER_HELD,                                                      \
       "See why it ended, or what cut it off.")                                \
    X (BATCHER_SILENT, "ZPR051", WARNING,                                      \
       "no word from the batcher of peer %s for %u ms, %u requests aborted",   \
       "See that the engine runs and can be reached.")                         \
    X (HEALTH_SILENT, "ZPR052", WARNING,                                       \
       "health gave no answer in %u ms, tasks of peer %s are kept" ZPEER_HELD, \
       "See that health's endpoint can be reached.")                           \
    X (NOT_RENEWED, "ZPR053", WARNING,                                         \
       "no new connection to peer %s can be made, an old one is "              \
       "used: %s" ZPEER_HELD,                                                  \
       "See where the name leads now, and that the certificates' files are "   \
       "right; what is told the peer depends on the old connection.")          \
    X (DISPATCHER_REFUSED, "ZPR054", WARNING,                                  \
       "peer %s has %u dispatchers, one more is not heard" ZPEER_HELD,         \
       "See who connects to the endpoint for dispatchers.")                    \
    X (CLIENT_CUT, "ZPR055", WARNING,                                          \
       "a client at %s was cut off%s: it sent a frame of more than %" PRId64   \
       " bytes, wants encryption, or never greeted" ZPEER_HELD,                \
       "See who connects to that endpoint, and what for.")

typedef enum {
#define X(name, id, level, format, advice) ZPR_##name,
    ZPEER_MESSAGES (X)
#undef X
        ZPR_MESSAGES
} zpeer_message_t;

#endif
