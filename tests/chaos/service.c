#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <czmq.h>
#include "process.h"
#include "service.h"
#include "banned.h"

#define START_MS   30000
#define ASK_MS     10000
#define LINE_BYTES 1024
#define LOG_TAIL   8000  //  Bytes
#define ARGS_MAX   (12 + 2 * SETTINGS_MAX + 3 * PEERS_MAX)

void
service_init (service_t *self, const char *program, const char *zpeerd)
{
    *self = (service_t){
        .self = program, .zpeerd = zpeerd, .dir = "/tmp/zpeer-chaos-XXXXXX"};
    char *dir = mkdtemp (self->dir);
    assert (dir);
    //  What is added is short
    snprintf (self->events, PATH_MAX_BYTES, "ipc://%.40s/events", dir);
    snprintf (self->outcomes, PATH_MAX_BYTES, "ipc://%.40s/outcomes", dir);
    snprintf (self->control, PATH_MAX_BYTES, "ipc://%.40s/control", dir);
    snprintf (self->log, PATH_MAX_BYTES, "%.40s/log", dir);
}

void
service_set (service_t *self, const char *format, ...)
{
    assert (self->setting_count < SETTINGS_MAX);
    va_list args;
    va_start (args, format);
    vsnprintf (self->settings[self->setting_count++], SETTING_BYTES, format,
               args);
    va_end (args);
}

//  The endpoint where dispatchers of a peer connect, or of health
static void
s_door (const service_t *self, char door[PATH_MAX_BYTES], const char *name,
        unsigned number)
{
    snprintf (door, PATH_MAX_BYTES, "ipc://%.40s/%s%u", self->dir, name,
              number);
}

void
service_signal_dispatcher (const service_t *self, const peer_t *peer,
                           int signal)
{
    if (self->dispatchers[peer->number])
        kill (self->dispatchers[peer->number], signal);
}

static const char *
s_start_zpeerd (service_t *self, const peer_t *peers, unsigned count)
{
    const char *argv[ARGS_MAX] = {self->zpeerd, "--events",     self->events,
                                  "--outcomes", self->outcomes, "--control",
                                  self->control};
    unsigned n = 7;
    for (unsigned i = 0; i < count; i++) {
        argv[n++] = "--peer";
        argv[n++] = peers[i].url;
    }
    for (unsigned i = 0; i < self->setting_count; i++) {
        argv[n++] = "--set";
        argv[n++] = self->settings[i];
    }
    self->pid = process_start (argv, self->log, NULL, 0);
    return self->pid ? NULL : "zpeerd does not start";
}

//  chaos engine EVENTS OUTCOMES KEY=VALUE… -- HEALTH {URL DOOR}…, which prints
//  the peers' ids
static const char *
s_start_engine (service_t *self, const peer_t *peers, unsigned count)
{
    char doors[PEERS_MAX][PATH_MAX_BYTES], health[PATH_MAX_BYTES];
    char line[PROCESS_LINE_MAX];
    const char *argv[ARGS_MAX] = {self->self, "engine", self->events,
                                  self->outcomes};
    unsigned n = 4;
    for (unsigned i = 0; i < self->setting_count; i++)
        argv[n++] = self->settings[i];
    s_door (self, health, "health", 0);
    argv[n++] = "--";
    argv[n++] = health;
    for (unsigned i = 0; i < count; i++) {
        s_door (self, doors[i], "batcher", i);
        argv[n++] = peers[i].url;
        argv[n++] = doors[i];
    }
    self->pid = process_start (argv, self->log, line, START_MS);
    if (!self->pid)
        return "the engine does not start";
    char *at = line;
    for (unsigned i = 0; i < count; i++) {
        self->ids[i] = (int) strtol (at, &at, 10);
        service_start_dispatcher (self, &peers[i]);
    }
    return NULL;
}

const char *
service_start (service_t *self, const peer_t *peers, unsigned count)
{
    return self->remote ? s_start_engine (self, peers, count)
                        : s_start_zpeerd (self, peers, count);
}

void
service_start_dispatcher (service_t *self, const peer_t *peer)
{
    char door[PATH_MAX_BYTES], health[PATH_MAX_BYTES], id[12];
    const char *argv[ARGS_MAX] = {self->self, "dispatcher"};
    unsigned n = 2;
    s_door (self, door, "batcher", peer->number);
    s_door (self, health, "health", 0);
    snprintf (id, sizeof id, "%d", self->ids[peer->number]);
    for (unsigned i = 0; i < self->setting_count; i++)
        argv[n++] = self->settings[i];
    argv[n++] = "--";
    argv[n++] = id;
    argv[n++] = peer->url;
    argv[n++] = door;
    argv[n++] = health;
    self->dispatchers[peer->number] = process_start (argv, self->log, NULL, 0);
}

void
service_kill_dispatcher (service_t *self, const peer_t *peer)
{
    pid_t *pid = &self->dispatchers[peer->number];
    if (*pid)
        process_kill (*pid);
    *pid = 0;
}

bool
service_runs (service_t *self)
{
    if (self->pid && process_wait (self->pid, 0) != PROCESS_RUNNING)
        self->pid = 0;
    return self->pid != 0;
}

const char *
service_ask (const service_t *self, const char *command, const char *url)
{
    const char *wrong = "no answer";
    zsock_t *socket = zsock_new_req (self->control);
    if (!socket)
        return "no control socket";
    zsock_set_rcvtimeo (socket, ASK_MS);
    zsock_set_linger (socket, 0);
    zstr_sendx (socket, command, url, NULL);
    char *answer = zstr_recv (socket);
    if (answer)
        wrong = strncmp (answer, "OK", 2) ? "refused" : NULL;
    zstr_free (&answer);
    zsock_destroy (&socket);
    return wrong;
}

const char *
service_stop (service_t *self, int limit_ms)
{
    kill (self->pid, SIGTERM);
    int status = process_wait (self->pid, limit_ms);
    if (status == PROCESS_RUNNING)
        return "it does not end within its deadline";
    self->pid = 0;
    return status ? "it ends with a wrong exit status" : NULL;
}

void
service_print_log (const service_t *self, FILE *out)
{
    char line[LINE_BYTES];
    FILE *log = fopen (self->log, "r");
    if (!log)
        return;
    if (fseek (log, -LOG_TAIL, SEEK_END) == 0)
        fgets (line, sizeof line, log);  //  The rest of a line
    else
        rewind (log);
    while (fgets (line, sizeof line, log))
        fprintf (out, "log: %s", line);
    fclose (log);
}

bool
service_logged (const service_t *self, const char *text)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *log = fopen (self->log, "r");
    while (log && !found && fgets (line, sizeof line, log))
        found = strstr (line, text) != NULL;
    if (log)
        fclose (log);
    return found;
}

//  What an engine that was killed leaves does not count. zpeerd removes its
//  sockets, an embedded engine leaves that to its host.
static void
s_remove (service_t *self, bool clean)
{
    struct dirent *entry;
    DIR *dir = opendir (self->dir);
    while (dir && (entry = readdir (dir))) {
        struct stat info;
        int at = dirfd (dir);
        if (fstatat (at, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
            S_ISDIR (info.st_mode))
            continue;
        if (clean && S_ISSOCK (info.st_mode))
            snprintf (self->left, sizeof self->left, "%.30s", entry->d_name);
        unlinkat (at, entry->d_name, 0);
    }
    if (dir)
        closedir (dir);
    rmdir (self->dir);
}

const char *
service_fini (service_t *self)
{
    bool clean = self->pid == 0 && !self->remote;
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++)
        if (self->dispatchers[i])
            process_kill (self->dispatchers[i]);
    if (self->pid)
        process_kill (self->pid);
    s_remove (self, clean);
    return self->left[0] ? self->left : NULL;
}
