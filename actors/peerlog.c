#include <assert.h>
#include <stdlib.h>
#include "counter.h"
#include "figures.h"
#include "peerlog.h"
#include "banned.h"

//  Label of each ending, as reason and in figures
static const char *const s_endings[ZPEER_ENDINGS] = {
#define X(name, label, meaning) [ZPEER_ENDED_##name] = (label),
    ZPEER_LANE_ENDINGS (X)
#undef X
};

void
zpeer_peerlog_init (zpeer_peerlog_t *self, const zpeer_options_t *options,
                    zpeer_log_t log, const char *url)
{
    *self = (zpeer_peerlog_t){
        .report = self->report,
        .lines.log = log,
        .conflicts = options->sync_when_timestamp_differs,
        .pool = options->max_elements_in_peer_replication_pool,
        .url = strdup (url),
    };
    assert (self->url);
    self->lines.about = self->url;
}

void
zpeer_peerlog_fini (zpeer_peerlog_t *self)
{
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++)
        zpeer_dropped_free (&self->dropped[i]);
    zpeer_sampler_end (&self->lines);
    zpeer_report_close (&self->report);
    free (self->url);
    self->url = NULL;
}

void
zpeer_peerlog_watch (zpeer_peerlog_t *self, const zpeer_lane_t *lane,
                     const zpeer_lane_t *asgs)
{
    self->lane = lane;
    self->asgs = asgs;
}

//  --------------------------------------------------------------------------
//  What the lanes report

//  Kinds of change as a set of actions
static unsigned
s_actions (unsigned bits)
{
    static const struct {
        unsigned bit;
        zpeer_action_t action;
    } pairs[] = {
        {ZPEER_LANE_C, ZPEER_CANCEL},
        {ZPEER_LANE_R, ZPEER_REGISTER},
        {ZPEER_LANE_S, ZPEER_STATUS_UPDATE},
        {ZPEER_LANE_D, ZPEER_DELETE_STATUS_OVERRIDE},
        {ZPEER_LANE_H, ZPEER_HEARTBEAT},
    };
    unsigned actions = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (bits & pairs[i].bit)
            actions |= ZPEER_ACTION_BIT (pairs[i].action);
    return actions;
}

static unsigned
s_report_actions (const zpeer_lane_report_t *report)
{
    //  A lane of ASGs has one kind of change
    if (report->bits && !report->state->name->app_size)
        return ZPEER_ACTION_BIT (ZPEER_ASG_STATUS_UPDATE);
    return s_actions (report->bits);
}

static void
s_conflict (zpeer_peerlog_t *self, const zpeer_lane_report_t *report)
{
    const zpeer_name_t *name = report->state->name;
    if (!self->conflicts)
        return;
    zpeer_sample (&self->lines, self->now, CONFLICT, self->url,
                  zpeer_name_app (name).data, zpeer_name_id (name).data);
    zpeer_outcome_conflict (zpeer_report_map (&self->report),
                            zpeer_slice_str (self->url), report->state,
                            report->copy);
    zpeer_report_send (&self->report, ZPEER_TOPIC_CONFLICT);
}

static void
s_rejected (zpeer_peerlog_t *self, const zpeer_lane_report_t *report)
{
    const zpeer_name_t *name = report->state->name;
    zpeer_sample (&self->lines, self->now, INSTANCE_REJECTED, self->url,
                  zpeer_name_app (name).data, zpeer_name_id (name).data,
                  (unsigned) report->code);
    zpeer_outcome_rejected (zpeer_report_map (&self->report),
                            zpeer_slice_str (self->url), report->state,
                            (uint32_t) report->code, report->batch);
    zpeer_report_send (&self->report, ZPEER_TOPIC_REJECTED);
}

static void
s_need_register (zpeer_peerlog_t *self, const zpeer_state_t *state)
{
    zpeer_outcome_need_register (zpeer_report_map (&self->report),
                                 zpeer_slice_str (self->url),
                                 zpeer_name_app (state->name),
                                 zpeer_name_id (state->name), state->timestamp);
    zpeer_report_send (&self->report, ZPEER_TOPIC_NEED_REGISTER);
}

static void
s_delivered (zpeer_peerlog_t *self, const zpeer_lane_report_t *report)
{
    zpeer_outcome_delivered (zpeer_report_map (&self->report),
                             zpeer_slice_str (self->url), report->state,
                             s_report_actions (report), report->batch);
    zpeer_report_send (&self->report, ZPEER_TOPIC_DELIVERED);
}

//  A question in vain drops no task: what it was about is owed as before
static void
s_dropped (zpeer_peerlog_t *self, const zpeer_lane_report_t *report)
{
    if (!report->bits)
        return;
    unsigned actions = s_report_actions (report);
    zpeer_dropped_add (&self->dropped[report->ending], report->state, actions);
    for (unsigned action = 0; action < ZPEER_ACTIONS; action++)
        self->row.kinds[action] += (actions & ZPEER_ACTION_BIT (action)) != 0;
    self->tasks += (unsigned) __builtin_popcount (report->bits);
}

void
zpeer_peerlog_report (zpeer_peerlog_t *self, const zpeer_lane_report_t *report)
{
    switch (report->kind) {
    case ZPEER_LANE_CONFLICT: s_conflict (self, report); break;
    case ZPEER_LANE_REJECTED: s_rejected (self, report); break;
    case ZPEER_LANE_NEED_REGISTER: s_need_register (self, report->state); break;
    case ZPEER_LANE_DELIVERED: s_delivered (self, report); break;
    case ZPEER_LANE_DROPPED: s_dropped (self, report); break;
    case ZPEER_LANE_RELEASED: break;  //  The acceptor's affair
    }
}

void
zpeer_peerlog_flush (zpeer_peerlog_t *self, uint64_t batch)
{
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++) {
        if (!self->dropped[i].instances)
            continue;
        zpeer_outcome_dropped (
            zpeer_report_map (&self->report), zpeer_slice_str (self->url),
            zpeer_slice_str (s_endings[i]), batch, &self->dropped[i]);
        zpeer_report_send (&self->report, ZPEER_TOPIC_DROPPED);
    }
    self->tasks = 0;
    if (!self->row.on)
        memset (self->row.kinds, 0, sizeof self->row.kinds);
}

//  --------------------------------------------------------------------------
//  Rows of failures

//  Heartbeats that became too old, or too many
static uint64_t
s_late (const zpeer_peerlog_t *self)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (self->lane, &stats);
    return stats.ended[ZPEER_ENDED_EXPIRED] +
           stats.ended[ZPEER_ENDED_OVERFLOWED];
}

//  A failure. What the first of a row dropped has been counted already, and
//  belongs to it.
static void
s_begin_row (zpeer_peerlog_t *self)
{
    if (self->row.on)
        return;
    self->row.on = true;
    self->row.since = self->now;
    self->row.late = s_late (self);
}

//  A success: what the row has come to
static zpeer_absence_t
s_end_row (zpeer_peerlog_t *self)
{
    zpeer_absence_t absence = {
        .ms = self->now - self->row.since,
        .owed = zpeer_lane_owed (self->lane),
    };
    memcpy (absence.kinds, self->row.kinds, sizeof absence.kinds);
    absence.kinds[ZPEER_HEARTBEAT] += s_late (self) - self->row.late;
    self->row.on = false;
    return absence;
}

//  --------------------------------------------------------------------------
//  How attempts end

//  The state an attempt leaves the peer in, given the present one
static zpeer_peer_state_t
s_next_state (const zpeer_peerlog_t *self, const zpeer_result_t *result)
{
    bool escalated = self->known && self->state == ZPEER_PEER_ESCALATED;
    if (result->verdict == ZPEER_SUCCESS) {
        if (escalated)
            return ZPEER_PEER_RECOVERED;
        if (self->known && self->state == ZPEER_PEER_RECOVERED)
            return ZPEER_PEER_RECOVERED;
        return ZPEER_PEER_HEALTHY;
    }
    if (result->announce || escalated)
        return ZPEER_PEER_ESCALATED;
    return result->verdict == ZPEER_CONGESTION ? ZPEER_PEER_CONGESTED
                                               : ZPEER_PEER_FAILING;
}

//  change holds what is to be said with a new state
static void
s_change_state (zpeer_peerlog_t *self, const zpeer_result_t *result,
                zpeer_peer_change_t *change)
{
    change->state = s_next_state (self, result);
    if (self->known && change->state == self->state)
        return;
    self->known = true;
    self->state = change->state;
    change->peer = zpeer_slice_str (self->url);
    change->status = result->status;
    change->tasks = self->tasks;
    zpeer_outcome_peer (zpeer_report_map (&self->report), change);
    zpeer_report_send (&self->report, ZPEER_TOPIC_PEER);
}

static void
s_log_recovered (zpeer_peerlog_t *self, const zpeer_absence_t *absence)
{
    char text[ZPEER_COUNTER_TEXT_MAX];
    if (self->state != ZPEER_PEER_ESCALATED)
        return;
    self->recovered = true;
    zpeer_log (&self->lines.log, RECOVERED, self->url,
               zpeer_counter_text (self->count, self->max, text), absence->ms,
               self->owed, absence->owed);
}

static void
s_success (zpeer_peerlog_t *self, const zpeer_result_t *result)
{
    //  How many failures came before
    zpeer_peer_change_t change = {.count = self->count, .max = self->max};
    zpeer_absence_t absence;
    if (self->row.on) {
        absence = s_end_row (self);
        change.absence = &absence;
        s_log_recovered (self, &absence);
    }
    s_change_state (self, result, &change);
    self->count = 0;
}

static void
s_log_failure (zpeer_peerlog_t *self, const zpeer_result_t *result)
{
    if (result->announce)
        zpeer_log (&self->lines.log, ESCALATED, self->url, result->max,
                   (unsigned) self->tasks);
    if (result->end == ZPEER_END_BUSY)
        zpeer_sample (&self->lines, self->now, PEER_CONGESTED, self->url,
                      result->status, result->items);
    else if (result->end == ZPEER_END_STATUS ||
             result->end == ZPEER_END_STATUS_5XX)
        zpeer_sample (&self->lines, self->now, HTTP_STATUS, self->url,
                      result->status, (unsigned) self->tasks);
}

static void
s_failure (zpeer_peerlog_t *self, const zpeer_result_t *result)
{
    zpeer_peer_change_t change = {
        .count = result->count,
        .max = result->max,
        .end = zpeer_slice_str (zpeer_end_text (result->end)),
        .detail = zpeer_slice_str (result->detail ? result->detail : ""),
    };
    s_begin_row (self);
    s_log_failure (self, result);
    s_change_state (self, result, &change);
    if (!result->max)  //  Health did not answer
        return;
    self->count = result->count;
    self->max = result->max;
}

//  An answer in which the peer took nothing, and said what only one in trouble
//  says: as good as a failure. Of a single request that is its status; the items
//  of a batch have theirs inside an answer 200.
static void
s_trouble (zpeer_peerlog_t *self, const zpeer_result_t *result, uint16_t status)
{
    zpeer_result_t failed = *result;
    bool single = result->end == ZPEER_END_ITEM;
    if (!single)
        zpeer_sample (&self->lines, self->now, ITEM_STATUS, self->url, status);
    failed.end = single ? ZPEER_END_STATUS : ZPEER_END_ITEM;
    failed.verdict = ZPEER_PERMANENT_ERROR;
    failed.status = status;
    failed.count = self->count;
    failed.max = self->max;
    s_failure (self, &failed);
}

//  Whether a success says anything of the peer. A single 404 to a Heartbeat may be
//  that of a peer which has forgotten the instance, or of one that is none: what
//  is told next says which.
static bool
s_is_mute (const zpeer_result_t *result, const zpeer_lane_evidence_t *evidence)
{
    return result->end == ZPEER_END_ITEM && !evidence->taken;
}

void
zpeer_peerlog_attempt (zpeer_peerlog_t *self, uint64_t now,
                       const zpeer_result_t *result,
                       const zpeer_lane_evidence_t *evidence)
{
    self->now = now;
    if (result->verdict == ZPEER_SUCCESS && evidence->trouble)
        s_trouble (self, result, evidence->trouble);
    else if (result->verdict == ZPEER_SUCCESS) {
        if (!s_is_mute (result, evidence))
            s_success (self, result);
    }
    //  What became of a lost dispatcher says nothing of the peer
    else if (result->end != ZPEER_END_TAKEN_BACK)
        s_failure (self, result);
    zpeer_peerlog_flush (self, result->id);
}

//  --------------------------------------------------------------------------
//  Figures

static void
s_note_overflow (zpeer_peerlog_t *self, const zpeer_lane_stats_t *stats)
{
    if (stats->ended[ZPEER_ENDED_OVERFLOWED] > self->overflowed)
        zpeer_sample (&self->lines, self->now, LANE_OVERFLOW, self->pool,
                      self->url);
    self->overflowed = stats->ended[ZPEER_ENDED_OVERFLOWED];
}

void
zpeer_peerlog_stats (zpeer_peerlog_t *self, uint64_t now, uint32_t dispatchers,
                     uint64_t unknown_done)
{
    zpeer_lane_stats_t tasks;
    zpeer_lane_stats_t asg;
    zpeer_lane_walk_t walk;
    zpeer_outcome_t map;
    self->now = now;
    zpeer_lane_stats (self->lane, &tasks);
    zpeer_lane_stats (self->asgs, &asg);
    zpeer_lane_walk (self->lane, &walk);
    s_note_overflow (self, &tasks);
    zpeer_outcome_stats (&map, zpeer_report_map (&self->report),
                         ZPEER_SLICE ("peer"), zpeer_slice_str (self->url));
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++)
        zpeer_outcome_uint (&map, s_endings[i], tasks.ended[i]);
#define X(kind, key, value, sentence) zpeer_outcome_uint (&map, (key), (value));
    ZPEER_PEER_FIGURES (X)
#undef X
    zpeer_outcome_end (&map);
    zpeer_report_send (&self->report, ZPEER_TOPIC_STATS);
}
