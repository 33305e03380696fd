#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zpeer/health.h>
#include "command.h"
#include "counter.h"
#include "guard.h"
#include "options.h"
#include "socket.h"
#include "wire.h"
#include "banned.h"

//  Messages handled before the pipe is looked at again
#define DRAIN_MAX 100

//  A dispatcher has a question per batch in flight, so this is never full
#define HWM 10000

//  Of a message, without the identity
#define FRAMES 2

typedef struct {
    zpeer_commands_t commands;
    zpeer_inlet_t inbox;  //  Of an owned socket; none before BIND and START
    zpeer_ipc_t files;    //  Owned; of it
    zpeer_guard_t guard;  //  Of it
    zpeer_sampler_t lines;
    zpeer_frames_t frames;      //  Owned; the message at hand
    zpeer_counter_t *counters;  //  Owned; ZPEER_WIRE_PEERS_MAX of them
    uint32_t max;               //  Of a counter
    uint64_t ignored;           //  Messages
} self_t;

static void
s_self_destroy (self_t **self_p)
{
    self_t *self = *self_p;
    *self_p = NULL;
    zpeer_sampler_end (&self->lines);
    zpeer_guard_close (&self->guard);
    zpeer_socket_close (&self->inbox.socket, &self->files);
    zpeer_frames_close (&self->frames);
    free (self->counters);
    free (self);
}

//  Creates the socket when it is first needed
static int
s_open (self_t *self)
{
    if (!self->inbox.socket)
        zpeer_inlet_open (&self->inbox, zpeer_socket_new (ZPEER_ROLE_SERVER,
                                                          HWM, ZPEER_WIRE_MAX));
    return self->inbox.socket ? ZPEER_OK : ZPEER_E_RESOURCES;
}

//  --------------------------------------------------------------------------
//  Commands

static int
s_bind (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    int rc = s_open (self);
    self->inbox.used = true;
    if (rc == ZPEER_OK)
        rc = zpeer_guard_open (&self->guard, self->inbox.socket, args[0],
                               ZPEER_WIRE_MAX);
    return rc ? rc
              : zpeer_socket_bind (self->inbox.socket, args[0], answer,
                                   &self->files);
}

static int
s_start (void *arg, char *const *args, char *answer)
{
    (void) args;
    (void) answer;
    self_t *self = (self_t *) arg;
    int rc = s_open (self);
    return rc;
}

static int
s_forget (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    uint32_t peer;
    int rc =
        zpeer_command_number (args[0], ZPEER_WIRE_PEERS_MAX - 1, &peer, answer);
    if (rc)
        return rc;
    zpeer_counter_init (&self->counters[peer], self->max);
    return ZPEER_OK;
}

static int
s_ignored (void *arg, char *const *args, char *answer)
{
    (void) args;
    const self_t *self = (const self_t *) arg;
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%" PRIu64, self->ignored);
    return ZPEER_OK;
}

static const zpeer_command_t s_table[] = {
    {"BIND", 1, ZPEER_WHEN_ANY, s_bind},
    {"START", 0, ZPEER_WHEN_START, s_start},
    {"FORGET", 1, ZPEER_WHEN_ANY, s_forget},
    {"IGNORED", 0, ZPEER_WHEN_ANY, s_ignored},
    {0},
};

static self_t *
s_self_new (zsock_t *pipe, const zpeer_actor_args_t *args)
{
    self_t *self = (self_t *) calloc (1, sizeof *self);
    assert (self);
    zpeer_options_t *fallback = zpeer_options_new ();
    const zpeer_options_t *options =
        args && args->options ? args->options : fallback;
    self->max = options->max_peer_retries;
    if (args)
        self->lines.log = (zpeer_log_t){args->log, args->log_arg};
    zpeer_options_destroy (&fallback);

    self->counters = (zpeer_counter_t *) calloc (ZPEER_WIRE_PEERS_MAX,
                                                 sizeof *self->counters);
    assert (self->counters);
    for (size_t i = 0; i < ZPEER_WIRE_PEERS_MAX; i++)
        zpeer_counter_init (&self->counters[i], self->max);
    zpeer_commands_init (&self->commands, pipe, self, s_table);
    return self;
}

//  --------------------------------------------------------------------------
//  Messages

//  Refused means that the dispatcher is gone or does not read: it keeps its
//  tasks when it hears nothing
static void
s_answer (self_t *self, const zpeer_wire_failed_t *failed)
{
    uint8_t fixed[ZPEER_WIRE_MAX];
    const char *text = zpeer_wire_command_text (ZPEER_WIRE_FAILED);
    size_t size = zpeer_wire_put_failed (fixed, failed);
    zpeer_slice_t frames[] = {zpeer_frames_at (&self->frames, 0),
                              zpeer_slice_str (text),
                              {(const char *) fixed, size}};
    zpeer_socket_send (self->inbox.socket, frames, 3);
    self->inbox.used = true;
}

//  FAIL and HASREACHEDMAX: one step, so that nobody's success slips between
//  counting and comparing
static int
s_handle_question (self_t *self, zpeer_slice_t fixed, bool counts)
{
    zpeer_wire_failed_t failed = {0};
    uint32_t peer;
    bool gated;
    int rc = zpeer_wire_get_fail (fixed.data, fixed.size, &failed.token, &peer,
                                  &gated);
    if (rc)
        return ZPEER_E_PARSE;
    zpeer_counter_t *counter = &self->counters[peer];
    failed.reached = counts
                         ? zpeer_counter_fail (counter, gated, &failed.announce)
                         : zpeer_counter_reached (counter);
    failed.count = counter->count;
    failed.max = counter->max;
    s_answer (self, &failed);
    return ZPEER_OK;
}

static int
s_handle_ok (self_t *self, zpeer_slice_t fixed)
{
    uint32_t peer;
    int rc = zpeer_wire_get_peer (fixed.data, fixed.size, &peer);
    if (rc)
        return ZPEER_E_PARSE;
    zpeer_counter_reset (&self->counters[peer]);
    return ZPEER_OK;
}

static int
s_handle_message (self_t *self)
{
    if (self->frames.count != 1 + FRAMES || self->frames.cut)
        return ZPEER_E_PARSE;
    zpeer_slice_t command = zpeer_frames_at (&self->frames, 1);
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 2);
    switch (zpeer_wire_command (command.data, command.size)) {
    case ZPEER_WIRE_FAIL: return s_handle_question (self, fixed, true);
    case ZPEER_WIRE_HASREACHEDMAX:
        return s_handle_question (self, fixed, false);
    case ZPEER_WIRE_OK: return s_handle_ok (self, fixed);
    default: return ZPEER_E_PARSE;
    }
}

static void
s_handle_inbox (self_t *self)
{
    for (unsigned i = 0; i < DRAIN_MAX; i++) {
        if (zpeer_inlet_recv (&self->inbox, &self->frames))
            break;
        if (s_handle_message (self))
            self->ignored++;
    }
}

//  Tells of clients that were cut off
static void
s_guard (self_t *self)
{
    uint64_t now = (uint64_t) zclock_mono ();
    zpeer_guard_work (&self->guard, &self->lines, now);
    zpeer_sampler_tell (&self->lines, now);
}

void
zpeer_health (zsock_t *pipe, void *args)
{
    self_t *self = s_self_new (pipe, (const zpeer_actor_args_t *) args);
    zsock_signal (pipe, 0);

    bool terminated = false;
    while (!terminated) {
        zpeer_inlet_t *inlets[] = {&self->commands.pipe, &self->inbox,
                                   zpeer_guard_inlet (&self->guard)};
        zpeer_inlet_wait (
            inlets, self->commands.started ? 3 : 1, NULL, 0,
            zpeer_sampler_wait_us (&self->lines, (uint64_t) zclock_mono ()));
        if (self->commands.pipe.ready)
            terminated = !zpeer_commands_handle (&self->commands);
        if (self->commands.started && !terminated) {
            s_handle_inbox (self);
            s_guard (self);
        }
    }
    s_self_destroy (&self);
}
