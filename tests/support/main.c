/*  zpeer-scripted-peer - a scripted peer as a program

    For the demo, benchmarks and tests from outside: prints one line with its
    URL, and the one of its control port, when it listens; ends on SIGTERM or
    SIGINT. It writes no file and leaves nothing behind.
*/
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "script.h"
#include "banned.h"

typedef struct {
    int port;
    int control;
    int64_t settings[SPEER_SETTINGS_MAX];  //  -1: as it is
    speer_rule_t slow;
    const char *script;
    bool with_parent;
} s_options_t;

//  Options beyond those that are settings
enum {
    S_PORT = 256,
    S_CONTROL,
    S_SLOW,
    S_SLOW_ITEM,
    S_SCRIPT,
    S_PARENT,
    S_HELP
};

static const struct option s_options[] = {
#define X(name, label, value, meaning)                                         \
    {label, optional_argument, NULL, SPEER_SET_##name},
    SPEER_SETTINGS (X)
#undef X
        {"port", required_argument, NULL, S_PORT},
    {"control", required_argument, NULL, S_CONTROL},
    {"slow-ms", required_argument, NULL, S_SLOW},
    {"slow-item-ms", required_argument, NULL, S_SLOW_ITEM},
    {"script", required_argument, NULL, S_SCRIPT},
    {"with-parent", no_argument, NULL, S_PARENT},
    {"help", no_argument, NULL, S_HELP},
    {NULL, 0, NULL, 0}};

static void
s_help (FILE *out)
{
    fputs ("zpeer-scripted-peer: an in-memory Eureka server that misbehaves on "
           "request\n\n"
           "  --port N          listen on 127.0.0.1:N; 0: any free port (0)\n"
           "  --control N       port for POST /script and the like (0)\n"
           "  --slow-ms N       answer each request after so long\n"
           "  --slow-item-ms N  in addition so long per item\n"
           "  --script JSON     run this script first\n"
           "  --with-parent     end when the process that started it does\n\n"
           "Settings, --NAME or --NAME=VALUE:\n\n",
           out);
#define X(name, label, value, meaning)                                         \
    fprintf (out, "  --%-15s %s (%d)\n", label, meaning, value);
    SPEER_SETTINGS (X)
#undef X
    fputs ("\nOn the control port:\n\n"
           "  POST /script      {\"mode\": …, \"rules\": [{…}], \"items\": "
           "[{…}],\n"
           "                    \"settings\": {…}, \"advance\": ms, "
           "\"apply\": {…},\n"
           "                    \"clear\", \"reset\", \"release\": true}\n"
           "  GET  /counters, /requests?from=N, /samples, /apps\n",
           out);
    fputs ("\nMembers of a rule: method, path, skip, count, delay_ms, item_ms, "
           "apply,\nlate_ms, answer, status, headers, body, body_bytes, gzip, "
           "chunked, close,\ndrip_ms; of an item rule: action, app, id, nth, "
           "skip, count, status, apply,\nentity, whole. Delays may be \"held\" "
           "until \"release\".\n\nModes:\n\n",
           out);
#define X(name, label, meaning) fprintf (out, "  %-12s %s\n", label, meaning);
    SPEER_MODES (X)
    fputs ("\nAnswers:\n\n", out);
    SPEER_ANSWERS (X)
    fputs ("\nApply (when the changes are made):\n\n", out);
    SPEER_APPLIES (X)
    fputs ("\nCounters:\n\n", out);
    SPEER_COUNTERS (X)
#undef X
}

//  Returns -1 to go on, else the exit status
static int
s_parse (s_options_t *options, int argc, char *argv[])
{
    int option;
    for (int i = 0; i < SPEER_SETTINGS_MAX; i++)
        options->settings[i] = -1;
    while ((option = getopt_long (argc, argv, "", s_options, NULL)) != -1) {
        int number = optarg ? (int) strtol (optarg, NULL, 10) : 1;
        switch (option) {
        case S_PORT: options->port = number; break;
        case S_CONTROL: options->control = number; break;
        case S_SLOW: options->slow.delay_ms = number; break;
        case S_SLOW_ITEM: options->slow.item_ms = number; break;
        case S_SCRIPT: options->script = optarg; break;
        case S_PARENT: options->with_parent = true; break;
        case S_HELP: s_help (stdout); return EXIT_SUCCESS;
        case '?': return EXIT_FAILURE;
        default: options->settings[option] = number; break;
        }
    }
    return -1;
}

static bool
s_prepare (speer_t *peer, const s_options_t *options)
{
    for (int i = 0; i < SPEER_SETTINGS_MAX; i++)
        if (options->settings[i] >= 0)
            speer_set (peer, (speer_setting_t) i, options->settings[i]);
    if (options->slow.delay_ms || options->slow.item_ms)
        speer_rule (peer, &options->slow);
    char *wrong = options->script ? speer_script (peer, options->script) : NULL;
    if (wrong)
        fprintf (stderr, "script: %s\n", wrong);
    free (wrong);
    return !wrong;
}

int
main (int argc, char *argv[])
{
    s_options_t options = {0};
    sigset_t signals;
    int signal;
    int status = s_parse (&options, argc, argv);
    if (status >= 0)
        return status;
    sigemptyset (&signals);
    sigaddset (&signals, SIGTERM);
    sigaddset (&signals, SIGINT);
    pthread_sigmask (SIG_BLOCK, &signals, NULL);
    if (options.with_parent)
        prctl (PR_SET_PDEATHSIG, SIGTERM);
    speer_t *peer = speer_new (options.port, options.control);
    if (!peer) {
        fprintf (stderr, "cannot listen on port %d or %d\n", options.port,
                 options.control);
        return EXIT_FAILURE;
    }
    bool ready = s_prepare (peer, &options);
    if (ready) {
        printf ("%s control %s\n", speer_url (peer), speer_control_url (peer));
        fflush (stdout);
        sigwait (&signals, &signal);
    }
    speer_destroy (&peer);
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
