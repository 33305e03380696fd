/*  zpeerd.c - the engine as a service

    Reads its options, starts an engine with them, and answers commands until a
    signal comes. Everything else the engine does.

    Signals: SIGTERM and SIGINT are blocked before the first thread starts, so
    that every thread inherits that and the main thread alone takes them, from a
    signalfd; it looks for one before each command. While the engine drains they
    have their default effect again: a second one ends the process at once. At
    SIGHUP, SIGUSR1 and SIGUSR2 other daemons reload something; they would end
    this one without draining, so that they are taken, too, and only logged.
*/
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <czmq.h>
#include <zpeer/engine.h>
#include "ipc_path.h"
#include "standard_files.h"
#include "stderr_log.h"
#include "zpeerd_args.h"
#include "zpeerd_control.h"
#include "zpeerd_messages.h"
#include "banned.h"

#define PORT_DIGITS 5

//  Signals that do nothing
#define IGNORED(X)                                                             \
    X (SIGHUP)                                                                 \
    X (SIGUSR1)                                                                \
    X (SIGUSR2)

//  The signals that stop it
static sigset_t
s_stop_signals (void)
{
    sigset_t set;
    sigemptyset (&set);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGINT);
    return set;
}

//  All signals that the main thread takes
static sigset_t
s_signals (void)
{
    sigset_t set = s_stop_signals ();
#define X(number) sigaddset (&set, number);
    IGNORED (X)
#undef X
    return set;
}

//  The name of a signal that does nothing; NULL: it is another one
static const char *
s_ignored_name (int number)
{
    switch (number) {
#define X(number)                                                              \
    case number: return #number;
        IGNORED (X)
#undef X
    default: return NULL;
    }
}

//  Tells systemd how things stand, if it started us and asked for it
static void
s_notify (const char *state)
{
    const char *path = getenv ("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen (path) : 0;
    if (length == 0 || length >= sizeof address.sun_path)
        return;
    memcpy (address.sun_path, path, length);
    if (*path == '@')
        address.sun_path[0] = '\0';  //  An abstract name

    int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size =
        (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length);
    sendto (fd, state, strlen (state), MSG_NOSIGNAL,
            (const struct sockaddr *) &address, size);
    close (fd);
}

//  What an endpoint is for; the engine binds the first two
enum { EVENTS, OUTCOMES, CONTROL, ENDPOINTS };

static const char *const s_names[ENDPOINTS] = {"events", "outcomes", "control"};

//  An endpoint that is configured, and the socket it has become
typedef struct {
    char *name;      //  Owned
    uint64_t inode;  //  0: not yet
} endpoint_t;

typedef struct {
    const zpeerd_args_t *args;  //  Borrowed
    stderr_log_t *log;          //  Owned
    int signals;                //  Owned; a signalfd, or -1
    zpeer_engine_t *engine;     //  Owned
    zpeerd_control_t *control;  //  Owned, or NULL: commands are not taken
    endpoint_t endpoints[ENDPOINTS];
} self_t;

static zpeerd_exit_t
s_fail (self_t *self, zpeerd_exit_t status, const char *reason)
{
    zpeerd_say (self->log, ZPEERD_FAILED, reason);
    return status;
}

//  There will be no commands, and there is nothing to remove at the end. That is
//  fatal only if their endpoint was asked for: two services on one machine, with
//  events and outcomes elsewhere, need not know of it.
static zpeerd_exit_t
s_drop_control (self_t *self, const char *reason)
{
    if (self->args->control_wanted)
        return s_fail (self, ZPEERD_EXIT_UNAVAILABLE, reason);
    zpeerd_say (self->log, ZPEERD_NO_CONTROL, reason);
    free (self->endpoints[CONTROL].name);
    self->endpoints[CONTROL].name = strdup (ZPEERD_CONTROL_NONE);
    assert (self->endpoints[CONTROL].name);
    return ZPEERD_EXIT_OK;
}

//  libzmq takes 99999 for 34463
static bool
s_is_port (const char *text)
{
    size_t digits = strspn (text, "0123456789");
    return streq (text, "*") ||
           (digits && digits <= PORT_DIGITS && !text[digits] &&
            strtoul (text, NULL, 10) <= UINT16_MAX);
}

//  Whether other processes can connect to it, if it can be bound
static bool
s_is_endpoint (const char *text)
{
    if (strncmp (text, "ipc://", 6) == 0)
        return text[6] != '\0';
    const char *colon = strrchr (text, ':');
    return strncmp (text, "tcp://", 6) == 0 && colon > text + 6 &&
           s_is_port (colon + 1);
}

//  Whether two that are not chosen by the system are the same
static bool
s_is_same (const char *one, const char *other)
{
    return streq (one, other) && one[strlen (one) - 1] != '*';
}

//  What is wrong with an endpoint stays so, however often it is tried
static zpeerd_exit_t
s_check_endpoint (self_t *self, int which)
{
    char error[IPC_PATH_ERROR_MAX] = "";
    const char *name = self->endpoints[which].name;
    if (which == CONTROL && streq (name, ZPEERD_CONTROL_NONE))
        return ZPEERD_EXIT_OK;
    if (!s_is_endpoint (name))
        snprintf (error, sizeof error,
                  "\"%s\" is no endpoint: ipc://PATH or tcp://ADDRESS:PORT",
                  name);
    for (int i = 0; i < which && !*error; i++)
        if (s_is_same (self->endpoints[i].name, name))
            snprintf (error, sizeof error, "%s is for both %s and %s", name,
                      s_names[i], s_names[which]);
    return *error ? s_fail (self, ZPEERD_EXIT_CONFIG, error) : ZPEERD_EXIT_OK;
}

static zpeerd_exit_t
s_check_endpoints (self_t *self)
{
    zpeerd_exit_t status = ZPEERD_EXIT_OK;
    for (int i = 0; i < ENDPOINTS && status == ZPEERD_EXIT_OK; i++)
        status = s_check_endpoint (self, i);
    return status;
}

static zpeerd_exit_t
s_prepare_endpoints (self_t *self)
{
    char error[IPC_PATH_ERROR_MAX];
    for (int i = EVENTS; i <= OUTCOMES; i++)
        if (ipc_path_prepare (self->endpoints[i].name, error) != ZPEER_OK)
            return s_fail (self, ZPEERD_EXIT_UNAVAILABLE, error);
    const char *control = self->endpoints[CONTROL].name;
    int rc = ipc_path_prepare (control, error);
    if (rc == ZPEER_OK)
        rc = ipc_path_claim (control, error);
    return rc ? s_drop_control (self, error) : ZPEERD_EXIT_OK;
}

//  The exit status for an engine that did not start: a wrong option will not mend
//  itself; an endpoint, descriptors, time may be there when it is tried again
static zpeerd_exit_t
s_exit_status (int error)
{
    return error == ZPEER_E_INVALID ? ZPEERD_EXIT_CONFIG
                                    : ZPEERD_EXIT_UNAVAILABLE;
}

static zpeerd_exit_t
s_start_engine (self_t *self)
{
    zpeer_engine_set_log (self->engine, stderr_log, self->log);
    int rc = zpeer_engine_set_options (self->engine, self->args->options);
    if (rc == ZPEER_OK)
        rc = zpeer_engine_start (self->engine);
    return rc ? s_fail (self, s_exit_status (rc),
                        zpeer_engine_error (self->engine))
              : ZPEERD_EXIT_OK;
}

static zpeerd_exit_t
s_open_control (self_t *self)
{
    const char *endpoint = self->endpoints[CONTROL].name;
    if (streq (endpoint, ZPEERD_CONTROL_NONE))
        return ZPEERD_EXIT_OK;
    char error[ZPEERD_CONTROL_ERROR_MAX];
    //  The engine has bound its own meanwhile, which may be this by another name
    char taken[IPC_PATH_ERROR_MAX];
    if (ipc_path_claim (endpoint, taken) != ZPEER_OK)
        return s_drop_control (self, taken);
    self->control = zpeerd_control_open (endpoint, error);
    if (!self->control)
        return s_drop_control (self, error);
    zpeerd_say (self->log, ZPEERD_CONTROL,
                zpeerd_control_endpoint (self->control));
    return ZPEERD_EXIT_OK;
}

static zpeerd_exit_t
s_start (self_t *self)
{
    if (self->signals < 0)
        return s_fail (self, ZPEERD_EXIT_UNAVAILABLE, strerror (errno));
    zpeerd_exit_t status = s_check_endpoints (self);
    if (status == ZPEERD_EXIT_OK)
        status = s_prepare_endpoints (self);
    if (status == ZPEERD_EXIT_OK)
        status = s_start_engine (self);
    if (status == ZPEERD_EXIT_OK)
        status = s_open_control (self);
    for (int i = 0; i < ENDPOINTS && status == ZPEERD_EXIT_OK; i++)
        self->endpoints[i].inode = ipc_path_inode (self->endpoints[i].name);
    return status;
}

//  The engine has added the peers itself. Our own URL, or one named twice, is how
//  lists of peers look; and when descriptors run out, which the engine has
//  logged, that must not take the other peers down. There may be none then, too.
static void
s_tell_start (self_t *self)
{
    if (!zpeer_engine_peer (self->engine, 0))
        zpeerd_say (self->log, ZPEERD_NO_PEERS);
    zpeerd_say (self->log, ZPEERD_STARTED, zpeer_version (),
                zpeer_engine_events (self->engine),
                zpeer_engine_outcomes (self->engine));
    s_notify ("READY=1");
}

//  Takes a signal, if there is one. Returns it if it is to stop zpeerd; else 0.
static int
s_take_signal (self_t *self)
{
    struct signalfd_siginfo taken;
    if (read (self->signals, &taken, sizeof taken) != sizeof taken)
        return 0;
    const char *ignored = s_ignored_name ((int) taken.ssi_signo);
    if (!ignored)
        return (int) taken.ssi_signo;
    zpeerd_say (self->log, ZPEERD_IGNORED, ignored);
    return 0;
}

//  Tells of clients that were cut off
static void
s_look (self_t *self)
{
    char news[ZPEERD_CONTROL_NEWS_MAX];
    if (zpeerd_control_look (self->control, news))
        zpeerd_say (self->log, ZPEERD_CLIENT_CUT, news);
}

//  Answers commands until a signal to stop comes: whoever sends commands without
//  end does not keep it from being seen. Returns the signal.
static int
s_serve (self_t *self)
{
    zpeerd_control_t *control = self->control;
    zmq_pollitem_t items[] = {
        {.fd = self->signals, .events = ZMQ_POLLIN},
        {.socket = control ? zpeerd_control_handle (control) : NULL,
         .events = ZMQ_POLLIN},
        {.socket = control ? zpeerd_control_doors (control) : NULL,
         .events = ZMQ_POLLIN},
    };
    while (true) {
        int ready = zmq_poll (items, control ? 3 : 1,
                              control ? zpeerd_control_wake_ms (control) : -1);
        int taken = ready > 0 && items[0].revents ? s_take_signal (self) : 0;
        if (taken)
            return taken;
        if (control)
            s_look (self);
        if (ready > 0 && items[1].revents)
            zpeerd_control_serve (control, self->engine);
    }
}

//  The control socket goes last: answers have left by then
static void
s_stop (self_t *self, int taken)
{
    zpeerd_say (self->log, ZPEERD_STOPPING, strsignal (taken));
    s_notify ("STOPPING=1");
    sigset_t signals = s_stop_signals ();
    pthread_sigmask (SIG_UNBLOCK, &signals, NULL);

    int64_t left = zpeer_engine_stop (self->engine);
    if (left == 0)
        zpeerd_say (self->log, ZPEERD_STOPPED);
    else
        zpeerd_say (self->log, ZPEERD_LEFT, left);
}

//  As many descriptors as this process may have: the usual soft limit, 1024, is
//  for programs that use select
static void
s_raise_limit (void)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit (RLIMIT_NOFILE, &limit);
    }
}

static void
s_init (self_t *self, const zpeerd_args_t *args)
{
    sigset_t signals = s_signals ();
    signal (SIGPIPE, SIG_IGN);
    pthread_sigmask (SIG_BLOCK, &signals, NULL);
    *self = (self_t){.args = args, .log = stderr_log_new (args->level)};
    self->signals = signalfd (-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    self->engine = zpeer_engine_new ();
    self->endpoints[EVENTS].name =
        zpeer_options_get (args->options, "zpeer.events.endpoint");
    self->endpoints[OUTCOMES].name =
        zpeer_options_get (args->options, "zpeer.outcomes.endpoint");
    self->endpoints[CONTROL].name = strdup (args->control);
    assert (self->endpoints[CONTROL].name);
}

static void
s_fini (self_t *self)
{
    zpeer_engine_destroy (&self->engine);
    zpeerd_control_close (&self->control);
    if (self->signals >= 0)
        close (self->signals);
    for (int i = 0; i < ENDPOINTS; i++) {
        endpoint_t *endpoint = &self->endpoints[i];
        ipc_path_remove (endpoint->name, endpoint->inode);
        free (endpoint->name);
    }
    stderr_log_destroy (&self->log);
}

static zpeerd_exit_t
s_run (const zpeerd_args_t *args)
{
    s_raise_limit ();
    self_t self;
    s_init (&self, args);
    zpeerd_exit_t status = ZPEERD_EXIT_UNAVAILABLE;
    if (self.log)
        status = s_start (&self);
    else
        fprintf (stderr, "zpeerd: no thread for the log: %s\n",
                 strerror (errno));
    if (status == ZPEERD_EXIT_OK) {
        s_tell_start (&self);
        s_stop (&self, s_serve (&self));
    }
    s_fini (&self);
    return status;
}

static zpeerd_exit_t
s_print_config (const zpeerd_args_t *args)
{
    char *text = zpeer_options_print (args->options);
    fputs (text, stdout);
    free (text);
    return ZPEERD_EXIT_OK;
}

//  What could not be printed was not done
static zpeerd_exit_t
s_end_output (void)
{
    if (!fflush (stdout) && !ferror (stdout))
        return ZPEERD_EXIT_OK;
    fprintf (stderr, "zpeerd: standard output: %s\n", strerror (errno));
    return ZPEERD_EXIT_OUTPUT;
}

int
main (int argc, char **argv)
{
    zpeerd_args_t args;
    if (!standard_files_open ())
        return ZPEERD_EXIT_UNAVAILABLE;
    zpeerd_exit_t status = zpeerd_args_read (&args, argc, argv);
    if (status == ZPEERD_EXIT_OK && args.mode == ZPEERD_PRINT_CONFIG)
        status = s_print_config (&args);
    else if (status == ZPEERD_EXIT_OK && args.mode == ZPEERD_RUN)
        status = s_run (&args);
    zpeerd_args_free (&args);
    if (status == ZPEERD_EXIT_OK)
        status = s_end_output ();
    return status;
}
