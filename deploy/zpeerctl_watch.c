/*  zpeerctl_watch.c - prints what an engine reports
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zpeer/watch.h>
#include "zpeerctl_reach.h"
#include "banned.h"

//  Most seconds to wait, and most outcomes to count
#define SECONDS_MAX 86400
#define COUNT_MAX   1000000000

//  When silence is worth a word, ms: an engine publishes figures each second
#define QUIET_MS 3000

//  topic, when
#define TOPICS(X)                                                              \
    X ("conflict", "a peer has a newer copy of an instance")                   \
    X ("rejected", "a peer does not take a change")                            \
    X ("dropped", "changes were given up, and why")                            \
    X ("need-register", "a Register is missing at the engine")                 \
    X ("peer", "a peer came, went, failed, recovered")                         \
    X ("resync", "a resync or verify began, goes on, ended")                   \
    X ("delivered", "a peer took a change (an option)")                        \
    X ("stats", "figures, each second")

static const struct {
    const char *name;
    const char *when;
} s_topics[] = {
#define X(name, when) {name, when},
    TOPICS (X)
#undef X
};

static const char s_topic_names[] =
#define X(name, when) " " name
    TOPICS (X);
#undef X

#define TOPIC_COUNT (sizeof s_topics / sizeof *s_topics)

typedef struct {
    const char *endpoint;
    const char *topics;  //  NULL: all
    uint32_t count;      //  Ends after so many; 0: never
    uint32_t timeout_s;  //  Ends when nothing came for so long; 0: never
    bool quiet;          //  Says nothing about silence
    bool help;
} arguments_t;

static void
s_print_usage (void)
{
    puts ("usage: zpeerctl watch [option]...\n"
          "\n"
          "Prints what an engine reports, one line each:\n"
          "\n"
          "  {\"topic\":\"peer\",\"data\":"
          "{\"peer\":\"http://a:8761/eureka/\",...}}\n"
          "\n"
          "  --endpoint EP   the engine's outcomes (" ZPEERCTL_OUTCOMES ")\n"
          "  --topics LIST   only these, separated by commas:");
    for (size_t i = 0; i < TOPIC_COUNT; i++)
        printf ("                  %-13s  %s\n", s_topics[i].name,
                s_topics[i].when);
    puts ("  --count N       ends after N lines\n"
          "  --timeout S     ends when nothing was reported for S seconds\n"
          "  --quiet         not a word about an engine that is not there\n"
          "  --help          prints this\n"
          "\n"
          "It waits for an engine that is not there yet.");
    zpeerctl_print_exits ();
}

enum { OPT_ENDPOINT, OPT_TOPICS, OPT_COUNT, OPT_TIMEOUT, OPT_QUIET, OPT_HELP };

static const struct option s_options[] = {
    {"endpoint", required_argument, NULL, OPT_ENDPOINT},
    {"topics", required_argument, NULL, OPT_TOPICS},
    {"count", required_argument, NULL, OPT_COUNT},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool
s_known (const char *topic, size_t size)
{
    for (size_t i = 0; i < TOPIC_COUNT; i++)
        if (strlen (s_topics[i].name) == size &&
            !memcmp (s_topics[i].name, topic, size))
            return true;
    return false;
}

//  Refuses a list that names something else: it would be waited for for ever
static zpeerctl_exit_t
s_set_topics (arguments_t *self, const char *list)
{
    size_t size;
    for (const char *topic = list; *topic; topic += size) {
        topic += strspn (topic, ", ");
        size = strcspn (topic, ", ");
        if (size && !s_known (topic, size))
            return zpeerctl_complain ("watch",
                                      "--topics: \"%.*s\" is none of%s",
                                      (int) size, topic, s_topic_names);
    }
    self->topics = list;
    return ZPEERCTL_EXIT_OK;
}

static zpeerctl_exit_t
s_handle (arguments_t *self, int option)
{
    switch (option) {
    case OPT_ENDPOINT: self->endpoint = optarg; break;
    case OPT_TOPICS: return s_set_topics (self, optarg);
    case OPT_COUNT:
        return zpeerctl_number ("watch", "--count", 1, COUNT_MAX, &self->count);
    case OPT_TIMEOUT:
        return zpeerctl_number ("watch", "--timeout", 1, SECONDS_MAX,
                                &self->timeout_s);
    case OPT_QUIET: self->quiet = true; break;
    case OPT_HELP: self->help = true; break;
    default: return zpeerctl_complain ("watch", "wrong option");
    }
    return ZPEERCTL_EXIT_OK;
}

static bool
s_print (const char *topic, const void *data, size_t size)
{
    char *json = zpeer_watch_json (data, size);
    if (!json)
        return false;
    printf ("{\"topic\":\"%s\",\"data\":%s}\n", topic, json);
    free (json);
    return true;
}

//  What is read
typedef struct {
    const char *topic;
    const void *data;
    size_t size;
} outcome_t;

//  Waits for the first outcome. If there is none for a while, and figures do not
//  come either, nobody may be there: says so, and waits on.
static int
s_recv_first (zpeer_watch_t *watch, const arguments_t *arguments,
              int timeout_ms, outcome_t *it)
{
    zpeer_watch_t *figures =
        arguments->quiet ? NULL
                         : zpeer_watch_new (arguments->endpoint, "stats");
    int ms = timeout_ms < 0 || timeout_ms > QUIET_MS ? QUIET_MS : timeout_ms;
    int rc = zpeer_watch_recv (watch, ms, &it->topic, &it->data, &it->size);
    outcome_t other;
    if (rc != ZPEER_OK && figures &&
        zpeer_watch_recv (figures, 0, &other.topic, &other.data, &other.size))
        zpeerctl_reach_quiet ("watch", arguments->endpoint);
    zpeer_watch_destroy (&figures);
    if (rc == ZPEER_OK)
        return rc;
    return zpeer_watch_recv (watch, timeout_ms < 0 ? -1 : timeout_ms - ms,
                             &it->topic, &it->data, &it->size);
}

static zpeerctl_exit_t
s_watch (zpeer_watch_t *watch, const arguments_t *arguments)
{
    int timeout_ms =
        arguments->timeout_s ? (int) arguments->timeout_s * 1000 : -1;
    uint32_t printed = 0;
    outcome_t it;
    int rc = s_recv_first (watch, arguments, timeout_ms, &it);
    while (true) {
        if (rc == ZPEER_OK && s_print (it.topic, it.data, it.size))
            printed++;
        else if (rc == ZPEER_E_TIMEOUT)
            return printed && !arguments->count ? ZPEERCTL_EXIT_OK
                                                : ZPEERCTL_EXIT_SILENT;
        if (ferror (stdout) ||
            (arguments->count && printed == arguments->count))
            return ZPEERCTL_EXIT_OK;
        rc =
            zpeer_watch_recv (watch, timeout_ms, &it.topic, &it.data, &it.size);
    }
}

zpeerctl_exit_t
zpeerctl_watch (int argc, char **argv)
{
    arguments_t arguments = {.endpoint = ZPEERCTL_OUTCOMES};
    int option = 0;
    while ((option = getopt_long (argc, argv, "", s_options, NULL)) != -1) {
        zpeerctl_exit_t status = s_handle (&arguments, option);
        if (status != ZPEERCTL_EXIT_OK)
            return status;
    }
    if (arguments.help) {
        s_print_usage ();
        return ZPEERCTL_EXIT_OK;
    }
    if (optind < argc)
        return zpeerctl_complain ("watch", "\"%s\" is too much", argv[optind]);

    zpeerctl_exit_t status =
        zpeerctl_reach_check ("watch", arguments.endpoint, "outcomes");
    if (status != ZPEERCTL_EXIT_OK)
        return status;
    zpeer_watch_t *watch =
        zpeer_watch_new (arguments.endpoint, arguments.topics);
    if (!watch)
        return zpeerctl_complain ("watch", "\"%s\" is no endpoint",
                                  arguments.endpoint);
    setvbuf (stdout, NULL, _IOLBF, 0);  //  Each line at once, to pipes too
    status = s_watch (watch, &arguments);
    zpeer_watch_destroy (&watch);
    return status;
}
