/*  socket.h - the one place where sockets get their options

    Every option that matters is set for every socket: the host may have changed
    czmq's defaults with zsys_set_…, and those are its own. Nothing here sends or
    receives blocking, and nothing aborts for want of a descriptor.

    A role says what a socket is for and fixes its type and options; callers
    choose the high-water mark and the largest frame.

    Threads: a socket belongs to one thread at a time; what takes no socket can
    be called from any. Units: bytes, messages, ms.
*/
#ifndef ZPEER_SOCKET_H_INCLUDED
#define ZPEER_SOCKET_H_INCLUDED

#include <czmq.h>
#include <zpeer/base.h>
#include "ipc.h"
#include "slice.h"

//  role, type, mandatory, handover, immediate, linger, heartbeat, what for
//
//  mandatory: a send to a peer that is not there is refused, not dropped.
//  handover: a peer that comes back under its name takes it over at once.
//  immediate: nothing is queued for a connection that does not exist yet.
//  linger: what was sent last still goes out when the socket is destroyed.
//  heartbeat: a half-open connection is found and made anew.
#define ZPEER_ROLES(X)                                                         \
    X (FEEDERS, ROUTER, 1, 1, 0, 1, 0, "acceptor, to feeders")                 \
    X (FEED, DEALER, 0, 0, 1, 1, 1, "feeder, to an acceptor")                  \
    X (SERVER, ROUTER, 1, 1, 0, 1, 0, "batcher and health, to dispatchers")    \
    X (CLIENT, DEALER, 0, 0, 0, 1, 0, "dispatcher, to batcher and health")     \
    X (PUSH, PUSH, 0, 0, 0, 0, 0, "chunks, releases, outcomes; inproc")        \
    X (PULL, PULL, 0, 0, 0, 0, 0, "the other end of PUSH")                     \
    X (PUB, PUB, 0, 0, 0, 1, 0, "reporter, to hosts and monitors")             \
    X (SUB, SUB, 0, 0, 0, 0, 1, "watch, to a reporter")                        \
    X (MONITOR, PAIR, 0, 0, 0, 0, 0, "zpeer_socket_monitor")

typedef enum {
#define X(role, type, mandatory, handover, immediate, linger, beat, purpose)   \
    ZPEER_ROLE_##role,
    ZPEER_ROLES (X)
#undef X
        ZPEER_ROLE_COUNT
} zpeer_role_t;

//  Longest endpoint, NUL included
#define ZPEER_ENDPOINT_MAX 256

//  Most frames of a message that are kept: an identity and wire.h's longest
#define ZPEER_FRAMES_MAX 8

//  Prepares czmq and starts its context, once a process; every constructor
//  below does so by itself, an actor that is started before any must ask for
//  it. The host's handlers for SIGINT and SIGTERM, which czmq replaces, are put
//  back; its settings stay. Returns ZPEER_OK or ZPEER_E_RESOURCES.
int zpeer_socket_init (void);

//  A new socket. hwm: most messages queued per connection and direction, at
//  least 1. max_bytes: of one frame that comes in over ipc or tcp; a connection
//  that sends a larger one is cut; -1: any. NULL: out of sockets or
//  descriptors. zsock_destroy frees it.
zsock_t *zpeer_socket_new (zpeer_role_t role, int hwm, int64_t max_bytes);

//  Names a CLIENT, before it connects: a SERVER knows it again when it comes
//  back. At most 255 bytes, the first not 0.
void zpeer_socket_identify (zsock_t *self, zpeer_slice_t name);

//  Subscribes a SUB to all topics that begin with prefix
void zpeer_socket_subscribe (zsock_t *self, const char *prefix);

//  Whether only this process can be at the other end
bool zpeer_socket_is_inproc (const char *endpoint);

//  Binds. What was bound, with the port that was chosen, goes to actual, unless
//  that is NULL (size: ZPEER_ENDPOINT_MAX). Returns ZPEER_OK, ZPEER_E_BIND (no
//  endpoint, in use, not allowed: errno says which, for zmq_strerror), or
//  ZPEER_E_RESOURCES. Over ipc what lies at the path is replaced only when it is
//  a socket that nobody listens on (ipc.h); the file it becomes is noted in files,
//  for zpeer_socket_close, or left behind when that is NULL.
int zpeer_socket_bind (zsock_t *self, const char *endpoint, char *actual,
                       zpeer_ipc_t *files);

//  Destroys a socket, which may be NULL, and the files it was bound at
void zpeer_socket_close (zsock_t **self_p, zpeer_ipc_t *files);

//  Connects; whether anybody is there shows later. Returns as bind does.
int zpeer_socket_connect (zsock_t *self, const char *endpoint);

//  Takes a connection back. Nothing that was queued for it is sent any more.
//  Returns ZPEER_OK, or ZPEER_E_UNKNOWN.
int zpeer_socket_disconnect (zsock_t *self, const char *endpoint);

//  Stops listening on what bind said it bound; connections made go on. Returns
//  as disconnect does.
int zpeer_socket_unbind (zsock_t *self, const char *actual);

//  A socket on which a message comes for each of these events (ZMQ_EVENT_…) of
//  self over ipc or tcp. That a connection is lost is told before it is made
//  anew. zpeer_socket_unmonitor ends it, before self is destroyed. NULL: out of
//  sockets or descriptors.
zsock_t *zpeer_socket_monitor (zsock_t *self, int events);

//  Ends a monitor and sets the pointer to NULL, which it may be. Not to be
//  replaced by zsock_destroy: an event that nobody can get any more would stop
//  libzmq's thread.
void zpeer_socket_unmonitor (zsock_t *self, zsock_t **monitor_p);

//  Writes an inproc endpoint that no other call gives, in this process or from
//  another copy of this library in it: "inproc://zpeer-<word>-…"
void zpeer_socket_unique (char endpoint[ZPEER_ENDPOINT_MAX], const char *word);

//  The point in time timeout_ms from now on the monotonic clock; -1: never
int64_t zpeer_socket_deadline (int timeout_ms);

//  Waits until one of the items has what it waits for, or until deadline.
//  Returns ZPEER_OK, ZPEER_E_TIMEOUT, ZPEER_E_AGAIN when a signal came in
//  between, ZPEER_E_STATE when the context has ended.
int zpeer_socket_poll (zmq_pollitem_t *items, size_t count, int64_t deadline);

//  The same for one socket and events (ZMQ_POLLIN, ZMQ_POLLOUT)
int zpeer_socket_wait_until (zsock_t *self, short events, int64_t deadline);

//  The same for timeout_ms from now; 0 does not wait, -1 waits for ever
int zpeer_socket_wait (zsock_t *self, short events, int timeout_ms);

//  What can be done now, ZMQ_POLLIN, ZMQ_POLLOUT or both; both, when a signal
//  came in between or the context is ending: trying tells
int zpeer_socket_events (zsock_t *self);

//  Sends one message of count frames, copied; all of them or none. Returns
//  ZPEER_OK, ZPEER_E_AGAIN (high-water mark, or nobody connected),
//  ZPEER_E_UNKNOWN (SERVER: no such peer), ZPEER_E_STATE, ZPEER_E_IO.
int
zpeer_socket_send (zsock_t *self, const zpeer_slice_t *frames, size_t count);

//  The same with one more frame behind, not copied. last is taken on success
//  (it is empty then); on failure it is still the caller's and as it was.
//
//      zmq_msg_init_data (&last, data, size, free_fn, hint);
//      if (zpeer_socket_send_msg (sock, frames, count, &last))
//          …keep it, or zmq_msg_close (&last), which calls free_fn
int zpeer_socket_send_msg (zsock_t *self, const zpeer_slice_t *frames,
                           size_t count, zmq_msg_t *last);

//  A message received. Zeroed is empty; one is enough for a whole loop.
typedef struct {
    size_t count;  //  Frames kept
    bool cut;      //  There were more than ZPEER_FRAMES_MAX; they are gone
    zmq_msg_t frames[ZPEER_FRAMES_MAX];  //  Owned; the first count of them
} zpeer_frames_t;

//  Receives one message, in place of what frames held. Returns ZPEER_OK,
//  ZPEER_E_AGAIN (none there), ZPEER_E_STATE, ZPEER_E_IO.
int zpeer_socket_recv (zsock_t *self, zpeer_frames_t *frames);

//  Frees what it holds; empty and usable again
void zpeer_frames_close (zpeer_frames_t *self);

//  The bytes of a frame, valid until the next receive or close; empty, with
//  data NULL, when there is no such frame
zpeer_slice_t zpeer_frames_at (zpeer_frames_t *self, size_t index);

//  Reads a message of a monitor: returns the event, its value (of a connection: the
//  descriptor), and at which endpoint; 0: it is none
int zpeer_socket_event (zpeer_frames_t *frames, int *value,
                        char endpoint[ZPEER_ENDPOINT_MAX]);

#endif
