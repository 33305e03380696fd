/*  zpeerd_messages.h - what zpeerd itself has to say

    The engine's messages begin with ZPR and are listed in MESSAGES.md; zpeerd's
    own are few, begin with ZPD, and are listed by "zpeerd --messages", from
    this table.
*/
#ifndef ZPEERD_MESSAGES_H_INCLUDED
#define ZPEERD_MESSAGES_H_INCLUDED

#include <inttypes.h>
#include "stderr_log.h"

//  name, level, id, text, what to do
#define ZPEERD_MESSAGES(X)                                                     \
    X (STARTED, INFO, "ZPD001",                                                \
       "zpeerd %s takes events at %s and publishes outcomes at %s",            \
       "Nothing.")                                                             \
    X (STOPPING, INFO, "ZPD002", "stopping: %s", "Nothing.")                   \
    X (STOPPED, INFO, "ZPD003", "stopped, nothing was left to tell",           \
       "Nothing.")                                                             \
    X (LEFT, WARNING, "ZPD004",                                                \
       "stopped, %" PRId64 " tasks or owed instances not told",                \
       "Nothing if the registry goes on: a peer learns of an instance with "   \
       "its next event; one that was cancelled stays there until its lease "   \
       "runs out.")                                                            \
    X (NO_PEERS, WARNING, "ZPD005",                                            \
       "no peers: events are taken, and nobody is told",                       \
       "Name a peer with --peer, or add one with \"zpeerctl add-peer\", "      \
       "unless this node is alone on purpose.")                                \
    X (LINES_LOST, WARNING, STDERR_LOG_LOST_ID,                                \
       "%" PRIu64 " lines of log left out",                                    \
       "See why whoever reads the log is too slow.")                           \
    X (FAILED, ERROR, "ZPD007", "cannot start: %s", "See the text.")           \
    X (CONTROL, INFO, "ZPD008", "commands are taken at %s", "Nothing.")        \
    X (NO_CONTROL, WARNING, "ZPD009", "commands are not taken: %s",            \
       "Name another endpoint with --control for \"zpeerctl peers\" and its "  \
       "like, or say \"--control none\".")                                     \
    X (IGNORED, WARNING, "ZPD010",                                             \
       "%s is ignored: nothing is read anew while zpeerd runs",                \
       "Restart zpeerd for other options; peers come and go with \"zpeerctl "  \
       "add-peer\" and remove-peer.")                                          \
    X (CLIENT_CUT, WARNING, "ZPD011", "commands: a client was cut off: %s",    \
       "See who connects there: a command and a URL are short, and a client "  \
       "is a ZeroMQ REQ or DEALER. It gets no answer.")

typedef enum {
#define X(name, level, id, text, action) ZPEERD_##name,
    ZPEERD_MESSAGES (X)
#undef X
} zpeerd_message_t;

//  Logs a message; what follows fills in its text
void zpeerd_say (stderr_log_t *log, zpeerd_message_t message, ...);

//  Prints the table: id, level, text, what to do
void zpeerd_print_messages (void);

#endif
