#include <stdio.h>
#include <stdlib.h>
#include <criterion/criterion.h>
#include "lane_fixture.h"
#include "banned.h"

static void
s_append (char *text, size_t size, const char *more)
{
    size_t used = strlen (text);
    snprintf (text + used, size - used, "%s", more);
}

static void
s_report (void *arg, const zpeer_lane_report_t *report)
{
    static const char *const kinds[] = {
        [ZPEER_LANE_CONFLICT] = "conflict",
        [ZPEER_LANE_NEED_REGISTER] = "need-register",
        [ZPEER_LANE_REJECTED] = "rejected",
        [ZPEER_LANE_DROPPED] = "dropped",
        [ZPEER_LANE_DELIVERED] = "delivered",
        [ZPEER_LANE_RELEASED] = "released",
    };
    lane_fixture_t *self = (lane_fixture_t *) arg;
    char line[128];
    snprintf (line, sizeof line, "%s %s;", kinds[report->kind],
              zpeer_name_id (report->state->name).data);
    s_append (self->said, sizeof self->said, line);
}

zpeer_lane_options_t
lane_fixture_options (void)
{
    return (zpeer_lane_options_t){
        .max_items = 250,
        .max_bytes = 1024 * 1024,
        .read_timeout_ms = 30000,
        .pool = 10000,
        .seed = 1,
    };
}

void
lane_fixture_init_with (lane_fixture_t *self,
                        const zpeer_lane_options_t *options)
{
    *self = (lane_fixture_t){.now = 1000, .next_id = 1, .options = *options};
    self->options.report = s_report;
    self->options.arg = self;
    self->lane = zpeer_lane_new (&self->options);
}

void
lane_fixture_init (lane_fixture_t *self)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    lane_fixture_init_with (self, &options);
}

void
lane_fixture_fini (lane_fixture_t *self)
{
    cr_assert (zpeer_lane_check (self->lane));
    zpeer_lane_destroy (&self->lane);
}

static zpeer_text_t *
s_info (unsigned bytes)
{
    char *blank = (char *) malloc (bytes + 1);
    cr_assert_not_null (blank);
    memset (blank, ' ', bytes);
    zpeer_text_t *text =
        bytes ? zpeer_text_new (blank, bytes) : zpeer_text_new ("{}", 2);
    free (blank);
    return text;
}

static zpeer_state_t *
s_state (lane_fixture_t *self, char letter, lane_state_t state)
{
    char id[2] = {letter, 0};
    zpeer_name_t *name =
        zpeer_name_new (ZPEER_SLICE ("APP"), zpeer_slice_str (id));
    zpeer_state_t *made = zpeer_state_new (name);
    zpeer_name_unref (&name);
    made->handle = (uint32_t) letter;
    made->seq = ++self->seq;
    made->status = (uint8_t) state.status;
    made->override = (uint8_t) state.override;
    made->timestamp = state.absent ? 0 : state.timestamp;
    made->top = state.top ? state.top : state.timestamp;
    made->renewal_ms = 30000;
    if (!state.absent)
        made->info = s_info (state.info_bytes);
    return made;
}

static void
s_tell (lane_fixture_t *self, zpeer_change_t *change)
{
    zpeer_lane_change (self->lane, self->now, change);
    zpeer_state_unref (&change->state);
    cr_assert (zpeer_lane_check (self->lane));
}

void
lane_fixture_change (lane_fixture_t *self, char name, zpeer_action_t action,
                     lane_state_t state)
{
    bool told = (state.replicated || state.origin) && !state.vague;
    unsigned flags =
        (state.fresh ? ZPEER_CHANGE_FRESH : 0u) |
        (state.replicated ? ZPEER_CHANGE_REPLICATED : 0u) |
        (state.snapshot ? ZPEER_CHANGE_SNAPSHOT : 0u) |
        (state.given_up ? ZPEER_CHANGE_RELEASE | ZPEER_CHANGE_GIVE_UP : 0u) |
        (told ? ZPEER_CHANGE_EXACT : 0u);
    zpeer_change_t change = {
        .state = s_state (self, name, state),
        .given = state.given,
        .handle = (uint32_t) name,
        .action = (uint8_t) action,
        .flags = (uint16_t) flags,
        .origin = state.origin,
    };
    s_tell (self, &change);
}

void
lane_fixture_register (lane_fixture_t *self, char name, uint64_t timestamp,
                       uint64_t top)
{
    lane_fixture_change (
        self, name, ZPEER_REGISTER,
        (lane_state_t){.status = ZPEER_UP, .timestamp = timestamp, .top = top});
}

void
lane_fixture_cancel (lane_fixture_t *self, char name, uint64_t top)
{
    lane_fixture_change (self, name, ZPEER_CANCEL,
                         (lane_state_t){.absent = true, .top = top});
}

void
lane_fixture_forget (lane_fixture_t *self, char name)
{
    lane_fixture_change (self, name, ZPEER_FORGET,
                         (lane_state_t){.absent = true});
}

void
lane_fixture_flag (lane_fixture_t *self, char name, unsigned flags)
{
    zpeer_change_t change = {.handle = (uint32_t) name,
                             .flags = (uint16_t) flags};
    s_tell (self, &change);
}

void
lane_fixture_catch_up (lane_fixture_t *self, char name, uint64_t cancelled_at)
{
    zpeer_change_t change = {.handle = (uint32_t) name,
                             .action = ZPEER_FORGET,
                             .given = cancelled_at,
                             .flags = ZPEER_CHANGE_OWE};
    s_tell (self, &change);
}

static void
s_item_text (const zpeer_item_t *item, char *text, size_t size)
{
    bool fetch = item->action == ZPEER_ITEM_FETCH;
    zpeer_action_t action = (zpeer_action_t) item->action;
    int used = snprintf (text, size, "%s %s",
                         fetch ? "Fetch" : zpeer_action_name (action),
                         zpeer_name_id (item->state->name).data);
    if (item->action == ZPEER_REGISTER)
        used += snprintf (text + used, size - (size_t) used, " %s/%s",
                          zpeer_status_name ((zpeer_status_t) item->status),
                          zpeer_status_name ((zpeer_status_t) item->override));
    else if (item->action != ZPEER_CANCEL && item->action != ZPEER_HEARTBEAT &&
             !fetch)
        used += snprintf (text + used, size - (size_t) used, " %s",
                          zpeer_status_name ((zpeer_status_t) item->status));
    if (item->timestamp && !fetch)
        snprintf (text + used, size - (size_t) used, " @%llu",
                  (unsigned long long) item->timestamp);
}

const char *
lane_fixture_next (lane_fixture_t *self)
{
    return lane_fixture_next_of (self, 6);
}

const char *
lane_fixture_next_of (lane_fixture_t *self, unsigned credit)
{
    zpeer_lane_batch_t batch;
    *self->sent = 0;
    self->items = 0;
    if (zpeer_lane_next (self->lane, self->now, credit, self->next_id,
                         &batch)) {
        self->last_id = self->next_id++;
        self->items = batch.count;
        for (uint32_t i = 0; i < batch.count; i++) {
            char text[128];
            s_item_text (&batch.items[i], text, sizeof text);
            s_append (self->sent, sizeof self->sent, i ? ", " : "");
            s_append (self->sent, sizeof self->sent, text);
        }
    }
    cr_assert (zpeer_lane_check (self->lane));
    return self->sent;
}

static void
s_done (lane_fixture_t *self, zpeer_result_t result)
{
    result.id = self->last_id;
    cr_assert (zpeer_lane_done (self->lane, self->now, &result));
    cr_assert (zpeer_lane_check (self->lane));
}

void
lane_fixture_ok (lane_fixture_t *self)
{
    s_done (self, (zpeer_result_t){.verdict = ZPEER_SUCCESS});
}

void
lane_fixture_codes (lane_fixture_t *self, const uint16_t *codes)
{
    s_done (self, (zpeer_result_t){.verdict = ZPEER_SUCCESS, .codes = codes});
}

void
lane_fixture_twice (lane_fixture_t *self, const uint16_t *codes)
{
    s_done (self, (zpeer_result_t){.verdict = ZPEER_SUCCESS,
                                   .codes = codes,
                                   .repeated = true});
}

void
lane_fixture_conflict (lane_fixture_t *self, uint64_t timestamp)
{
    uint16_t codes[2] = {409, 200};
    zpeer_copy_t copy = {.index = 0, .timestamp = timestamp};
    s_done (self, (zpeer_result_t){.verdict = ZPEER_SUCCESS,
                                   .codes = codes,
                                   .copies = &copy,
                                   .copy_count = 1});
}

void
lane_fixture_fail (lane_fixture_t *self, zpeer_verdict_t verdict,
                   bool ambiguous, uint16_t status)
{
    s_done (self, (zpeer_result_t){.end = status ? ZPEER_END_STATUS
                                                 : ZPEER_END_UNSENT,
                                   .verdict = verdict,
                                   .ambiguous = ambiguous,
                                   .status = status});
}

uint64_t
lane_fixture_ended (const lane_fixture_t *self, zpeer_ending_t ending)
{
    zpeer_lane_stats_t stats;
    zpeer_lane_stats (self->lane, &stats);
    return stats.ended[ending];
}
