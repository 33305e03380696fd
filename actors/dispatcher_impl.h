/*  dispatcher_impl.h - what the files of the dispatcher share

    dispatcher.c is the actor: commands, start, loop. dispatcher_work.c carries
    messages in and actions out. Nobody else includes this.
*/
#ifndef ZPEER_DISPATCHER_IMPL_H_INCLUDED
#define ZPEER_DISPATCHER_IMPL_H_INCLUDED

#include "command.h"
#include "dispatch.h"
#include "dispatch_log.h"
#include "http.h"
#include "socket.h"

//  Messages of a socket, and commands, handled in one turn
#define ZPEER_DISPATCHER_DRAIN_MAX 100

typedef struct {
    zpeer_commands_t commands;
    zpeer_options_t *options;  //  Owned
    zpeer_dispatch_log_t log;
    zpeer_url_t url;  //  Owned; base NULL before PEER
    uint32_t peer;
    uint32_t beat_ms;
    bool remote;
    zpeer_inlet_t batcher;   //  Of an owned socket; none before CONNECT
    zpeer_inlet_t health;    //  Of an owned socket; none before HEALTH
    zpeer_http_t *http;      //  Owned; NULL before START
    zpeer_dispatch_t *core;  //  Owned; NULL before START
    zpeer_frames_t frames;   //  Owned; the message at hand
    uint64_t now;            //  Of this turn
    uint64_t stats_at;       //  When figures are due
    bool terminated;
} zpeer_dispatcher_t;

//  Handles what has come from the batcher or from health, a bounded number
void zpeer_dispatcher_receive (zpeer_dispatcher_t *self, zpeer_inlet_t *inlet);

//  Moves requests on and gives the core their results
void zpeer_dispatcher_perform (zpeer_dispatcher_t *self);

//  Does whatever the core wants done
void zpeer_dispatcher_act (zpeer_dispatcher_t *self);

#endif
