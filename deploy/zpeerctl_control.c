/*  zpeerctl_control.c - asks zpeerd about its peers, and for changes of them
 */
#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <czmq.h>
#include "zpeerd_control.h"
#include "secrets.h"
#include "zpeerctl_follow.h"
#include "zpeerctl_reach.h"
#include "banned.h"

#define DEFAULT_TIMEOUT 10
#define SECONDS_MAX     86400

//  What zpeerd's control endpoint is for
#define COMMANDS_AT "commands"

//  Where to look when a walk is not waited for
#define PROGRESS "\"zpeerctl watch --topics resync\" shows the progress.\n"

//  What is said of a walk that was asked for
#define QUEUED " is queued, peers take turns"

//  What a walk does not reach
#define LEFT_OUT                                                               \
    "What zpeerd knows from heartbeats only is left out, for it has nothing\n" \
    "to tell: with --wait that ends with 4.\n"                                 \
    "\n"

#define HELP_PEERS "Prints the base URLs of zpeerd's peers, one a line.\n"

#define HELP_ADD                                                               \
    "Adds a peer: the base URL as Eureka's clients write it. It is told\n"     \
    "the whole registry, and every change from now on. With \"-\" the URL\n"   \
    "is the first line of standard input, for one with a password in it.\n"    \
    "\n"                                                                       \
    "It is gone when zpeerd ends: name it in zpeerd's configuration, too.\n"

#define HELP_REMOVE                                                            \
    "Removes a peer: what is in flight may end within\n"                       \
    "zpeer.stop.deadline-ms, nothing more is sent to it.\n"                    \
    "\n"                                                                       \
    "One that zpeerd's configuration names is back when zpeerd starts "        \
    "again.\n"

#define HELP_RESYNC                                                            \
    "Brings a peer, or one after the other all of them, to the registry's\n"   \
    "state of every instance, whatever they hold. An instance of which\n"      \
    "another server has a newer copy is left alone (outcome \"conflict\").\n"  \
    "Changes that come meanwhile are not held up.\n"                           \
    "\n" LEFT_OUT PROGRESS

#define HELP_VERIFY                                                            \
    "Asks a peer, or one after the other all of them, about every instance,\n" \
    "and repairs what they do not hold or hold an older copy of: less work\n"  \
    "than a resync, and enough for a peer that came back empty. It does not\n" \
    "see an override that alone differs.\n"                                    \
    "\n" LEFT_OUT PROGRESS

#define HELP_RETRY                                                             \
    "Ends the pause of a peer, or of all, after failures: what waits is\n"     \
    "sent at once, for instance because the peer is known to be back.\n"

//  name, what it is about, waits for a walk, what is said about each peer, help
#define COMMANDS(X)                                                            \
    X ("peers", NULL, false, "", HELP_PEERS)                                   \
    X ("add-peer", "URL", false,                                               \
       " is a peer now, and is told the whole registry", HELP_ADD)             \
    X ("remove-peer", "URL", false, " is no peer any more", HELP_REMOVE)       \
    X ("resync", "URL|all", true, ": a resync" QUEUED, HELP_RESYNC)            \
    X ("verify", "URL|all", true, ": a verify" QUEUED, HELP_VERIFY)            \
    X ("retry-now", "URL|all", false, ": its pause is over, if there was one", \
       HELP_RETRY)

typedef struct {
    const char *name;
    const char *operand;  //  NULL: none
    bool walk;
    const char *done;
    const char *help;
} command_t;

static const command_t s_commands[] = {
#define X(name, operand, walk, done, help) {name, operand, walk, done, help},
    COMMANDS (X)
#undef X
};

typedef struct {
    const command_t *command;
    char *url;  //  Owned; NULL: none
    const char *endpoint;
    const char *outcomes;
    uint32_t timeout_s;
    uint32_t wait_s;  //  For the end of a walk; 0: not
    bool help;
} arguments_t;

static void
s_print_usage (const command_t *command)
{
    printf ("usage: zpeerctl %s [option]...%s%s\n\n%s\n", command->name,
            command->operand ? " " : "",
            command->operand ? command->operand : "", command->help);
    puts ("  --endpoint EP   zpeerd's control socket (" ZPEERCTL_CONTROL ")\n"
          "  --timeout S     how long zpeerd may take to answer (10)");
    if (command->walk)
        puts ("  --wait S        waits up to S seconds for the end, and prints "
              "what came of it\n"
              "  --outcomes EP   zpeerd's outcomes, for --wait "
              "(" ZPEERCTL_OUTCOMES ")");
    puts ("  --help          prints this");
    zpeerctl_print_exits ();
}

enum { OPT_ENDPOINT, OPT_TIMEOUT, OPT_HELP, OPT_WAIT, OPT_OUTCOMES };

//  The last ones are for walks only
static const struct option s_options[] = {
    {"endpoint", required_argument, NULL, OPT_ENDPOINT},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"help", no_argument, NULL, OPT_HELP},
    {"wait", required_argument, NULL, OPT_WAIT},
    {"outcomes", required_argument, NULL, OPT_OUTCOMES},
    {NULL, 0, NULL, 0},
};

static zpeerctl_exit_t
s_handle (arguments_t *self, int option)
{
    const char *name = self->command->name;
    if (option >= OPT_WAIT && option <= OPT_OUTCOMES && !self->command->walk)
        return zpeerctl_complain (name, "--%s is for resync and verify",
                                  s_options[option].name);
    switch (option) {
    case OPT_ENDPOINT: self->endpoint = optarg; break;
    case OPT_TIMEOUT:
        return zpeerctl_number (name, "--timeout", 1, SECONDS_MAX,
                                &self->timeout_s);
    case OPT_HELP: self->help = true; break;
    case OPT_WAIT:
        return zpeerctl_number (name, "--wait", 1, SECONDS_MAX, &self->wait_s);
    case OPT_OUTCOMES: self->outcomes = optarg; break;
    default: return zpeerctl_complain (name, "wrong option");
    }
    return ZPEERCTL_EXIT_OK;
}

//  The URL, or the first line of standard input for "-"
static zpeerctl_exit_t
s_set_url (arguments_t *self, const char *text)
{
    char line[ZPEERD_CONTROL_FRAME_MAX + 2];  //  With its end
    if (streq (text, "-"))
        text = fgets (line, sizeof line, stdin) ? line : "";
    size_t size = strcspn (text, "\r\n");
    if (size == 0 || size > ZPEERD_CONTROL_FRAME_MAX)
        return zpeerctl_complain (self->command->name, "the URL is %s",
                                  size ? "too long" : "empty");
    self->url = strndup (text, size);
    assert (self->url);
    return ZPEERCTL_EXIT_OK;
}

static zpeerctl_exit_t
s_read_arguments (arguments_t *self, int argc, char **argv)
{
    int option = 0;
    while ((option = getopt_long (argc, argv, "", s_options, NULL)) != -1) {
        zpeerctl_exit_t status = s_handle (self, option);
        if (status != ZPEERCTL_EXIT_OK)
            return status;
    }
    const char *operand = self->command->operand;
    int wanted = operand ? 1 : 0;
    if (self->help)
        return ZPEERCTL_EXIT_OK;
    if (argc - optind > wanted)
        return zpeerctl_complain (self->command->name, "\"%s\" is too much",
                                  argv[optind + wanted]);
    if (argc - optind < wanted)
        return zpeerctl_complain (self->command->name, "%s is missing",
                                  operand);
    if (!operand)
        return ZPEERCTL_EXIT_OK;
    zpeerctl_exit_t status = s_set_url (self, argv[optind]);
    secrets_hide (argv[optind]);
    return status;
}

//  Sends the request. Returns the answer, the caller's to free. NULL: there was
//  none, and status says what it was.
static char *
s_exchange (const arguments_t *arguments, zsock_t *socket,
            zpeerctl_exit_t *status)
{
    const char *name = arguments->command->name;
    zsock_set_linger (socket, 0);
    zsock_set_rcvtimeo (socket, (int) arguments->timeout_s * 1000);
    zsock_set_ipv6 (socket, 1);
    if (zsock_connect (socket, "%s", arguments->endpoint)) {
        *status = zpeerctl_complain (name, "\"%s\" is no endpoint",
                                     arguments->endpoint);
        return NULL;
    }
    zstr_sendx (socket, name, arguments->url, NULL);
    char *answer = zstr_recv (socket);
    if (!answer)
        *status = zpeerctl_reach_silent (name, arguments->endpoint, COMMANDS_AT,
                                         arguments->timeout_s);
    return answer;
}

//  Whether an answer says that it is done, and that it is refused
static bool
s_is_done (const char *answer)
{
    return streq (answer, "OK") || strncmp (answer, "OK ", 3) == 0;
}

static bool
s_is_refused (const char *answer)
{
    return strncmp (answer, "ERROR ", 6) == 0;
}

//  Asks zpeerd. Returns "OK …", the caller's to free. NULL: it did not say that,
//  and status says what it was.
static char *
s_ask (const arguments_t *arguments, zpeerctl_exit_t *status)
{
    const char *name = arguments->command->name;
    zsys_handler_set (NULL);  //  SIGINT ends this program as it ends others
    *status = zpeerctl_reach_check (name, arguments->endpoint, COMMANDS_AT);
    if (*status != ZPEERCTL_EXIT_OK)
        return NULL;
    zsock_t *socket = zsock_new (ZMQ_REQ);
    char *answer = s_exchange (arguments, socket, status);
    zsock_destroy (&socket);
    if (!answer || s_is_done (answer))
        return answer;
    if (s_is_refused (answer)) {
        fprintf (stderr, "zpeerctl %s: %s\n", name, answer + 6);
        *status = ZPEERCTL_EXIT_REJECTED;
    }
    else
        *status = zpeerctl_reach_wrong (name, arguments->endpoint, COMMANDS_AT);
    zstr_free (&answer);
    return NULL;
}

//  Takes the URLs of "OK URL\nURL…" apart, where they lie. Returns how many.
static size_t
s_split (char *answer, char *urls[ZPEER_PEERS_MAX])
{
    strsep (&answer, " ");
    size_t count = 0;
    while (count < ZPEER_PEERS_MAX && answer)
        urls[count++] = strsep (&answer, "\n");
    return count;
}

//  It is done, or begun: says so
static zpeerctl_exit_t
s_tell (const arguments_t *arguments, char *answer, zpeerctl_follow_t *follow)
{
    const command_t *command = arguments->command;
    char *urls[ZPEER_PEERS_MAX];
    size_t count = s_split (answer, urls);
    for (size_t i = 0; i < count; i++)
        printf ("%s%s\n", urls[i], command->done);
    fflush (stdout);
    if (follow)
        return zpeerctl_follow_run (follow, urls, count, arguments->wait_s);
    if (command->walk)
        fputs (PROGRESS, stdout);
    return ZPEERCTL_EXIT_OK;
}

static zpeerctl_exit_t
s_run (const arguments_t *arguments, zpeerctl_follow_t *follow)
{
    zpeerctl_exit_t status;
    char *answer = s_ask (arguments, &status);
    if (answer)
        status = s_tell (arguments, answer, follow);
    zstr_free (&answer);
    return status;
}

//  Nothing is asked for if its end cannot be heard of
static zpeerctl_exit_t
s_run_followed (const arguments_t *arguments)
{
    const char *name = arguments->command->name;
    zpeerctl_exit_t status =
        zpeerctl_reach_check (name, arguments->outcomes, "outcomes");
    if (status != ZPEERCTL_EXIT_OK)
        return status;
    zpeerctl_follow_t *follow = zpeerctl_follow_new (name, arguments->outcomes);
    if (!follow)
        return zpeerctl_complain (name, "\"%s\" is no endpoint",
                                  arguments->outcomes);
    status = s_run (arguments, follow);
    zpeerctl_follow_destroy (&follow);
    return status;
}

static const command_t *
s_find (const char *name)
{
    const command_t *command = s_commands;
    while (!streq (command->name, name))
        command++;
    return command;
}

zpeerctl_exit_t
zpeerctl_control (int argc, char **argv)
{
    arguments_t arguments = {.command = s_find (argv[0]),
                             .endpoint = ZPEERCTL_CONTROL,
                             .outcomes = ZPEERCTL_OUTCOMES,
                             .timeout_s = DEFAULT_TIMEOUT};
    zpeerctl_exit_t status = s_read_arguments (&arguments, argc, argv);
    if (status == ZPEERCTL_EXIT_OK && arguments.help)
        s_print_usage (arguments.command);
    else if (status == ZPEERCTL_EXIT_OK)
        status = arguments.wait_s ? s_run_followed (&arguments)
                                  : s_run (&arguments, NULL);
    free (arguments.url);
    return status;
}
