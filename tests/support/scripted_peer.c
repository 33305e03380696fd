#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "batch.h"
#include "control.h"
#include "inside.h"
#include "banned.h"

//  Ends a change made by a caller: the thread looks at its timers again, and
//  those who wait at their conditions
static void
s_changed (speer_t *self)
{
    pthread_cond_broadcast (&self->changed);
    speer_server_wake (self->server);
    speer_unlock (self);
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
    speer_lock (self);
    while (!self->stopped) {
        int64_t wake_at = s_wake_at (self);
        speer_unlock (self);
        speer_server_poll (self->server, wake_at);
        speer_lock (self);
        speer_server_serve (self->server);
        speer_work_turn (self->work, speer_server_conns (self->server));
        pthread_cond_broadcast (&self->changed);
    }
    speer_unlock (self);
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
    self->port = speer_server_port (self->server, false);
    snprintf (self->url, sizeof self->url, "http://127.0.0.1:%d/eureka/",
              self->port);
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
        speer_lock (self);
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
    return self->port;
}

//  ---- The script

void
speer_rule (speer_t *self, const speer_rule_t *rule)
{
    speer_lock (self);
    speer_rules_add (self->core.rules, rule);
    s_changed (self);
}

void
speer_item_rule (speer_t *self, const speer_item_rule_t *rule)
{
    speer_lock (self);
    speer_rules_add_item (self->core.rules, rule);
    s_changed (self);
}

void
speer_clear (speer_t *self)
{
    speer_lock (self);
    speer_rules_clear (self->core.rules);
    s_changed (self);
}

size_t
speer_release (speer_t *self)
{
    speer_lock (self);
    size_t count = speer_work_release (self->work);
    s_changed (self);
    return count;
}

void
speer_set (speer_t *self, speer_setting_t setting, int64_t value)
{
    speer_lock (self);
    self->core.settings[setting] = value;
    if (setting == SPEER_SET_SYNC)
        speer_registry_sync (self->core.registry, value != 0);
    s_changed (self);
}

bool
speer_mode (speer_t *self, speer_mode_t mode)
{
    speer_lock (self);
    bool done = speer_server_mode (self->server, mode);
    s_changed (self);
    return done;
}

void
speer_advance (speer_t *self, int64_t ms)
{
    speer_lock (self);
    self->core.offset_ms += ms;
    speer_core_now (&self->core);
    s_changed (self);
}

void
speer_reset (speer_t *self)
{
    speer_lock (self);
    speer_server_mode (self->server, SPEER_LISTEN);
    speer_server_drop (self->server);
    speer_work_drop (self->work);
    speer_core_fini (&self->core);
    speer_core_init (&self->core);
    s_changed (self);
}

//  ---- Another writer

int
speer_apply (speer_t *self, const char *body)
{
    char *answer;
    speer_batch_way_t way = {.apply = true};
    speer_lock (self);
    int status =
        speer_batch_apply (&self->core, body, strlen (body), way, &answer);
    free (answer);
    s_changed (self);
    return status;
}
