/*  doorman.h - bounds how many connections a bound socket has

    Over ipc and tcp every connection is a descriptor, and libzmq accepts
    whoever comes: at the last descriptor it aborts the process (ipc) or spins
    (tcp). A doorman hears of each connection, and hangs up on the newest ones
    while there are too many. The others do not notice. A libzmq client whose
    connection is refused tries again, more and more slowly.

    It hears a moment after the fact: while nobody calls it, more come in. The
    bound must leave room for them.

    It also tells whom libzmq has cut off, of which libzmq says nothing. For that
    it holds a descriptor of its own for each of the newest connections, and looks
    who is still there when one ends. Of a connection that libzmq has closed
    before the doorman heard that there is one, nobody can say any more who ended
    it: it is told apart (unseen).

    Threads: the socket's. Blocking: never.
*/
#ifndef ZPEER_DOORMAN_H_INCLUDED
#define ZPEER_DOORMAN_H_INCLUDED

#include "inlet.h"

typedef struct zpeer_doorman zpeer_doorman_t;

//  No bound: nobody is refused
#define ZPEER_DOORMAN_ANY UINT32_MAX

//  Watches sock, before it is bound. max: most connections, but never more than
//  half of the descriptors the process may open; or ZPEER_DOORMAN_ANY. NULL: out
//  of sockets or descriptors.
zpeer_doorman_t *zpeer_doorman_new (zsock_t *sock, uint32_t max);

//  Before the socket is destroyed
void zpeer_doorman_destroy (zpeer_doorman_t **self_p);

//  Ready when it has something to do; borrowed
zpeer_inlet_t *zpeer_doorman_inlet (zpeer_doorman_t *self);

//  Connections that ended on this side
typedef struct {
    uint32_t refused;  //  Beyond the bound
    uint32_t cut;      //  By libzmq: a frame was larger than the socket takes;
                       //  or the client wants encryption, or never greeted
    uint32_t unseen;  //  Perhaps by libzmq: it was over before it was heard of,
                      //  and had not left in the middle of its greeting
    char endpoint[ZPEER_ENDPOINT_MAX];  //  Where the last of these two came in
} zpeer_doorman_news_t;

//  Does it, and says what became of connections
void zpeer_doorman_work (zpeer_doorman_t *self, zpeer_doorman_news_t *news);

//  The bound, and how many connections there are, as far as is known
uint32_t zpeer_doorman_max (const zpeer_doorman_t *self);
uint32_t zpeer_doorman_connected (const zpeer_doorman_t *self);

#endif
