#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps.h"
#include "batch.h"
#include "control.h"
#include "server.h"
#include "work.h"
#include "banned.h"

#define URL_MAX 64  //  Bytes of "http://127.0.0.1:65535/eureka/"

struct speer {
    pthread_t thread;
    pthread_mutex_t lock;  //  Over all that follows; recursive, so that what is
                           //  called under it may use the public functions
    pthread_cond_t changed;
    bool stopped;
    speer_core_t core;
    speer_server_t *server;  //  Owned
    speer_work_t *work;      //  Owned
    char url[URL_MAX];
    char control_url[URL_MAX];  //  "" without control port
};

static void
s_lock (const speer_t *self)
{
    int rc = pthread_mutex_lock ((pthread_mutex_t *) &self->lock);
    assert (rc == 0);
}

static void
s_unlock (const speer_t *self)
{
    pthread_mutex_unlock ((pthread_mutex_t *) &self->lock);
}

//  Ends a change made by a caller: the thread looks at its timers again, and
//  those who wait at their conditions
static void
s_changed (speer_t *self)
{
    pthread_cond_broadcast (&self->changed);
    speer_server_wake (self->server);
    s_unlock (self);
}

//  ---- The thread

static void
s_on_control (speer_t *self, speer_conn_t *conn, const speer_http_t *request)
{
    speer_reply_t reply = {0};
    speer_control_handle (self, request, &reply);
    speer_output_t output =
        speer_reply_write (&reply, NULL, request->keep_alive);
    speer_conn_answer (speer_server_conns (self->server), conn, &output, 0);
    free (output.data);
}

static void
s_on_request (void *arg, speer_conn_t *conn, speer_http_t *request)
{
    speer_t *self = (speer_t *) arg;
    if (conn->control)
        s_on_control (self, conn, request);
    else
        speer_work_request (self->work, speer_server_conns (self->server), conn,
                            request);
}

static void
s_on_sent (void *arg, speer_conn_t *conn)
{
    speer_t *self = (speer_t *) arg;
    if (!conn->control)
        speer_work_sent (self->work, conn);
}

static void
s_on_gone (void *arg, speer_conn_t *conn, bool left)
{
    speer_t *self = (speer_t *) arg;
    if (!conn->control)
        speer_work_gone (self->work, conn, left);
}

static int64_t
s_wake_at (const speer_t *self)
{
    int64_t work_at = speer_work_wake_at (self->work);
    int64_t server_at = speer_server_wake_at (self->server);
    return work_at < server_at ? work_at : server_at;
}

static void *
s_run (void *arg)
{
    speer_t *self = (speer_t *) arg;
    s_lock (self);
    while (!self->stopped) {
        int64_t wake_at = s_wake_at (self);
        s_unlock (self);
        speer_server_poll (self->server, wake_at);
        s_lock (self);
        speer_server_serve (self->server);
        speer_work_turn (self->work, speer_server_conns (self->server));
        pthread_cond_broadcast (&self->changed);
    }
    s_unlock (self);
    return NULL;
}

//  ---- Life

static void
s_init_lock (speer_t *self)
{
    pthread_mutexattr_t lock;
    pthread_condattr_t changed;
    pthread_mutexattr_init (&lock);
    pthread_mutexattr_settype (&lock, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init (&self->lock, &lock);
    pthread_mutexattr_destroy (&lock);
    pthread_condattr_init (&changed);
    pthread_condattr_setclock (&changed, CLOCK_MONOTONIC);
    pthread_cond_init (&self->changed, &changed);
    pthread_condattr_destroy (&changed);
}

speer_t *
speer_new (int port, int control)
{
    speer_t *self = (speer_t *) calloc (1, sizeof *self);
    assert (self);
    speer_conn_events_t events = {.request = s_on_request,
                                  .sent = s_on_sent,
                                  .gone = s_on_gone,
                                  .arg = self};
    s_init_lock (self);
    speer_core_init (&self->core);
    self->work = speer_work_new (&self->core);
    self->server = speer_server_new (&self->core, port, control, &events);
    if (!self->server) {
        self->stopped = true;
        speer_destroy (&self);
        return NULL;
    }
    snprintf (self->url, sizeof self->url, "http://127.0.0.1:%d/eureka/",
              speer_server_port (self->server, false));
    if (control >= 0)
        snprintf (self->control_url, sizeof self->control_url,
                  "http://127.0.0.1:%d/",
                  speer_server_port (self->server, true));
    int rc = pthread_create (&self->thread, NULL, s_run, self);
    assert (rc == 0);
    return self;
}

void
speer_destroy (speer_t **self_p)
{
    speer_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    if (!self->stopped) {
        s_lock (self);
        self->stopped = true;
        s_changed (self);
        pthread_join (self->thread, NULL);
    }
    speer_server_destroy (&self->server);
    speer_work_destroy (&self->work);
    speer_core_fini (&self->core);
    pthread_cond_destroy (&self->changed);
    pthread_mutex_destroy (&self->lock);
    free (self);
}

const char *
speer_url (const speer_t *self)
{
    return self->url;
}

const char *
speer_control_url (const speer_t *self)
{
    return *self->control_url ? self->control_url : NULL;
}

int
speer_port (const speer_t *self)
{
    return speer_server_port (self->server, false);
}

//  ---- The script

void
speer_rule (speer_t *self, const speer_rule_t *rule)
{
    s_lock (self);
    speer_rules_add (self->core.rules, rule);
    s_changed (self);
}

void
speer_item_rule (speer_t *self, const speer_item_rule_t *rule)
{
    s_lock (self);
    speer_rules_add_item (self->core.rules, rule);
    s_changed (self);
}

void
speer_clear (speer_t *self)
{
    s_lock (self);
    speer_rules_clear (self->core.rules);
    s_changed (self);
}

size_t
speer_release (speer_t *self)
{
    s_lock (self);
    size_t count = speer_work_release (self->work);
    s_changed (self);
    return count;
}

void
speer_set (speer_t *self, speer_setting_t setting, int64_t value)
{
    s_lock (self);
    self->core.settings[setting] = value;
    if (setting == SPEER_SET_SYNC)
        speer_registry_sync (self->core.registry, value != 0);
    s_changed (self);
}

bool
speer_mode (speer_t *self, speer_mode_t mode)
{
    s_lock (self);
    bool done = speer_server_mode (self->server, mode);
    s_changed (self);
    return done;
}

void
speer_advance (speer_t *self, int64_t ms)
{
    s_lock (self);
    self->core.offset_ms += ms;
    speer_core_now (&self->core);
    s_changed (self);
}

void
speer_reset (speer_t *self)
{
    s_lock (self);
    speer_server_mode (self->server, SPEER_LISTEN);
    speer_server_drop (self->server);
    speer_work_drop (self->work);
    speer_core_fini (&self->core);
    speer_core_init (&self->core);
    s_changed (self);
}

//  ---- Waiting

//  Counters that somebody else keeps are looked up
uint64_t
speer_get (speer_t *self, speer_counter_t counter)
{
    s_lock (self);
    uint64_t value = self->core.counters[counter];
    if (counter == SPEER_INSTANCES) {
        speer_core_now (&self->core);
        value = speer_registry_size (self->core.registry);
    }
    else if (counter == SPEER_SAMPLES)
        value = speer_journal_samples (self->core.journal);
    s_unlock (self);
    return value;
}

bool
speer_wait_until (speer_t *self, speer_condition_fn *fn, void *arg,
                  int limit_ms)
{
    int64_t limit_ns = speer_now_ns () + (int64_t) limit_ms * 1000000;
    struct timespec limit = {.tv_sec = (time_t) (limit_ns / 1000000000),
                             .tv_nsec = (long) (limit_ns % 1000000000)};
    int rc = 0;
    s_lock (self);
    bool met = fn (self, arg);
    while (!met && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait (&self->changed, &self->lock, &limit);
        met = fn (self, arg);
    }
    s_unlock (self);
    return met;
}

typedef struct {
    speer_counter_t counter;
    uint64_t value;
} s_mark_t;

static bool
s_reached (speer_t *self, void *arg)
{
    const s_mark_t *mark = (const s_mark_t *) arg;
    return speer_get (self, mark->counter) >= mark->value;
}

static bool
s_not_above (speer_t *self, void *arg)
{
    const s_mark_t *mark = (const s_mark_t *) arg;
    return speer_get (self, mark->counter) <= mark->value;
}

bool
speer_wait (speer_t *self, speer_counter_t counter, uint64_t value,
            int limit_ms)
{
    s_mark_t mark = {counter, value};
    return speer_wait_until (self, s_reached, &mark, limit_ms);
}

bool
speer_wait_below (speer_t *self, speer_counter_t counter, uint64_t value,
                  int limit_ms)
{
    s_mark_t mark = {counter, value};
    return speer_wait_until (self, s_not_above, &mark, limit_ms);
}

//  ---- What came in

static char *
s_copy (const char *text, size_t size)
{
    char *copy = (char *) calloc (1, size + 1);
    assert (copy);
    if (text)
        memcpy (copy, text, size);
    return copy;
}

bool
speer_request (speer_t *self, uint64_t n, speer_record_t *record)
{
    s_lock (self);
    const speer_record_t *held = speer_journal_get (self->core.journal, n);
    if (held) {
        *record = *held;
        record->method = strdup (held->method);
        record->path = strdup (held->path);
        record->head =
            s_copy (held->head, held->head ? strlen (held->head) : 0);
        record->body = s_copy (held->body, held->body ? held->body_bytes : 0);
    }
    s_unlock (self);
    return held != NULL;
}

size_t
speer_samples (speer_t *self, speer_sample_t *samples, size_t max)
{
    s_lock (self);
    size_t count =
        speer_journal_take_samples (self->core.journal, samples, max);
    s_unlock (self);
    return count;
}

//  ---- The registry

static void
s_view (speer_t *self, const speer_entry_t *entry, speer_lease_t *lease)
{
    speer_status_t held = speer_registry_held (self->core.registry, entry->id);
    *lease = (speer_lease_t){.dirty = entry->info->dirty,
                             .registered = entry->registered,
                             .renewed = entry->renewed,
                             .duration_ms = entry->duration_ms};
    snprintf (lease->status, sizeof lease->status, "%s",
              speer_status_name (entry->info->status));
    snprintf (lease->overridden, sizeof lease->overridden, "%s",
              speer_status_name (entry->info->overridden));
    if (held != SPEER_STATUS_NOT_ONE)
        snprintf (lease->held, sizeof lease->held, "%s",
                  speer_status_name (held));
}

bool
speer_lease (speer_t *self, const char *app, const char *id,
             speer_lease_t *lease)
{
    s_lock (self);
    speer_core_now (&self->core);
    const speer_entry_t *entry =
        speer_registry_find (self->core.registry, app, id);
    if (entry && lease)
        s_view (self, entry, lease);
    s_unlock (self);
    return entry != NULL;
}

//  Prints a new reference, which may be NULL
static char *
s_print (json_t *json)
{
    char *text = json ? json_dumps (json, JSON_COMPACT) : NULL;
    json_decref (json);
    return text;
}

char *
speer_apps (speer_t *self)
{
    s_lock (self);
    speer_core_now (&self->core);
    char *text = s_print (speer_apps_all (self->core.registry));
    s_unlock (self);
    return text;
}

char *
speer_instance (speer_t *self, const char *app, const char *id)
{
    s_lock (self);
    speer_core_now (&self->core);
    char *text = s_print (speer_apps_instance (self->core.registry, app, id));
    s_unlock (self);
    return text;
}

const char *
speer_asg (speer_t *self, const char *name)
{
    s_lock (self);
    const char *status =
        json_string_value (json_object_get (self->core.asgs, name));
    s_unlock (self);
    return !status                       ? NULL
           : !strcmp (status, "ENABLED") ? "ENABLED"
                                         : "DISABLED";
}

int
speer_apply (speer_t *self, const char *body)
{
    char *answer;
    speer_batch_way_t way = {.apply = true};
    s_lock (self);
    int status =
        speer_batch_apply (&self->core, body, strlen (body), way, &answer);
    free (answer);
    s_changed (self);
    return status;
}
