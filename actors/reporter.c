#include <zpeer/reporter.h>
#include "command.h"
#include "guard.h"
#include "socket.h"
#include "banned.h"

//  Outcomes relayed in one turn, before the pipe is looked at again
#define TURN_MAX 256

//  Outcomes of one actor that wait here; as many again wait at its end
#define INBOX_HWM 1000

//  Outcomes kept for one subscriber that does not read
#define PUB_HWM 16384

//  Longest thing a subscriber may send: a subscription
#define SUBSCRIPTION_MAX 1024

typedef struct {
    zpeer_commands_t commands;
    zpeer_inlet_t inbox;  //  Of an owned PULL: what the actors report
    zsock_t *pub;         //  Owned; what the host reads
    zpeer_guard_t guard;  //  Of it
    zpeer_sampler_t lines;
    zpeer_ipc_t files;      //  Owned; of both
    zpeer_frames_t frames;  //  Owned; the outcome being relayed
} s_self_t;

static void
s_self_fini (s_self_t *self)
{
    zpeer_frames_close (&self->frames);
    zpeer_sampler_end (&self->lines);
    zpeer_guard_close (&self->guard);
    zpeer_socket_close (&self->pub, &self->files);
    zsock_destroy (&self->inbox.socket);
}

//  Binds *sock, which is made if there is none yet. The answer is the endpoint
//  as bound, or why it is not.
static int
s_bind (s_self_t *self, zsock_t **sock, zpeer_role_t role, int hwm,
        int64_t max_bytes, const char *endpoint, char *answer)
{
    if (!*sock)
        *sock = zpeer_socket_new (role, hwm, max_bytes);
    if (!*sock)
        return ZPEER_E_RESOURCES;
    int rc = sock == &self->pub
                 ? zpeer_guard_open (&self->guard, *sock, endpoint, max_bytes)
                 : ZPEER_OK;
    if (rc)
        return rc;
    rc = zpeer_socket_bind (*sock, endpoint, answer, &self->files);
    if (rc == ZPEER_E_BIND)
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s: %s", endpoint,
                  zmq_strerror (errno));
    return rc;
}

static int
s_inbox (void *handler, char *const *args, char *answer)
{
    s_self_t *self = (s_self_t *) handler;
    zsock_t *inbox = self->inbox.socket;
    int rc =
        s_bind (self, &inbox, ZPEER_ROLE_PULL, INBOX_HWM, -1, args[0], answer);
    zpeer_inlet_open (&self->inbox, inbox);
    return rc;
}

static int
s_pub (void *handler, char *const *args, char *answer)
{
    s_self_t *self = (s_self_t *) handler;
    return s_bind (self, &self->pub, ZPEER_ROLE_PUB, PUB_HWM, SUBSCRIPTION_MAX,
                   args[0], answer);
}

static int
s_start (void *handler, char *const *args, char *answer)
{
    s_self_t *self = (s_self_t *) handler;
    (void) args;
    if (!self->inbox.socket || !self->pub) {
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX,
                  "START needs INBOX and PUB first");
        return ZPEER_E_STATE;
    }
    return ZPEER_OK;
}

//  Answered when the inbox is found empty: s_relay
static int
s_drain (void *handler, char *const *args, char *answer)
{
    s_self_t *self = (s_self_t *) handler;
    (void) args;
    (void) answer;
    zpeer_inlet_doubt (&self->inbox);
    return ZPEER_COMMAND_LATER;
}

static const zpeer_command_t s_commands[] = {
    {"INBOX", 1, ZPEER_WHEN_BEFORE_START, s_inbox},
    {"PUB", 1, ZPEER_WHEN_BEFORE_START, s_pub},
    {"START", 0, ZPEER_WHEN_START, s_start},
    {"DRAIN", 0, ZPEER_WHEN_STARTED, s_drain},
    {NULL, 0, ZPEER_WHEN_ANY, NULL},
};

//  Relays what is there, but at most a turn's worth. PUB never refuses: it
//  drops for subscribers that do not read. What is not two frames is no
//  outcome.
static void
s_relay (s_self_t *self)
{
    for (int i = 0; i < TURN_MAX; i++) {
        if (zpeer_inlet_recv (&self->inbox, &self->frames)) {
            zpeer_commands_ok (&self->commands, NULL);
            return;
        }
        zpeer_slice_t topic = zpeer_frames_at (&self->frames, 0);
        if (self->frames.count == 2)
            zpeer_socket_send_msg (self->pub, &topic, 1,
                                   &self->frames.frames[1]);
    }
}

//  Tells of subscribers that were cut off
static void
s_guard (s_self_t *self)
{
    uint64_t now = (uint64_t) zclock_mono ();
    zpeer_guard_work (&self->guard, &self->lines, now);
    zpeer_sampler_tell (&self->lines, now);
}

//  No options, only a log
static void
s_listen (s_self_t *self, const zpeer_actor_args_t *args)
{
    if (args)
        self->lines.log = (zpeer_log_t){args->log, args->log_arg};
}

static int64_t
s_timeout_us (const s_self_t *self)
{
    if (self->commands.pending)
        return 0;
    return zpeer_sampler_wait_us (&self->lines, (uint64_t) zclock_mono ());
}

void
zpeer_reporter (zsock_t *pipe, void *args)
{
    s_self_t self = {0};
    s_listen (&self, (const zpeer_actor_args_t *) args);
    zpeer_commands_init (&self.commands, pipe, &self, s_commands);
    zsock_signal (pipe, 0);

    bool go_on = true;
    while (go_on) {
        //  While a DRAIN waits an empty inbox is news too
        zpeer_inlet_t *inlets[] = {&self.commands.pipe, &self.inbox,
                                   zpeer_guard_inlet (&self.guard)};
        zpeer_inlet_wait (inlets, self.commands.started ? 3 : 1, NULL, 0,
                          s_timeout_us (&self));
        if (self.commands.pipe.ready)
            go_on = zpeer_commands_handle (&self.commands);
        if (self.commands.started) {
            s_relay (&self);
            s_guard (&self);
        }
    }
    s_self_fini (&self);
}
