/*  server.h - connections and bytes

    An epoll loop in two halves: speer_server_poll waits without the lock of the
    peer, speer_server_serve and everything else run with it. Own sockets instead
    of libmicrohttpd, because what a rule does (half an answer, a reset, a wrong
    length, a connection that is never read) is about single bytes, and because
    counting 5,000 batches a second must cost next to nothing.
*/
#ifndef SPEER_SERVER_H_INCLUDED
#define SPEER_SERVER_H_INCLUDED

#include "conn.h"

typedef struct speer_server speer_server_t;

//  Ports as speer_new. NULL if one is taken.
speer_server_t *speer_server_new (speer_core_t *core, int port, int control,
                                  const speer_conn_events_t *events);
void speer_server_destroy (speer_server_t **self_p);

//  The port, or -1 without a control port
int speer_server_port (const speer_server_t *self, bool control);

//  As speer_mode
bool speer_server_mode (speer_server_t *self, speer_mode_t mode);

//  Closes the connections of the main port
void speer_server_drop (speer_server_t *self);

//  Waits for something to do, at most until wake_at (ms, CLOCK_MONOTONIC)
void speer_server_poll (speer_server_t *self, int64_t wake_at);

//  Its connections
speer_conns_t *speer_server_conns (const speer_server_t *self);

//  Ends such a wait; the only function that needs no lock
void speer_server_wake (speer_server_t *self);

//  Does it
void speer_server_serve (speer_server_t *self);

//  When serve has to be called though nothing comes in; INT64_MAX: not
int64_t speer_server_wake_at (const speer_server_t *self);

#endif
