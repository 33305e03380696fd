#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <criterion/criterion.h>
#include <czmq.h>
#include "buffer.h"
#include "pair.h"
#include "banned.h"

//  Statistics come this often: what waits looks again by then
#define TICK_MS  50
#define TEXT_MAX 16384
#define TOPICS   "delivered,conflict,need-register,rejected,dropped,peer,stats"
#define SETS_MAX 16

void
pair_open (pair_t *self, const char *const *set)
{
    remote_t *spring = remote_spring ();
    pair_open_url (self, set, remote_base (spring));
    remote_destroy (&spring);
}

void
pair_open_url (pair_t *self, const char *const *set, const char *url)
{
    const char *all[SETS_MAX] = {"zpeer.outcomes.delivered=true",
                                 "zpeer.stats.interval-ms=50"};
    for (size_t i = 2; set && *set && i < SETS_MAX - 1; i++)
        all[i] = *set++;
    *self = (pair_t){.engine = stage_engine (all),
                     .spring = remote_spring (),
                     .limit_ms = STAGE_WAIT_MS};
    snprintf (self->app, sizeof self->app, "PAIR%d", getpid ());
    self->feed = stage_feed (self->engine);
    self->watch =
        zpeer_watch_new (zpeer_engine_outcomes (self->engine), TOPICS);
    //  From the first outcome on none is missed
    pair_outcome (self, "stats", NULL, NULL);
    cr_assert_eq (zpeer_engine_add_peer (self->engine, url), ZPEER_OK, "%s",
                  zpeer_engine_error (self->engine));
}

void
pair_close (pair_t *self)
{
    json_decref (self->outcome);
    zpeer_watch_destroy (&self->watch);
    zpeer_feed_destroy (&self->feed);
    zpeer_engine_destroy (&self->engine);
    remote_destroy (&self->spring);
    *self = (pair_t){0};
}

//  --------------------------------------------------------------------------

const char *
pair_id (pair_t *self, const char *id)
{
    snprintf (self->id, sizeof self->id, "%s:%s", self->app, id);
    return self->id;
}

static zpeer_event_t *
s_event (pair_t *self, const char *id, const pair_event_t *from)
{
    zpeer_event_t *event = zpeer_event_new (from->action);
    cr_assert_eq (zpeer_event_set_app (event, self->app), ZPEER_OK);
    cr_assert_eq (zpeer_event_set_id (event, pair_id (self, id)), ZPEER_OK);
    if (from->at)
        zpeer_event_set_timestamp (event, from->at);
    if (from->status)
        zpeer_event_set_status (event, from->status);
    if (from->overridden)
        zpeer_event_set_overridden_status (event, from->overridden);
    if (from->action == ZPEER_REGISTER) {
        zpeer_event_put_str (event, "hostName", "shop02.example.net");
        zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    }
    return event;
}

void
pair_send (pair_t *self, const char *id, const pair_event_t *events,
           size_t count)
{
    zpeer_buffer_t frame = {0};
    zpeer_reply_t reply;
    for (size_t i = 0; i < count; i++) {
        zpeer_event_t *event = s_event (self, id, &events[i]);
        zpeer_buffer_reserve (&frame, zpeer_event_size (event));
        zpeer_event_encode (event, frame.data, frame.capacity, &frame.size);
        zpeer_event_destroy (&event);
    }
    cr_assert_eq (zpeer_feed_send_frame (self->feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    cr_assert_eq (zpeer_feed_recv (self->feed, &reply, STAGE_WAIT_MS),
                  ZPEER_OK);
    cr_assert_eq (reply.accepted, count, "%s",
                  reply.listed ? reply.reasons[0] : "");
    zpeer_buffer_free (&frame);
}

void
pair_register (pair_t *self, const char *id, uint64_t at, const char *members)
{
    char text[TEXT_MAX];
    char reason[256] = "";
    int size = snprintf (
        text, sizeof text,
        "{\"hostName\":\"shop02.example.net\",\"ipAddr\":\"192.0.2.52\","
        "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
        "MyDataCenterInfo\",\"name\":\"MyOwn\"}%s}",
        members);
    cr_assert (size > 0 && (size_t) size < sizeof text);
    zpeer_event_t *event =
        s_event (self, id, &(pair_event_t){ZPEER_REGISTER, at, 0, 0});
    cr_assert_eq (zpeer_event_set_info_json (event, text, (size_t) size, reason,
                                             sizeof reason),
                  ZPEER_OK, "%s", reason);
    zpeer_event_set_timestamp (event, at);
    stage_send (self->feed, event);
    zpeer_event_destroy (&event);
}

//  --------------------------------------------------------------------------

//  The next outcome, or NULL when the time is over
static json_t *
s_next (pair_t *self, int64_t until, const char **topic)
{
    const void *data;
    size_t size;
    int64_t left = until - zclock_mono ();
    if (left <= 0 || zpeer_watch_recv (self->watch, (int) left, topic, &data,
                                       &size) != ZPEER_OK)
        return NULL;
    char *text = zpeer_watch_json (data, size);
    json_t *outcome = json_loads (text, 0, NULL);
    free (text);
    return outcome;
}

static bool
s_has (json_t *outcome, const char *key, const char *value)
{
    const char *text = json_string_value (json_object_get (outcome, key));
    return !key || (text && !strcmp (text, value));
}

json_t *
pair_outcome (pair_t *self, const char *topic, const char *key,
              const char *value)
{
    int64_t until = zclock_mono () + self->limit_ms;
    const char *its;
    json_decref (self->outcome);
    while ((self->outcome = s_next (self, until, &its))) {
        if (!strcmp (its, topic) && s_has (self->outcome, key, value))
            return self->outcome;
        json_decref (self->outcome);
    }
    cr_assert_fail ("no outcome %s", topic);
    return NULL;
}

void
pair_delivered (pair_t *self, const char *id, const char *action)
{
    bool found = false;
    while (!found) {
        json_t *outcome = pair_outcome (self, "delivered", "id", id);
        json_t *actions = json_object_get (outcome, "actions");
        json_t *name;
        size_t i;
        json_array_foreach (actions, i, name)
        {
            if (!strcmp (json_string_value (name), action))
                found = true;
        }
    }
}

//  The instance as "status/overriddenStatus @timestamp", "nothing" without one
static void
s_state (pair_t *self, const char *id, char *text, size_t size)
{
    json_t *info =
        remote_instance (self->spring, self->app, pair_id (self, id));
    if (info)
        snprintf (
            text, size, "%s/%s @%s",
            json_string_value (json_object_get (info, "status")),
            json_string_value (json_object_get (info, "overriddenStatus")),
            json_string_value (json_object_get (info, "lastDirtyTimestamp")));
    else
        snprintf (text, size, "nothing");
    json_decref (info);
}

static void
s_await (pair_t *self, const char *id, const char *wanted)
{
    int64_t until = zclock_mono () + self->limit_ms;
    char state[128];
    const char *topic;
    json_t *outcome;
    s_state (self, id, state, sizeof state);
    while (strcmp (state, wanted) != 0 &&
           (outcome = s_next (self, until, &topic))) {
        json_decref (outcome);
        s_state (self, id, state, sizeof state);
    }
    cr_assert_str_eq (state, wanted, "%s is %s, not %s", id, state, wanted);
}

void
pair_await (pair_t *self, const char *id, const char *status,
            const char *overridden, uint64_t at)
{
    char wanted[128];
    snprintf (wanted, sizeof wanted, "%s/%s @%llu", status, overridden,
              (unsigned long long) at);
    s_await (self, id, wanted);
}

void
pair_await_gone (pair_t *self, const char *id)
{
    s_await (self, id, "nothing");
}

void
pair_await_count (pair_t *self, const char *app, size_t count)
{
    int64_t until = zclock_mono () + self->limit_ms;
    size_t held = remote_count (self->spring, app);
    const char *topic;
    json_t *outcome;
    while (held != count && (outcome = s_next (self, until, &topic))) {
        json_decref (outcome);
        held = remote_count (self->spring, app);
    }
    cr_assert_eq (held, count, "%zu instances, not %zu", held, count);
}

json_t *
pair_listed (pair_t *self, const char *id)
{
    int64_t until = zclock_mono () + self->limit_ms;
    json_t *info = remote_listed (self->spring, self->app, pair_id (self, id));
    const char *topic;
    json_t *outcome;
    while (!info && (outcome = s_next (self, until, &topic))) {
        json_decref (outcome);
        info = remote_listed (self->spring, self->app, pair_id (self, id));
    }
    cr_assert (info, "GET apps has no %s", self->id);
    return info;
}

json_int_t
pair_lease (pair_t *self, const char *id, const char *name)
{
    json_t *info =
        remote_instance (self->spring, self->app, pair_id (self, id));
    json_int_t value = json_integer_value (
        json_object_get (json_object_get (info, "leaseInfo"), name));
    json_decref (info);
    return value;
}
