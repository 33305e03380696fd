/*  guard.h - tells of connections that libzmq cuts off

    Over ipc and tcp libzmq ends a connection on which too large a frame comes, and
    says nothing of it. A guard does, for sockets whose connections need no bound:

        rc = zpeer_guard_open (&self->guard, sock, endpoint, max_bytes);
        …bind sock to endpoint
        …wait for zpeer_guard_inlet (&self->guard), too
        zpeer_guard_work (&self->guard, &self->lines, now);

    Threads: the socket's. A plain struct; zeroed it guards nothing.
*/
#ifndef ZPEER_GUARD_H_INCLUDED
#define ZPEER_GUARD_H_INCLUDED

#include "doorman.h"
#include "sampler.h"

typedef struct {
    zpeer_doorman_t *doorman;  //  Owned, or NULL
    zpeer_inlet_t none;        //  While there is no doorman
    int64_t max_bytes;         //  Of a frame
} zpeer_guard_t;

//  Guards sock from now on, unless it does, or endpoint can only be reached from
//  this process. Returns ZPEER_OK, or ZPEER_E_RESOURCES.
int zpeer_guard_open (zpeer_guard_t *self, zsock_t *sock, const char *endpoint,
                      int64_t max_bytes);

//  Before the socket is destroyed
void zpeer_guard_close (zpeer_guard_t *self);

//  Ready when it has something to do; borrowed
zpeer_inlet_t *zpeer_guard_inlet (zpeer_guard_t *self);

//  Says who was cut off
void
zpeer_guard_work (zpeer_guard_t *self, zpeer_sampler_t *lines, uint64_t now);

#endif
