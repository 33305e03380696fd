/*  zpeerd_control.h - zpeerd's control socket: peers come, go and are repaired

    A ROUTER at the endpoint of --control: "zpeerctl peers" and its like, or any
    REQ socket, send commands to it. The protocol is in proto/PROTOCOL.md.

    Whoever can connect may do all that: the socket is protected by its file's
    permissions and its directory's. Credentials are neither logged nor echoed.
    A client that sends what is no request, does not read its answers, or goes
    away, disturbs nobody.

    Threads: the engine's, only. Blocking: as what is asked of the engine, at most
    zpeer.stop.deadline-ms for the removal of a peer.
*/
#ifndef ZPEERD_CONTROL_H_INCLUDED
#define ZPEERD_CONTROL_H_INCLUDED

#include <stdbool.h>
#include <zpeer/engine.h>

//  Where it is unless said otherwise, and what switches it off
#define ZPEERD_CONTROL_ENDPOINT "ipc:///run/zpeer/control"
#define ZPEERD_CONTROL_NONE     "none"

//  Bytes of a frame; a URL has at most 2048
#define ZPEERD_CONTROL_FRAME_MAX 4096

//  Room for the sentence about an error
#define ZPEERD_CONTROL_ERROR_MAX 512

//  Room for what zpeerd_control_look has to say
#define ZPEERD_CONTROL_NEWS_MAX 512

typedef struct zpeerd_control zpeerd_control_t;

//  A socket bound to endpoint; after the engine has started, which has told czmq
//  to leave signals alone. NULL: error says why. What lies at an ipc endpoint is
//  replaced: see ipc_path_claim.
zpeerd_control_t *zpeerd_control_open (const char *endpoint,
                                       char error[ZPEERD_CONTROL_ERROR_MAX]);

void zpeerd_control_close (zpeerd_control_t **self_p);

//  Where it is bound, with the port that was chosen, if it was "*"; borrowed
const char *zpeerd_control_endpoint (const zpeerd_control_t *self);

//  What to poll for input: a libzmq socket
void *zpeerd_control_handle (const zpeerd_control_t *self);

//  What to poll beside it, likewise: clients come and go
void *zpeerd_control_doors (const zpeerd_control_t *self);

//  Looks after the clients: refuses those beyond a thousand, or half of the
//  descriptors. Returns whether there is something for the log: in news, who was cut
//  off and why. Once in 10 s at most; the next one says how many there were between.
bool zpeerd_control_look (zpeerd_control_t *self,
                          char news[ZPEERD_CONTROL_NEWS_MAX]);

//  How long until it is to be called though nobody has come or gone, ms; -1: it need
//  not be
long zpeerd_control_wake_ms (const zpeerd_control_t *self);

//  Answers one request, if there is one
void zpeerd_control_serve (zpeerd_control_t *self, zpeer_engine_t *engine);

//  The same without a socket: does what command asks, and returns the answer,
//  the caller's to free. url: NULL, if the request had none.
char *zpeerd_control_run (zpeer_engine_t *engine, const char *command,
                          const char *url);

#endif
