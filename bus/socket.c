#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include <assert.h>
#include "reserve.h"
#include "socket.h"
#include "banned.h"

//  What may still go out after a socket is destroyed. A peer that is not there
//  holds a descriptor for as long.
#define LINGER_MS 1000

//  Reconnecting: soon at first, then once in a while
#define RECONNECT_MS     100
#define RECONNECT_MAX_MS 2000

//  A connection on which nothing came for this long is half open
#define HEARTBEAT_MS         5000
#define HEARTBEAT_TIMEOUT_MS 15000

//  Connections that wait to be accepted
#define BACKLOG 128

//  Events nobody has asked about; libzmq would wait at the limit
#define MONITOR_HWM 1000000

#define PORT_DIGITS 5

//  Descriptors libzmq needs to bind (a listener, a look-up) beyond the margin
#define BIND_DESCRIPTORS 2

//  A line of ZPEER_ROLES, in the order of zpeer_role_t
typedef struct {
    int type;
    int mandatory, handover, immediate, linger, heartbeat;
} s_role_t;

static const s_role_t s_roles[] = {
#define X(role, type, mandatory, handover, immediate, linger, beat, purpose)   \
    {ZMQ_##type, mandatory, handover, immediate, linger, beat},
    ZPEER_ROLES (X)
#undef X
};

//  Starts czmq and its context. zsys_init installs handlers for SIGINT and
//  SIGTERM: the host's are put back.
static int
s_start_context (void)
{
    struct sigaction interrupt, terminate;
    sigaction (SIGINT, NULL, &interrupt);
    sigaction (SIGTERM, NULL, &terminate);
    void *context = zsys_init ();
    sigaction (SIGINT, &interrupt, NULL);
    sigaction (SIGTERM, &terminate, NULL);

    //  Reaper and I/O threads want two each; and the socket that starts them
    unsigned threads = 1 + (unsigned) zmq_ctx_get (context, ZMQ_IO_THREADS);
    if (2 * threads + 1 > ZPEER_RESERVE_MAX ||
        zpeer_reserve (2 * threads + 1, 0))
        return ZPEER_E_RESOURCES;
    void *first = zmq_socket (context, ZMQ_PAIR);
    if (!first)
        return ZPEER_E_RESOURCES;
    zmq_close (first);
    return ZPEER_OK;
}

int
zpeer_socket_init (void)
{
    //  One context a process, so one flag a process
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool started = false;

    pthread_mutex_lock (&mutex);
    int rc = ZPEER_OK;
    if (!started)
        rc = zpeer_reserve (0, 0);
    if (!started && rc == ZPEER_OK)
        rc = s_start_context ();
    started = rc == ZPEER_OK;
    pthread_mutex_unlock (&mutex);
    return rc;
}

static void
s_set (void *handle, int option, int value)
{
    int rc = zmq_setsockopt (handle, option, &value, sizeof value);
    assert (rc == 0);
}

static void
s_set_options (void *handle, const s_role_t *role, int hwm, int64_t max_bytes)
{
    s_set (handle, ZMQ_SNDHWM, hwm);
    s_set (handle, ZMQ_RCVHWM, hwm);
    s_set (handle, ZMQ_SNDTIMEO, 0);
    s_set (handle, ZMQ_RCVTIMEO, 0);
    s_set (handle, ZMQ_LINGER, role->linger ? LINGER_MS : 0);
    s_set (handle, ZMQ_IMMEDIATE, role->immediate);
    s_set (handle, ZMQ_IPV6, 1);
    s_set (handle, ZMQ_BACKLOG, BACKLOG);
    s_set (handle, ZMQ_RECONNECT_IVL, RECONNECT_MS);
    s_set (handle, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS);
    s_set (handle, ZMQ_HEARTBEAT_IVL, role->heartbeat ? HEARTBEAT_MS : 0);
    if (role->heartbeat)
        s_set (handle, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS);
    if (role->type == ZMQ_ROUTER) {
        s_set (handle, ZMQ_ROUTER_MANDATORY, role->mandatory);
        s_set (handle, ZMQ_ROUTER_HANDOVER, role->handover);
    }
    int rc =
        zmq_setsockopt (handle, ZMQ_MAXMSGSIZE, &max_bytes, sizeof max_bytes);
    assert (rc == 0);
}

zsock_t *
zpeer_socket_new (zpeer_role_t role, int hwm, int64_t max_bytes)
{
    assert ((unsigned) role < ZPEER_ROLE_COUNT);
    assert (hwm > 0);  //  0 would be: without a limit
    if (zpeer_reserve_begin (0, 1))
        return NULL;
    zsock_t *self = zsock_new (s_roles[role].type);
    zpeer_reserve_end ();
    s_set_options (zsock_resolve (self), &s_roles[role], hwm, max_bytes);
    return self;
}

void
zpeer_socket_identify (zsock_t *self, zpeer_slice_t name)
{
    int rc = zmq_setsockopt (zsock_resolve (self), ZMQ_ROUTING_ID, name.data,
                             name.size);
    assert (rc == 0);
}

void
zpeer_socket_subscribe (zsock_t *self, const char *prefix)
{
    int rc = zmq_setsockopt (zsock_resolve (self), ZMQ_SUBSCRIBE, prefix,
                             strlen (prefix));
    assert (rc == 0);
}

//  IPv6, and IPv4 through it; but what is written as an IPv4 address stays one,
//  or it would come back as "[::ffff:127.0.0.1]"
static void
s_set_family (void *handle, const char *endpoint)
{
    static const char tcp[] = "tcp://";
    size_t digits = 0;
    if (strncmp (endpoint, tcp, sizeof tcp - 1) == 0)
        digits = strspn (endpoint + sizeof tcp - 1, "0123456789.");
    bool ipv4 = digits && endpoint[sizeof tcp - 1 + digits] == ':';
    s_set (handle, ZMQ_IPV6, !ipv4);
}

//  Whether a tcp endpoint ends with a port, as far as digits say: libzmq takes 99999
//  for 34463
static bool
s_is_port (const char *endpoint)
{
    const char *colon = strrchr (endpoint, ':');
    const char *port = colon ? colon + 1 : "";
    size_t digits = strspn (port, "0123456789");
    bool number = digits && !port[digits];
    return strncmp (endpoint, "tcp://", 6) != 0 || !number ||
           (digits <= PORT_DIGITS && strtoul (port, NULL, 10) <= UINT16_MAX);
}

//  What binding and connecting begin with
static int
s_prepare (void *handle, const char *endpoint)
{
    if (zpeer_reserve (BIND_DESCRIPTORS, 0))
        return ZPEER_E_RESOURCES;
    s_set_family (handle, endpoint);
    if (s_is_port (endpoint))
        return ZPEER_OK;
    errno = EINVAL;
    return ZPEER_E_BIND;
}

bool
zpeer_socket_is_inproc (const char *endpoint)
{
    static const char inproc[] = "inproc://";
    return !strncmp (endpoint, inproc, sizeof inproc - 1);
}

int
zpeer_socket_bind (zsock_t *self, const char *endpoint, char *actual,
                   zpeer_ipc_t *files)
{
    void *handle = zsock_resolve (self);
    int rc = s_prepare (handle, endpoint);
    if (rc)
        return rc;
    if (zpeer_ipc_claim (endpoint) || zmq_bind (handle, endpoint))
        return ZPEER_E_BIND;
    if (files)
        zpeer_ipc_note (files, endpoint);
    size_t size = ZPEER_ENDPOINT_MAX;
    if (actual && zmq_getsockopt (handle, ZMQ_LAST_ENDPOINT, actual, &size))
        return ZPEER_E_BIND;
    return ZPEER_OK;
}

void
zpeer_socket_close (zsock_t **self_p, zpeer_ipc_t *files)
{
    zpeer_ipc_remove (files);
    zsock_destroy (self_p);
}

int
zpeer_socket_connect (zsock_t *self, const char *endpoint)
{
    void *handle = zsock_resolve (self);
    int rc = s_prepare (handle, endpoint);
    if (rc)
        return rc;
    return zmq_connect (handle, endpoint) ? ZPEER_E_BIND : ZPEER_OK;
}

int
zpeer_socket_disconnect (zsock_t *self, const char *endpoint)
{
    return zmq_disconnect (zsock_resolve (self), endpoint) ? ZPEER_E_UNKNOWN
                                                           : ZPEER_OK;
}

int
zpeer_socket_unbind (zsock_t *self, const char *actual)
{
    return zmq_unbind (zsock_resolve (self), actual) ? ZPEER_E_UNKNOWN
                                                     : ZPEER_OK;
}

void
zpeer_socket_unique (char endpoint[ZPEER_ENDPOINT_MAX], const char *word)
{
    static atomic_uint_fast64_t count;

    //  The counter's address tells copies of the library in a process apart
    snprintf (endpoint, ZPEER_ENDPOINT_MAX, "inproc://zpeer-%s-%ld-%p-%llu",
              word, (long) getpid (), (void *) &count,
              (unsigned long long) atomic_fetch_add (&count, 1));
}

zsock_t *
zpeer_socket_monitor (zsock_t *self, int events)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_socket_unique (endpoint, "monitor");
    //  libzmq opens the other end
    if (zpeer_reserve_begin (0, 2))
        return NULL;
    int rc = zmq_socket_monitor (zsock_resolve (self), endpoint, events);
    zpeer_reserve_end ();
    if (rc)
        return NULL;
    zsock_t *monitor = zpeer_socket_new (ZPEER_ROLE_MONITOR, MONITOR_HWM, -1);
    if (!monitor)
        zmq_socket_monitor (zsock_resolve (self), NULL, 0);
    else if (zpeer_socket_connect (monitor, endpoint))
        zpeer_socket_unmonitor (self, &monitor);
    return monitor;
}

void
zpeer_socket_unmonitor (zsock_t *self, zsock_t **monitor_p)
{
    if (*monitor_p)
        zmq_socket_monitor (zsock_resolve (self), NULL, 0);
    zsock_destroy (monitor_p);
}

//  The error for errno after a libzmq call
static int
s_error (void)
{
    switch (errno) {
    case EAGAIN:
    case EINTR: return ZPEER_E_AGAIN;
    case EHOSTUNREACH: return ZPEER_E_UNKNOWN;
    case ETERM: return ZPEER_E_STATE;
    default: return ZPEER_E_IO;
    }
}

int64_t
zpeer_socket_deadline (int timeout_ms)
{
    return timeout_ms < 0 ? INT64_MAX : zclock_mono () + timeout_ms;
}

int
zpeer_socket_poll (zmq_pollitem_t *items, size_t count, int64_t deadline)
{
    int64_t left = -1;
    if (deadline != INT64_MAX) {
        left = deadline - zclock_mono ();
        left = left < 0 ? 0 : left;
    }
    int rc = zmq_poll (items, (int) count, (long) left);
    if (rc > 0)
        return ZPEER_OK;
    return rc == 0 ? ZPEER_E_TIMEOUT : s_error ();
}

int
zpeer_socket_wait_until (zsock_t *self, short events, int64_t deadline)
{
    zmq_pollitem_t item = {zsock_resolve (self), 0, events, 0};
    return zpeer_socket_poll (&item, 1, deadline);
}

int
zpeer_socket_wait (zsock_t *self, short events, int timeout_ms)
{
    return zpeer_socket_wait_until (self, events,
                                    zpeer_socket_deadline (timeout_ms));
}

static int
s_events (void *handle)
{
    int events = 0;
    size_t size = sizeof events;
    int rc = zmq_getsockopt (handle, ZMQ_EVENTS, &events, &size);
    return rc ? ZMQ_POLLIN | ZMQ_POLLOUT : events;
}

int
zpeer_socket_events (zsock_t *self)
{
    return s_events (zsock_resolve (self));
}

//  Whether what libzmq refused may go all the same. Sending takes note of what the
//  other end has read only once in a while (libzmq 4.3.4: 3,000,000 cycles);
//  asking does so at once.
static bool
s_is_worth_another_try (void *handle)
{
    return errno == EAGAIN && s_events (handle) & ZMQ_POLLOUT;
}

//  Sends a frame without waiting. The first of a message can be refused.
static int
s_send_frame (void *handle, zpeer_slice_t frame, bool first, int flags)
{
    flags |= ZMQ_DONTWAIT;
    int rc = zmq_send (handle, frame.data, frame.size, flags);
    if (rc < 0 && first && s_is_worth_another_try (handle))
        rc = zmq_send (handle, frame.data, frame.size, flags);
    return rc;
}

//  Sends all frames, or none: libzmq counts messages, not frames, so only the
//  first one of a message can be refused
static int
s_send_frames (void *handle, const zpeer_slice_t *frames, size_t count,
               bool more)
{
    for (size_t i = 0; i < count; i++) {
        int flags = more || i + 1 < count ? ZMQ_SNDMORE : 0;
        if (s_send_frame (handle, frames[i], i == 0, flags) < 0)
            return i ? ZPEER_E_IO : s_error ();
    }
    return ZPEER_OK;
}

int
zpeer_socket_send (zsock_t *self, const zpeer_slice_t *frames, size_t count)
{
    return s_send_frames (zsock_resolve (self), frames, count, false);
}

int
zpeer_socket_send_msg (zsock_t *self, const zpeer_slice_t *frames, size_t count,
                       zmq_msg_t *last)
{
    void *handle = zsock_resolve (self);
    int rc = s_send_frames (handle, frames, count, true);
    if (rc)
        return rc;
    if (zmq_msg_send (last, handle, ZMQ_DONTWAIT) >= 0 ||
        (!count && s_is_worth_another_try (handle) &&
         zmq_msg_send (last, handle, ZMQ_DONTWAIT) >= 0))
        return ZPEER_OK;
    return count ? ZPEER_E_IO : s_error ();
}

//  Reads the rest of a message and throws it away
static void
s_drain (void *handle)
{
    zmq_msg_t frame;
    bool more = true;
    while (more) {
        zmq_msg_init (&frame);
        more = zmq_msg_recv (&frame, handle, ZMQ_DONTWAIT) >= 0 &&
               zmq_msg_more (&frame);
        zmq_msg_close (&frame);
    }
}

int
zpeer_socket_recv (zsock_t *self, zpeer_frames_t *frames)
{
    void *handle = zsock_resolve (self);
    zpeer_frames_close (frames);
    bool more = true;
    while (more && frames->count < ZPEER_FRAMES_MAX) {
        zmq_msg_t *frame = &frames->frames[frames->count];
        zmq_msg_init (frame);
        if (zmq_msg_recv (frame, handle, ZMQ_DONTWAIT) < 0) {
            int rc = s_error ();
            zmq_msg_close (frame);
            zpeer_frames_close (frames);
            return rc;
        }
        frames->count++;
        more = zmq_msg_more (frame);
    }
    frames->cut = more;
    if (more)
        s_drain (handle);
    return ZPEER_OK;
}

void
zpeer_frames_close (zpeer_frames_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        zmq_msg_close (&self->frames[i]);
    self->count = 0;
    self->cut = false;
}

zpeer_slice_t
zpeer_frames_at (zpeer_frames_t *self, size_t index)
{
    if (index >= self->count)
        return (zpeer_slice_t){NULL, 0};
    return (zpeer_slice_t){(const char *) zmq_msg_data (&self->frames[index]),
                           zmq_msg_size (&self->frames[index])};
}

int
zpeer_socket_event (zpeer_frames_t *frames, int *value,
                    char endpoint[ZPEER_ENDPOINT_MAX])
{
    zpeer_slice_t head = zpeer_frames_at (frames, 0);
    zpeer_slice_t where = zpeer_frames_at (frames, 1);
    uint16_t event;
    if (head.size != sizeof event + sizeof *value)
        return 0;
    memcpy (&event, head.data, sizeof event);
    memcpy (value, head.data + sizeof event, sizeof *value);
    snprintf (endpoint, ZPEER_ENDPOINT_MAX, "%.*s", (int) where.size,
              where.size ? where.data : "");
    return event;
}
