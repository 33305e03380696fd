#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <czmq.h>
#include "buffer.h"
#include "client.h"
#include "peer.h"
#include "process.h"
#include "banned.h"

#define START_MS   20000  //  Under sanitizers on a busy machine
#define PORT_MAX   8      //  Bytes of a port as text
#define PATH_BYTES 48
#define KEY_MAX    1024  //  Bytes of "APP\tid"

#define PEER_HOST "127.0.0.1"

//  The port of the first URL in text
static int
s_port (const char *text)
{
    const char *host = strstr (text, PEER_HOST ":");
    return host ? (int) strtol (host + sizeof PEER_HOST, NULL, 10) : 0;
}

bool
peer_start (peer_t *self, const char *program, const char *log)
{
    char port[PORT_MAX], control[PORT_MAX], line[PROCESS_LINE_MAX];
    snprintf (port, sizeof port, "%d", self->port);
    snprintf (control, sizeof control, "%d", self->control);
    const char *const argv[] = {program,     "--with-parent", "--port", port,
                                "--control", control,         NULL};
    pid_t pid = process_start (argv, log, line, START_MS);
    if (!pid)
        return false;
    self->port = s_port (line);
    self->control = s_port (strchr (line, ' '));
    snprintf (self->url, sizeof self->url, "http://" PEER_HOST ":%d/eureka/",
              self->port);
    self->pid = pid;
    self->state = PEER_RUNS;
    return true;
}

void
peer_kill (peer_t *self)
{
    if (self->state != PEER_DEAD && self->pid)
        process_kill (self->pid);
    self->state = PEER_DEAD;
    self->pid = 0;
    self->kills++;
    self->emptied_at = zclock_mono ();
}

void
peer_freeze (peer_t *self)
{
    kill (self->pid, SIGSTOP);
    self->state = PEER_FROZEN;
}

void
peer_thaw (peer_t *self)
{
    kill (self->pid, SIGCONT);
    self->state = PEER_RUNS;
}

char *
peer_script (peer_t *self, const char *json)
{
    speer_response_t response;
    int status =
        speer_call (self->control, "POST", "/script", NULL, json, &response);
    char *wrong = NULL;
    if (status != 204)
        wrong = strdup (response.body && *response.body ? response.body
                                                        : "no answer");
    speer_response_free (&response);
    return wrong;
}

static json_t *
s_get (peer_t *self, const char *path)
{
    speer_response_t response;
    int status = speer_call (self->control, "GET", path, NULL, NULL, &response);
    json_t *json = status == 200 ? json_loads (response.body, 0, NULL) : NULL;
    speer_response_free (&response);
    return json;
}

int64_t
peer_counter (peer_t *self, const char *name)
{
    json_t *counters = s_get (self, "/counters");
    json_t *value = json_object_get (counters, name);
    int64_t number = value ? json_integer_value (value) : -1;
    json_decref (counters);
    return number;
}

char *
peer_bodies (peer_t *self, int64_t from)
{
    char path[PATH_BYTES];
    size_t i;
    json_t *record;
    zpeer_buffer_t bodies = {0};
    snprintf (path, sizeof path, "/requests?from=%" PRId64, from);
    json_t *records = s_get (self, path);
    json_array_foreach (records, i, record)
    {
        const char *body = json_string_value (json_object_get (record, "body"));
        if (body)
            zpeer_buffer_add (&bodies, body, strlen (body));
    }
    zpeer_buffer_add (&bodies, "", 1);
    json_decref (records);
    return zpeer_buffer_take (&bodies);
}

json_t *
peer_registry (peer_t *self)
{
    json_t *answer = s_get (self, "/apps");
    json_t *all = answer ? json_object () : NULL;
    json_t *apps = json_object_get (json_object_get (answer, "applications"),
                                    "application");
    size_t i, k;
    json_t *app, *info;
    json_array_foreach (apps, i, app)
    {
        json_array_foreach (json_object_get (app, "instance"), k, info)
        {
            char key[KEY_MAX];
            snprintf (key, sizeof key, "%s\t%s",
                      json_string_value (json_object_get (app, "name")),
                      json_string_value (json_object_get (info, "instanceId")));
            json_object_set (all, key, info);
        }
    }
    json_decref (answer);
    return all;
}
