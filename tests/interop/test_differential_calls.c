//  The calls for one instance: the scripted peer answers as a Spring server does

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compare.h"
#include "scripted_peer.h"
#include "banned.h"

#define MARK "x-netflix-discovery-replication: true"

#define INFO                                                                   \
    "{\"instance\":{\"instanceId\":\"%i\",\"hostName\":\"h\",\"app\":\"%a\","  \
    "\"ipAddr\":\"192.0.2.1\",\"dataCenterInfo\":{\"@class\":\"com.netflix."   \
    "appinfo.MyDataCenterInfo\",\"name\":\"MyOwn\"},\"status\":\"%s\","        \
    "\"lastDirtyTimestamp\":\"%t\"}}"

//  One after the other. %a and %i are the application and the instance; a
//  Register has a status and a timestamp instead of a body of its own.
static const struct {
    const char *method;
    const char *path;
    const char *header;
    const char *body;
    const char *status;
    const char *at;
} s_calls[] = {
    {"GET", "apps/%a", NULL, NULL, NULL, NULL},
    {"GET", "apps/%a/%i", NULL, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i?status=UP&lastDirtyTimestamp=1000", MARK, NULL, NULL,
     NULL},
    {"PUT", "apps/%a/%i/status?value=DOWN&lastDirtyTimestamp=1000", MARK, NULL,
     NULL, NULL},
    {"DELETE", "apps/%a/%i/status?lastDirtyTimestamp=1000", MARK, NULL, NULL,
     NULL},
    {"DELETE", "apps/%a/%i", MARK, NULL, NULL, NULL},
    {"POST", "apps/%a", MARK, "", NULL, NULL},
    {"POST", "apps/%a", MARK, "{}", NULL, NULL},
    {"POST", "apps/%a", MARK, "{\"instanceId\":\"%i\"}", NULL, NULL},
    {"POST", "apps/%a", MARK, "{\"instance\":{\"app\":\"%a\"}}", NULL, NULL},
    {"POST", "apps/%a", MARK,
     "{\"instance\":{\"app\":\"%a\",\"hostName\":"
     "\"h\"}}",
     NULL, NULL},
    {"POST", "apps/%a-other", MARK, NULL, "UP", "1000"},
    {"POST", "apps/%a", MARK, NULL, "UP", "1000"},
    {"GET", "apps/%a", NULL, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i?status=DOWN&lastDirtyTimestamp=1000", MARK, "{}", NULL,
     NULL},
    {"PUT", "apps/%a/%i?status=UP&lastDirtyTimestamp=999", MARK, NULL, NULL,
     NULL},
    {"PUT", "apps/%a/%i?status=UP&lastDirtyTimestamp=999", NULL, NULL, NULL,
     NULL},
    {"PUT", "apps/%a/%i?status=UP&lastDirtyTimestamp=1001", MARK, NULL, NULL,
     NULL},
    {"PUT", "apps/%a/%i?lastDirtyTimestamp=1001&overriddenstatus=DOWN", MARK,
     NULL, NULL, NULL},
    {"PUT", "apps/%a/%i?lastDirtyTimestamp=1001&overriddenstatus=x", MARK, NULL,
     NULL, NULL},
    {"PUT", "apps/%a/%i?lastDirtyTimestamp=x", MARK, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i?lastDirtyTimestamp=", MARK, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i", MARK, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i/status?value=OUT_OF_SERVICE&lastDirtyTimestamp=1001",
     MARK, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i/status?value=DOWN", MARK, "{}", NULL, NULL},
    {"PUT", "apps/%a/%i/status?value=x&lastDirtyTimestamp=1001", MARK, NULL,
     NULL, NULL},
    {"PUT", "apps/%a/%i/status?lastDirtyTimestamp=1001", MARK, NULL, NULL,
     NULL},
    {"POST", "apps/%a", MARK, NULL, "UP", "1003"},
    {"POST", "apps/%a", MARK, NULL, "DOWN", "1002"},
    {"DELETE", "apps/%a/%i/status?value=x", MARK, NULL, NULL, NULL},
    {"DELETE", "apps/%a/%i/status?value=DOWN&lastDirtyTimestamp=1004", MARK,
     NULL, NULL, NULL},
    {"DELETE", "apps/%a/%i/status", MARK, NULL, NULL, NULL},
    {"PUT", "apps/%a/%i/status?value=UP", MARK, NULL, NULL, NULL},
    {"DELETE", "apps/%a/%i/status?lastDirtyTimestamp=1005", MARK, NULL, NULL,
     NULL},
    {"PUT", "apps/%a/%i?lastDirtyTimestamp=1005", MARK, NULL, NULL, NULL},
    {"DELETE", "apps/%a/another", MARK, NULL, NULL, NULL},
    {"DELETE", "apps/%a/%i", MARK, NULL, NULL, NULL},
    {"DELETE", "apps/%a/%i", MARK, NULL, NULL, NULL},
    {"GET", "nothing", NULL, NULL, NULL, NULL},
    {"POST", "peerreplication/batch/more", NULL, "{}", NULL, NULL},
};

//  Replaces %a, %i, %s and %t; the caller's to free
static char *
s_expand (const char *text, const char *app, const char *id, const char *status,
          const char *at)
{
    char *expanded = NULL;
    size_t size;
    FILE *out = open_memstream (&expanded, &size);
    for (; *text; text++) {
        if (*text == '%') {
            text++;
            fputs (*text == 'a'   ? app
                   : *text == 'i' ? id
                   : *text == 's' ? status
                                  : at,
                   out);
        }
        else
            fputc (*text, out);
    }
    fclose (out);
    return expanded;
}

//  Makes the call and returns the HTTP status; 409 has a copy
static int
s_call (remote_t *server, size_t i, const char *app, const char *id,
        json_t **copy)
{
    const char *status = s_calls[i].status;
    const char *text = status ? INFO : s_calls[i].body;
    char *path = s_expand (s_calls[i].path, app, id, "", "");
    char *body = text ? s_expand (text, app, id, status, s_calls[i].at) : NULL;
    json_t *answer = NULL;
    int code = remote_call (server, s_calls[i].method, path, s_calls[i].header,
                            body, body ? strlen (body) : 0, &answer);
    *copy = json_incref (json_object_get (answer, "instance"));
    json_decref (answer);
    free (path);
    free (body);
    return code;
}

Test (differential_calls, both_answer_every_call_alike, .timeout = 60)
{
    char app[64];
    char id[64];
    speer_t *peer = speer_new (0, -1);
    remote_t *scripted = remote_new (speer_url (peer));
    remote_t *spring = remote_named ("spring");
    snprintf (app, sizeof app, "CALLS%d", getpid ());
    snprintf (id, sizeof id, "calls:%d", getpid ());
    for (size_t i = 0; i < sizeof s_calls / sizeof *s_calls; i++) {
        json_t *one = NULL;
        json_t *other = NULL;
        int status = s_call (spring, i, app, id, &one);
        int same = s_call (scripted, i, app, id, &other);
        cr_expect_eq (status, same, "%s %s: Spring %d, other %d",
                      s_calls[i].method, s_calls[i].path, status, same);
        char *text = compare_infos (one, other);
        if (!text)
            text = compare_instance (spring, scripted, app, id);
        cr_expect_null (text, "%s %s: Spring %s", s_calls[i].method,
                        s_calls[i].path, text);
        free (text);
        json_decref (one);
        json_decref (other);
    }
    remote_destroy (&spring);
    remote_destroy (&scripted);
    speer_destroy (&peer);
}
