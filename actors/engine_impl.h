/*  engine_impl.h - what the two halves of the engine share

    engine.c        life: options, start, stop
    engine_peers.c  peers: add, remove, repair, more dispatchers
*/
#ifndef ZPEER_ENGINE_IMPL_H_INCLUDED
#define ZPEER_ENGINE_IMPL_H_INCLUDED

#include <zpeer/engine.h>
#include "log.h"
#include "options.h"
#include "peer.h"
#include "report.h"

//  A number in decimal, NUL included
#define ZPEER_ENGINE_DIGITS_MAX 12

//  How much longer than it was allowed an actor may take to answer
#define ZPEER_ENGINE_GRACE_MS 50

struct zpeer_engine {
    zpeer_options_t *options;  //  Owned
    zpeer_log_t log;
    bool running;
    char *own;  //  Owned; base of this node's own URL, or NULL; from here to
                //  peers: while it runs
    zpeer_wiring_t wiring;
    zactor_t *reporter;  //  Owned
    zactor_t *health;    //  Owned
    zactor_t *acceptor;  //  Owned
    zpeer_report_t report;
    char events[ZPEER_COMMAND_ANSWER_MAX];    //  As bound
    char outcomes[ZPEER_COMMAND_ANSWER_MAX];  //  As bound
    zlist_t *opened;  //  Owned; endpoints of health that were asked for
    zlist_t
        *unsettled;  //  Owned; URLs of removed peers that may yet apply what
                     //  they were sent: the last ZPEER_PEERS_MAX
    zpeer_peer_t *peers[ZPEER_PEERS_MAX];  //  Owned; index is the id
    char error[ZPEER_COMMAND_ANSWER_MAX];  //  About the last call
};

//  As ZPEER_PEER_CALL; the actor's sentence becomes the engine's
#define ZPEER_ENGINE_CALL(self, actor, ...)                                    \
    ZPEER_PEER_CALL ((actor), (self)->error, __VA_ARGS__)

//  Notes the sentence, returns the code
int zpeer_engine_fail (zpeer_engine_t *self, int code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

//  Returns ZPEER_OK if the engine runs, or does not, as wanted; else
//  ZPEER_E_STATE
int zpeer_engine_expect (zpeer_engine_t *self, bool running);

//  Adds the peer of a parsed URL, and takes that over when it succeeds
int zpeer_engine_add_url (zpeer_engine_t *self, zpeer_url_t *url);

#endif
