//  Items that are never answered: a program of its own, as it ends the servers

#include <criterion/criterion.h>
#include <czmq.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client.h"
#include "malformed.h"
#include "pair.h"
#include "banned.h"

#define KINDS 2

//  Bad requests at a time
#define BAD_MAX 8

//  Lines of files that are read
#define LINE_MAX_BYTES 1024

//  A server answers anything else within this time many times over
#define SILENT_MS 1500

//  Processor time that bad requests have taken once this is believed of them
#define BUSY_MS 500

//  For a server to start anew, on a busy machine
#define START_MS 120000

static const char *const s_names[KINDS] = {"spring", "netflix"};

static pair_t s_pair;
static malformed_t *s_table;
static size_t s_count;

static void
s_start (void)
{
    char app[32];
    snprintf (app, sizeof app, "ENDLESS%d", getpid ());
    s_table = malformed_load (app, &s_count);
}

static void
s_stop (void)
{
    malformed_free (&s_table, s_count);
    pair_close (&s_pair);
}

TestSuite (endless, .init = s_start, .fini = s_stop, .timeout = 240);

//  ---- One server

typedef struct {
    const char *name;
    long pid;
    int port;
    char path[128];
    int bad[BAD_MAX];  //  Connections of the bad requests
    size_t count;
} server_t;

//  The first line of a file, without its end
static void
s_read_line (const char *path, char *line, size_t size)
{
    FILE *file = fopen (path, "r");
    cr_assert (file && fgets (line, (int) size, file), "%s", path);
    fclose (file);
    line[strcspn (line, "\n")] = 0;
}

static void
s_find (server_t *self, const char *name)
{
    char line[LINE_MAX_BYTES];
    char *rest = NULL;
    const char *url = remote_variable (name, "URL");
    const char *port = strrchr (url, ':') + 1;
    *self = (server_t){.name = name};
    self->port = (int) strtol (port, &rest, 10);
    snprintf (self->path, sizeof self->path, "%speerreplication/batch/", rest);
    s_read_line (remote_variable (name, "PID"), line, sizeof line);
    self->pid = strtol (line, NULL, 10);
    cr_assert_gt (self->pid, 1);
}

static int
s_post (const server_t *self, const char *item)
{
    char *body = NULL;
    int fd = speer_client_connect (self->port);
    cr_assert (fd >= 0 &&
               asprintf (&body, "{\"replicationList\":[%s]}", item) > 0);
    speer_client_send (fd, "POST", self->path, NULL, body);
    free (body);
    return fd;
}

//  HTTP status of the answer, 0: none came in time
static int
s_answer (int fd, int limit_ms)
{
    speer_response_t response = {0};
    speer_client_read (fd, limit_ms, &response);
    int status = response.status;
    speer_response_free (&response);
    close (fd);
    return status;
}

//  Posts each such item over a connection of its own
static void
s_post_bad (server_t *self, malformed_kind_t kind)
{
    for (size_t i = 0; i < s_count && self->count < BAD_MAX; i++)
        if (s_table[i].item && !strcmp (s_table[i].does[kind], "nothing"))
            self->bad[self->count++] = s_post (self, s_table[i].item);
    cr_assert_gt (self->count, 0);
}

//  None is answered. They are read one after the other, but wait together.
static void
s_expect_silence (server_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        cr_expect_eq (s_answer (self->bad[i], i ? 0 : SILENT_MS), 0, "%s, %zu",
                      self->name, i);
}

//  A request without items is answered
static void
s_expect_answer (const server_t *self)
{
    cr_expect_eq (s_answer (s_post (self, ""), STAGE_WAIT_MS), 200, "%s",
                  self->name);
}

//  Processor time the server has taken so far: fields 14 and 15 of its line
static long
s_busy_ms (const server_t *self)
{
    char line[LINE_MAX_BYTES];
    snprintf (line, sizeof line, "/proc/%ld/stat", self->pid);
    s_read_line (line, line, sizeof line);
    char *at = strrchr (line, ')');
    for (int field = 2; at && field < 14; field++)
        at = strchr (at + 1, ' ');
    cr_assert (at, "%s", line);
    long user = strtol (at, &at, 10);
    long system = strtol (at, NULL, 10);
    return (user + system) * 1000 / sysconf (_SC_CLK_TCK);
}

//  A server at rest takes next to nothing
static void
s_expect_busy (const server_t *self, long before)
{
    int64_t until = zclock_mono () + STAGE_WAIT_MS;
    while (s_busy_ms (self) < before + BUSY_MS && zclock_mono () < until)
        poll (&(struct pollfd){.fd = self->bad[0], .events = POLLIN}, 1,
              SILENT_MS / 10);
    cr_expect_geq (s_busy_ms (self), before + BUSY_MS, "%s", self->name);
}

//  1. It answers.
//  2. It is sent the bad items, and keeps a processor busy with them, and answers
//     none.
//  3. It is ended: nothing else frees those threads. run.sh starts it anew.
static void
s_expect_endless (const char *name, malformed_kind_t kind)
{
    server_t server;
    s_find (&server, name);
    s_expect_answer (&server);
    long before = s_busy_ms (&server);
    s_post_bad (&server, kind);
    s_expect_busy (&server, before);
    s_expect_silence (&server);
    cr_assert_eq (kill ((pid_t) server.pid, SIGKILL), 0);
}

Test (endless, an_array_for_an_object_is_never_answered)
{
    pair_open (&s_pair, NULL);
    for (size_t i = 0; i < KINDS; i++)
        s_expect_endless (s_names[i], (malformed_kind_t) i);
    s_pair.limit_ms = START_MS;
    pair_await_answers (&s_pair);
}
