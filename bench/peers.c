#include <curl/curl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "buffer.h"
#include "peers.h"
#include "banned.h"

static void
s_program (const char *self_path, char *path, size_t size)
{
    const char *given = getenv ("ZPEER_SCRIPTED_PEER");
    if (given) {
        snprintf (path, size, "%s", given);
        return;
    }
    char own[512];
    snprintf (own, sizeof own, "%s", self_path);
    snprintf (path, size, "%s/../tests/support/zpeer-scripted-peer",
              dirname (own));
}

int
peer_start (peer_t *self, const char *self_path, const char *option)
{
    char path[600];
    int pipes[2];
    s_program (self_path, path, sizeof path);
    if (pipe (pipes))
        return -1;
    self->pid = fork ();
    if (self->pid == 0) {
        dup2 (pipes[1], STDOUT_FILENO);
        close (pipes[0]);
        execl (path, path, "--count", option, (char *) NULL);
        _exit (127);
    }
    close (pipes[1]);
    FILE *out = fdopen (pipes[0], "r");
    int got = fscanf (out, "%63s control %63s", self->url, self->control);
    fclose (out);
    return self->pid > 0 && got == 2 ? 0 : -1;
}

static size_t
s_write (char *data, size_t size, size_t count, void *arg)
{
    zpeer_buffer_add ((zpeer_buffer_t *) arg, data, size * count);
    return size * count;
}

char *
peer_get (const peer_t *self, const char *path)
{
    char url[128];
    zpeer_buffer_t body = {0};
    snprintf (url, sizeof url, "%s%s", self->control, path);
    CURL *curl = curl_easy_init ();
    curl_easy_setopt (curl, CURLOPT_URL, url);
    curl_easy_setopt (curl, CURLOPT_PROXY, "");
    curl_easy_setopt (curl, CURLOPT_WRITEFUNCTION, s_write);
    curl_easy_setopt (curl, CURLOPT_WRITEDATA, &body);
    curl_easy_perform (curl);
    curl_easy_cleanup (curl);
    zpeer_buffer_add (&body, "", 1);
    return zpeer_buffer_take (&body);
}

uint64_t
peer_counter (const peer_t *self, const char *name)
{
    char key[64];
    char *body = peer_get (self, "counters");
    snprintf (key, sizeof key, "\"%s\":", name);
    const char *at = strstr (body, key);
    uint64_t value = at ? strtoull (at + strlen (key), NULL, 10) : 0;
    free (body);
    return value;
}

void
peer_stop (peer_t *self)
{
    if (self->pid <= 0)
        return;
    kill (self->pid, SIGTERM);
    waitpid (self->pid, NULL, 0);
    self->pid = 0;
}
