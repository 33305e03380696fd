/*  zpeerd_args.c - zpeerd's environment and command line
 */
#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "secrets.h"
#include "stderr_log.h"
#include "zpeerd_args.h"
#include "zpeerd_control.h"
#include "zpeerd_messages.h"
#include "banned.h"

static const char s_usage[] =
    "usage: zpeerd --peer URL [--peer URL]... [option]...\n"
    "\n"
    "Tells Eureka servers (the peers) about every change of a registry. The\n"
    "registry sends its changes as msgpack over ZeroMQ to the events endpoint\n"
    "(\"zpeerctl feed\" does that for files); zpeerd batches them, posts them "
    "to\n"
    "every peer, repeats what failed, and publishes what became of it on the\n"
    "outcomes endpoint (\"zpeerctl watch\" prints that).\n"
    "\n"
    "  --peer URL         base URL of a peer, as Eureka's clients write it, "
    "for\n"
    "                     instance http://user:secret@host:8761/eureka/\n"
    "  --events EP        where changes come in "
    "(ipc:///run/zpeer/events)\n"
    "  --outcomes EP      where outcomes go out "
    "(ipc:///run/zpeer/outcomes)\n"
    "  --control EP       where commands come in; none: there are none\n"
    "                     (" ZPEERD_CONTROL_ENDPOINT ")\n"
    "  --set KEY=VALUE    sets any option, for instance\n"
    "                     eureka.server.peer-node-read-timeout-ms=10000\n"
    "  --log-level LEVEL  debug, info (the default), warning or error\n"
    "  --messages         prints zpeerd's own messages and what to do, and "
    "ends\n"
    "  --print-config     prints all options as they would be used, and ends\n"
    "  --version          prints the version, and ends\n"
    "  --help             prints this, and ends\n"
    "\n"
    "Options also come from the environment, under the names Eureka and Zowe\n"
    "know: EUREKA_SERVER_PEERNODEREADTIMEOUTMS, APIML_DISCOVERY_ALLPEERSURLS.\n"
    "The command line overrides them; --peer adds to the peers they list.\n"
    "\n"
    "\"zpeerctl peers\", add-peer, remove-peer, resync, verify and retry-now\n"
    "send commands. Peers added that way are gone when zpeerd ends. Whoever\n"
    "can connect to the endpoint may do all that.\n"
    "\n"
    "SIGTERM or SIGINT stops: no more changes are taken, what waits is\n"
    "delivered as far as zpeer.stop.deadline-ms allows. A second one ends the\n"
    "process at once. SIGHUP, SIGUSR1 and SIGUSR2 are ignored, and logged:\n"
    "nothing is read anew while it runs. The log goes to standard error.\n"
    "\n"
    "exit status:\n";

enum {
    OPT_PEER,
    OPT_EVENTS,
    OPT_OUTCOMES,
    OPT_CONTROL,
    OPT_SET,
    OPT_LOG_LEVEL,
    OPT_MESSAGES,
    OPT_PRINT_CONFIG,
    OPT_VERSION,
    OPT_HELP
};

static const struct option s_options[] = {
    {"peer", required_argument, NULL, OPT_PEER},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"outcomes", required_argument, NULL, OPT_OUTCOMES},
    {"control", required_argument, NULL, OPT_CONTROL},
    {"set", required_argument, NULL, OPT_SET},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"messages", no_argument, NULL, OPT_MESSAGES},
    {"print-config", no_argument, NULL, OPT_PRINT_CONFIG},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static void
s_print_usage (void)
{
    fputs (s_usage, stdout);
#define X(name, value, meaning) printf ("  %2d  %s\n", value, meaning);
    ZPEERD_EXITS (X)
#undef X
}

static zpeerd_exit_t
s_complain (zpeerd_exit_t status, const char *text)
{
    fprintf (stderr, "zpeerd: %s\n", text);
    if (status == ZPEERD_EXIT_USAGE)
        fputs ("Try \"zpeerd --help\".\n", stderr);
    return status;
}

static zpeerd_exit_t
s_set (zpeerd_args_t *self, const char *key, const char *value)
{
    if (zpeer_options_set (self->options, key, value) == ZPEER_OK)
        return ZPEERD_EXIT_OK;
    return s_complain (ZPEERD_EXIT_CONFIG, zpeer_options_error (self->options));
}

static zpeerd_exit_t
s_set_pair (zpeerd_args_t *self, const char *pair)
{
    const char *equals = strchr (pair, '=');
    if (!equals || equals == pair)
        return s_complain (ZPEERD_EXIT_USAGE, "--set wants KEY=VALUE");
    char *key = strndup (pair, (size_t) (equals - pair));
    assert (key);
    zpeerd_exit_t status = s_set (self, key, equals + 1);
    free (key);
    return status;
}

static zpeerd_exit_t
s_add_peer (zpeerd_args_t *self, const char *url)
{
    if (zpeer_options_add_peer (self->options, url) == ZPEER_OK)
        return ZPEERD_EXIT_OK;
    return s_complain (ZPEERD_EXIT_CONFIG, zpeer_options_error (self->options));
}

static zpeerd_exit_t
s_set_level (zpeerd_args_t *self, const char *name)
{
    if (stderr_log_parse_level (name, &self->level) == ZPEER_OK)
        return ZPEERD_EXIT_OK;
    return s_complain (ZPEERD_EXIT_USAGE,
                       "--log-level is debug, info, warning or error");
}

static zpeerd_exit_t
s_handle (zpeerd_args_t *self, int option)
{
    switch (option) {
    case OPT_PEER: return s_add_peer (self, optarg);
    case OPT_EVENTS: return s_set (self, "zpeer.events.endpoint", optarg);
    case OPT_OUTCOMES: return s_set (self, "zpeer.outcomes.endpoint", optarg);
    case OPT_CONTROL:
        self->control = optarg;
        self->control_wanted = true;
        return ZPEERD_EXIT_OK;
    case OPT_SET: return s_set_pair (self, optarg);
    case OPT_LOG_LEVEL: return s_set_level (self, optarg);
    case OPT_PRINT_CONFIG:
        self->mode = ZPEERD_PRINT_CONFIG;
        return ZPEERD_EXIT_OK;
    case OPT_MESSAGES:
        zpeerd_print_messages ();
        self->mode = ZPEERD_DONE;
        return ZPEERD_EXIT_OK;
    case OPT_VERSION:
        printf ("zpeerd %s\n", zpeer_version ());
        self->mode = ZPEERD_DONE;
        return ZPEERD_EXIT_OK;
    case OPT_HELP:
        s_print_usage ();
        self->mode = ZPEERD_DONE;
        return ZPEERD_EXIT_OK;
    default:  //  getopt has said what is wrong
        fputs ("Try \"zpeerd --help\".\n", stderr);
        return ZPEERD_EXIT_USAGE;
    }
}

static zpeerd_exit_t
s_read_options (zpeerd_args_t *self, int argc, char **argv)
{
    zpeerd_exit_t status = ZPEERD_EXIT_OK;
    int option = 0;
    while (status == ZPEERD_EXIT_OK && self->mode != ZPEERD_DONE) {
        option = getopt_long (argc, argv, "", s_options, NULL);
        if (option == -1)
            break;
        status = s_handle (self, option);
        if (option == OPT_PEER || option == OPT_SET)
            secrets_hide (optarg);
    }
    if (status == ZPEERD_EXIT_OK && self->mode != ZPEERD_DONE && optind < argc)
        status =
            s_complain (ZPEERD_EXIT_USAGE, "peers are named with --peer URL");
    return status;
}

zpeerd_exit_t
zpeerd_args_read (zpeerd_args_t *self, int argc, char **argv)
{
    assert (self);
    *self = (zpeerd_args_t){.mode = ZPEERD_RUN,
                            .control = ZPEERD_CONTROL_ENDPOINT,
                            .level = ZPEER_LOG_INFO};
    self->options = zpeer_options_new ();
    //  Who asks for help gets it, whatever the environment says
    char *wrong = NULL;
    if (zpeer_options_env (self->options, NULL) != ZPEER_OK)
        wrong = strdup (zpeer_options_error (self->options));
    zpeerd_exit_t status = s_read_options (self, argc, argv);
    if (status == ZPEERD_EXIT_OK && self->mode != ZPEERD_DONE && wrong)
        status = s_complain (ZPEERD_EXIT_CONFIG, wrong);
    free (wrong);
    return status;
}

void
zpeerd_args_free (zpeerd_args_t *self)
{
    assert (self);
    zpeer_options_destroy (&self->options);
}
