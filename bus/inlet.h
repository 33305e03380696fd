/*  inlet.h - waits for sockets with few system calls

    zmq_poll asks each socket twice whether it has something, and libzmq's answer
    costs two system calls (4.3.4). An inlet asks its socket only when there is a
    reason, and otherwise relies on the socket's descriptor (ZMQ_FD):

      1. Once a socket was read until it was empty, its descriptor becomes
         readable when something comes in, and not before.
      2. Sending or binding may take note of what came in, and then the descriptor
         says nothing of it. So whoever does that sets used, and libzmq is asked.
      3. Readable only means that something happened: reading may find nothing.

    Threads: the socket's. A plain struct; zeroed it has no socket, and is never
    ready.
*/
#ifndef ZPEER_INLET_H_INCLUDED
#define ZPEER_INLET_H_INCLUDED

#include "socket.h"

//  Inlets, and sockets that are full, in one wait
#define ZPEER_INLETS_MAX 80

typedef struct {
    zsock_t *socket;  //  Borrowed; NULL: nothing ever comes in
    int fd;           //  The socket's, which closes it
    bool ready;       //  There may be something to read
    bool used;        //  Otherwise than to read, since libzmq was asked
} zpeer_inlet_t;

//  Begins to watch a socket. NULL: there is none yet, or none any more. A new
//  inlet is ready.
void zpeer_inlet_open (zpeer_inlet_t *self, zsock_t *socket);

//  Reads a message, as zpeer_socket_recv does. After ZPEER_E_AGAIN the inlet is
//  not ready any more.
int zpeer_inlet_recv (zpeer_inlet_t *self, zpeer_frames_t *frames);

//  Has it read once more, whatever is known
void zpeer_inlet_doubt (zpeer_inlet_t *self);

//  Whether there may be something to read, as far as that is known without polling
bool zpeer_inlet_ready (zpeer_inlet_t *self);

//  Waits until an inlet is ready, one of the full sockets can be written to, or
//  time is up; timeout_us: microseconds, -1: for ever. A signal ends a wait early.
void
zpeer_inlet_wait (zpeer_inlet_t *const *inlets, size_t count,
                  zsock_t *const *full, size_t full_count, int64_t timeout_us);

#endif
