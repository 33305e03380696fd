/*  ipc_path.h - the file an ipc:// endpoint is, and its directory
 */
#ifndef IPC_PATH_H_INCLUDED
#define IPC_PATH_H_INCLUDED

#include <zpeer/base.h>

//  Room for the sentence about an error
#define IPC_PATH_ERROR_MAX 512

//  Creates the directory of an ipc:// endpoint if it is missing and this
//  process may. Returns ZPEER_OK, also for endpoints that need none; or
//  ZPEER_E_BIND, and in error what is wrong and what to do.
int ipc_path_prepare (const char *endpoint, char error[IPC_PATH_ERROR_MAX]);

//  Refuses an ipc:// endpoint that must not be bound, which libzmq would take
//  over: at its path is a socket somebody listens on, or something else. The
//  engine does that for its own. Returns ZPEER_OK, also for other endpoints; or
//  ZPEER_E_BIND, and in error what is wrong.
int ipc_path_claim (const char *endpoint, char error[IPC_PATH_ERROR_MAX]);

//  Whether somebody listens at an endpoint, found out by connecting to it. Returns
//  0, or an errno: ENOENT if nothing is there, ENOTSOCK for what is no socket,
//  ECONNREFUSED for one that nobody listens on, EPROTOTYPE for one that is no
//  stream, EACCES if this process must not use it; or -1 for other endpoints, of
//  which a path says nothing.
int ipc_path_reach (const char *endpoint);

//  Which socket lies at an ipc:// endpoint now: its inode; 0 for none, and for
//  other endpoints
uint64_t ipc_path_inode (const char *endpoint);

//  Removes the socket of an ipc:// endpoint that is not used any more, which
//  libzmq leaves behind; unless it is another one by now.
void ipc_path_remove (const char *endpoint, uint64_t inode);

#endif
