#include <criterion/criterion.h>
#include <stdio.h>
#include "dump.h"
#include "peerlog_fixture.h"
#include "verdict.h"
#include "banned.h"

#define RETRIES_MAX 10

//  In a batch
#define ITEMS_MAX 16

static void
s_on_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    peerlog_fixture_t *self = (peerlog_fixture_t *) arg;
    size_t used = strlen (self->lines);
    (void) level;
    snprintf (self->lines + used, sizeof self->lines - used, "%s %s\n", id,
              text);
}

static void
s_on_report (void *arg, const zpeer_lane_report_t *report)
{
    peerlog_fixture_t *self = (peerlog_fixture_t *) arg;
    zpeer_peerlog_report (&self->log, report);
}

static void
s_make_lanes (peerlog_fixture_t *self)
{
    zpeer_lane_options_t options = {
        .max_items = 250,
        .max_bytes = 1 << 20,
        .read_timeout_ms = 30000,
        .pool = 3,
        .report = s_on_report,
        .arg = self,
    };
    self->lane = zpeer_lane_new (&options);
    options.asg_life_ms = 1000;
    options.max_items = 1;
    self->asgs = zpeer_lane_new (&options);
}

void
peerlog_fixture_init (peerlog_fixture_t *self)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    *self = (peerlog_fixture_t){.now = 100000};
    zpeer_socket_init ();
    self->options = zpeer_options_new ();
    s_make_lanes (self);
    zpeer_peerlog_init (&self->log, self->options,
                        (zpeer_log_t){s_on_log, self}, "p");
    zpeer_peerlog_watch (&self->log, self->lane, self->asgs);
    self->reports = zpeer_socket_new (ZPEER_ROLE_PULL, 1000, -1);
    zpeer_socket_unique (endpoint, "reports");
    cr_assert_eq (zpeer_socket_bind (self->reports, endpoint, NULL, NULL),
                  ZPEER_OK);
    cr_assert_eq (zpeer_report_connect (&self->log.report, endpoint), ZPEER_OK);
}

void
peerlog_fixture_fini (peerlog_fixture_t *self)
{
    zpeer_peerlog_fini (&self->log);
    zpeer_lane_destroy (&self->lane);
    zpeer_lane_destroy (&self->asgs);
    zpeer_options_destroy (&self->options);
    zpeer_frames_close (&self->frames);
    zpeer_buffer_free (&self->json);
    zsock_destroy (&self->reports);
}

static zpeer_state_t *
s_state (peerlog_fixture_t *self, uint32_t handle, zpeer_action_t action)
{
    bool asg = action == ZPEER_ASG_STATUS_UPDATE;
    char id[16];
    snprintf (id, sizeof id, "i%u", handle);
    zpeer_name_t *name =
        zpeer_name_new (asg ? (zpeer_slice_t){"", 0} : ZPEER_SLICE ("APP"),
                        zpeer_slice_str (id));
    zpeer_state_t *state = zpeer_state_new (name);
    zpeer_name_unref (&name);
    state->handle = handle;
    state->seq = ++self->seq;
    state->status = asg ? ZPEER_OUT_OF_SERVICE : ZPEER_UP;
    state->renewal_ms = 30000;
    if (!asg)
        state->timestamp = state->top = 5;
    if (!asg && action != ZPEER_CANCEL)
        state->info = zpeer_text_new ("{\"app\":\"APP\"", 12);
    return state;
}

static void
s_change (peerlog_fixture_t *self, zpeer_change_t change)
{
    bool asg = change.action == ZPEER_ASG_STATUS_UPDATE;
    change.state =
        s_state (self, change.handle, (zpeer_action_t) change.action);
    zpeer_lane_change (asg ? self->asgs : self->lane, self->now, &change);
    zpeer_state_unref (&change.state);
}

void
peerlog_fixture_change (peerlog_fixture_t *self, uint32_t handle,
                        zpeer_action_t action)
{
    s_change (self,
              (zpeer_change_t){.handle = handle, .action = (uint8_t) action});
}

void
peerlog_fixture_flag (peerlog_fixture_t *self, uint32_t handle, unsigned flags)
{
    s_change (self,
              (zpeer_change_t){.handle = handle, .flags = (uint16_t) flags});
}

void
peerlog_fixture_walk (peerlog_fixture_t *self, uint32_t from, uint32_t to)
{
    for (uint32_t handle = from; handle < to; handle++)
        peerlog_fixture_flag (self, handle,
                              ZPEER_CHANGE_OWE | ZPEER_CHANGE_WALK);
}

//  As in batcher_done
static bool
s_end_of (peerlog_fixture_t *self, zpeer_lane_t *lane, zpeer_result_t result)
{
    zpeer_lane_batch_t batch;
    zpeer_lane_evidence_t evidence;
    if (!zpeer_lane_next (lane, self->now, 6, ++self->id, &batch))
        return false;
    result.id = self->id;
    result.items = (uint16_t) batch.count;
    zpeer_peerlog_flush (&self->log, 0);
    zpeer_lane_done (lane, self->now, &result);
    zpeer_lane_evidence (lane, &evidence);
    zpeer_peerlog_attempt (&self->log, self->now, &result, &evidence);
    return true;
}

static bool
s_end (peerlog_fixture_t *self, zpeer_result_t result)
{
    return s_end_of (self, self->lane, result);
}

static bool
s_answer (peerlog_fixture_t *self, zpeer_lane_t *lane, zpeer_end_t end,
          uint16_t status)
{
    uint16_t codes[ITEMS_MAX];
    for (unsigned i = 0; i < ITEMS_MAX; i++)
        codes[i] = status;
    zpeer_result_t result = {
        .verdict = ZPEER_SUCCESS,
        .end = end,
        .status = end == ZPEER_END_ITEM ? status : 200,
        .codes = codes,
        .detail = "",
    };
    return s_end_of (self, lane, result);
}

bool
peerlog_fixture_single (peerlog_fixture_t *self, uint16_t status)
{
    return s_answer (self, self->lane, ZPEER_END_ITEM, status);
}

bool
peerlog_fixture_items (peerlog_fixture_t *self, uint16_t status)
{
    return s_answer (self, self->lane, ZPEER_END_OK, status);
}

bool
peerlog_fixture_asg (peerlog_fixture_t *self, uint16_t status)
{
    return s_answer (self, self->asgs, ZPEER_END_ITEM, status);
}

bool
peerlog_fixture_ok (peerlog_fixture_t *self)
{
    return s_end (self, (zpeer_result_t){.verdict = ZPEER_SUCCESS});
}

bool
peerlog_fixture_fail (peerlog_fixture_t *self, zpeer_end_t end, uint32_t count)
{
    bool announce = count == RETRIES_MAX && self->log.count != RETRIES_MAX;
    zpeer_result_t result = {.count = count,
                             .max = count ? RETRIES_MAX : 0,
                             .status = end == ZPEER_END_BUSY ? 503 : 0,
                             .detail = ""};
    zpeer_verdict_judge (end, count == RETRIES_MAX, announce, &result);
    return s_end (self, result);
}

bool
peerlog_fixture_turn (peerlog_fixture_t *self)
{
    zpeer_peerlog_flush (&self->log, 0);
    bool ended = zpeer_peerlog_walk (&self->log, self->now);
    if (ended)
        zpeer_lane_walk_end (self->lane);
    zpeer_peerlog_owed (&self->log, self->now);
    return ended;
}

const char *
peerlog_fixture_said (peerlog_fixture_t *self, const char *topic)
{
    zpeer_slice_t wanted = zpeer_slice_str (topic);
    zpeer_buffer_reset (&self->json);
    while (zpeer_socket_recv (self->reports, &self->frames) == ZPEER_OK) {
        zpeer_slice_t map = zpeer_frames_at (&self->frames, 1);
        if (!zpeer_slice_eq (zpeer_frames_at (&self->frames, 0), wanted))
            continue;
        cr_assert_eq (zpeer_dump_json (&self->json, map.data, map.size),
                      ZPEER_OK);
        break;
    }
    zpeer_buffer_add (&self->json, "", 1);
    return self->json.data;
}

unsigned
peerlog_fixture_lines (const peerlog_fixture_t *self, const char *id)
{
    unsigned count = 0;
    for (const char *at = self->lines; (at = strstr (at, id)); at++)
        count++;
    return count;
}
