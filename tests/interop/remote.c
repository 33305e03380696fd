#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <curl/curl.h>
#include "remote.h"
#include "banned.h"

//  Methods, paths and header lines are short; ids have up to 512 bytes, three
//  times that when encoded
#define LINE_MAX_BYTES 4096

//  Name of a variable of run.sh, with its NUL
#define VARIABLE_MAX 32

struct remote {
    CURL *curl;
    char *base;
    char *name;
};

//  A remote with a name of its own
static remote_t *
s_new (const char *base, const char *name)
{
    remote_t *self = (remote_t *) calloc (1, sizeof *self);
    assert (self);
    self->base = strdup (base);
    self->name = strdup (name);
    self->curl = curl_easy_init ();
    assert (self->base && self->name && self->curl);
    return self;
}

remote_t *
remote_new (const char *base)
{
    return s_new (base, base);
}

const char *
remote_variable (const char *name, const char *what)
{
    char variable[VARIABLE_MAX];
    int size = snprintf (variable, sizeof variable, "ZPEER_%s_%s", name, what);
    assert (size > 0 && (size_t) size < sizeof variable);
    for (char *c = variable; *c; c++)
        *c = (char) toupper ((unsigned char) *c);
    const char *value = getenv (variable);
    cr_assert (value, "no %s: run by tests/interop/run.sh", variable);
    return value;
}

remote_t *
remote_named (const char *name)
{
    return s_new (remote_variable (name, "URL"), name);
}

void
remote_destroy (remote_t **self_p)
{
    remote_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    curl_easy_cleanup (self->curl);
    free (self->base);
    free (self->name);
    free (self);
}

const char *
remote_base (const remote_t *self)
{
    return self->base;
}

const char *
remote_name (const remote_t *self)
{
    return self->name;
}

static size_t
s_write (char *data, size_t size, size_t count, void *file)
{
    return fwrite (data, size, count, (FILE *) file);
}

//  Sends what has been set up. Returns the HTTP status, 0: no answer.
static int
s_perform (remote_t *self, json_t **answer)
{
    char *text = NULL;
    size_t size = 0;
    long status = 0;
    FILE *file = open_memstream (&text, &size);
    assert (file);
    curl_easy_setopt (self->curl, CURLOPT_WRITEFUNCTION, s_write);
    curl_easy_setopt (self->curl, CURLOPT_WRITEDATA, file);
    if (curl_easy_perform (self->curl) == CURLE_OK)
        curl_easy_getinfo (self->curl, CURLINFO_RESPONSE_CODE, &status);
    fclose (file);
    if (answer)
        *answer = json_loadb (text, size, JSON_DECODE_ANY, NULL);
    free (text);
    return (int) status;
}

int
remote_call (remote_t *self, const char *method, const char *path,
             const char *header, const char *body, size_t size, json_t **answer)
{
    char url[LINE_MAX_BYTES];
    int length = snprintf (url, sizeof url, "%s%s", self->base, path);
    assert (length > 0 && (size_t) length < sizeof url);
    struct curl_slist *headers =
        curl_slist_append (NULL, "Content-Type: application/json");
    headers = curl_slist_append (headers, "Accept: application/json");
    headers = curl_slist_append (headers, "Expect:");
    if (header)
        headers = curl_slist_append (headers, header);
    curl_easy_reset (self->curl);
    curl_easy_setopt (self->curl, CURLOPT_URL, url);
    curl_easy_setopt (self->curl, CURLOPT_PROXY, "");
    curl_easy_setopt (self->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt (self->curl, CURLOPT_TIMEOUT_MS, (long) REMOTE_LIMIT_MS);
    curl_easy_setopt (self->curl, CURLOPT_HTTPHEADER, headers);
    //  Of the server with a certificate of its own CA; others do not ask
    curl_easy_setopt (self->curl, CURLOPT_CAINFO, getenv ("ZPEER_SECURE_CA"));
    //  Netflix's server gzips GET apps whether that is accepted or not
    curl_easy_setopt (self->curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    if (body) {
        curl_easy_setopt (self->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                          (curl_off_t) size);
        curl_easy_setopt (self->curl, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt (self->curl, CURLOPT_CUSTOMREQUEST, method);
    int status = s_perform (self, answer);
    curl_slist_free_all (headers);
    return status;
}

int
remote_batch (remote_t *self, const char *body, json_t **answer)
{
    return remote_call (self, "POST", "peerreplication/batch/", NULL, body,
                        strlen (body), answer);
}

json_t *
remote_instance (remote_t *self, const char *app, const char *id)
{
    char path[LINE_MAX_BYTES];
    json_t *answer = NULL;
    char *name = curl_easy_escape (self->curl, app, 0);
    char *key = curl_easy_escape (self->curl, id, 0);
    snprintf (path, sizeof path, "apps/%s/%s", name, key);
    curl_free (name);
    curl_free (key);
    int status = remote_call (self, "GET", path, NULL, NULL, 0, &answer);
    json_t *info = status == 200
                       ? json_incref (json_object_get (answer, "instance"))
                       : NULL;
    json_decref (answer);
    return info;
}

//  The instances of an application in GET apps, a new reference or NULL
static json_t *
s_listed (remote_t *self, const char *app)
{
    json_t *answer = NULL;
    json_t *found = NULL;
    json_t *entry;
    size_t i;
    int status = remote_call (self, "GET", "apps", NULL, NULL, 0, &answer);
    cr_assert_eq (status, 200, "GET apps: %d", status);
    json_t *list = json_object_get (json_object_get (answer, "applications"),
                                    "application");
    json_array_foreach (list, i, entry)
    {
        const char *name = json_string_value (json_object_get (entry, "name"));
        if (name && !strcmp (name, app))
            found = json_incref (json_object_get (entry, "instance"));
    }
    json_decref (answer);
    return found;
}

json_t *
remote_listed (remote_t *self, const char *app, const char *id)
{
    json_t *instances = s_listed (self, app);
    json_t *found = NULL;
    json_t *info;
    size_t i;
    json_array_foreach (instances, i, info)
    {
        const char *key =
            json_string_value (json_object_get (info, "instanceId"));
        if (key && !strcmp (key, id))
            found = json_incref (info);
    }
    json_decref (instances);
    return found;
}

size_t
remote_count (remote_t *self, const char *app)
{
    json_t *instances = s_listed (self, app);
    size_t count = json_array_size (instances);
    json_decref (instances);
    return count;
}
