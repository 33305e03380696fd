/*  zpeerctl_feed.c - sends registry events from a file to an engine

    The input is JSON lines, one value a line, and is never held as a whole. If
    the first line is no JSON value by itself, the whole input is taken for one
    document spread over lines.
*/
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "feeder.h"
#include "lines.h"
#include "progress.h"
#include "source.h"
#include "zpeerctl_reach.h"
#include "banned.h"

#define DEFAULT_BATCH   64
#define RATE_MAX        10000000
#define DEFAULT_TIMEOUT 10
#define TIMEOUT_MAX     86400

//  How old a document may be when it is read, s. Eureka gives out one that is up to
//  30 s old, and it takes time to come.
#define DEFAULT_AGE 60
#define AGE_MAX     86400

//  Largest encoded event (<zpeer/event.h>)
#define EVENT_MAX 262144

//  How often replies are taken while the input has nothing new, ms
#define IDLE_MS 100

typedef struct {
    const char *file;
    const char *endpoint;
    uint32_t batch;
    uint32_t rate;
    uint32_t timeout_s;
    uint32_t age_s;
    bool quiet;
    bool help;
} arguments_t;

typedef struct {
    const char *name;       //  Of the input, for messages
    lines_t *lines;         //  Owned
    feeder_t *feeder;       //  Owned
    progress_t progress;    //  On standard error
    feeder_place_t place;   //  Of the event at hand
    bool begun;             //  Past the first line that is not blank
    bool hopeless;          //  The rest of the input is not worth reading
    uint64_t unusable;      //  Lines and items that made no event
    int error;              //  Why sending failed, ZPEER_OK while it works
    int64_t age_ms;         //  How old a document may be when it is read
    int64_t fresh_at;       //  Nothing of what is read was there before
    uint64_t mark;          //  What the engine's clock showed, at marked_at at
    int64_t marked_at;      //  the latest; 0: it does not tell
    bool asked;             //  For it
    char bytes[EVENT_MAX];  //  The event at hand, encoded
} self_t;

static const char s_usage[] =
    "usage: zpeerctl feed [option]... FILE\n"
    "\n"
    "Sends the registry events in FILE (\"-\": standard input) to an engine.\n"
    "FILE holds one JSON value a line, of any of these shapes:\n"
    "\n"
    "  {\"action\":\"Heartbeat\",\"app\":\"A\",\"id\":\"i\","
    "\"lastDirtyTimestamp\":1}\n"
    "      an event with the names of protocol ZPEER/1\n"
    "  {\"action\":\"Heartbeat\",\"appName\":\"A\",\"id\":\"i\",...}\n"
    "      an item of Eureka's peer replication\n"
    "  {\"replicationList\":[...]}\n"
    "      a whole request of it\n"
    "  {\"instance\":{...}}, or the inner object alone\n"
    "      what a service sends to register: a Register\n"
    "  {\"applications\":{...}}\n"
    "      what GET /eureka/apps answers: a snapshot of every instance; this\n"
    "      may be spread over lines\n"
    "\n"
    "So a registry is copied with\n"
    "\n"
    "  curl -s --compressed -H 'Accept: application/json' \\\n"
    "      http://host:8761/eureka/apps | zpeerctl feed -\n"
    "\n"
    "  --endpoint EP   the engine's events (" ZPEERCTL_EVENTS ")\n"
    "  --batch N       most events in one request, 1 to 100 (64)\n"
    "  --rate N        events per second (as fast as the engine takes them)\n"
    "  --timeout S     how long the engine may stay silent (10)\n"
    "  --age S         how old such an answer may be when it is read (60)\n"
    "  --quiet         no progress, only what went wrong and the summary\n"
    "  --help          prints this\n"
    "\n"
    "A registry's instances live at the peers only as long as heartbeats "
    "come:\n"
    "their lease, 90 s unless they say otherwise. Feeding once does not renew\n"
    "them, and never cancels what has gone from the input.\n"
    "\n"
    "A snapshot is all that the registry has of an instance: it removes an\n"
    "override that only peers hold. Changes that the engine has taken since "
    "it\n"
    "was made (--age, and what a file is older) stay as they are.\n"
    "\n"
    "What is rejected is reported with its line and the reason; the rest goes\n"
    "on. An input with nothing but blanks in it is an error, too. A document "
    "that\n"
    "names no instance, as the answer of an empty registry, is none: nothing "
    "is\n"
    "sent, which is said, and the status is 0. A summary goes to standard "
    "output,\n"
    "everything else to standard error.\n";

enum {
    OPT_ENDPOINT,
    OPT_BATCH,
    OPT_RATE,
    OPT_TIMEOUT,
    OPT_AGE,
    OPT_QUIET,
    OPT_HELP
};

static const struct option s_options[] = {
    {"endpoint", required_argument, NULL, OPT_ENDPOINT},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"rate", required_argument, NULL, OPT_RATE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"age", required_argument, NULL, OPT_AGE},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static zpeerctl_exit_t
s_handle (arguments_t *self, int option)
{
    switch (option) {
    case OPT_ENDPOINT: self->endpoint = optarg; break;
    case OPT_BATCH:
        return zpeerctl_number ("feed", "--batch", 1, FEEDER_BATCH_MAX,
                                &self->batch);
    case OPT_RATE:
        return zpeerctl_number ("feed", "--rate", 1, RATE_MAX, &self->rate);
    case OPT_TIMEOUT:
        return zpeerctl_number ("feed", "--timeout", 1, TIMEOUT_MAX,
                                &self->timeout_s);
    case OPT_AGE:
        return zpeerctl_number ("feed", "--age", 0, AGE_MAX, &self->age_s);
    case OPT_QUIET: self->quiet = true; break;
    case OPT_HELP: self->help = true; break;
    default: return zpeerctl_complain ("feed", "wrong option");
    }
    return ZPEERCTL_EXIT_OK;
}

static zpeerctl_exit_t
s_read_arguments (arguments_t *self, int argc, char **argv)
{
    *self = (arguments_t){
        .endpoint = ZPEERCTL_EVENTS,
        .batch = DEFAULT_BATCH,
        .timeout_s = DEFAULT_TIMEOUT,
        .age_s = DEFAULT_AGE,
    };
    int option = 0;
    while ((option = getopt_long (argc, argv, "", s_options, NULL)) != -1) {
        zpeerctl_exit_t status = s_handle (self, option);
        if (status != ZPEERCTL_EXIT_OK)
            return status;
    }
    if (!self->help && optind + 1 != argc)
        return zpeerctl_complain ("feed", "one FILE is wanted, or -");
    self->file = argv[optind];
    return ZPEERCTL_EXIT_OK;
}

//  A reject_fn of the feeder: the engine said no
static void
s_rejected (void *arg, feeder_place_t place, const char *reason)
{
    self_t *self = arg;
    progress_clear (&self->progress);
    fprintf (stderr, "%s:%" PRIu64, self->name, place.line);
    if (place.item > 0)
        fprintf (stderr, " (item %" PRIu64 ")", place.item);
    fprintf (stderr, ": %s\n", reason);
}

//  Something in the input is no event
static void
s_unusable (void *arg, uint64_t item, const char *reason)
{
    self_t *self = arg;
    self->place.item = item;
    self->unusable++;
    s_rejected (self, self->place, reason);
}

static void
s_show_progress (self_t *self)
{
    const feeder_counts_t *counts = feeder_counts (self->feeder);
    progress_state_t state = {
        .done_bytes = lines_done (self->lines),
        .total_bytes = lines_total (self->lines),
        .sent = counts->sent,
        .accepted = counts->accepted,
        .rejected = counts->rejected,
    };
    progress_show (&self->progress, &state, clock_now ());
}

//  An event of the input, encoded and handed to the feeder
static void
s_event (void *arg, uint64_t item, const zpeer_event_t *event)
{
    self_t *self = arg;
    if (self->error != ZPEER_OK)
        return;
    self->place.item = item;
    size_t used = 0;
    if (zpeer_event_encode (event, self->bytes, sizeof self->bytes, &used) !=
        ZPEER_OK) {
        s_unusable (self, item, "larger than an event may be");
        return;
    }
    self->error = feeder_add (self->feeder, self->place, self->bytes, used);
    s_show_progress (self);
}

//  Of which time a document is that is read, by the engine's clock. That one is
//  asked for once, when it is needed, and runs as ours does.
static uint64_t
s_as_of (void *arg)
{
    self_t *self = arg;
    if (!self->asked && self->error == ZPEER_OK) {
        self->error = feeder_ask (self->feeder, &self->mark);
        self->marked_at = clock_now ();
        self->asked = true;
    }
    int64_t before = self->marked_at - self->fresh_at + self->age_ms;
    return (int64_t) self->mark > before ? self->mark - (uint64_t) before : 0;
}

static bool
s_blank (const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr (" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

//  The value on a line. If the first line is the beginning of one that goes on,
//  the whole input is that value; if it is not, only this line is bad.
static json_t *
s_parse (self_t *self, const char *text, size_t size, json_error_t *error)
{
    json_t *value = json_loadb (text, size, JSON_REJECT_DUPLICATES, error);
    bool first = !self->begun;
    self->begun = true;
    if (value || !first ||
        json_error_code (error) != json_error_premature_end_of_input ||
        lines_rest (self->lines, &text, &size) != ZPEER_OK)
        return value;
    value = json_loadb (text, size, JSON_REJECT_DUPLICATES, error);
    if (value)
        lines_end (self->lines);
    return value;
}

//  Why the input is no JSON at all, or NULL. XML is what Eureka answers unless it
//  is asked for JSON; gzip what Netflix's server answers without being asked.
static const char *
s_foreign (const char *text, size_t size)
{
    if (size >= 2 && !memcmp (text, "\x1f\x8b", 2))
        return "this is gzip; use curl --compressed, or gunzip it";
    while (size > 0 && s_blank (text, 1)) {
        text++;
        size--;
    }
    if (size > 0 && *text == '<')
        return "this is XML; ask for JSON: curl -H 'Accept: application/json'";
    return NULL;
}

static void
s_handle_line (self_t *self, const char *text, size_t size)
{
    self->place.line = lines_number (self->lines);
    if (s_blank (text, size))
        return;
    const char *foreign = self->begun ? NULL : s_foreign (text, size);
    if (foreign) {
        self->begun = true;
        self->hopeless = true;
        s_unusable (self, 0, foreign);
        return;
    }
    json_error_t error;
    json_t *value = s_parse (self, text, size, &error);
    if (!value) {
        s_unusable (self, 0, error.text);
        return;
    }
    source_sink_t sink = {
        .arg = self, .event = s_event, .reject = s_unusable, .as_of = s_as_of};
    source_read (value, &sink);
    json_decref (value);
}

//  A pipe has nothing new: what is gathered goes out, and replies are taken
static void
s_idle (self_t *self)
{
    do {
        self->error = feeder_flush (self->feeder);
        s_show_progress (self);
        self->fresh_at = clock_now ();
    } while (self->error == ZPEER_OK && !lines_wait (self->lines, IDLE_MS));
}

//  Reads to the end of the input. Returns 0, or an error of the input.
static int
s_read_all (self_t *self)
{
    const char *text = NULL;
    size_t size = 0;
    int rc = ZPEER_OK;
    while (rc == ZPEER_OK && self->error == ZPEER_OK && !self->hopeless) {
        if (!lines_wait (self->lines, 0))
            s_idle (self);
        if (self->error == ZPEER_OK)
            rc = lines_next (self->lines, &text, &size);
        if (rc == ZPEER_OK && self->error == ZPEER_OK)
            s_handle_line (self, text, size);
    }
    return rc == ZPEER_E_AGAIN ? ZPEER_OK : rc;
}

//  What is sent is accepted, rejected or without a reply; what is no event is
//  never sent
static void
s_print_summary (const self_t *self)
{
    const feeder_counts_t *counts = feeder_counts (self->feeder);
    uint64_t open = counts->sent - counts->accepted - counts->rejected;
    int64_t ms = clock_now () - self->progress.started_at;
    printf ("%" PRIu64 " events sent, %" PRIu64 " accepted, %" PRIu64
            " rejected",
            counts->sent, counts->accepted, counts->rejected);
    if (open)
        printf (", %" PRIu64 " without a reply", open);
    printf (", in %.1f s (%.0f/s)", (double) ms / 1000,
            (double) counts->sent * 1000 / (double) (ms ? ms : 1));
    if (self->unusable)
        printf ("; %" PRIu64 " in the input made no event", self->unusable);
    putchar ('\n');
}

//  Whether there was something in the input, and nothing that made no event or was
//  rejected
static bool
s_is_complete (const self_t *self)
{
    return self->begun && !self->unusable &&
           !feeder_counts (self->feeder)->rejected;
}

//  Says why not everything in the input was sent, or nothing; rc: of reading it
static void
s_explain (const self_t *self, const arguments_t *arguments, int rc)
{
    if (rc != ZPEER_OK)
        fprintf (stderr, "%s: %s\n", self->name,
                 rc == ZPEER_E_IO ? strerror (errno) : zpeer_strerror (rc));
    else if (!self->begun && self->error == ZPEER_OK)
        fprintf (stderr, "%s: the input was empty\n", self->name);
    else if (s_is_complete (self) && !feeder_counts (self->feeder)->sent &&
             self->error == ZPEER_OK)
        fprintf (stderr, "%s: no instance is in it, nothing was sent\n",
                 self->name);
    if (self->error == ZPEER_E_IO)
        fprintf (stderr,
                 "zpeerctl feed: the connection to %s broke; feed again what "
                 "is without a reply\n",
                 arguments->endpoint);
    else if (self->error == ZPEER_E_PARSE)
        zpeerctl_reach_wrong ("feed", arguments->endpoint, "events");
    else if (self->error != ZPEER_OK)
        zpeerctl_reach_silent ("feed", arguments->endpoint, "events",
                               arguments->timeout_s);
}

static zpeerctl_exit_t
s_feed (self_t *self, const arguments_t *arguments)
{
    int rc = s_read_all (self);
    int reason = errno;
    if (self->error == ZPEER_OK)
        self->error = feeder_finish (self->feeder);
    progress_clear (&self->progress);
    errno = reason;
    s_explain (self, arguments, rc);
    s_print_summary (self);

    if (self->error != ZPEER_OK)
        return ZPEERCTL_EXIT_SILENT;
    if (rc != ZPEER_OK)
        return ZPEERCTL_EXIT_USAGE;
    return s_is_complete (self) ? ZPEERCTL_EXIT_OK : ZPEERCTL_EXIT_REJECTED;
}

static zpeerctl_exit_t
s_open_and_feed (self_t *self, const arguments_t *arguments)
{
    self->name = arguments->file;
    zpeerctl_exit_t status =
        zpeerctl_reach_check ("feed", arguments->endpoint, "events");
    if (status != ZPEERCTL_EXIT_OK)
        return status;
    self->lines = lines_open (arguments->file);
    if (!self->lines)
        return zpeerctl_complain ("feed", "%s: %s", arguments->file,
                                  strerror (errno));
    feeder_options_t options = {
        .endpoint = arguments->endpoint,
        .batch = arguments->batch,
        .rate = arguments->rate,
        .patience_ms = (int) arguments->timeout_s * 1000,
        .arg = self,
        .rejected = s_rejected,
    };
    self->feeder = feeder_new (&options);
    if (!self->feeder)
        return zpeerctl_complain ("feed", "\"%s\" is no endpoint",
                                  arguments->endpoint);
    progress_init (&self->progress, arguments->quiet, clock_now ());
    self->fresh_at = clock_now ();
    self->age_ms = INT64_C (1000) * arguments->age_s + lines_age (self->lines);
    return s_feed (self, arguments);
}

zpeerctl_exit_t
zpeerctl_feed (int argc, char **argv)
{
    arguments_t arguments;
    zpeerctl_exit_t status = s_read_arguments (&arguments, argc, argv);
    if (status == ZPEERCTL_EXIT_OK && arguments.help) {
        fputs (s_usage, stdout);
        zpeerctl_print_exits ();
        return ZPEERCTL_EXIT_OK;
    }
    if (status != ZPEERCTL_EXIT_OK)
        return status;
    self_t *self = calloc (1, sizeof *self);
    assert (self);
    status = s_open_and_feed (self, &arguments);
    feeder_destroy (&self->feeder);
    lines_close (&self->lines);
    free (self);
    return status;
}
