//  The scripted peer, which most tests trust, says what a Spring server says

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <criterion/criterion.h>
#include "compare.h"
#include "random_body.h"
#include "scripted_peer.h"
#include "banned.h"

#define NAME_MAX_BYTES 64

//  Random sequences, and batches in each
#define SEQUENCES 40
#define BATCHES   25

#define DATA_CENTER                                                            \
    "{\"@class\":\"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo\","  \
    "\"name\":\"MyOwn\"}"
#define INFO                                                                   \
    "\"instanceId\":\"%i\",\"hostName\":\"h\",\"app\":\"%a\","                 \
    "\"ipAddr\":\"192.0.2.1\",\"dataCenterInfo\":%c,\"status\":\"UP\","        \
    "\"lastDirtyTimestamp\":\"1000\""
#define REGISTER(members)                                                      \
    "{\"appName\":\"%a\",\"id\":\"%i\",\"action\":\"Register\","               \
    "\"instanceInfo\":{" members "}}"

static speer_t *s_peer;
static remote_t *s_scripted;
static remote_t *s_spring;

static void
s_start (void)
{
    s_peer = speer_new (0, -1);
    s_scripted = remote_new (speer_url (s_peer));
    s_spring = remote_named ("spring");
}

static void
s_stop (void)
{
    remote_destroy (&s_spring);
    remote_destroy (&s_scripted);
    speer_destroy (&s_peer);
}

TestSuite (differential, .init = s_start, .fini = s_stop, .timeout = 240);

//  One kind of line in cases.txt: %s is what stands behind its word
static const struct {
    const char *word;
    const char *before;
    const char *after;
} s_kinds[] = {
    {"body", "", ""},
    {"items", "{\"replicationList\":[", "]}"},
    {"info",
     "{\"replicationList\":["
     "{\"appName\":\"%a\",\"id\":\"%i\","
     "\"action\":\"Register\",\"instanceInfo\":{" INFO ",",
     "}}]}"},
    {"bare",
     "{\"replicationList\":["
     "{\"appName\":\"%a\",\"id\":\"%i\","
     "\"action\":\"Register\",\"instanceInfo\":{",
     "}}]}"},
};

//  Writes text with its %a, %i, %c and %r replaced
static void
s_expand (FILE *out, const char *text, const char *app, const char *id)
{
    for (; *text; text++) {
        if (*text != '%') {
            fputc (*text, out);
            continue;
        }
        text++;
        if (*text == 'r')
            s_expand (out, REGISTER (INFO), app, id);
        else
            fputs (*text == 'a' ? app : *text == 'i' ? id : DATA_CENTER, out);
    }
}

//  The request a line stands for; the caller's to free
static char *
s_request (const char *line, const char *app, const char *id)
{
    char *text = NULL;
    size_t size;
    size_t word = strcspn (line, " ");
    const char *rest = line[word] ? line + word + 1 : "";
    FILE *out = open_memstream (&text, &size);
    for (size_t i = 0; i < sizeof s_kinds / sizeof *s_kinds; i++)
        if (strlen (s_kinds[i].word) == word &&
            !strncmp (s_kinds[i].word, line, word)) {
            s_expand (out, s_kinds[i].before, app, id);
            s_expand (out, rest, app, id);
            s_expand (out, s_kinds[i].after, app, id);
        }
    fclose (out);
    cr_assert (size || !strcmp (line, "body"), "no such line: %s", line);
    return text;
}

//  Spring's copy of an instance and of its neighbours must be the scripted one's
static char *
s_compare_case (const char *app, const char *id)
{
    static const char *const apps[] = {"", "-X", "-OTHER", "-LOWER",
                                       "-WRAPPED"};
    static const char *const ids[] = {"", "-2", "-3", "-9", ":9"};
    char *text = NULL;
    char name[2 * NAME_MAX_BYTES];
    for (size_t i = 0; i < sizeof apps / sizeof *apps && !text; i++) {
        snprintf (name, sizeof name, "%s%s", app, apps[i]);
        text = compare_instance (s_spring, s_scripted, name, id);
    }
    for (size_t i = 1; i < sizeof ids / sizeof *ids && !text; i++) {
        snprintf (name, sizeof name, "%s%s", id, ids[i]);
        text = compare_instance (s_spring, s_scripted, app, name);
    }
    return text;
}

//  Sends one line to both. Returns whether they agree.
static bool
s_agree (const char *name, const char *line, const char *app, const char *id)
{
    char *body = s_request (line, app, id);
    char *text = compare_batch (s_spring, s_scripted, body);
    if (!text)
        text = s_compare_case (app, id);
    bool agree = text == NULL;
    cr_expect (agree, "%s\n  %s\n  Spring %s", name, line, text);
    free (text);
    free (body);
    return agree;
}

Test (differential, both_answer_every_case_of_the_table_alike)
{
    FILE *file = fopen (CASES, "r");
    cr_assert (file, "%s", CASES);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    char name[NAME_MAX_BYTES + 1] = "";
    char app[NAME_MAX_BYTES] = "";
    char id[NAME_MAX_BYTES] = "";
    unsigned number = 0;
    while ((size = getline (&line, &capacity, file)) > 0) {
        line[size - 1] = 0;
        if (*line == '=') {
            snprintf (name, sizeof name, "%s", line + 2);
            snprintf (app, sizeof app, "CASE%u-%d", ++number, getpid ());
            snprintf (id, sizeof id, "case%u-%d", number, getpid ());
        }
        else if (*line && *line != '#')
            s_agree (name, line, app, id);
    }
    free (line);
    fclose (file);
    cr_expect_gt (number, 20);
}

//  --------------------------------------------------------------------------

//  Sends one random batch to both. Returns whether they agree.
static bool
s_agree_by_chance (uint64_t *state, const char *app)
{
    char *body = random_body (state, app);
    char *text = compare_batch (s_spring, s_scripted, body);
    char id[NAME_MAX_BYTES];
    for (unsigned i = 0; i < RANDOM_IDS && !text; i++) {
        random_body_id (id, sizeof id, app, i);
        text = compare_instance (s_spring, s_scripted, app, id);
    }
    bool agree = text == NULL;
    cr_expect (agree, "%s\n  %s\n  Spring %s", app, body, text);
    free (text);
    free (body);
    return agree;
}

Test (differential, both_answer_random_batches_alike)
{
    const char *given = getenv ("ZPEER_TEST_SEED");
    uint64_t seed = given ? strtoull (given, NULL, 0) : 1;
    cr_log_info ("ZPEER_TEST_SEED=%" PRIu64, seed);
    for (unsigned i = 0; i < SEQUENCES; i++) {
        uint64_t state = seed * SEQUENCES + i;
        char app[NAME_MAX_BYTES];
        snprintf (app, sizeof app, "RANDOM%u-%d", i, getpid ());
        for (unsigned k = 0; k < BATCHES; k++)
            if (!s_agree_by_chance (&state, app))
                break;
    }
}
