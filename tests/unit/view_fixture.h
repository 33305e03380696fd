/*  view_fixture.h - a view, and events in short form

    Every test has one view, s_view, whose time is s_now. The functions apply an
    event of APP/id and leave in s_applied what it came to.
*/
#ifndef VIEW_FIXTURE_H_INCLUDED
#define VIEW_FIXTURE_H_INCLUDED

#include <criterion/criterion.h>
#include "event.h"
#include "view.h"

#define LEASE_MS     90000
#define TOMBSTONE_MS 900000

static zpeer_view_t *s_view;
static zpeer_applied_t s_applied;
static uint64_t s_now = 1000000;

static inline void
s_setup (void)
{
    const zpeer_view_options_t options = {
        .tombstone_ms = TOMBSTONE_MS, .age_out = true, .seed = 7};
    s_view = zpeer_view_new (&options);
}

static inline void
s_teardown (void)
{
    zpeer_view_destroy (&s_view);
    cr_assert_null (s_view);
}

static inline zpeer_parsed_t
s_event (zpeer_action_t action, const char *id, uint64_t timestamp)
{
    return (zpeer_parsed_t){.action = action,
                            .app = ZPEER_SLICE ("APP"),
                            .id = zpeer_slice_str (id),
                            .has_timestamp = timestamp > 0,
                            .timestamp = timestamp};
}

//  Returns the instance's state afterwards
static inline const zpeer_state_t *
s_apply (zpeer_parsed_t event)
{
    zpeer_view_apply (s_view, s_now, &event, &s_applied);
    return s_applied.state;
}

static inline const zpeer_state_t *
s_replicated (zpeer_parsed_t event)
{
    event.replicated = true;
    return s_apply (event);
}

static inline zpeer_parsed_t
s_registration (const char *id, uint64_t timestamp, zpeer_status_t status)
{
    zpeer_parsed_t event = s_event (ZPEER_REGISTER, id, timestamp);
    event.status = status;
    event.has_status = true;
    event.info = ZPEER_SLICE ("{\"instanceId\":\"x\"");
    event.renewal_ms = 30000;
    event.duration_ms = LEASE_MS;
    return event;
}

static inline const zpeer_state_t *
s_register (const char *id, uint64_t timestamp, zpeer_status_t status)
{
    return s_apply (s_registration (id, timestamp, status));
}

static inline const zpeer_state_t *
s_heartbeat (const char *id, uint64_t timestamp)
{
    return s_apply (s_event (ZPEER_HEARTBEAT, id, timestamp));
}

static inline const zpeer_state_t *
s_cancel (const char *id, uint64_t timestamp)
{
    return s_apply (s_event (ZPEER_CANCEL, id, timestamp));
}

static inline const zpeer_state_t *
s_forget (const char *id)
{
    return s_apply (s_event (ZPEER_FORGET, id, 0));
}

static inline const zpeer_state_t *
s_set_status (const char *id, uint64_t timestamp, zpeer_status_t status)
{
    zpeer_parsed_t event = s_event (ZPEER_STATUS_UPDATE, id, timestamp);
    event.status = status;
    event.has_status = true;
    return s_apply (event);
}

//  With UNKNOWN as status none is given
static inline const zpeer_state_t *
s_delete_override (const char *id, uint64_t timestamp, zpeer_status_t status)
{
    zpeer_parsed_t event =
        s_event (ZPEER_DELETE_STATUS_OVERRIDE, id, timestamp);
    event.status = status;
    event.has_status = status != ZPEER_UNKNOWN;
    return s_apply (event);
}

static inline const zpeer_state_t *
s_set_asg (const char *name, zpeer_status_t status)
{
    return s_apply ((zpeer_parsed_t){.action = ZPEER_ASG_STATUS_UPDATE,
                                     .id = zpeer_slice_str (name),
                                     .status = status,
                                     .has_status = true});
}

static inline zpeer_view_stats_t
s_stats (void)
{
    zpeer_view_stats_t stats;
    zpeer_view_stats (s_view, &stats);
    return stats;
}

//  What the last event came to, for the lanes
static inline void
s_expect_told (zpeer_action_t action, unsigned flags)
{
    cr_assert (s_applied.tell);
    cr_assert_eq (s_applied.change.action, action, "%s",
                  zpeer_action_name ((zpeer_action_t) s_applied.change.action));
    cr_assert_eq (s_applied.change.flags, flags);
}

static inline void
s_expect_not_told (void)
{
    cr_assert_not (s_applied.tell);
}

//  How an instance is after the last event
static inline void
s_expect (zpeer_status_t status, zpeer_status_t override, uint64_t timestamp)
{
    const zpeer_state_t *state = s_applied.state;
    cr_assert (zpeer_state_present (state));
    cr_assert_eq (state->status, status, "%s",
                  zpeer_status_name ((zpeer_status_t) state->status));
    cr_assert_eq (state->override, override, "%s",
                  zpeer_status_name ((zpeer_status_t) state->override));
    cr_assert_eq (state->timestamp, timestamp);
}

#endif
