//  A history that the model of the view wrote (tests/model/write_view_trace.py),
//  with what each event comes to. view_trace.h has one line per event:
//
//  event   action key timestamp status override version replicated
//  told    action given fresh need-register
//  state   is-new version status override timestamp top
//
//  Letters: Register, Heartbeat, Cancel, StatusUpdate, DeleteStatusOverride,
//  Forget; Up, Down, Out of service, Starting, ? unknown; - none. Version is
//  that of the info text, 0 when absent.

#include <stdio.h>
#include "view_fixture.h"
#include "view_trace.h"
#include "banned.h"

#define LINES (sizeof s_lines / sizeof *s_lines)

typedef struct {
    char action, key[8], status, override;
    unsigned timestamp, version, replicated;
    char told;
    unsigned given, fresh, need;
    unsigned anew, held_version;
    char held_status, held_override;
    unsigned held_timestamp, top;
} line_t;

TestSuite (view_trace, .init = s_setup, .fini = s_teardown);

static zpeer_action_t
s_action (char letter)
{
    switch (letter) {
    case 'R': return ZPEER_REGISTER;
    case 'H': return ZPEER_HEARTBEAT;
    case 'C': return ZPEER_CANCEL;
    case 'S': return ZPEER_STATUS_UPDATE;
    case 'D': return ZPEER_DELETE_STATUS_OVERRIDE;
    default: return ZPEER_FORGET;
    }
}

static zpeer_status_t
s_status (char letter)
{
    switch (letter) {
    case 'U': return ZPEER_UP;
    case 'D': return ZPEER_DOWN;
    case 'O': return ZPEER_OUT_OF_SERVICE;
    case 'S': return ZPEER_STARTING;
    default: return ZPEER_UNKNOWN;
    }
}

static void
s_read (const char *text, line_t *line)
{
    int count =
        sscanf (text, "%c %7s %u %c %c %u %u : %c %u %u %u : %u %u %c %c %u %u",
                &line->action, line->key, &line->timestamp, &line->status,
                &line->override, &line->version, &line->replicated, &line->told,
                &line->given, &line->fresh, &line->need, &line->anew,
                &line->held_version, &line->held_status, &line->held_override,
                &line->held_timestamp, &line->top);
    cr_assert_eq (count, 17, "%s", text);
}

static void
s_replay (const line_t *line)
{
    char info[16];
    zpeer_parsed_t event =
        s_event (s_action (line->action), line->key, line->timestamp);
    snprintf (info, sizeof info, "{\"v\":%u", line->version);
    event.info = zpeer_slice_str (info);
    event.status = s_status (line->status);
    event.has_status = line->status != '-';
    event.override = s_status (line->override);
    event.replicated = line->replicated;
    event.duration_ms = LEASE_MS;
    s_apply (event);
}

static void
s_check_told (const char *text, const line_t *line)
{
    cr_assert_eq (s_applied.need_register, line->need, "%s", text);
    //  That peers are asked whether they have it is beyond the trace
    bool told =
        s_applied.tell && !(s_applied.change.flags & ZPEER_CHANGE_VERIFY);
    cr_assert_eq (told, line->told != '-', "%s", text);
    if (!told)
        return;
    unsigned flags = (line->replicated ? ZPEER_CHANGE_REPLICATED : 0) |
                     (line->fresh ? ZPEER_CHANGE_FRESH : 0);
    cr_assert_eq (s_applied.change.action, s_action (line->told), "%s", text);
    cr_assert_eq (s_applied.change.flags & ~ZPEER_CHANGE_EXACT, flags, "%s",
                  text);
    cr_assert_eq (s_applied.change.given, line->given, "%s", text);
}

static void
s_check_state (const char *text, const line_t *line, uint64_t seq)
{
    const zpeer_state_t *state = s_applied.state;
    unsigned version = 0;
    if (!state) {
        cr_assert (!line->held_version && !line->top, "%s", text);
        return;
    }
    if (state->info)
        cr_assert_eq (sscanf (state->info->data, "{\"v\":%u", &version), 1);
    cr_assert_eq (version, line->held_version, "%s", text);
    cr_assert_eq (state->status, s_status (line->held_status), "%s", text);
    cr_assert_eq (state->override, s_status (line->held_override), "%s", text);
    cr_assert_eq (state->timestamp, line->held_timestamp, "%s", text);
    cr_assert_eq (state->top, line->top, "%s", text);
    //  The first state of an instance that is absent is none to the trace
    if (seq)
        cr_assert_eq (state->seq != seq, line->anew, "%s", text);
}

Test (view_trace, the_view_does_what_its_specification_does)
{
    for (size_t i = 0; i < LINES; i++) {
        line_t line;
        s_read (s_lines[i], &line);
        const zpeer_state_t *before = zpeer_view_find (
            s_view, ZPEER_SLICE ("APP"), zpeer_slice_str (line.key));
        uint64_t seq = before ? before->seq : 0;
        s_replay (&line);
        s_check_told (s_lines[i], &line);
        s_check_state (s_lines[i], &line, seq);
    }
}
