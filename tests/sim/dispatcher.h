/*  dispatcher.h - a dispatcher of a peer: the dispatch core, and what is around

    The place of dispatcher.c and dispatcher_work.c: messages in, actions out.
    It is local, or remote: then it may die with all it holds, or say goodbye,
    and another comes; or lose its connection.
*/
#ifndef SIM_DISPATCHER_H_INCLUDED
#define SIM_DISPATCHER_H_INCLUDED

#include "batch.h"
#include "dispatch.h"
#include "link.h"

#define DISPATCHERS_MAX 3

//  A batch it holds, for as long as somebody reads its body
typedef struct job {
    struct job *next;
    struct dispatcher *dispatcher;  //  Borrowed
    uint64_t id;
    message_t *message;  //  Owned; the body is in it
    request_t *running;  //  Borrowed; NULL: none is
    uint32_t made;       //  Requests
    bool released;       //  The core is done with it
} job_t;

typedef struct dispatcher {
    struct peer *peer;  //  Borrowed
    unsigned number;
    bool used;  //  In this run there is one, now and then
    bool remote;
    bool known;  //  The batcher's socket would send to it
    char identity[12];
    unsigned life;  //  Grows with each
    uint32_t credit;
    zpeer_dispatch_t *core;  //  Owned; NULL: it is dead
    job_t *jobs;             //  Owned
    uint64_t wake;           //  The next one; 0: none
    unsigned successes;      //  Told to health
    link_t up;               //  To the batcher
    link_t down;             //  And back
    link_t ask;              //  To health
    link_t told;             //  And back
} dispatcher_t;

void dispatcher_init (dispatcher_t *self, struct peer *peer, unsigned number,
                      bool remote, uint32_t credit);

//  It starts, if there is none
void dispatcher_start (dispatcher_t *self);

//  It ends as an actor does: aborts all, and says goodbye
void dispatcher_stop (dispatcher_t *self);

//  It is gone from one moment to the next. known: the batcher's socket does not
//  know yet.
void dispatcher_die (dispatcher_t *self, bool known);

//  A direction of its connection to the batcher is cut, or mended
void dispatcher_cut (dispatcher_t *self, link_t *link, cut_t cut);

//  Health does not answer it, or does again
void dispatcher_deafen (dispatcher_t *self, cut_t cut);

void dispatcher_fini (dispatcher_t *self);

//  dispatcher_work.c

//  Its links
void dispatcher_connect (dispatcher_t *self);

//  Does whatever the core wants done, and sees to its next wake-up
void dispatcher_act (dispatcher_t *self);

//  The request has ended as it says; body is for the call
void dispatcher_reply (request_t *request, zpeer_slice_t body);

//  The core is gone, with all it held
void dispatcher_end (dispatcher_t *self);

#endif
