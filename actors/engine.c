#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zpeer/acceptor.h>
#include <zpeer/health.h>
#include <zpeer/reporter.h>
#include "engine_impl.h"
#include "reserve.h"
#include "banned.h"

//  Sockets of the engine without peers: both ends of three pipes; reporter's
//  inbox and PUB; health's; acceptor's feeders, both ends of their monitor,
//  uplink and report; our report
#define SOCKETS 15

//  Descriptors besides: an endpoint for events, one for outcomes
#define DESCRIPTORS 2

//  How long feeders are read when the engine stops. What they have sent takes
//  far less; those that go on sending are cut off then.
#define CLOSE_MAX_MS 500

int
zpeer_engine_fail (zpeer_engine_t *self, int code, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    vsnprintf (self->error, sizeof self->error, format, args);
    va_end (args);
    return code;
}

//  Ends whatever runs, in order. What is in flight is given up.
static void
s_end (zpeer_engine_t *self)
{
    //  All dispatchers first: a batcher may hear from them until they are gone
    for (unsigned i = 0; i < ZPEER_PEERS_MAX; i++)
        if (self->peers[i])
            zpeer_peer_end_dispatchers (self->peers[i]);
    for (unsigned i = 0; i < ZPEER_PEERS_MAX; i++)
        zpeer_peer_destroy (&self->peers[i]);
    zactor_destroy (&self->acceptor);
    zactor_destroy (&self->health);
    if (self->reporter)
        zpeer_command_call (self->reporter, ZPEER_ENGINE_GRACE_MS, NULL,
                            "DRAIN", (char *) NULL);
    zactor_destroy (&self->reporter);
    zpeer_report_close (&self->report);
    zlist_destroy (&self->opened);
    zlist_destroy (&self->unsettled);
    zstr_free (&self->own);
    self->running = false;
}

void
zpeer_engine_destroy (zpeer_engine_t **self_p)
{
    zpeer_engine_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    if (self->running)
        zpeer_engine_stop (self);
    zpeer_options_destroy (&self->options);
    free (self);
}

zpeer_engine_t *
zpeer_engine_new (void)
{
    zpeer_engine_t *self = (zpeer_engine_t *) calloc (1, sizeof *self);
    assert (self);
    self->options = zpeer_options_new ();
    return self;
}

const char *
zpeer_engine_error (const zpeer_engine_t *self)
{
    return self->error;
}

void
zpeer_engine_set_log (zpeer_engine_t *self, zpeer_log_fn *log, void *arg)
{
    assert (!self->running);
    self->log = (zpeer_log_t){log, arg};
}

int
zpeer_engine_expect (zpeer_engine_t *self, bool running)
{
    *self->error = 0;
    if (self->running == running)
        return ZPEER_OK;
    return zpeer_engine_fail (self, ZPEER_E_STATE, "the engine %s",
                              running ? "is not running" : "is running");
}

int
zpeer_engine_set (zpeer_engine_t *self, const char *key, const char *value)
{
    int rc = zpeer_engine_expect (self, false);
    if (rc)
        return rc;
    rc = zpeer_options_set (self->options, key, value);
    if (rc)
        zpeer_engine_fail (self, rc, "%s", zpeer_options_error (self->options));
    return rc;
}

int
zpeer_engine_set_options (zpeer_engine_t *self, const zpeer_options_t *options)
{
    int rc = zpeer_engine_expect (self, false);
    if (rc)
        return rc;
    zpeer_options_t *copy = zpeer_options_dup (options);
    zpeer_options_destroy (&self->options);
    self->options = copy;
    return ZPEER_OK;
}

const char *
zpeer_engine_events (const zpeer_engine_t *self)
{
    return self->running ? self->events : NULL;
}

const char *
zpeer_engine_outcomes (const zpeer_engine_t *self)
{
    return self->running ? self->outcomes : NULL;
}

//  Start ------------------------------------------------------------------------

static int
s_create (zpeer_engine_t *self, zactor_t **actor_p, zactor_fn *fn)
{
    *actor_p = zpeer_command_actor (fn, &self->wiring.args);
    return *actor_p ? ZPEER_OK
                    : zpeer_engine_fail (self, ZPEER_E_RESOURCES, "%s",
                                         zpeer_strerror (ZPEER_E_RESOURCES));
}

//  Has the actor bind endpoint; what was bound goes to actual
static int
s_bind (zpeer_engine_t *self, zactor_t *actor, const char *command,
        const char *endpoint, char *actual)
{
    int rc = zpeer_command_call (actor, ZPEER_PEER_CALL_MS, actual, command,
                                 endpoint, (char *) NULL);
    return rc ? zpeer_engine_fail (self, rc, "%s", actual) : ZPEER_OK;
}

static int
s_start_reporter (zpeer_engine_t *self)
{
    int rc = s_create (self, &self->reporter, zpeer_reporter);
    if (rc == ZPEER_OK)
        rc = ZPEER_ENGINE_CALL (self, self->reporter, "INBOX",
                                self->wiring.report);
    if (rc == ZPEER_OK)
        rc = s_bind (self, self->reporter, "PUB",
                     self->options->outcomes_endpoint, self->outcomes);
    if (rc == ZPEER_OK)
        rc = ZPEER_ENGINE_CALL (self, self->reporter, "START");
    return rc ? rc : zpeer_report_connect (&self->report, self->wiring.report);
}

static int
s_start_health (zpeer_engine_t *self)
{
    int rc = s_create (self, &self->health, zpeer_health);
    if (rc == ZPEER_OK)
        rc =
            ZPEER_ENGINE_CALL (self, self->health, "BIND", self->wiring.health);
    return rc ? rc : ZPEER_ENGINE_CALL (self, self->health, "START");
}

//  It listens, and reads nothing yet: what feeders have sent by now waits
static int
s_create_acceptor (zpeer_engine_t *self)
{
    int rc = s_create (self, &self->acceptor, zpeer_acceptor);
    if (rc == ZPEER_OK)
        rc = ZPEER_ENGINE_CALL (self, self->acceptor, "UPLINK",
                                self->wiring.uplink);
    if (rc == ZPEER_OK)
        rc = ZPEER_ENGINE_CALL (self, self->acceptor, "REPORT",
                                self->wiring.report);
    if (rc == ZPEER_OK)
        rc = s_bind (self, self->acceptor, "BIND",
                     self->options->events_endpoint, self->events);
    return rc;
}

//  Reads this node's own URL, if there is one
static int
s_read_own (zpeer_engine_t *self)
{
    if (!*self->options->my_url)
        return ZPEER_OK;
    zpeer_url_t url;
    char why[ZPEER_URL_ERROR_MAX];
    if (zpeer_url_parse (&url, self->options->my_url, why))
        return zpeer_engine_fail (self, ZPEER_E_INVALID,
                                  "eureka.server.my-url: %s", why);
    self->own = strdup (url.base);
    assert (self->own);
    zpeer_url_free (&url);
    return ZPEER_OK;
}

static int
s_compare (void *a, void *b)
{
    return strcmp ((const char *) a, (const char *) b);
}

static void
s_wire (zpeer_engine_t *self)
{
    self->wiring.args = (zpeer_actor_args_t){.options = self->options,
                                             .log = self->log.fn,
                                             .log_arg = self->log.arg};
    zpeer_socket_unique (self->wiring.uplink, "uplink");
    zpeer_socket_unique (self->wiring.report, "report");
    zpeer_socket_unique (self->wiring.health, "health");
    self->opened = zlist_new ();
    zlist_autofree (self->opened);
    zlist_comparefn (self->opened, s_compare);
    self->unsettled = zlist_new ();
    zlist_autofree (self->unsettled);
    zlist_comparefn (self->unsettled, s_compare);
}

static int
s_create_all (zpeer_engine_t *self)
{
    int rc = s_read_own (self);
    if (rc == ZPEER_OK)
        rc = zpeer_socket_init ();
    if (rc == ZPEER_OK)
        rc = zpeer_reserve (DESCRIPTORS, SOCKETS);
    if (rc == ZPEER_E_RESOURCES)
        return zpeer_engine_fail (self, rc,
                                  "no room for %d sockets and %d descriptors",
                                  SOCKETS, DESCRIPTORS);
    if (rc == ZPEER_OK)
        rc = s_start_reporter (self);
    if (rc == ZPEER_OK)
        rc = s_start_health (self);
    return rc ? rc : s_create_acceptor (self);
}

//  Adds a peer that is in the options. Returns ZPEER_OK, or ZPEER_E_INVALID if
//  they are wrong. Our own URL may well be in a list that all nodes share, and
//  lists overlap; what may be different next time, such as too few descriptors,
//  is logged and does not harm the other peers.
static int
s_add_one (zpeer_engine_t *self, const char *text)
{
    zpeer_url_t url;
    char why[ZPEER_COMMAND_ANSWER_MAX];
    if (zpeer_url_parse (&url, text, why))
        return zpeer_engine_fail (self, ZPEER_E_INVALID, "%s", why);
    char *base = strdup (url.base);
    assert (base);
    int rc = zpeer_engine_add_url (self, &url);
    snprintf (why, sizeof why, "%s", self->error);
    if (rc == ZPEER_E_INVALID)
        zpeer_engine_fail (self, rc, "%.256s: %.240s", base, why);
    free (base);
    zpeer_url_free (&url);
    return rc == ZPEER_E_INVALID ? rc : ZPEER_OK;
}

static int
s_add_listed (zpeer_engine_t *self)
{
    char *list = zpeer_options_peers (self->options);
    char *rest = list;
    int rc = ZPEER_OK;
    for (char *text; rc == ZPEER_OK && (text = strsep (&rest, ","));)
        if (*text)
            rc = s_add_one (self, text);
    free (list);
    return rc;
}

static void
s_log_unused (const zpeer_engine_t *self)
{
    const char *unused;
    for (size_t i = 0; (unused = zpeer_options_unused (self->options, i)); i++)
        zpeer_log (&self->log, OPTION_UNUSED, unused);
}

//  Feeders are read last: a feeder that was waiting is answered "accepted" only
//  when every listed peer has its lane
int
zpeer_engine_start (zpeer_engine_t *self)
{
    int rc = zpeer_engine_expect (self, false);
    if (rc)
        return rc;
    s_wire (self);
    s_log_unused (self);
    rc = s_create_all (self);
    if (rc == ZPEER_OK)
        rc = s_add_listed (self);
    if (rc == ZPEER_OK)
        rc = ZPEER_ENGINE_CALL (self, self->acceptor, "START");
    if (rc) {
        s_end (self);
        return rc;
    }
    self->running = true;
    zpeer_log (&self->log, ENGINE_STARTED, self->events, self->outcomes);
    return ZPEER_OK;
}

//  Stop -------------------------------------------------------------------------

static int
s_left_ms (int64_t deadline)
{
    int64_t left = deadline - zclock_mono ();
    return left > 0 ? (int) left : 0;
}

//  Lets all peers drain at once. Returns how many tasks were left.
static int64_t
s_drain (zpeer_engine_t *self, int64_t deadline)
{
    int ms = s_left_ms (deadline);
    for (unsigned i = 0; i < ZPEER_PEERS_MAX; i++)
        if (self->peers[i])
            zpeer_peer_drain (self->peers[i], ms, "shutdown");
    int64_t left = 0;
    for (unsigned i = 0; i < ZPEER_PEERS_MAX; i++) {
        if (!self->peers[i])
            continue;
        ms = s_left_ms (deadline + ZPEER_ENGINE_GRACE_MS);
        left += zpeer_peer_drained (self->peers[i], ms, NULL);
    }
    return left;
}

int64_t
zpeer_engine_stop (zpeer_engine_t *self)
{
    int rc = zpeer_engine_expect (self, true);
    if (rc)
        return rc;
    int64_t deadline = zclock_mono () + self->options->stop_deadline_ms;

    //  Of a short time feeders get half: what they gave is still to be sent
    int ms = s_left_ms (deadline) / 2;
    if (ms > CLOSE_MAX_MS)
        ms = CLOSE_MAX_MS;
    char digits[ZPEER_ENGINE_DIGITS_MAX];
    snprintf (digits, sizeof digits, "%d", ms);
    zpeer_command_call (self->acceptor, ms + ZPEER_ENGINE_GRACE_MS, NULL,
                        "CLOSE", digits, (char *) NULL);
    int64_t left = s_drain (self, deadline);
    s_end (self);
    zpeer_log (&self->log, ENGINE_STOPPED, (uint64_t) left);
    return left;
}
