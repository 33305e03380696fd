/*  ipc.h - the files that sockets are over ipc

    May this path become a socket? libzmq removes whatever lies at the path of an
    ipc endpoint before it binds: a socket that another process listens on, which
    loses its clients without a word, or a file of somebody's. So every bind asks
    here first.

    And it leaves the socket lying there when it is closed, for everybody to try
    in vain. So what was bound is noted, and removed before it is closed.

    Threads: any; a zpeer_ipc_t, one at a time. Blocking: zpeer_ipc_claim, while
    somebody listens, at most 100 ms: a socket that this process has closed goes
    on listening until libzmq's thread has put it away.
*/
#ifndef ZPEER_IPC_H_INCLUDED
#define ZPEER_IPC_H_INCLUDED

#include <stddef.h>

//  Sees whether nothing lies at the path of an ipc:// endpoint, or a socket that
//  nobody listens on any more. Returns ZPEER_OK, also for other transports,
//  abstract names ("@…") and "*"; or ZPEER_E_BIND, and errno: EADDRINUSE
//  (somebody listens), EEXIST (no socket), EACCES (a socket we may not try).
int zpeer_ipc_claim (const char *endpoint);

//  Sockets that were bound and are files. Zeroed is none.
typedef struct {
    struct zpeer_ipc_file *files;  //  Owned array
    size_t count;
} zpeer_ipc_t;

//  Notes the file of an endpoint that was just bound, if it is one
void zpeer_ipc_note (zpeer_ipc_t *self, const char *endpoint);

//  Removes them, while they are still open: not one that another process has put
//  in its place. What cannot be removed stays.
void zpeer_ipc_remove (zpeer_ipc_t *self);

#endif
