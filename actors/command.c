#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include "command.h"
#include "reserve.h"
#include "socket.h"
#include "banned.h"

//  Room for a code in decimal, sign and NUL included
#define CODE_MAX 12

//  Keeps signals from the calling thread. Whatever the host handles is handled
//  in its own threads; and writing to a connection that has gone, which libcurl
//  leaves to its TLS library, must not end the process with SIGPIPE. What a
//  thread does to itself, and what profilers send, still comes.
static void
s_block_signals (void)
{
    static const int kept[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                               SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t signals;
    sigfillset (&signals);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        sigdelset (&signals, kept[i]);
    pthread_sigmask (SIG_BLOCK, &signals, NULL);
}

void
zpeer_commands_init (zpeer_commands_t *self, zsock_t *pipe, void *handler,
                     const zpeer_command_t *table)
{
    *self = (zpeer_commands_t){.self = handler, .table = table};
    zpeer_inlet_open (&self->pipe, pipe);
    s_block_signals ();
}

//  An answer fits: the other end reads one before it sends the next command.
//  If it does not read, there is nobody to tell.
static void
s_answer (zpeer_commands_t *self, int code, const char *text)
{
    char digits[CODE_MAX];
    snprintf (digits, sizeof digits, "%d", code);
    zpeer_slice_t frames[] = {code ? ZPEER_SLICE ("ERROR") : ZPEER_SLICE ("OK"),
                              zpeer_slice_str (text), zpeer_slice_str (digits)};
    size_t count = code ? 3 : *text ? 2 : 1;
    zpeer_socket_send (self->pipe.socket, frames, count);
    self->pipe.used = true;
}

void
zpeer_commands_ok (zpeer_commands_t *self, const char *value)
{
    if (self->pending)
        s_answer (self, ZPEER_OK, value ? value : "");
    self->pending = NULL;
}

void
zpeer_commands_error (zpeer_commands_t *self, int code, const char *sentence)
{
    if (self->pending)
        s_answer (self, code, sentence);
    self->pending = NULL;
}

static const zpeer_command_t *
s_find (const zpeer_command_t *table, zpeer_slice_t name)
{
    for (; table->name; table++)
        if (zpeer_slice_eq (zpeer_slice_str (table->name), name))
            return table;
    return NULL;
}

//  Why the command may not run; ZPEER_OK: it may
static int
s_check (const zpeer_commands_t *self, const zpeer_command_t *command,
         size_t args, char *answer)
{
    const size_t size = ZPEER_COMMAND_ANSWER_MAX;
    if (!command) {
        snprintf (answer, size, "unknown command");
        return ZPEER_E_UNKNOWN;
    }
    if (args != command->args) {
        snprintf (answer, size, "%s takes %u arguments, not %zu", command->name,
                  command->args, args);
        return ZPEER_E_INVALID;
    }
    if (self->pending) {
        snprintf (answer, size, "%s is not done yet", self->pending);
        return ZPEER_E_AGAIN;
    }
    if (command->when != ZPEER_WHEN_ANY &&
        self->started != (command->when == ZPEER_WHEN_STARTED)) {
        snprintf (answer, size, "%s is not possible %s START", command->name,
                  self->started ? "after" : "before");
        return ZPEER_E_STATE;
    }
    return ZPEER_OK;
}

//  Calls the handler with the arguments as strings
static int
s_run (zpeer_commands_t *self, const zpeer_command_t *command,
       zpeer_frames_t *frames, char *answer)
{
    char *args[ZPEER_COMMAND_ARGS_MAX + 1] = {NULL};
    for (unsigned i = 0; i < command->args; i++) {
        zpeer_slice_t frame = zpeer_frames_at (frames, i + 1);
        args[i] = strndup (frame.data, frame.size);
        assert (args[i]);
    }
    int rc = command->handler (self->self, args, answer);
    for (unsigned i = 0; i < command->args; i++)
        free (args[i]);
    if (rc == ZPEER_OK && command->when == ZPEER_WHEN_START)
        self->started = true;
    return rc;
}

bool
zpeer_commands_handle (zpeer_commands_t *self)
{
    zpeer_frames_t frames = {0};
    int rc = zpeer_inlet_recv (&self->pipe, &frames);
    if (rc)
        return rc == ZPEER_E_AGAIN;

    bool go_on = true;
    zpeer_slice_t name = zpeer_frames_at (&frames, 0);
    if (zpeer_slice_eq (name, ZPEER_SLICE ("$TERM")))
        go_on = false;
    else {
        char answer[ZPEER_COMMAND_ANSWER_MAX] = "";
        const zpeer_command_t *command = s_find (self->table, name);
        rc = s_check (self, command, frames.count - 1, answer);
        if (rc == ZPEER_OK)
            rc = s_run (self, command, &frames, answer);
        if (rc == ZPEER_COMMAND_LATER)
            self->pending = command->name;
        else
            s_answer (self, rc, rc && !*answer ? zpeer_strerror (rc) : answer);
    }
    zpeer_frames_close (&frames);
    return go_on;
}

int
zpeer_command_number (const char *text, uint32_t max, uint32_t *number,
                      char *answer)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul (text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value > max) {
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX,
                  "'%.20s' is not a number from 0 to %u", text, max);
        return ZPEER_E_RANGE;
    }
    *number = (uint32_t) value;
    return ZPEER_OK;
}

int
zpeer_command_inproc (const char *endpoint, char *answer)
{
    if (zpeer_socket_is_inproc (endpoint))
        return ZPEER_OK;
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX,
              "%.200s is not inproc: what comes there is taken for this "
              "process' own memory",
              endpoint);
    return ZPEER_E_INVALID;
}

static void *
s_do_nothing (void *arg)
{
    return arg;
}

//  zactor_new waits for its thread for ever, whether it could be made or not
static bool
s_thread_can_start (void)
{
    pthread_t thread;
    return pthread_create (&thread, NULL, s_do_nothing, NULL) == 0 &&
           pthread_join (thread, NULL) == 0;
}

typedef struct {
    zactor_fn *actor;  //  Borrowed
    void *args;        //  Borrowed
} s_start_t;

//  The pipe exists: from here on the actor may create what it needs
static void
s_run_actor (zsock_t *pipe, void *args)
{
    s_start_t start = *(s_start_t *) args;
    zpeer_reserve_end ();
    start.actor (pipe, start.args);
}

zactor_t *
zpeer_command_actor (zactor_fn *actor, void *args)
{
    s_start_t start = {actor, args};
    //  Both ends of the pipe
    if (zpeer_reserve_begin (0, 2))
        return NULL;
    if (s_thread_can_start ())
        return zactor_new (s_run_actor, &start);
    zpeer_reserve_end ();
    return NULL;
}

static int
s_send (zactor_t *actor, const char *command, va_list list)
{
    zsock_t *pipe = zactor_sock (actor);
    zpeer_slice_t frames[ZPEER_COMMAND_ARGS_MAX + 1];
    size_t count = 0;
    const char *text = command;
    while (text) {
        assert (count <= ZPEER_COMMAND_ARGS_MAX);
        frames[count++] = zpeer_slice_str (text);
        text = va_arg (list, const char *);
    }
    zpeer_frames_t late = {0};
    while (zpeer_socket_recv (pipe, &late) == ZPEER_OK)
        ;
    zpeer_frames_close (&late);
    return zpeer_socket_send (pipe, frames, count);
}

int
zpeer_command_send (zactor_t *actor, const char *command, ...)
{
    va_list list;
    va_start (list, command);
    int rc = s_send (actor, command, list);
    va_end (list);
    return rc;
}

//  Waits until there is something to read, whatever signals come
static int
s_wait (zsock_t *pipe, int timeout_ms)
{
    int64_t deadline = zpeer_socket_deadline (timeout_ms);
    int rc;
    do
        rc = zpeer_socket_wait_until (pipe, ZMQ_POLLIN, deadline);
    while (rc == ZPEER_E_AGAIN);
    return rc;
}

static void
s_copy (char *to, size_t size, zpeer_slice_t from)
{
    snprintf (to, size, "%.*s", (int) from.size, from.size ? from.data : "");
}

//  Takes an answer apart. Returns the error it tells of, or ZPEER_E_PARSE.
static int
s_read (zpeer_frames_t *frames, char *answer)
{
    if (zpeer_slice_eq (zpeer_frames_at (frames, 0), ZPEER_SLICE ("OK"))) {
        s_copy (answer, ZPEER_COMMAND_ANSWER_MAX, zpeer_frames_at (frames, 1));
        return ZPEER_OK;
    }
    char code[CODE_MAX];
    s_copy (code, sizeof code, zpeer_frames_at (frames, 2));
    long value = strtol (code, NULL, 10);
    if (value >= 0 || value < INT_MIN)
        return ZPEER_E_PARSE;
    s_copy (answer, ZPEER_COMMAND_ANSWER_MAX, zpeer_frames_at (frames, 1));
    return (int) value;
}

int
zpeer_command_await (zactor_t *actor, int timeout_ms, char *answer)
{
    char unused[ZPEER_COMMAND_ANSWER_MAX];
    if (!answer)
        answer = unused;
    *answer = 0;

    zsock_t *pipe = zactor_sock (actor);
    zpeer_frames_t frames = {0};
    int rc = s_wait (pipe, timeout_ms);
    if (rc == ZPEER_OK)
        rc = zpeer_socket_recv (pipe, &frames);
    if (rc == ZPEER_OK)
        rc = s_read (&frames, answer);
    zpeer_frames_close (&frames);
    if (rc && !*answer)
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s", zpeer_strerror (rc));
    return rc;
}

int
zpeer_command_call (zactor_t *actor, int timeout_ms, char *answer,
                    const char *command, ...)
{
    va_list list;
    va_start (list, command);
    int rc = s_send (actor, command, list);
    va_end (list);
    if (rc == ZPEER_OK)
        return zpeer_command_await (actor, timeout_ms, answer);
    if (answer)
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s", zpeer_strerror (rc));
    return rc;
}
