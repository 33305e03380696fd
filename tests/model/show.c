#include <inttypes.h>
#include <stdio.h>
#include "cores.h"
#include "lane_impl.h"
#include "banned.h"

void
version_write (unsigned version, char text[TEXT_MAX])
{
    snprintf (text, TEXT_MAX, "{\"v\":%u", version);
}

unsigned
version_read (const zpeer_state_t *state)
{
    unsigned version = 0;
    if (state->info)
        sscanf (state->info->data, "{\"v\":%u", &version);
    return version;
}

static const char *
s_id (const zpeer_state_t *state)
{
    return zpeer_name_id (state->name).data;
}

static const char *
s_status (unsigned status)
{
    return zpeer_status_name ((zpeer_status_t) status);
}

void
show_report (const row_t *row, const zpeer_lane_report_t *report)
{
    static const char *const kinds[] = {
        [ZPEER_LANE_CONFLICT] = "conflict",
        [ZPEER_LANE_NEED_REGISTER] = "need-register",
        [ZPEER_LANE_REJECTED] = "rejected",
        [ZPEER_LANE_DROPPED] = "dropped",
        [ZPEER_LANE_DELIVERED] = "delivered",
        [ZPEER_LANE_RELEASED] = "released",
    };
    static const char *const endings[] = {
#define X(name, label, meaning) label,
        ZPEER_LANE_ENDINGS (X)
#undef X
    };
    //  Of the others the ending says nothing
    bool ends = report->kind == ZPEER_LANE_DROPPED;
    printf ("report %u %s %s %u %s %d %" PRIu64 " %" PRIu64 "\n", row->number,
            kinds[report->kind], s_id (report->state), report->bits & TASKS,
            ends ? endings[report->ending] : "-", report->code,
            report->copy ? report->copy->timestamp : 0, report->batch);
    if (report->kind == ZPEER_LANE_RELEASED)
        printf ("released %u %" PRIu32 " %" PRIu64 "\n", row->number,
                report->state->handle, report->state->seq);
}

//  Only what goes over the wire: item.h
static void
s_show_item (const zpeer_item_t *item)
{
    bool registers = item->action == ZPEER_REGISTER;
    bool fetches = item->action == ZPEER_ITEM_FETCH;
    zpeer_action_t action = (zpeer_action_t) item->action;
    bool beat = fetches || item->action == ZPEER_HEARTBEAT ||
                item->action == ZPEER_CANCEL;
    printf ("item %s %s %" PRIu64 " %s %s %u\n",
            fetches ? "Fetch" : zpeer_action_name (action), s_id (item->state),
            fetches ? 0 : item->timestamp, beat ? "-" : s_status (item->status),
            registers ? s_status (item->override) : "-",
            registers ? version_read (item->state) : 0);
}

void
show_batch (const row_t *row, const zpeer_lane_batch_t *batch)
{
    printf ("batch %u %" PRIu64 " %" PRIu32 "\n", row->number, batch->id,
            batch->bytes);
    for (uint32_t i = 0; i < batch->count; i++)
        s_show_item (&batch->items[i]);
}

void
show_state (const zpeer_state_t *state)
{
    if (!state) {
        printf ("state -\n");
        return;
    }
    printf ("state %s %u %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            s_id (state), version_read (state), s_status (state->status),
            s_status (state->override), state->timestamp, state->top,
            state->seq);
}

void
show_none (const row_t *row, uint64_t now, unsigned credit)
{
    printf ("none %" PRIu64 " %" PRIu64 " %d\n",
            zpeer_lane_wake (row->lane, now, credit),
            zpeer_lane_pause (row->lane),
            lane_is_free (row->lane, now, credit));
}

static void
s_show_stats (row_t *row)
{
    char text[sizeof row->stats];
    zpeer_lane_stats_t s;
    zpeer_lane_walk_t walk;
    zpeer_lane_stats (row->lane, &s);
    zpeer_lane_walk (row->lane, &walk);
    int used = snprintf (
        text, sizeof text,
        "%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %u %u %u %u %d %d"
        " %u %u %u %u",
        s.accepted, s.waiting, s.in_flight, s.instances, s.queued, s.owed,
        s.renew, s.unsure, s.rejected, s.resting, s.batches_in_flight,
        walk.active, walk.complete, walk.instances, walk.left, walk.repaired,
        walk.refused);
    for (unsigned i = 0; i < ZPEER_ENDINGS; i++)
        used += snprintf (text + used, sizeof text - (size_t) used, " %" PRIu64,
                          s.ended[i]);
    if (!memcmp (text, row->stats, (size_t) used + 1))
        return;
    memcpy (row->stats, text, (size_t) used + 1);
    printf ("lane %u %s\n", row->number, text);
}

//  What waits, and what is owed, of each instance of which that has changed
static void
s_show_entries (row_t *row)
{
    const zpeer_lane_t *lane = row->lane;
    for (uint32_t i = 0; i < lane->capacity && i < HANDLES_MAX; i++) {
        const entry_t *entry = &lane->entries[i];
        shown_t now = {{0}};
        if (entry->state)
            snprintf (now.text, sizeof now.text,
                      "%s %u %u %d %d %d %d %d %d %d", s_id (entry->state),
                      entry->wait, entry->flight, (entry->flags & OWED) != 0,
                      (entry->flags & RENEW) != 0, entry->unsure != 0,
                      (entry->flags & REFUSED) != 0, (entry->flags & HELD) != 0,
                      (entry->flags & RESTING) != 0, entry->hung);
        if (!strcmp (now.text, row->shown[i].text))
            continue;
        if (*now.text)
            printf ("entry %u %s\n", row->number, now.text);
        else
            printf ("ended %u %s\n", row->number, row->shown[i].text);
        row->shown[i] = now;
    }
}

void
show_lane (row_t *row)
{
    s_show_stats (row);
    s_show_entries (row);
    if (!zpeer_lane_check (row->lane))
        printf ("broken %u\n", row->number);
}
