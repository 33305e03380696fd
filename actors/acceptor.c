#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <zpeer/acceptor.h>
#include "command.h"
#include "figures.h"
#include "intake.h"
#include "options.h"
#include "origins.h"
#include "outlets.h"
#include "pace.h"
#include "report.h"
#include "sampler.h"
#include "socket.h"
#include "walker.h"
#include "wire.h"
#include "banned.h"

//  Messages of a lane that wait
#define UPLINK_MAX 1000

//  Messages of lanes read in one turn
#define UPLINK_TURN 64

//  Longest time CLOSE may take
#define CLOSE_MAX_MS 600000

//  A tombstone outlives what peers may hold, for what is still on its way to them
#define OUTLIVE_MS 60000

//  How long feeders are left alone when it dozes: a part of the linger time, which
//  what they send has to wait for anyway
#define DOZE_PART   20
#define DOZE_MAX_US 500

typedef struct {
    zpeer_commands_t commands;
    zpeer_options_t *options;  //  Owned
    zpeer_sampler_t lines;
    zpeer_view_t *view;          //  Owned
    zpeer_handover_t *handover;  //  Owned; borrows view, the log and outlets
    zpeer_walker_t *walker;      //  Owned; borrows view, handover and outlets
    zpeer_outlets_t outlets;     //  To the lanes
    zpeer_origins_t origins;     //  Whose peers' URLs these are
    zpeer_intake_t *intake;      //  Owned
    zpeer_inlet_t uplink;        //  Of an owned PULL, or of none
    zpeer_ipc_t files;           //  Owned; of it
    zpeer_frames_t frames;       //  What came in there
    zpeer_report_t report;
    uint64_t need_register;  //  Outcomes of that kind, in all
    uint64_t ended;          //  Connections of feeders, on this side
    uint64_t now;            //  Read once a turn
    uint64_t began;          //  What now has in advance of the monotonic clock
    uint64_t close_by;       //  CLOSE is answered by then; 0: not asked
    uint64_t stats_at;
    bool waiting;       //  Requests are left that fit no more
    zpeer_pace_t pace;  //  Of looking at feeders
} self_t;

static void
s_self_destroy (self_t **self_p)
{
    self_t *self = *self_p;
    *self_p = NULL;
    zpeer_sampler_end (&self->lines);
    zpeer_intake_destroy (&self->intake);
    zpeer_walker_destroy (&self->walker);
    zpeer_handover_destroy (&self->handover);
    zpeer_outlets_free (&self->outlets);
    zpeer_origins_free (&self->origins);
    zpeer_frames_close (&self->frames);
    zpeer_socket_close (&self->uplink.socket, &self->files);
    zpeer_report_close (&self->report);
    zpeer_view_destroy (&self->view);
    zpeer_options_destroy (&self->options);
    free (self);
}

//  What comes in from feeders ----------------------------------------------------

//  Instances known from heartbeats only
static uint32_t
s_unknown (const self_t *self)
{
    zpeer_view_stats_t view;
    zpeer_view_stats (self->view, &view);
    return view.unknown;
}

static void
s_need_register (self_t *self, const zpeer_parsed_t *event)
{
    zpeer_outcome_need_register (zpeer_report_map (&self->report),
                                 (zpeer_slice_t){NULL, 0}, event->app,
                                 event->id, event->timestamp);
    zpeer_report_send (&self->report, ZPEER_TOPIC_NEED_REGISTER);
    self->need_register++;
    zpeer_sample (&self->lines, self->now, REGISTER_MISSING,
                  (int) event->app.size, event->app.data, (int) event->id.size,
                  event->id.data, s_unknown (self));
}

static void
s_apply (void *arg, const zpeer_parsed_t *event)
{
    self_t *self = (self_t *) arg;
    zpeer_applied_t applied;
    zpeer_parsed_t told;
    //  What came from somebody who is no peer is news for all of them
    if (event->origin.size) {
        told = *event;
        told.from = zpeer_origins_find (&self->origins, event->origin);
        event = &told;
    }
    zpeer_view_apply (self->view, self->now, event, &applied);
    if (applied.tell)
        zpeer_handover_put (self->handover, &applied.change);
    if (applied.need_register)
        s_need_register (self, event);
}

static void
s_expect (void *arg, zpeer_parsed_t *event)
{
    const self_t *self = (const self_t *) arg;
    zpeer_view_expect (self->view, event);
}

static void
s_fetch (void *arg, const zpeer_parsed_t *event, unsigned step)
{
    const self_t *self = (const self_t *) arg;
    zpeer_view_fetch (self->view, event, step);
}

static void
s_reject (void *arg, const char *reason)
{
    self_t *self = (self_t *) arg;
    zpeer_sample (&self->lines, self->now, EVENT_REJECTED, reason);
}

//  Refuses feeders beyond the bound, and tells of those that were cut off
static void
s_refuse (self_t *self, zpeer_doorman_t *doorman)
{
    zpeer_doorman_news_t news;
    zpeer_doorman_work (doorman, &news);
    self->ended += news.refused + news.cut;
    if (news.refused)
        zpeer_sample (&self->lines, self->now, FEEDER_REFUSED,
                      zpeer_doorman_max (doorman));
    if (news.cut + news.unseen)
        zpeer_sample (&self->lines, self->now, FEEDER_CUT, news.endpoint,
                      news.cut ? "" : " or left at once",
                      zpeer_intake_largest (self->intake));
}

//  What the view lets go of is told to the lanes
static void
s_let_go (self_t *self, const zpeer_change_t *change)
{
    zpeer_handover_put (self->handover, change);
    if (change->flags & ZPEER_CHANGE_GIVE_UP)
        zpeer_sample (&self->lines, self->now, CANCEL_GIVEN_UP,
                      zpeer_name_app (change->state->name).data,
                      zpeer_name_id (change->state->name).data,
                      self->options->cancels_max_bytes);
}

//  Reads what fits into the chunk of this turn, then lets go of what is old, as
//  far as there is room for that, too. What must go at once has room kept for it:
//  each event may bury an instance, have another released and a third given up.
static void
s_gather (self_t *self)
{
    uint32_t room = zpeer_handover_room (self->handover);
    if (room > 2 && !zpeer_view_wake (self->view))
        room /= 3;
    if (room) {
        self->waiting = zpeer_intake_read (self->intake, self->now, room);
        zpeer_pace_turn (&self->pace, self->now,
                         zpeer_intake_events (self->intake),
                         zpeer_intake_pipelined (self->intake));
    }
    if (!room || self->waiting || self->close_by)
        zpeer_pace_wake (&self->pace, self->now);
    zpeer_change_t change;
    for (room = zpeer_handover_room (self->handover);
         room && zpeer_view_expire (self->view, self->now, &change); room--)
        s_let_go (self, &change);
}

//  What comes back from lanes ----------------------------------------------------

static void
s_release (self_t *self, zpeer_slice_t list)
{
    size_t offset = 0;
    uint32_t lane;
    uint32_t handle;
    uint64_t seq;
    while (zpeer_wire_get_released (list.data, list.size, &offset, &lane,
                                    &handle, &seq) == ZPEER_OK)
        zpeer_view_released (self->view, lane, handle, seq);
}

static void
s_walked (self_t *self, zpeer_slice_t fields)
{
    uint32_t lane;
    uint64_t number;
    if (zpeer_wire_get_walked (fields.data, fields.size, &lane, &number) ==
        ZPEER_OK)
        zpeer_walker_walked (self->walker, lane, number);
}

//  Returns false when there was nothing to read
static bool
s_handle_uplink (self_t *self)
{
    if (zpeer_inlet_recv (&self->uplink, &self->frames))
        return false;
    zpeer_slice_t name = zpeer_frames_at (&self->frames, 0);
    zpeer_slice_t fields = zpeer_frames_at (&self->frames, 1);
    zpeer_wire_command_t command = zpeer_wire_command (name.data, name.size);
    if (command == ZPEER_WIRE_RELEASED)
        s_release (self, fields);
    else if (command == ZPEER_WIRE_WALKED)
        s_walked (self, fields);
    return true;
}

//  Commands ----------------------------------------------------------------------

static int
s_bind (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    int rc = zpeer_intake_bind (self->intake, args[0], answer);
    if (rc == ZPEER_E_BIND)
        snprintf (answer, ZPEER_COMMAND_ANSWER_MAX, "%s: %s", args[0],
                  zmq_strerror (errno));
    return rc;
}

static int
s_uplink (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    if (self->uplink.socket)
        return ZPEER_E_EXISTS;
    int rc = zpeer_command_inproc (args[0], answer);
    if (rc)
        return rc;
    zsock_t *uplink = zpeer_socket_new (ZPEER_ROLE_PULL, UPLINK_MAX, -1);
    if (!uplink)
        return ZPEER_E_RESOURCES;
    rc = zpeer_socket_bind (uplink, args[0], NULL, &self->files);
    if (rc)
        zsock_destroy (&uplink);
    zpeer_inlet_open (&self->uplink, uplink);
    return rc;
}

static int
s_report (void *arg, char *const *args, char *answer)
{
    (void) answer;
    self_t *self = (self_t *) arg;
    return zpeer_report_connect (&self->report, args[0]);
}

static int
s_start (void *arg, char *const *args, char *answer)
{
    (void) args;
    (void) answer;
    self_t *self = (self_t *) arg;
    self->stats_at = self->now + self->options->stats_interval_ms;
    return ZPEER_OK;
}

static int
s_lane (char *const *args, uint32_t *lane, char *answer)
{
    return zpeer_command_number (args[0], ZPEER_LANES_MAX - 1, lane, answer);
}

//  Whether there is anything a new lane would have to be told
static bool
s_knows (const self_t *self)
{
    zpeer_view_stats_t view;
    zpeer_view_stats (self->view, &view);
    return view.instances || view.tombstones || view.asgs;
}

static int
s_origin (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    uint32_t lane;
    int rc = s_lane (args, &lane, answer);
    return rc ? rc : zpeer_origins_set (&self->origins, lane, args[1], answer);
}

static int
s_addlane (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    uint32_t lane;
    int rc = s_lane (args, &lane, answer);
    if (rc == ZPEER_OK)
        rc = zpeer_command_inproc (args[1], answer);
    if (rc == ZPEER_OK)
        rc = zpeer_outlets_open (&self->outlets, lane, args[1]);
    if (rc == ZPEER_OK)
        rc = zpeer_handover_add (self->handover, lane);
    if (rc)
        return rc;
    zpeer_view_add_lane (self->view, lane);
    return s_knows (self)
               ? zpeer_walker_ask (self->walker, lane, ZPEER_WALK_RESYNC)
               : ZPEER_OK;
}

static int
s_dellane (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    uint32_t lane;
    int rc = s_lane (args, &lane, answer);
    if (rc == ZPEER_OK)
        rc = zpeer_handover_remove (self->handover, lane);
    if (rc)
        return rc;
    zpeer_walker_remove (self->walker, lane);
    zpeer_outlets_close (&self->outlets, lane);
    zpeer_view_remove_lane (self->view, lane);
    zpeer_origins_remove (&self->origins, lane);
    return ZPEER_OK;
}

static int
s_walk (self_t *self, char *const *args, zpeer_walk_kind_t kind, char *answer)
{
    uint32_t lane;
    int rc = s_lane (args, &lane, answer);
    return rc ? rc : zpeer_walker_ask (self->walker, lane, kind);
}

static int
s_resync (void *arg, char *const *args, char *answer)
{
    return s_walk ((self_t *) arg, args, ZPEER_WALK_RESYNC, answer);
}

static int
s_verify (void *arg, char *const *args, char *answer)
{
    return s_walk ((self_t *) arg, args, ZPEER_WALK_VERIFY, answer);
}

static int
s_close (void *arg, char *const *args, char *answer)
{
    self_t *self = (self_t *) arg;
    uint32_t ms;
    int rc = zpeer_command_number (args[0], CLOSE_MAX_MS, &ms, answer);
    if (rc)
        return rc;
    self->close_by = self->now + ms;
    self->waiting = true;  //  Nobody has looked
    zpeer_inlet_doubt (zpeer_intake_inlet (self->intake));
    return ZPEER_COMMAND_LATER;
}

static const zpeer_command_t s_commands[] = {
    {"BIND", 1, ZPEER_WHEN_BEFORE_START, s_bind},
    {"UPLINK", 1, ZPEER_WHEN_BEFORE_START, s_uplink},
    {"REPORT", 1, ZPEER_WHEN_BEFORE_START, s_report},
    {"START", 0, ZPEER_WHEN_START, s_start},
    {"ORIGIN", 2, ZPEER_WHEN_ANY, s_origin},
    {"ADDLANE", 2, ZPEER_WHEN_ANY, s_addlane},
    {"DELLANE", 1, ZPEER_WHEN_ANY, s_dellane},
    {"RESYNC", 1, ZPEER_WHEN_STARTED, s_resync},
    {"VERIFY", 1, ZPEER_WHEN_STARTED, s_verify},
    {"CLOSE", 1, ZPEER_WHEN_STARTED, s_close},
    {0},
};

//  Timers ------------------------------------------------------------------------

static void
s_send_stats (self_t *self)
{
    const zpeer_intake_stats_t *intake = zpeer_intake_stats (self->intake);
    zpeer_handover_stats_t handover;
    zpeer_handover_stats (self->handover, &handover);
    zpeer_walker_stats_t walker;
    zpeer_walker_stats (self->walker, &walker);
    zpeer_view_stats_t view;
    zpeer_view_stats (self->view, &view);

    zpeer_outcome_t map;
    zpeer_outcome_stats (&map, zpeer_report_map (&self->report),
                         ZPEER_SLICE ("acceptor"), (zpeer_slice_t){NULL, 0});
    for (unsigned i = 0; i < ZPEER_ACTIONS; i++)
        zpeer_outcome_uint (&map, zpeer_action_name ((zpeer_action_t) i),
                            intake->accepted[i]);
#define X(kind, key, value, sentence) zpeer_outcome_uint (&map, (key), (value));
    ZPEER_ACCEPTOR_FIGURES (X)
#undef X
    zpeer_outcome_end (&map);
    zpeer_report_send (&self->report, ZPEER_TOPIC_STATS);
}

//  Ends the intake when all requests are done and handed over, or when it may
//  take no longer. The lanes are to run empty from now on: walks end, too.
static void
s_end_intake (self_t *self)
{
    bool done = !self->waiting && zpeer_handover_room (self->handover);
    if (!done && self->now < self->close_by)
        return;
    zpeer_intake_close (self->intake);
    for (unsigned lane = 0; lane < ZPEER_LANES_MAX; lane++)
        zpeer_walker_remove (self->walker, lane);
    self->waiting = false;
    self->close_by = 0;
    zpeer_commands_ok (&self->commands, NULL);
}

static void
s_handle_timers (self_t *self)
{
    if (self->close_by)
        s_end_intake (self);
    zpeer_sampler_tell (&self->lines, self->now);
    if (self->now >= self->stats_at) {
        s_send_stats (self);
        self->stats_at = self->now + self->options->stats_interval_ms;
    }
}

static uint64_t
s_earlier (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  How long to wait, ms; -1: until something comes in
static int
s_timeout (const self_t *self)
{
    bool room = zpeer_handover_room (self->handover) > 0;
    if (!self->commands.started)
        return -1;
    if (room && self->waiting)
        return 0;
    uint64_t wake =
        s_earlier (self->stats_at, zpeer_handover_wake (self->handover));
    wake = s_earlier (wake, zpeer_walker_wake (self->walker));
    wake = s_earlier (wake, zpeer_sampler_wake (&self->lines));
    if (room)
        wake = s_earlier (wake, zpeer_view_wake (self->view));
    if (self->close_by)
        wake = s_earlier (wake, self->close_by);
    if (wake <= self->now)
        return 0;
    return (int) s_earlier (wake - self->now, INT_MAX);
}

//  The same when feeders are left alone, microseconds; timeout_us: without them
static int64_t
s_doze_us (const self_t *self, int64_t timeout_us)
{
    int64_t doze_us =
        INT64_C (1000) * self->options->batch_linger_ms / DOZE_PART;
    if (doze_us > DOZE_MAX_US)
        doze_us = DOZE_MAX_US;
    return timeout_us >= 0 && timeout_us < doze_us ? timeout_us : doze_us;
}

//  The actor ---------------------------------------------------------------------

//  Looks at the clock. It is monotonic, and begins with the time of day: feeders
//  are told it, and a mark that another engine gave before must be earlier.
static void
s_look (self_t *self)
{
    self->now = self->began + (uint64_t) zclock_mono ();
}

static self_t *
s_self_new (zsock_t *pipe, const zpeer_actor_args_t *args)
{
    self_t *self = (self_t *) calloc (1, sizeof *self);
    assert (self);
    zpeer_commands_init (&self->commands, pipe, self, s_commands);
    if (args)
        self->lines.log = (zpeer_log_t){args->log, args->log_arg};
    self->options = args && args->options ? zpeer_options_dup (args->options)
                                          : zpeer_options_new ();
    uint32_t tombstone_ms = self->options->tombstone_ms;
    zpeer_view_options_t options = {.tombstone_ms = tombstone_ms,
                                    .outlive_ms = tombstone_ms ? OUTLIVE_MS : 0,
                                    .cancels_max_bytes =
                                        self->options->cancels_max_bytes,
                                    .age_out = self->options->view_age_out};
    //  Without randomness (early at boot) names are still found
    if (getrandom (&options.seed, sizeof options.seed, GRND_NONBLOCK) < 0)
        options.seed = (uint64_t) zclock_usecs ();
    self->view = zpeer_view_new (&options);
    zpeer_intake_options_t intake = {
        .max_bytes = self->options->events_max_frame_bytes,
        .max_batch_bytes = self->options->batch_max_bytes,
        .max_connections = self->options->events_max_connections,
        .event = s_apply,
        .expect = s_expect,
        .fetch = s_fetch,
        .reject = s_reject,
        .arg = self};
    self->intake = zpeer_intake_new (&intake);
    self->handover = zpeer_handover_new (self->view, &self->lines.log,
                                         zpeer_outlets_post, &self->outlets);
    self->walker = zpeer_walker_new (self->view, self->handover,
                                     zpeer_outlets_post, &self->outlets);
    self->began = (uint64_t) (zclock_time () - zclock_mono ());
    s_look (self);
    return self;
}

//  Waits for whatever comes first. While a lane has no room for its chunk the
//  feeders are not looked at: they feel it. Returns whether the pipe has a
//  command; the rest is asked for in any case.
static bool
s_wait (self_t *self)
{
    zpeer_inlet_t *inlets[4] = {&self->commands.pipe, &self->uplink};
    zsock_t *full[ZPEER_LANES_MAX];
    unsigned count = 2;
    zpeer_doorman_t *doorman = zpeer_intake_doorman (self->intake);
    if (doorman)
        inlets[count++] = zpeer_doorman_inlet (doorman);
    int64_t timeout_us = INT64_C (1000) * s_timeout (self);
    if (self->pace.dozes)
        timeout_us = s_doze_us (self, timeout_us);
    else if (self->commands.started && zpeer_handover_room (self->handover))
        inlets[count++] = zpeer_intake_inlet (self->intake);
    unsigned full_count =
        zpeer_outlets_full (&self->outlets, self->handover, full);
    zpeer_inlet_wait (inlets, count, full, full_count, timeout_us);
    if (self->pace.dozes)
        zpeer_inlet_doubt (zpeer_intake_inlet (self->intake));
    s_look (self);
    return self->commands.pipe.ready;
}

static void
s_turn (self_t *self)
{
    for (int i = 0; i < UPLINK_TURN && s_handle_uplink (self); i++)
        continue;
    zpeer_doorman_t *doorman = zpeer_intake_doorman (self->intake);
    if (doorman)
        s_refuse (self, doorman);
    if (!self->commands.started)
        return;
    s_gather (self);
    zpeer_handover_send (self->handover, self->now);
    zpeer_walker_turn (self->walker, self->now);
    s_handle_timers (self);
}

void
zpeer_acceptor (zsock_t *pipe, void *args)
{
    self_t *self = s_self_new (pipe, (const zpeer_actor_args_t *) args);
    zsock_signal (pipe, 0);
    while (!s_wait (self) || zpeer_commands_handle (&self->commands))
        s_turn (self);
    s_self_destroy (&self);
}
