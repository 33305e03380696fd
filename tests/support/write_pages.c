/*  write_pages - writes the pages that tables describe

    write_pages NAME prints the page NAME.md. A test compares what it prints
    with the page in the repository.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zpeer/options.h>
#include "dispatch_log.h"
#include "figures.h"
#include "lane.h"
#include "banned.h"

static void
s_write_range (const zpeer_option_t *info)
{
    switch (info->type) {
    case ZPEER_OPTION_NUMBER:
        printf ("%u … %u %s", info->min, info->max, info->unit);
        break;
    case ZPEER_OPTION_FLAG: printf ("true, false"); break;
    case ZPEER_OPTION_STATUSES:
        printf ("list of %u … %u", info->min, info->max);
        break;
    case ZPEER_OPTION_URLS:
    case ZPEER_OPTION_ZONES: printf ("URLs"); break;
    case ZPEER_OPTION_TEXT: printf ("text"); break;
    }
}

static void
s_write_configuration (void)
{
    printf ("# Configuration\n\n"
            "Case, `-`, `_` and `.` do not count in a name: the environment "
            "variable\n`EUREKA_SERVER_PEERNODEREADTIMEOUTMS` is "
            "`eureka.server.peer-node-read-timeout-ms`.\n\n"
            "| option | default | range | |\n|---|---|---|---|\n");
    const zpeer_option_t *info;
    for (size_t i = 0; (info = zpeer_options_info (i)) != NULL; i++) {
        const char *zone = info->type == ZPEER_OPTION_ZONES ? ".<zone>" : "";
        const char *quote = *info->fallback ? "`" : "";
        printf ("| `%s%s` | %s%s%s | ", info->name, zone, quote, info->fallback,
                quote);
        s_write_range (info);
        printf (" | %s |\n", info->help);
    }
    printf ("\n## Accepted without effect\n\n"
            "Names of the reference that change nothing here, or not even "
            "there. Each one that\nis set is named in a warning (ZPR003).\n\n");
    const char *name;
    for (size_t i = 0; (name = zpeer_options_ignored (i)) != NULL; i++)
        printf ("- `%s`\n", name);
}

//  A format with each conversion as an ellipsis
static void
s_write_format (const char *format)
{
    while (*format) {
        size_t plain = strcspn (format, "%");
        printf ("%.*s", (int) plain, format);
        format += plain;
        if (!*format)
            return;
        printf ("…");
        format++;
        //  Precision and length modifiers, then one letter
        format += strspn (format, ".*hlzjt");
        format++;
    }
}

//  In a line it is there or not; on the page it has to be seen
#undef ZPEER_HELD
#define ZPEER_HELD " (%u more held back)"

static const zpeer_message_info_t s_messages[] = {
#define X(name, id, level, format, advice)                                     \
    {id, format, advice, ZPEER_LOG_##level},
    ZPEER_MESSAGES (X)
#undef X
};

static void
s_write_messages (void)
{
    printf ("# Messages\n\n"
            "What the library tells a host that gave it a log function. An id "
            "never changes.\nLines that end with a number held back come once "
            "in 10 s, per peer and kind; where\nnone were held back, they do "
            "not say so. If no further line comes within 10 s, one of the\n"
            "same id says only \"3 more held back\", and of which peer. A "
            "failure \"3/10\" is the third\nin a row, of ten; \"10+/10\" the "
            "tenth or a later one.\n\n"
            "| id | level | text | what to do |\n|---|---|---|---|\n");
    for (int i = 0; i < ZPR_MESSAGES; i++) {
        const zpeer_message_info_t *info = &s_messages[i];
        printf ("| %s | %s | ", info->id, zpeer_log_level_name (info->level));
        s_write_format (info->format);
        printf (" | %s |\n", info->advice);
    }
}

//  A figure, as the tables have it
typedef struct {
    zpeer_figure_kind_t kind;
    const char *key;
    const char *sentence;
} figure_t;

static const figure_t s_acceptor[] = {
#define X(kind, key, value, sentence) {ZPEER_FIGURE_##kind, key, sentence},
    ZPEER_ACCEPTOR_FIGURES (X)
#undef X
};

static const figure_t s_peer[] = {
#define X(kind, key, value, sentence) {ZPEER_FIGURE_##kind, key, sentence},
    ZPEER_PEER_FIGURES (X)
#undef X
};

static const figure_t s_dispatcher[] = {
#define X(kind, field, key, sentence) {ZPEER_FIGURE_##kind, key, sentence},
    ZPEER_DISPATCH_COUNTERS (X)
#undef X
};

static const figure_t s_endings[] = {
#define X(name, label, meaning) {ZPEER_FIGURE_TOTAL, label, meaning},
    ZPEER_LANE_ENDINGS (X)
#undef X
};

static const char *const s_ends[] = {
#define X(name, text, sentence) sentence,
    ZPEER_ENDS (X)
#undef X
};

#define COUNT(array) (sizeof (array) / sizeof *(array))

static void
s_write_figure (const figure_t *figure)
{
    printf ("| `%s` | %s | %s |\n", figure->key,
            figure->kind == ZPEER_FIGURE_NOW ? "now" : "total",
            figure->sentence);
}

static void
s_write_source (const char *source, const char *what, const figure_t *figures,
                size_t count)
{
    printf ("\n## %s\n\n%s\n\n| figure | | |\n|---|---|---|\n", source, what);
    for (size_t i = 0; i < count; i++)
        s_write_figure (&figures[i]);
}

static void
s_write_figures (void)
{
    printf ("# Figures\n\n"
            "What the topic `stats` publishes "
            "([PROTOCOL.md](../proto/PROTOCOL.md), Outcomes), by `source`.\n"
            "A *total* only grows while the engine runs: look at how much in a "
            "time. A figure of\n*now* is as things stand.\n");
    s_write_source ("acceptor", "One per engine.", s_acceptor,
                    COUNT (s_acceptor));
    for (int i = 0; i < ZPEER_ACTIONS; i++)
        printf ("| `%s` | total | Events of this action accepted. |\n",
                zpeer_action_name ((zpeer_action_t) i));
    s_write_source ("peer",
                    "One per peer. `accepted` is the sum of `waiting`, "
                    "`in-flight` and the tasks ended.",
                    s_peer, COUNT (s_peer));
    for (size_t i = 0; i < COUNT (s_endings); i++)
        printf ("| `%s` | total | Tasks ended: %s. |\n", s_endings[i].key,
                s_endings[i].sentence);
    s_write_source (
        "dispatcher",
        "One per dispatcher. `end-…` counts attempts to send a batch by how "
        "they ended.",
        s_dispatcher, COUNT (s_dispatcher));
    for (int i = 0; i < ZPEER_END_COUNT; i++) {
        char key[ZPEER_DISPATCH_KEY_MAX];
        zpeer_dispatch_log_key ((zpeer_end_t) i, key);
        printf ("| `%s` | total | %s |\n", key, s_ends[i]);
    }
}

static const struct {
    const char *name;
    void (*write) (void);
} s_pages[] = {
    {"CONFIGURATION", s_write_configuration},
    {"FIGURES", s_write_figures},
    {"MESSAGES", s_write_messages},
};

int
main (int argc, char **argv)
{
    for (size_t i = 0; i < sizeof s_pages / sizeof *s_pages; i++)
        if (argc == 2 && !strcmp (argv[1], s_pages[i].name)) {
            s_pages[i].write ();
            return EXIT_SUCCESS;
        }
    fprintf (stderr, "usage: write_pages CONFIGURATION|FIGURES|MESSAGES\n");
    return EXIT_FAILURE;
}
