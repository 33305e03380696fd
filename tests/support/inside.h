/*  inside.h - what is behind a speer_t, for the two halves of its functions

    scripted_peer.c runs it and changes it, inquiry.c waits and reads.
*/
#ifndef SPEER_INSIDE_H_INCLUDED
#define SPEER_INSIDE_H_INCLUDED

#include <pthread.h>
#include "server.h"
#include "work.h"

#define SPEER_URL_MAX 64  //  Bytes of "http://127.0.0.1:65535/eureka/"

struct speer {
    pthread_t thread;
    pthread_mutex_t lock;  //  Over all that follows; recursive, so that what is
                           //  called under it may use the public functions
    pthread_cond_t changed;
    bool stopped;
    speer_core_t core;
    speer_server_t *server;  //  Owned
    speer_work_t *work;      //  Owned
    int port;                //  Does not change, as the texts below
    char url[SPEER_URL_MAX];
    char control_url[SPEER_URL_MAX];  //  "" without control port
};

static inline void
speer_lock (speer_t *self)
{
    pthread_mutex_lock (&self->lock);
}

static inline void
speer_unlock (speer_t *self)
{
    pthread_mutex_unlock (&self->lock);
}

#endif
