/*  zpeerctl_watch.c - prints what an engine reports
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <zpeer/watch.h>
#include "zpeerctl.h"
#include "banned.h"

//  Most seconds to wait, and most outcomes to count
#define SECONDS_MAX 86400
#define COUNT_MAX   1000000000

typedef struct {
    const char *endpoint;
    const char *topics;  //  NULL: all
    uint32_t count;      //  Ends after so many; 0: never
    uint32_t timeout_s;  //  Ends when nothing came for so long; 0: never
    bool help;
} arguments_t;

static const char s_usage[] =
    "usage: zpeerctl watch [option]...\n"
    "\n"
    "Prints what an engine reports, one line each:\n"
    "\n"
    "  {\"topic\":\"peer\",\"data\":{\"url\":\"http://a:8761/eureka/\",...}}\n"
    "\n"
    "  --endpoint EP   the engine's outcomes (" ZPEERCTL_OUTCOMES ")\n"
    "  --topics LIST   only these, separated by commas:\n"
    "                  conflict       a peer has a newer copy of an instance\n"
    "                  rejected       a peer does not take a change\n"
    "                  dropped        changes were given up, and why\n"
    "                  need-register  a Register is missing at the engine\n"
    "                  peer           a peer came, went, failed, recovered\n"
    "                  delivered      a peer took a change (an option)\n"
    "                  stats          figures, each second\n"
    "  --count N       ends after N lines\n"
    "  --timeout S     ends when nothing was reported for S seconds\n"
    "  --help          prints this\n";

enum { OPT_ENDPOINT, OPT_TOPICS, OPT_COUNT, OPT_TIMEOUT, OPT_HELP };

static const struct option s_options[] = {
    {"endpoint", required_argument, NULL, OPT_ENDPOINT},
    {"topics", required_argument, NULL, OPT_TOPICS},
    {"count", required_argument, NULL, OPT_COUNT},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool
s_handle (arguments_t *self, int option)
{
    switch (option) {
    case OPT_ENDPOINT: self->endpoint = optarg; return true;
    case OPT_TOPICS: self->topics = optarg; return true;
    case OPT_COUNT: return zpeerctl_number (optarg, 1, COUNT_MAX, &self->count);
    case OPT_TIMEOUT:
        return zpeerctl_number (optarg, 1, SECONDS_MAX, &self->timeout_s);
    case OPT_HELP: self->help = true; return true;
    default: return false;
    }
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

static zpeerctl_exit_t
s_watch (zpeer_watch_t *watch, const arguments_t *arguments)
{
    int timeout_ms =
        arguments->timeout_s ? (int) arguments->timeout_s * 1000 : -1;
    uint32_t printed = 0;
    while (arguments->count == 0 || printed < arguments->count) {
        const char *topic = NULL;
        const void *data = NULL;
        size_t size = 0;
        int rc = zpeer_watch_recv (watch, timeout_ms, &topic, &data, &size);
        if (rc == ZPEER_OK && s_print (topic, data, size))
            printed++;
        else if (rc == ZPEER_E_TIMEOUT)
            return printed && !arguments->count ? ZPEERCTL_EXIT_OK
                                                : ZPEERCTL_EXIT_SILENT;
    }
    return ZPEERCTL_EXIT_OK;
}

zpeerctl_exit_t
zpeerctl_watch (int argc, char **argv)
{
    arguments_t arguments = {.endpoint = ZPEERCTL_OUTCOMES};
    int option = 0;
    while ((option = getopt_long (argc, argv, "", s_options, NULL)) != -1)
        if (!s_handle (&arguments, option))
            return zpeerctl_complain ("watch", "wrong option");
    if (arguments.help) {
        fputs (s_usage, stdout);
        zpeerctl_print_exits ();
        return ZPEERCTL_EXIT_OK;
    }
    if (optind < argc)
        return zpeerctl_complain ("watch", "\"%s\" is too much", argv[optind]);

    zpeer_watch_t *watch =
        zpeer_watch_new (arguments.endpoint, arguments.topics);
    if (!watch)
        return zpeerctl_complain ("watch", "\"%s\" is no endpoint",
                                  arguments.endpoint);
    setvbuf (stdout, NULL, _IOLBF, 0);  //  Each line at once, to pipes too
    zpeerctl_exit_t status = s_watch (watch, &arguments);
    zpeer_watch_destroy (&watch);
    return status;
}
