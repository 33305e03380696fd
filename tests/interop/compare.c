#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compare.h"
#include "banned.h"

//  Timestamps of tests are far below: 2001-09-09
#define PRESENT_MS 1000000000000

//  A text of what json_dumps would show; NULL is shown as "nothing"
static char *
s_differs (const char *what, const json_t *one, const json_t *other)
{
    char *text = NULL;
    char *left = one ? json_dumps (one, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *right =
        other ? json_dumps (other, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    int size = asprintf (&text, "%s: %s, other: %s", what,
                         left ? left : "nothing", right ? right : "nothing");
    assert (size > 0);
    free (left);
    free (right);
    return text;
}

//  Takes the times out of an InstanceInfo
static json_t *
s_without_times (const json_t *info)
{
    json_t *copy = json_deep_copy (info);
    json_t *lease = json_object_get (copy, "leaseInfo");
    const char *dirty =
        json_string_value (json_object_get (copy, "lastDirtyTimestamp"));
    json_object_del (lease, "registrationTimestamp");
    json_object_del (lease, "lastRenewalTimestamp");
    json_object_del (lease, "serviceUpTimestamp");
    json_object_del (copy, "lastUpdatedTimestamp");
    if (dirty && strtoll (dirty, NULL, 10) > PRESENT_MS)
        json_object_set_new (copy, "lastDirtyTimestamp", json_string ("now"));
    return copy;
}

//  The first member that differs
static char *
s_member (json_t *one, json_t *other)
{
    const char *name;
    json_t *value;
    json_object_foreach (one, name, value)
    {
        json_t *same = json_object_get (other, name);
        if (!same || !json_equal (value, same))
            return s_differs (name, value, same);
    }
    json_object_foreach (other, name, value)
    {
        if (!json_object_get (one, name))
            return s_differs (name, NULL, value);
    }
    return NULL;
}

char *
compare_infos (json_t *one, json_t *other)
{
    if (!one && !other)
        return NULL;
    if (!one || !other)
        return s_differs ("instance", one, other);
    json_t *left = s_without_times (one);
    json_t *right = s_without_times (other);
    char *text = s_member (left, right);
    json_decref (left);
    json_decref (right);
    return text;
}

static char *
s_entry (json_t *one, json_t *other)
{
    json_t *left = json_object_get (one, "statusCode");
    json_t *right = json_object_get (other, "statusCode");
    if (!left || !right || !json_equal (left, right))
        return s_differs ("statusCode", one, other);
    return compare_infos (json_object_get (one, "responseEntity"),
                          json_object_get (other, "responseEntity"));
}

static char *
s_lists (json_t *one, json_t *other)
{
    json_t *left = json_object_get (one, "responseList");
    json_t *right = json_object_get (other, "responseList");
    char *text = NULL;
    if (json_array_size (left) != json_array_size (right))
        return s_differs ("entries", left, right);
    for (size_t i = 0; i < json_array_size (left) && !text; i++) {
        char *entry =
            s_entry (json_array_get (left, i), json_array_get (right, i));
        if (entry) {
            int size = asprintf (&text, "item %zu: %s", i, entry);
            assert (size > 0);
        }
        free (entry);
    }
    return text;
}

char *
compare_batch (remote_t *one, remote_t *other, const char *body)
{
    json_t *left = NULL;
    json_t *right = NULL;
    char *text = NULL;
    int status = remote_batch (one, body, &left);
    int same = remote_batch (other, body, &right);
    if (status != same) {
        int size = asprintf (&text, "HTTP %d, other: %d", status, same);
        assert (size > 0);
    }
    else if (status == 200)
        text = s_lists (left, right);
    json_decref (left);
    json_decref (right);
    return text;
}

char *
compare_instance (remote_t *one, remote_t *other, const char *app,
                  const char *id)
{
    json_t *left = remote_instance (one, app, id);
    json_t *right = remote_instance (other, app, id);
    char *text = compare_infos (left, right);
    json_decref (left);
    json_decref (right);
    return text;
}
