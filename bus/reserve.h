/*  reserve.h - is there room for so many descriptors and sockets?

    libzmq and czmq end the process when something runs out. Measured with
    libzmq 4.3.4 and czmq 4.2.1:

    - zsock_new and zactor_new assert that they got their sockets: without a
      descriptor, or beyond the context's 1,023 sockets, the process aborts;
    - the first socket starts the context, which aborts without two descriptors
      for the reaper and two for every I/O thread;
    - zmq_bind over tcp aborts when it cannot open the two descriptors it looks
      the interface up with;
    - a connection that cannot be accepted or opened later is tried again: no
      abort.

    So whoever is about to create something asks here first. The answer is true
    at that moment only. Threads of this library create one after the other, from
    begin to end; the host opens descriptors too, for which there is a margin.

    What a socket held comes back a moment after zsock_destroy: to refuse is to
    say, try again.

    Costs: a socket is one descriptor, an actor two and a thread, an endpoint
    bound over ipc or tcp one, a connection over ipc or tcp one, inproc nothing.

    Threads: any. Blocking: until libzmq has taken probing sockets back, which
    takes microseconds, and at most 100 ms.
*/
#ifndef ZPEER_RESERVE_H_INCLUDED
#define ZPEER_RESERVE_H_INCLUDED

#include <zpeer/base.h>

//  Descriptors that stay free whatever is created: for the host's threads, for
//  a lookup's, for a connection that comes in
#define ZPEER_RESERVE_MARGIN 8

//  Most of each that can be asked for at once
#define ZPEER_RESERVE_MAX 256

//  Sees whether sockets zmq sockets, descriptors further descriptors and the
//  margin can be had, by opening and closing them. A socket's own descriptor is
//  counted in. Returns ZPEER_OK, or ZPEER_E_RESOURCES.
int zpeer_reserve (unsigned descriptors, unsigned sockets);

//  The same, and until zpeer_reserve_end no other thread gets an answer: what
//  was found to be free is still so when it is created. Not when it returns
//  ZPEER_E_RESOURCES. Any thread may end it; none may begin again before.
int zpeer_reserve_begin (unsigned descriptors, unsigned sockets);

void zpeer_reserve_end (void);

#endif
