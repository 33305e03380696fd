#include <assert.h>
#include <sys/random.h>
#include "batcher_impl.h"
#include "banned.h"

//  Chunks that wait in the inbox until the acceptor is refused
#define INBOX_HWM 64

//  Messages on their way to or from one dispatcher, or to the acceptor
#define HWM 1024

//  Longest time the inbox is not looked at while a batch waits for company, and
//  changes in a turn from which on it always is
#define DOZE_MS      2
#define DOZE_CHANGES 16

//  When the acceptor is tried again that took nothing
#define RETRY_UP_MS 100

//  Largest frame a dispatcher may send: the copies in the largest reply, as they
//  are written anew (a number, 0.1, takes at most five times its bytes then); or
//  something else
#define FRAME_GROWS 5
#define FRAME_MIN   INT64_C (1048576)

//  Of an id what is chance at first, and counts from then on: more than the batches
//  of a ms
#define ID_BITS 20

//  --------------------------------------------------------------------------
//  Life

static void
s_fill_random (void *bytes, size_t size)
{
    ssize_t got = getrandom (bytes, size, 0);
    assert (got == (ssize_t) size);
}

static batcher_t *
s_self_new (const zpeer_actor_args_t *args)
{
    batcher_t *self = (batcher_t *) calloc (1, sizeof *self);
    assert (self);
    self->options = args && args->options ? zpeer_options_dup (args->options)
                                          : zpeer_options_new ();
    if (args)
        self->log = (zpeer_log_t){args->log, args->log_arg};
    self->roster = zpeer_roster_new ();
    //  Ids are never used again, not even after a restart: a remote dispatcher
    //  may still speak of old ones. Where clocks jump, chance helps.
    uint32_t chance;
    s_fill_random (&chance, sizeof chance);
    self->next_id =
        (uint64_t) zclock_time () << ID_BITS | chance >> (32 - ID_BITS);
    self->now = (uint64_t) zclock_mono ();
    return self;
}

static void
s_self_destroy (batcher_t **self_p)
{
    batcher_t *self = *self_p;
    *self_p = NULL;
    for (int i = 0; i < LANES; i++)
        zpeer_lane_destroy (&self->lanes[i]);
    zpeer_guard_close (&self->guard);
    zpeer_socket_close (&self->remote.socket, &self->files);
    zsock_destroy (&self->local.socket);
    zsock_destroy (&self->inbox.socket);
    zsock_destroy (&self->uplink);
    zpeer_roster_destroy (&self->roster);
    zpeer_peerlog_fini (&self->peerlog);
    zpeer_frames_close (&self->frames);
    zpeer_buffer_free (&self->released);
    free (self->codes);
    free (self->copies);
    zpeer_options_destroy (&self->options);
    free (self->url);
    free (self);
}

//  --------------------------------------------------------------------------
//  Commands

static int
s_peer (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    if (self->url)
        return ZPEER_E_EXISTS;
    int rc = zpeer_command_number (args[0], 63, &self->id, answer);
    if (rc)
        return rc;
    self->url = strdup (args[1]);
    assert (self->url);
    zpeer_peerlog_init (&self->peerlog, self->options, self->log, self->url);
    return ZPEER_OK;
}

static int
s_inherit (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    (void) args;
    (void) answer;
    self->inherits = true;
    return ZPEER_OK;
}

static int
s_inbox (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    if (self->inbox.socket)
        return ZPEER_E_EXISTS;
    int rc = zpeer_command_inproc (args[0], answer);
    if (rc)
        return rc;
    zsock_t *inbox = zpeer_socket_new (ZPEER_ROLE_PULL, INBOX_HWM, -1);
    zpeer_inlet_open (&self->inbox, inbox);
    return inbox ? zpeer_socket_bind (inbox, args[0], answer, &self->files)
                 : ZPEER_E_RESOURCES;
}

static int
s_bind (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    int64_t frame_max =
        FRAME_MIN + FRAME_GROWS * (int64_t) self->options->reply_max_bytes;
    //  Which of the two decides what is believed of whoever connects
    zpeer_inlet_t *server =
        zpeer_socket_is_inproc (args[0]) ? &self->local : &self->remote;
    if (!server->socket)
        zpeer_inlet_open (server,
                          zpeer_socket_new (ZPEER_ROLE_SERVER, HWM, frame_max));
    if (!server->socket)
        return ZPEER_E_RESOURCES;
    int rc =
        zpeer_guard_open (&self->guard, server->socket, args[0], frame_max);
    server->used = true;
    return rc ? rc
              : zpeer_socket_bind (server->socket, args[0], answer,
                                   &self->files);
}

static int
s_uplink (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    if (self->uplink)
        return ZPEER_E_EXISTS;
    int rc = zpeer_command_inproc (args[0], answer);
    if (rc)
        return rc;
    self->uplink = zpeer_socket_new (ZPEER_ROLE_PUSH, HWM, -1);
    return self->uplink ? zpeer_socket_connect (self->uplink, args[0])
                        : ZPEER_E_RESOURCES;
}

static int
s_report_to (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    (void) answer;
    return zpeer_report_connect (&self->peerlog.report, args[0]);
}

static void
s_report (void *arg, const zpeer_lane_report_t *report)
{
    batcher_t *self = (batcher_t *) arg;
    if (report->kind != ZPEER_LANE_RELEASED)
        zpeer_peerlog_report (&self->peerlog, report);
    else if (self->uplink)
        zpeer_wire_put_released (&self->released, self->id,
                                 report->state->handle, report->state->seq);
}

static void
s_make_lanes (batcher_t *self)
{
    const zpeer_options_t *options = self->options;
    zpeer_lane_options_t lane = {
        .max_items = options->batch_enabled ? options->batch_max_items : 1,
        .first_items = ZPEER_LANE_FIRST_ITEMS,
        .single = !options->batch_enabled,
        .max_bytes = options->batch_max_bytes,
        .linger_ms = options->batch_enabled ? options->batch_linger_ms : 0,
        .read_timeout_ms = options->peer_node_read_timeout_ms,
        .pool = options->max_elements_in_peer_replication_pool,
        .inherits = self->inherits,
        .origin = (uint8_t) (self->id + 1),
        .delivered = options->outcomes_delivered,
        .seed = (uint64_t) zclock_usecs () ^ (uintptr_t) self,
        .report = s_report,
        .arg = self,
    };
    self->lanes[LANE_INSTANCES] = zpeer_lane_new (&lane);
    //  An instance may need two items where a batch has room for one
    self->room = lane.max_items + 1;
    self->codes = (uint16_t *) calloc (self->room, sizeof *self->codes);
    self->copies = (zpeer_copy_t *) calloc (self->room, sizeof *self->copies);
    assert (self->codes && self->copies);
    lane.max_items = 1;
    lane.linger_ms = 0;
    lane.pool = options->max_elements_in_status_replication_pool;
    lane.max_in_flight = options->max_threads_for_status_replication;
    lane.asg_life_ms = options->max_time_for_replication_ms;
    self->lanes[LANE_ASGS] = zpeer_lane_new (&lane);
    zpeer_peerlog_watch (&self->peerlog, self->lanes[LANE_INSTANCES],
                         self->lanes[LANE_ASGS]);
}

static int
s_start (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    (void) args;
    if (!self->url || !self->inbox.socket ||
        !(self->local.socket || self->remote.socket)) {
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX,
                  "START needs PEER, INBOX and BIND first");
        return ZPEER_E_STATE;
    }
    s_make_lanes (self);
    self->stats_at = self->now + self->options->stats_interval_ms;
    return ZPEER_OK;
}

//  Answered when nothing waits any more, or time is up: s_handle_drain
static int
s_drain (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    uint32_t ms;
    int rc = zpeer_command_number (args[0], UINT32_MAX, &ms, answer);
    if (rc)
        return rc;
    if (streq (args[1], "shutdown"))
        self->drain_ending = ZPEER_ENDED_SHUTDOWN;
    else if (streq (args[1], "peer-removed"))
        self->drain_ending = ZPEER_ENDED_PEER_REMOVED;
    else
        return ZPEER_E_UNKNOWN;
    self->drain_until = (uint64_t) zclock_mono () + ms;
    zpeer_inlet_doubt (&self->inbox);
    return ZPEER_COMMAND_LATER;
}

static int
s_retry_now (void *handler, char *const *args, char *answer)
{
    batcher_t *self = (batcher_t *) handler;
    (void) args;
    (void) answer;
    for (int i = 0; i < LANES; i++)
        zpeer_lane_retry_now (self->lanes[i]);
    return ZPEER_OK;
}

static const zpeer_command_t s_commands[] = {
    {"PEER", 2, ZPEER_WHEN_BEFORE_START, s_peer},
    {"INHERIT", 0, ZPEER_WHEN_BEFORE_START, s_inherit},
    {"INBOX", 1, ZPEER_WHEN_BEFORE_START, s_inbox},
    {"BIND", 1, ZPEER_WHEN_ANY, s_bind},
    {"UPLINK", 1, ZPEER_WHEN_BEFORE_START, s_uplink},
    {"REPORT", 1, ZPEER_WHEN_BEFORE_START, s_report_to},
    {"START", 0, ZPEER_WHEN_START, s_start},
    {"RETRY-NOW", 0, ZPEER_WHEN_STARTED, s_retry_now},
    {"DRAIN", 2, ZPEER_WHEN_STARTED, s_drain},
    {NULL, 0, ZPEER_WHEN_ANY, NULL},
};

//  --------------------------------------------------------------------------
//  Time

static void
s_handle_drain (batcher_t *self)
{
    if (!self->drain_until)
        return;
    bool idle = !self->more;
    for (int i = 0; i < LANES; i++) {
        zpeer_lane_hurry (self->lanes[i]);
        idle &= zpeer_lane_idle (self->lanes[i]);
    }
    if (!idle && self->now < self->drain_until)
        return;
    bool unsettled = zpeer_lane_unsettled (self->lanes[LANE_INSTANCES]);
    uint64_t left = 0;
    for (int i = 0; i < LANES; i++)
        left += zpeer_lane_close (self->lanes[i], self->drain_ending);
    self->drain_until = 0;
    self->closed = true;
    char value[ZPEER_COMMAND_ANSWER_MAX];
    snprintf (value, sizeof value, "%" PRIu64 " %d", left, unsettled);
    zpeer_commands_ok (&self->commands, value);
}

static void
s_handle_timers (batcher_t *self)
{
    zpeer_roster_expire (self->roster, self->now);
    batcher_take_back_lost (self);
    zpeer_guard_work (&self->guard, &self->peerlog.lines, self->now);
    zpeer_sampler_tell (&self->peerlog.lines, self->now);
    if (self->now >= self->stats_at && self->peerlog.report.socket) {
        self->stats_at = self->now + self->options->stats_interval_ms;
        zpeer_peerlog_stats (&self->peerlog, self->now,
                             zpeer_roster_count (self->roster),
                             self->unknown_done);
    }
    s_handle_drain (self);
}

//  Says what the turn has come to, the walk's end before the peer is whole
static void
s_conclude (batcher_t *self)
{
    zpeer_peerlog_flush (&self->peerlog, 0);
    if (!self->closed) {
        if (zpeer_peerlog_walk (&self->peerlog, self->now)) {
            zpeer_lane_walk_end (self->lanes[LANE_INSTANCES]);
            self->walked = self->uplink != NULL;
        }
        zpeer_peerlog_owed (&self->peerlog, self->now);
    }
    batcher_send_up (self);
}

static uint64_t
s_sooner (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  When a lane has something to send if nothing comes in
static uint64_t
s_lanes_wake (const batcher_t *self)
{
    uint32_t credit = zpeer_roster_credit (self->roster);
    uint64_t at = UINT64_MAX;
    for (int i = 0; i < LANES && batcher_may_send (self); i++)
        at = s_sooner (at, zpeer_lane_wake (self->lanes[i], self->now, credit));
    return at;
}

//  How long to wait, ms; -1: until something comes in
static int
s_timeout (const batcher_t *self)
{
    if (!self->commands.started)
        return -1;
    uint64_t at =
        s_sooner (zpeer_roster_wake (self->roster), s_lanes_wake (self));
    at = s_sooner (at, zpeer_sampler_wake (&self->peerlog.lines));
    if (self->peerlog.report.socket)
        at = s_sooner (at, self->stats_at);
    if (!self->closed)
        at = s_sooner (at, zpeer_peerlog_wake (&self->peerlog));
    if (batcher_keeps (self))
        at = s_sooner (at, self->now + RETRY_UP_MS);
    if (self->drain_until)
        at = s_sooner (at, self->drain_until);
    if (at == UINT64_MAX)
        return -1;
    uint64_t now = (uint64_t) zclock_mono ();
    return at <= now ? 0 : (int) s_sooner (at - now, INT_MAX);
}

//  Whether what comes into the inbox may lie there for a while: something waits
//  for company, and so little comes that none of it would be sent any sooner.
//  Changes one by one would wake this thread for each.
static bool
s_may_doze (const batcher_t *self)
{
    return self->read && self->read < DOZE_CHANGES && !self->more &&
           !self->drain_until && s_lanes_wake (self) != UINT64_MAX;
}

static void
s_wait (batcher_t *self)
{
    zpeer_inlet_t *inlets[] = {&self->commands.pipe, &self->local,
                               &self->remote, zpeer_guard_inlet (&self->guard),
                               &self->inbox};
    size_t count = self->commands.started ? 5 : 1;
    int timeout_ms = s_timeout (self);
    bool doze = self->commands.started && s_may_doze (self);
    if (doze) {
        count--;
        timeout_ms = timeout_ms < DOZE_MS ? timeout_ms : DOZE_MS;
    }
    zpeer_inlet_wait (inlets, count, NULL, 0, INT64_C (1000) * timeout_ms);
    if (doze)
        zpeer_inlet_doubt (&self->inbox);
}

static void
s_turn (batcher_t *self)
{
    self->now = (uint64_t) zclock_mono ();
    batcher_read_inbox (self);
    batcher_read_servers (self);
    s_handle_timers (self);
    batcher_send (self);
    s_conclude (self);
}

void
zpeer_batcher (zsock_t *pipe, void *args)
{
    batcher_t *self = s_self_new ((const zpeer_actor_args_t *) args);
    zpeer_commands_init (&self->commands, pipe, self, s_commands);
    zsock_signal (pipe, 0);

    bool go_on = true;
    while (go_on) {
        s_wait (self);
        if (self->commands.pipe.ready)
            go_on = zpeer_commands_handle (&self->commands);
        if (self->commands.started)
            s_turn (self);
    }
    s_self_destroy (&self);
}
