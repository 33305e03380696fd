/*  ipc.h - may this path become a socket?

    libzmq removes whatever lies at the path of an ipc endpoint before it binds:
    a socket that another process listens on, which loses its clients without a
    word, or a file of somebody's. So every bind asks here first.

    Threads: any. Blocking: while somebody listens, at most 100 ms: a socket that
    this process has closed goes on listening until libzmq's thread has put it
    away.
*/
#ifndef ZPEER_IPC_H_INCLUDED
#define ZPEER_IPC_H_INCLUDED

//  Sees whether nothing lies at the path of an ipc:// endpoint, or a socket that
//  nobody listens on any more. Returns ZPEER_OK, also for other transports,
//  abstract names ("@…") and "*"; or ZPEER_E_BIND, and errno: EADDRINUSE
//  (somebody listens), EEXIST (no socket), EACCES (a socket we may not try).
int zpeer_ipc_claim (const char *endpoint);

#endif
