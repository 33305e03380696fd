#include "peerlog.h"
#include "banned.h"

//  Between two outcomes about the progress of a walk
#define PROGRESS_MS 1000

//  --------------------------------------------------------------------------
//  Walks

static void
s_tell (zpeer_peerlog_t *self, zpeer_resync_state_t state,
        const zpeer_lane_walk_t *walk)
{
    zpeer_resync_t resync = {
        .peer = zpeer_slice_str (self->url),
        .verify = self->walk.verify,
        .state = state,
        .instances = walk->instances,
        .left = walk->left,
        .repaired = walk->repaired,
        .refused = walk->refused,
        .ms = self->now - self->walk.began_at,
    };
    self->walk.said = *walk;
    self->walk.said_at = self->now;
    self->walk.news = false;
    zpeer_outcome_resync (zpeer_report_map (&self->report), &resync);
    zpeer_report_send (&self->report, ZPEER_TOPIC_RESYNC);
}

static const char *
s_kind (const zpeer_peerlog_t *self)
{
    return self->walk.verify ? "verify" : "resync";
}

void
zpeer_peerlog_walk_begun (zpeer_peerlog_t *self, uint64_t now, bool verify)
{
    zpeer_lane_walk_t walk;
    self->now = now;
    zpeer_lane_walk (self->lane, &walk);
    if (walk.active)
        s_tell (self, ZPEER_RESYNC_REPLACED, &walk);
    self->walk.verify = verify;
    self->walk.began_at = now;
    s_tell (self, ZPEER_RESYNC_BEGUN, &(zpeer_lane_walk_t){.active = true});
    zpeer_log (&self->lines.log, WALK_BEGUN, s_kind (self), self->url);
}

static bool
s_same (const zpeer_lane_walk_t *a, const zpeer_lane_walk_t *b)
{
    return a->instances == b->instances && a->left == b->left &&
           a->repaired == b->repaired && a->refused == b->refused;
}

bool
zpeer_peerlog_walk (zpeer_peerlog_t *self, uint64_t now)
{
    zpeer_lane_walk_t walk;
    self->now = now;
    zpeer_lane_walk (self->lane, &walk);
    if (!walk.active)
        return false;
    if (walk.complete && !walk.left) {
        s_tell (self, ZPEER_RESYNC_ENDED, &walk);
        zpeer_log (&self->lines.log, WALK_ENDED, s_kind (self), self->url,
                   now - self->walk.began_at, walk.instances, walk.repaired,
                   walk.refused);
        return true;
    }
    self->walk.news = !s_same (&walk, &self->walk.said);
    if (self->walk.news && now >= self->walk.said_at + PROGRESS_MS)
        s_tell (self, ZPEER_RESYNC_PROGRESS, &walk);
    return false;
}

uint64_t
zpeer_peerlog_wake (const zpeer_peerlog_t *self)
{
    return self->walk.news ? self->walk.said_at + PROGRESS_MS : UINT64_MAX;
}

//  --------------------------------------------------------------------------
//  What is owed

static void
s_whole (zpeer_peerlog_t *self)
{
    zpeer_peer_change_t change = {
        .peer = zpeer_slice_str (self->url),
        .state = ZPEER_PEER_WHOLE,
        .whole_ms = self->now - self->owes_at,
    };
    if (self->recovered)
        zpeer_log (&self->lines.log, PEER_WHOLE, self->url, change.whole_ms);
    zpeer_outcome_peer (zpeer_report_map (&self->report), &change);
    zpeer_report_send (&self->report, ZPEER_TOPIC_PEER);
}

void
zpeer_peerlog_owed (zpeer_peerlog_t *self, uint64_t now)
{
    zpeer_lane_walk_t walk;
    uint32_t owed = zpeer_lane_owed (self->lane);
    self->now = now;
    self->owed = owed;
    zpeer_lane_walk (self->lane, &walk);
    if (owed && !self->owes) {
        self->owes = true;
        self->owes_at = now;
    }
    //  What a walk owes is told portion by portion, and a peer that fails may
    //  be owed more at once: neither is the end
    if (owed || self->row.on || walk.active)
        return;
    if (self->owes)
        s_whole (self);
    self->owes = self->recovered = false;
}
