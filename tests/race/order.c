/*  order.c - tells ThreadSanitizer what libzmq and czmq promise

    They are not instrumented and pass messages from thread to thread with
    atomics of their own. So what was written before a message was sent would
    seem to race with whoever reads it after it was received. These functions
    stand before the real ones and say what is true, and no more than that:

        the bytes of a message, and what they point to, were written before it
        was sent; who receives or frees the message does so after;
        zactor_new and zactor_destroy return after the actor has signalled.

    Everything else that crosses threads must be ordered by our own code.
*/
#include <czmq.h>
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include "banned.h"

//  All signals are one thing here: who waits for one sees what came before any
static char s_signals;

//  The function behind the one that has this name here
#define NEXT(type, name) ((type *) (uintptr_t) dlsym (RTLD_NEXT, name))

typedef int (msg_fn) (zmq_msg_t *message, void *socket, int flags);
typedef int (data_fn) (zmq_msg_t *message, void *data, size_t size,
                       zmq_free_fn *free_fn, void *hint);
typedef int (signal_fn) (void *socket, byte status);
typedef zactor_t *(new_fn) (zactor_fn *task, void *args);
typedef void (destroy_fn) (zactor_t **self_p);

int
zmq_msg_send (zmq_msg_t *message, void *socket, int flags)
{
    __tsan_release (zmq_msg_data (message));
    return NEXT (msg_fn, "zmq_msg_send") (message, socket, flags);
}

int
zmq_msg_recv (zmq_msg_t *message, void *socket, int flags)
{
    int rc = NEXT (msg_fn, "zmq_msg_recv") (message, socket, flags);
    if (rc >= 0)
        __tsan_acquire (zmq_msg_data (message));
    return rc;
}

//  What was sent as bytes is copied into a message first
int
zmq_send (void *socket, const void *data, size_t size, int flags)
{
    zmq_msg_t message;
    int rc = zmq_msg_init_size (&message, size);
    assert (rc == 0);
    if (size)
        memcpy (zmq_msg_data (&message), data, size);
    rc = zmq_msg_send (&message, socket, flags);
    if (rc < 0)
        zmq_msg_close (&message);
    return rc;
}

//  What a message points to, and who frees it
typedef struct {
    zmq_free_fn *free_fn;
    void *hint;
} owner_t;

static void
s_free (void *data, void *hint)
{
    __tsan_acquire (data);
    owner_t owner = *(owner_t *) hint;
    free (hint);
    owner.free_fn (data, owner.hint);
}

int
zmq_msg_init_data (zmq_msg_t *message, void *data, size_t size,
                   zmq_free_fn *free_fn, void *hint)
{
    owner_t *owner = (owner_t *) malloc (sizeof *owner);
    assert (owner && free_fn);
    *owner = (owner_t){free_fn, hint};
    __tsan_release (data);
    return NEXT (data_fn, "zmq_msg_init_data") (message, data, size, s_free,
                                                owner);
}

//  The names czmq uses
int
zmq_sendmsg (void *socket, zmq_msg_t *message, int flags)
{
    return zmq_msg_send (message, socket, flags);
}

int
zmq_recvmsg (void *socket, zmq_msg_t *message, int flags)
{
    return zmq_msg_recv (message, socket, flags);
}

int
zsock_signal (void *socket, byte status)
{
    __tsan_release (&s_signals);
    return NEXT (signal_fn, "zsock_signal") (socket, status);
}

zactor_t *
zactor_new (zactor_fn *task, void *args)
{
    zactor_t *self = NEXT (new_fn, "zactor_new") (task, args);
    __tsan_acquire (&s_signals);
    return self;
}

void
zactor_destroy (zactor_t **self_p)
{
    NEXT (destroy_fn, "zactor_destroy") (self_p);
    __tsan_acquire (&s_signals);
}
