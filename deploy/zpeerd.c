/*  zpeerd.c - the engine as a service

    Reads its options, starts an engine with them, and waits for a signal.
    Everything else the engine does.

    Signals: SIGTERM and SIGINT are blocked before the first thread starts, so
    that every thread inherits that and the main thread alone takes them, with
    sigwait. While the engine drains they have their default effect again: a
    second one ends the process at once.
*/
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zpeer/engine.h>
#include "ipc_path.h"
#include "stderr_log.h"
#include "zpeerd_args.h"
#include "zpeerd_messages.h"
#include "banned.h"

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

static const char *const s_endpoint_keys[] = {"zpeer.events.endpoint",
                                              "zpeer.outcomes.endpoint"};

#define ENDPOINTS (sizeof s_endpoint_keys / sizeof *s_endpoint_keys)

//  The endpoints that are configured, and the sockets they have become
typedef struct {
    char *names[ENDPOINTS];  //  Owned
    uint64_t inodes[ENDPOINTS];
} endpoints_t;

static void
s_read_endpoints (endpoints_t *self, const zpeer_options_t *options)
{
    for (size_t i = 0; i < ENDPOINTS; i++) {
        self->names[i] = zpeer_options_get (options, s_endpoint_keys[i]);
        self->inodes[i] = 0;
    }
}

static int
s_prepare_endpoints (const endpoints_t *self, char error[IPC_PATH_ERROR_MAX])
{
    int rc = ZPEER_OK;
    for (size_t i = 0; i < ENDPOINTS && rc == ZPEER_OK; i++)
        rc = ipc_path_prepare (self->names[i], error);
    return rc;
}

static void
s_note_sockets (endpoints_t *self)
{
    for (size_t i = 0; i < ENDPOINTS; i++)
        self->inodes[i] = ipc_path_inode (self->names[i]);
}

static void
s_remove_endpoints (endpoints_t *self)
{
    for (size_t i = 0; i < ENDPOINTS; i++) {
        ipc_path_remove (self->names[i], self->inodes[i]);
        free (self->names[i]);
    }
}

static zpeerd_exit_t
s_fail (stderr_log_t *log, zpeerd_exit_t status, const char *reason)
{
    zpeerd_say (log, ZPEERD_FAILED, reason);
    return status;
}

//  The exit status for an engine that did not start: an endpoint or descriptors
//  may be there next time, a wrong option will not mend itself
static zpeerd_exit_t
s_exit_status (int error)
{
    return error == ZPEER_E_BIND || error == ZPEER_E_RESOURCES
               ? ZPEERD_EXIT_UNAVAILABLE
               : ZPEERD_EXIT_CONFIG;
}

static zpeerd_exit_t
s_start (zpeer_engine_t *engine, const zpeerd_args_t *args,
         endpoints_t *endpoints, stderr_log_t *log)
{
    char error[IPC_PATH_ERROR_MAX];
    if (s_prepare_endpoints (endpoints, error) != ZPEER_OK)
        return s_fail (log, ZPEERD_EXIT_UNAVAILABLE, error);
    zpeer_engine_set_log (engine, stderr_log, log);
    if (zpeer_engine_set_options (engine, args->options) != ZPEER_OK)
        return s_fail (log, ZPEERD_EXIT_CONFIG, zpeer_engine_error (engine));
    int rc = zpeer_engine_start (engine);
    if (rc != ZPEER_OK)
        return s_fail (log, s_exit_status (rc), zpeer_engine_error (engine));
    s_note_sockets (endpoints);
    return ZPEERD_EXIT_OK;
}

//  The engine has added the peers itself. Our own URL, or one named twice, is how
//  lists of peers look; and when descriptors run out, which the engine has
//  logged, that must not take the other peers down.
static void
s_check_peers (const zpeerd_args_t *args, stderr_log_t *log)
{
    char *listed = zpeer_options_peers (args->options);
    if (!*listed)
        zpeerd_say (log, ZPEERD_NO_PEERS);
    free (listed);
}

static void
s_wait_and_stop (zpeer_engine_t *engine, stderr_log_t *log)
{
    sigset_t signals = s_stop_signals ();
    int taken = 0;
    sigwait (&signals, &taken);
    zpeerd_say (log, ZPEERD_STOPPING, strsignal (taken));
    s_notify ("STOPPING=1");
    pthread_sigmask (SIG_UNBLOCK, &signals, NULL);

    int64_t left = zpeer_engine_stop (engine);
    if (left == 0)
        zpeerd_say (log, ZPEERD_STOPPED);
    else
        zpeerd_say (log, ZPEERD_LEFT, left);
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

static zpeerd_exit_t
s_run (const zpeerd_args_t *args)
{
    s_raise_limit ();
    stderr_log_t log = STDERR_LOG_INIT;
    log.level = args->level;
    sigset_t signals = s_stop_signals ();
    pthread_sigmask (SIG_BLOCK, &signals, NULL);
    signal (SIGPIPE, SIG_IGN);

    endpoints_t endpoints;
    s_read_endpoints (&endpoints, args->options);
    zpeer_engine_t *engine = zpeer_engine_new ();
    zpeerd_exit_t status = s_start (engine, args, &endpoints, &log);
    if (status == ZPEERD_EXIT_OK) {
        s_check_peers (args, &log);
        zpeerd_say (&log, ZPEERD_STARTED, zpeer_version (),
                    zpeer_engine_events (engine),
                    zpeer_engine_outcomes (engine));
        s_notify ("READY=1");
        s_wait_and_stop (engine, &log);
    }
    zpeer_engine_destroy (&engine);
    s_remove_endpoints (&endpoints);
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

int
main (int argc, char **argv)
{
    zpeerd_args_t args;
    zpeerd_exit_t status = zpeerd_args_read (&args, argc, argv);
    if (status == ZPEERD_EXIT_OK && args.mode == ZPEERD_PRINT_CONFIG)
        status = s_print_config (&args);
    else if (status == ZPEERD_EXIT_OK && args.mode == ZPEERD_RUN)
        status = s_run (&args);
    zpeerd_args_free (&args);
    return status;
}
