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

#define PATH_BYTES 600

static void
s_program (const char *self_path, char path[PATH_BYTES])
{
    const char *given = getenv ("ZPEER_SCRIPTED_PEER");
    if (given) {
        snprintf (path, PATH_BYTES, "%s", given);
        return;
    }
    char own[512];
    snprintf (own, sizeof own, "%s", self_path);
    snprintf (path, PATH_BYTES, "%s/../tests/support/zpeer-scripted-peer",
              dirname (own));
}

int
peer_start (peer_t *self, const char *self_path)
{
    char path[PATH_BYTES];
    int pipes[2];
    *self = (peer_t){0};
    s_program (self_path, path);
    if (pipe (pipes))
        return -1;
    self->pid = fork ();
    if (self->pid == 0) {
        dup2 (pipes[1], STDOUT_FILENO);
        close (pipes[0]);
        execl (path, path, "--count", "--with-parent", (char *) NULL);
        _exit (127);
    }
    close (pipes[1]);
    FILE *out = fdopen (pipes[0], "r");
    int got = fscanf (out, "%63s control %63s", self->url, self->control);
    fclose (out);
    self->curl = curl_easy_init ();
    if (self->pid > 0 && got == 2)
        return 0;
    fprintf (stderr, "%s does not start\n", path);
    return -1;
}

int
peer_adopt (peer_t *self, const char *urls)
{
    *self = (peer_t){0};
    if (sscanf (urls, "%63[^,],%63s", self->url, self->control) == 2) {
        self->curl = curl_easy_init ();
        return 0;
    }
    fprintf (stderr, "%s is not URL,CONTROL\n", urls);
    return -1;
}

void
peer_stop (peer_t *self)
{
    curl_easy_cleanup ((CURL *) self->curl);
    self->curl = NULL;
    if (self->pid <= 0)
        return;
    kill (self->pid, SIGTERM);
    waitpid (self->pid, NULL, 0);
    self->pid = 0;
}

static size_t
s_write (char *data, size_t size, size_t count, void *arg)
{
    zpeer_buffer_add ((zpeer_buffer_t *) arg, data, size * count);
    return size * count;
}

//  GET path, or POST body to it; the answer is the caller's to free
static char *
s_call (const peer_t *self, const char *path, const char *body)
{
    char url[128];
    zpeer_buffer_t answer = {0};
    snprintf (url, sizeof url, "%s%s", self->control, path);
    CURL *curl = (CURL *) self->curl;
    curl_easy_reset (curl);
    curl_easy_setopt (curl, CURLOPT_URL, url);
    curl_easy_setopt (curl, CURLOPT_PROXY, "");
    curl_easy_setopt (curl, CURLOPT_WRITEFUNCTION, s_write);
    curl_easy_setopt (curl, CURLOPT_WRITEDATA, &answer);
    if (body)
        curl_easy_setopt (curl, CURLOPT_POSTFIELDS, body);
    curl_easy_perform (curl);
    zpeer_buffer_add (&answer, "", 1);
    return zpeer_buffer_take (&answer);
}

uint64_t
peer_counter (const peer_t *self, const char *name)
{
    char key[64];
    char *body = s_call (self, "counters", NULL);
    snprintf (key, sizeof key, "\"%s\":", name);
    const char *at = strstr (body, key);
    if (!at) {
        fprintf (stderr, "%s does not answer\n", self->control);
        _exit (EXIT_FAILURE);  //  No handlers of exit: an engine may run
    }
    uint64_t value = strtoull (at + strlen (key), NULL, 10);
    free (body);
    return value;
}

void
peer_script (const peer_t *self, const char *json)
{
    char *answer = s_call (self, "script", json);
    if (*answer)
        fprintf (stderr, "script: %s\n", answer);
    free (answer);
}

//  Reads [[received_ns, timestamp], ...]; returns how many there are
static size_t
s_read_samples (char *at, int64_t since_ns, double *ms, size_t *count,
                size_t max)
{
    size_t read = 0;
    at = strchr (at, '[');
    if (at)
        at = strchr (at + 1, '[');
    for (; at && *count < max; at = strchr (at, '[')) {
        int64_t received = strtoll (at + 1, &at, 10);
        at += strspn (at, ", ");
        int64_t sent = strtoll (at, &at, 10) * 1000;
        if (sent >= since_ns && sent <= received)
            ms[(*count)++] = (double) (received - sent) / 1e6;
        read++;
    }
    return read;
}

size_t
peer_samples (const peer_t *self, int64_t since_ns, double *ms, size_t count,
              size_t max)
{
    size_t read;
    do {
        char *body = s_call (self, "samples", NULL);
        read = s_read_samples (body, since_ns, ms, &count, max);
        free (body);
    } while (read);
    return count;
}
