#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <zpeer/dispatcher.h>
#include "dispatcher_impl.h"
#include "local.h"
#include "pem.h"
#include "banned.h"

//  Messages to the batcher and to health are bounded by the batches held: a
//  mark that is never reached while anybody reads
#define HWM (4 * ZPEER_WIRE_HELD_MAX)

//  Largest frame: a batch of the largest zpeer.batch.max-bytes, and an item
#define BODY_MAX (INT64_C (128) * 1024 * 1024)

//  Bytes of this dispatcher's name to its batcher, the first of them not 0
#define NAME_MAX_BYTES 16

//  Longest beat: after 6 s of silence the batcher takes its batches back
#define BEAT_MAX_MS 2000

//  Longest that is waited at once
#define WAIT_MAX_MS 3600000

static void
s_self_destroy (zpeer_dispatcher_t **self_p)
{
    zpeer_dispatcher_t *self = *self_p;
    *self_p = NULL;
    if (self->core) {
        zpeer_dispatch_close (self->core);
        zpeer_dispatcher_act (self);
    }
    zpeer_dispatch_destroy (&self->core);
    zpeer_http_destroy (&self->http);
    zsock_destroy (&self->batcher.socket);
    zsock_destroy (&self->health.socket);
    zpeer_frames_close (&self->frames);
    zpeer_sampler_end (&self->log.lines);
    zpeer_report_close (&self->log.report);
    zpeer_url_free (&self->url);
    zpeer_options_destroy (&self->options);
    free (self);
}

//  --------------------------------------------------------------------------
//  Commands

static int
s_peer (void *arg, char *const *args, char *answer)
{
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    char error[ZPEER_URL_ERROR_MAX] = "";
    zpeer_url_t url;
    uint32_t peer;
    int rc =
        zpeer_command_number (args[0], ZPEER_WIRE_PEERS_MAX - 1, &peer, answer);
    if (rc)
        return rc;
    rc = zpeer_url_parse (&url, args[1], error);
    if (rc) {
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s", error);
        return rc;
    }
    zpeer_url_free (&self->url);
    self->url = url;
    self->peer = peer;
    return ZPEER_OK;
}

static int
s_auth (void *arg, char *const *args, char *answer)
{
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    if (!self->url.base) {
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "PEER comes before AUTH");
        return ZPEER_E_STATE;
    }
    return zpeer_url_auth (&self->url, args[0], args[1]);
}

//  Connects a socket that does not exist yet. name may be NULL.
static int
s_connect (zpeer_inlet_t *inlet, const char *endpoint, int64_t max_bytes,
           const char *name)
{
    if (inlet->socket)
        return ZPEER_E_EXISTS;
    zsock_t *socket = zpeer_socket_new (ZPEER_ROLE_CLIENT, HWM, max_bytes);
    if (!socket)
        return ZPEER_E_RESOURCES;
    if (name)
        zpeer_socket_identify (socket, (zpeer_slice_t){name, NAME_MAX_BYTES});
    int rc = zpeer_socket_connect (socket, endpoint);
    if (rc)
        zsock_destroy (&socket);
    zpeer_inlet_open (inlet, socket);
    return rc;
}

//  A name of its own, so that the batcher knows it again after a reconnect
static int
s_connect_batcher (void *arg, char *const *args, char *answer)
{
    (void) answer;
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    char name[NAME_MAX_BYTES];
    if (getrandom (name, sizeof name, 0) != (ssize_t) sizeof name)
        return ZPEER_E_IO;
    name[0] = 'd';
    int rc = s_connect (&self->batcher, args[0], BODY_MAX, name);
    if (rc == ZPEER_OK)
        self->remote = !zpeer_socket_is_inproc (args[0]);
    return rc;
}

static int
s_connect_health (void *arg, char *const *args, char *answer)
{
    (void) answer;
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    return s_connect (&self->health, args[0], ZPEER_WIRE_MAX, NULL);
}

static int
s_connect_report (void *arg, char *const *args, char *answer)
{
    (void) answer;
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    return zpeer_report_connect (&self->log.report, args[0]);
}

static int
s_beat (void *arg, char *const *args, char *answer)
{
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    int rc =
        zpeer_command_number (args[0], BEAT_MAX_MS, &self->beat_ms, answer);
    if (self->beat_ms == 0)
        self->beat_ms = ZPEER_DISPATCH_BEAT_MS;
    return rc;
}

static int
s_check_file (const char *name, const char *file, char *answer)
{
    const char *wrong = *file ? zpeer_pem_wrong (file) : NULL;
    if (!wrong)
        return ZPEER_OK;
    snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s %.256s: %s", name, file,
              wrong);
    return ZPEER_E_INVALID;
}

//  A file that cannot be used is found now, not by the first request
static int
s_check_trust (const zpeer_dispatcher_t *self, char *answer)
{
    const zpeer_options_t *options = self->options;
    if (strncmp (self->url.base, "https:", 6) != 0)
        return ZPEER_OK;
    int rc = s_check_file ("zpeer.tls.ca-file", options->tls_ca_file, answer);
    if (rc == ZPEER_OK)
        rc = s_check_file ("zpeer.tls.cert-file", options->tls_cert_file,
                           answer);
    if (rc == ZPEER_OK)
        rc = s_check_file ("zpeer.tls.key-file", options->tls_key_file, answer);
    return rc;
}

static const char *
s_file (const char *name)
{
    return *name ? name : NULL;
}

static void
s_create_http (zpeer_dispatcher_t *self)
{
    const zpeer_options_t *options = self->options;
    char address[ZPEER_LOCAL_MAX];
    zpeer_http_options_t http = {
        .connect_timeout_ms = options->peer_node_connect_timeout_ms,
        .read_timeout_ms = options->peer_node_read_timeout_ms,
        .deadline_ms = options->request_deadline_ms,
        .reply_max_bytes = options->reply_max_bytes,
        .max_in_flight = options->max_threads_for_peer_replication,
        .max_age_ms = options->connection_max_age_ms,
        .idle_ms = 1000 * options->peer_node_connection_idle_timeout_seconds,
        .ca_file = s_file (options->tls_ca_file),
        .cert_file = s_file (options->tls_cert_file),
        .key_file = s_file (options->tls_key_file),
        .identity = zpeer_local_address (address),
    };
    self->http = zpeer_http_new (&self->url, &http);
}

static void
s_create_core (zpeer_dispatcher_t *self)
{
    zpeer_dispatch_options_t core = {
        .peer = self->peer,
        .credit = self->options->max_threads_for_peer_replication,
        .beat_ms = self->beat_ms,
        .remote = self->remote,
        .busy = self->options->congestion_statuses,
    };
    self->core = zpeer_dispatch_new (self->now, &core);
}

static int
s_start (void *arg, char *const *args, char *answer)
{
    (void) args;
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) arg;
    const char *missing = !self->url.base         ? "PEER"
                          : !self->batcher.socket ? "CONNECT"
                          : !self->health.socket  ? "HEALTH"
                                                  : NULL;
    if (missing) {
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s is missing", missing);
        return ZPEER_E_STATE;
    }
    int rc = s_check_trust (self, answer);
    if (rc)
        return rc;
    self->log.lines.about = self->url.base;
    self->stats_at = self->now + self->options->stats_interval_ms;
    s_create_http (self);
    s_create_core (self);
    return ZPEER_OK;
}

static const zpeer_command_t s_table[] = {
    {"PEER", 2, ZPEER_WHEN_BEFORE_START, s_peer},
    {"AUTH", 2, ZPEER_WHEN_BEFORE_START, s_auth},
    {"CONNECT", 1, ZPEER_WHEN_BEFORE_START, s_connect_batcher},
    {"HEALTH", 1, ZPEER_WHEN_BEFORE_START, s_connect_health},
    {"REPORT", 1, ZPEER_WHEN_BEFORE_START, s_connect_report},
    {"BEAT", 1, ZPEER_WHEN_BEFORE_START, s_beat},
    {"START", 0, ZPEER_WHEN_START, s_start},
    {0},
};

static zpeer_dispatcher_t *
s_self_new (zsock_t *pipe, const zpeer_actor_args_t *args)
{
    zpeer_dispatcher_t *self = (zpeer_dispatcher_t *) calloc (1, sizeof *self);
    assert (self);
    self->options = args && args->options ? zpeer_options_dup (args->options)
                                          : zpeer_options_new ();
    self->log.read_timeout_ms = self->options->peer_node_read_timeout_ms;
    if (args)
        self->log.lines.log = (zpeer_log_t){args->log, args->log_arg};
    self->beat_ms = ZPEER_DISPATCH_BEAT_MS;
    zpeer_commands_init (&self->commands, pipe, self, s_table);
    return self;
}

//  --------------------------------------------------------------------------
//  The loop

static void
s_handle_timers (zpeer_dispatcher_t *self)
{
    zpeer_sampler_tell (&self->log.lines, self->now);
    if (!self->log.report.socket || self->now < self->stats_at)
        return;
    zpeer_dispatch_stats_t stats;
    zpeer_dispatch_stats (self->core, &stats);
    zpeer_dispatch_log_stats (&self->log, &stats);
    self->stats_at = self->now + self->options->stats_interval_ms;
}

static void
s_handle_pipe (zpeer_dispatcher_t *self)
{
    for (unsigned i = 0;
         i < ZPEER_DISPATCHER_DRAIN_MAX && self->commands.pipe.ready; i++)
        if (!zpeer_commands_handle (&self->commands)) {
            self->terminated = true;
            break;
        }
}

//  How long nothing has to be done; -1: until something comes in
static int
s_timeout (const zpeer_dispatcher_t *self)
{
    uint64_t at = zpeer_dispatch_wake (self->core);
    uint64_t http = zpeer_http_wake (self->http);
    uint64_t lines = zpeer_sampler_wake (&self->log.lines);
    if (http < at)
        at = http;
    if (lines < at)
        at = lines;
    if (self->log.report.socket && self->stats_at < at)
        at = self->stats_at;
    if (at == UINT64_MAX)
        return -1;
    uint64_t left = at > self->now ? at - self->now : 0;
    return left < WAIT_MAX_MS ? (int) left : WAIT_MAX_MS;
}

//  libcurl waits, for its connections and our sockets
static void
s_wait (zpeer_dispatcher_t *self)
{
    zpeer_inlet_t *inlets[] = {&self->commands.pipe, &self->batcher,
                               &self->health};
    if (!self->core) {
        zpeer_inlet_wait (inlets, 1, NULL, 0, -1);
        return;
    }
    int fds[3];
    bool ready = false;
    for (int i = 0; i < 3; i++) {
        fds[i] = inlets[i]->fd;
        ready |= zpeer_inlet_ready (inlets[i]);
    }
    zpeer_http_poll (self->http, fds, 3, ready ? 0 : s_timeout (self));
    zpeer_inlet_wait (inlets, 3, NULL, 0, 0);
}

static void
s_turn (zpeer_dispatcher_t *self)
{
    zpeer_dispatcher_receive (self, &self->batcher);
    zpeer_dispatcher_receive (self, &self->health);
    zpeer_dispatcher_perform (self);
    zpeer_dispatcher_act (self);
    s_handle_timers (self);
}

void
zpeer_dispatcher (zsock_t *pipe, void *args)
{
    zpeer_dispatcher_t *self =
        s_self_new (pipe, (const zpeer_actor_args_t *) args);
    zsock_signal (pipe, 0);

    while (!self->terminated) {
        s_wait (self);
        self->now = (uint64_t) zclock_mono ();
        s_handle_pipe (self);
        if (self->core && !self->terminated)
            s_turn (self);
    }
    s_self_destroy (&self);
}
