#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <zpeer/zpeer.h>
#include "command.h"
#include "roles.h"
#include "socket.h"
#include "banned.h"

#define CALL_MS 20000

//  The position of "--", or argc
static int
s_end_of_settings (int argc, char **argv, int first)
{
    while (first < argc && strcmp (argv[first], "--") != 0)
        first++;
    return first;
}

static zpeer_options_t *
s_options (char **argv, int first, int end)
{
    zpeer_options_t *options = zpeer_options_new ();
    for (int i = first; i < end; i++) {
        char *value = strchr (argv[i], '=');
        if (!value)
            continue;
        *value = 0;
        if (zpeer_options_set (options, argv[i], value + 1) != ZPEER_OK)
            fprintf (stderr, "%s=%s is no option\n", argv[i], value + 1);
    }
    return options;
}

static void
s_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) arg;
    fprintf (stderr, "%s %s %s\n", zpeer_log_level_name (level), id, text);
}

static int
s_dispatcher (int argc, char **argv)
{
    int end = s_end_of_settings (argc, argv, 2);
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    if (argc - end != 5)
        return 2;
    zpeer_options_t *options = s_options (argv, 2, end);
    zpeer_actor_args_t args = {.options = options, .log = s_log};
    zpeer_socket_init ();
    zactor_t *actor = zactor_new (zpeer_dispatcher, &args);
    const char *const calls[][3] = {{"PEER", argv[end + 1], argv[end + 2]},
                                    {"CONNECT", argv[end + 3], NULL},
                                    {"HEALTH", argv[end + 4], NULL},
                                    {"START", NULL, NULL}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (zpeer_command_call (actor, CALL_MS, answer, calls[i][0],
                                calls[i][1], calls[i][2], (char *) NULL)) {
            fprintf (stderr, "dispatcher: %s: %s\n", calls[i][0], answer);
            _exit (1);
        }
    for (;;)
        pause ();
}

//  Until SIGTERM. Says the peers' ids when it is ready.
static int
s_run_engine (zpeer_engine_t *engine, int argc, char **argv, int end,
              const sigset_t *signals)
{
    int taken;
    if (zpeer_engine_start (engine) != ZPEER_OK)
        return 1;
    for (int i = end + 2; i + 1 < argc; i += 2) {
        if (zpeer_engine_open_peer (engine, argv[i], argv[i + 1],
                                    argv[end + 1]) != ZPEER_OK)
            return 1;
        printf ("%d ", zpeer_engine_peer_id (engine, argv[i]));
    }
    printf ("\n");
    fflush (stdout);
    sigwait (signals, &taken);
    fprintf (stderr, "stopped, %lld not delivered\n",
             (long long) zpeer_engine_stop (engine));
    return 0;
}

static int
s_engine (int argc, char **argv)
{
    int end = s_end_of_settings (argc, argv, 4);
    sigset_t signals;
    if (argc - end < 4)
        return 2;
    sigemptyset (&signals);
    sigaddset (&signals, SIGTERM);
    pthread_sigmask (SIG_BLOCK, &signals, NULL);
    signal (SIGPIPE, SIG_IGN);
    zpeer_options_t *options = s_options (argv, 4, end);
    zpeer_options_set (options, "zpeer.events.endpoint", argv[2]);
    zpeer_options_set (options, "zpeer.outcomes.endpoint", argv[3]);
    for (int i = end + 2; i + 1 < argc; i += 2)
        zpeer_options_add_peer (options, argv[i]);
    zpeer_engine_t *engine = zpeer_engine_new ();
    zpeer_engine_set_log (engine, s_log, NULL);
    zpeer_engine_set_options (engine, options);
    zpeer_options_destroy (&options);
    int status = s_run_engine (engine, argc, argv, end, &signals);
    if (status)
        fprintf (stderr, "engine: %s\n", zpeer_engine_error (engine));
    zpeer_engine_destroy (&engine);
    return status;
}

int
roles_play (int argc, char **argv)
{
    if (argc > 3 && strcmp (argv[1], "engine") == 0)
        return s_engine (argc, argv);
    if (argc > 2 && strcmp (argv[1], "dispatcher") == 0)
        return s_dispatcher (argc, argv);
    return -1;
}
