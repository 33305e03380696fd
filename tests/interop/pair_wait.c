//  What pair.h waits for: outcomes, and what the servers have

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <czmq.h>
#include "pair.h"
#include "banned.h"

//  Room for s_state's text
#define STATE_MAX 128

//  ---- Outcomes

//  Hears the next outcome; false: the time is over
static bool
s_hear (pair_t *self, int64_t until)
{
    const char *topic;
    const void *data;
    size_t size;
    int64_t left = until - zclock_mono ();
    if (left <= 0 || zpeer_watch_recv (self->watch, (int) left, &topic, &data,
                                       &size) != ZPEER_OK)
        return false;
    if (!strcmp (topic, "stats"))
        return true;
    char *text = zpeer_watch_json (data, size);
    json_t *outcome = json_loads (text, 0, NULL);
    free (text);
    json_object_set_new (outcome, "topic", json_string (topic));
    json_array_append_new (self->heard, outcome);
    return true;
}

void
pair_tick (pair_t *self)
{
    cr_assert (s_hear (self, zclock_mono () + self->limit_ms));
}

//  Whether a member is this text, or a list with it; a NULL for key is no
//  question
static bool
s_has (json_t *outcome, const char *key, const char *value)
{
    json_t *member = json_object_get (outcome, key);
    json_t *entry;
    size_t i;
    if (!key)
        return true;
    json_array_foreach (member, i, entry)
    {
        if (!strcmp (json_string_value (entry), value))
            return true;
    }
    const char *text = json_string_value (member);
    return text && !strcmp (text, value);
}

//  What an outcome is asked for: members, NULL for any
typedef struct {
    size_t peer;
    const char *topic;
    const char *key;
    const char *value;
    const char *action;  //  One of those confirmed
} wanted_t;

static bool
s_is (pair_t *self, json_t *outcome, const wanted_t *wanted)
{
    const char *url = json_string_value (json_object_get (outcome, "peer"));
    if (!s_has (outcome, "topic", wanted->topic) ||
        !s_has (outcome, wanted->key, wanted->value) ||
        !s_has (outcome, wanted->action ? "actions" : NULL, wanted->action))
        return false;
    return wanted->peer == PAIR_ANY ||
           (url && zpeer_engine_peer_id (self->engine, url) ==
                       zpeer_engine_peer_id (self->engine,
                                             self->peers[wanted->peer].url));
}

//  Takes the first such outcome that was heard, or will be
static json_t *
s_take (pair_t *self, const wanted_t *wanted)
{
    int64_t until = zclock_mono () + self->limit_ms;
    size_t i = 0;
    json_decref (self->outcome);
    self->outcome = NULL;
    do {
        for (; i < json_array_size (self->heard); i++) {
            json_t *outcome = json_array_get (self->heard, i);
            if (!s_is (self, outcome, wanted))
                continue;
            self->outcome = json_incref (outcome);
            json_array_remove (self->heard, i);
            return self->outcome;
        }
    } while (s_hear (self, until));
    cr_assert_fail ("no outcome %s of %s", wanted->topic,
                    wanted->peer == PAIR_ANY
                        ? "any peer"
                        : remote_name (self->peers[wanted->peer].remote));
    return NULL;
}

json_t *
pair_outcome (pair_t *self, size_t peer, const char *topic, const char *key,
              const char *value)
{
    return s_take (self, &(wanted_t){peer, topic, key, value, NULL});
}

void
pair_outcomes (pair_t *self, const char *topic, const char *key,
               const char *value)
{
    for (size_t i = 0; i < self->count; i++)
        pair_outcome (self, i, topic, key, value);
}

void
pair_delivered (pair_t *self, const char *id, const char *action)
{
    for (size_t i = 0; i < self->count; i++)
        s_take (self, &(wanted_t){i, "delivered", "id", id, action});
}

//  ---- What the servers have

void
pair_await_answers (pair_t *self)
{
    int64_t until = zclock_mono () + self->limit_ms;
    for (size_t i = 0; i < self->count; i++) {
        remote_t *remote = self->peers[i].remote;
        int status;
        do
            status = remote_call (remote, "GET", "apps", NULL, NULL, 0, NULL);
        while (status != 200 && s_hear (self, until));
        cr_assert_eq (status, 200, "%s answers %d", remote_name (remote),
                      status);
    }
}

static void
s_format (char text[STATE_MAX], const char *status, const char *overridden,
          uint64_t at)
{
    snprintf (text, STATE_MAX, "%s/%s @%llu", status, overridden,
              (unsigned long long) at);
}

//  The state of an instance, which is taken; "nothing" without one
static void
s_state (json_t *info, char text[STATE_MAX])
{
    const char *at =
        json_string_value (json_object_get (info, "lastDirtyTimestamp"));
    if (info)
        s_format (
            text, json_string_value (json_object_get (info, "status")),
            json_string_value (json_object_get (info, "overriddenStatus")),
            strtoull (at, NULL, 10));
    else
        snprintf (text, STATE_MAX, "nothing");
    json_decref (info);
}

static void
s_await (pair_t *self, size_t peer, const char *id, const char *wanted)
{
    int64_t until = zclock_mono () + self->limit_ms;
    remote_t *remote = self->peers[peer].remote;
    char state[STATE_MAX];
    do
        s_state (remote_listed (remote, self->app, pair_id (self, id)), state);
    while (strcmp (state, wanted) != 0 && s_hear (self, until));
    cr_assert_str_eq (state, wanted, "%s is %s, not %s at %s", id, state,
                      wanted, remote_name (remote));
}

void
pair_await_at (pair_t *self, size_t peer, const char *id, const char *status,
               const char *overridden, uint64_t at)
{
    char wanted[STATE_MAX];
    s_format (wanted, status, overridden, at);
    s_await (self, peer, id, wanted);
}

void
pair_await (pair_t *self, const char *id, const char *status,
            const char *overridden, uint64_t at)
{
    for (size_t i = 0; i < self->count; i++)
        pair_await_at (self, i, id, status, overridden, at);
}

void
pair_await_gone (pair_t *self, const char *id)
{
    for (size_t i = 0; i < self->count; i++)
        s_await (self, i, id, "nothing");
}

void
pair_expect (pair_t *self, const char *id, const char *status,
             const char *overridden, uint64_t at)
{
    char wanted[STATE_MAX];
    s_format (wanted, status, overridden, at);
    for (size_t i = 0; i < self->count; i++) {
        remote_t *remote = self->peers[i].remote;
        char state[STATE_MAX];
        s_state (remote_instance (remote, self->app, pair_id (self, id)),
                 state);
        cr_assert_str_eq (state, wanted, "%s is %s, not %s at %s", id, state,
                          wanted, remote_name (remote));
    }
}

static void
s_await_count (pair_t *self, size_t peer, const char *app, size_t count)
{
    int64_t until = zclock_mono () + self->limit_ms;
    remote_t *remote = self->peers[peer].remote;
    size_t held;
    do
        held = remote_count (remote, app);
    while (held != count && s_hear (self, until));
    cr_assert_eq (held, count, "%s has %zu instances, not %zu",
                  remote_name (remote), held, count);
}

void
pair_await_count (pair_t *self, const char *app, size_t count)
{
    for (size_t i = 0; i < self->count; i++)
        s_await_count (self, i, app, count);
}

json_t *
pair_listed (pair_t *self, size_t peer, const char *id)
{
    int64_t until = zclock_mono () + self->limit_ms;
    remote_t *remote = self->peers[peer].remote;
    json_t *info;
    do
        info = remote_listed (remote, self->app, pair_id (self, id));
    while (!info && s_hear (self, until));
    cr_assert (info, "GET apps of %s has no %s", remote_name (remote),
               self->id);
    return info;
}

json_int_t
pair_lease (pair_t *self, size_t peer, const char *id, const char *name)
{
    json_t *info = remote_instance (self->peers[peer].remote, self->app,
                                    pair_id (self, id));
    json_int_t value = json_integer_value (
        json_object_get (json_object_get (info, "leaseInfo"), name));
    json_decref (info);
    return value;
}
