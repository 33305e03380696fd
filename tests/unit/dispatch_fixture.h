/*  dispatch_fixture.h - a dispatch core, and a trace of what it wants done

    For the tests of the core; each gives it what comes in and compares the
    trace with what should follow.
*/
#ifndef DISPATCH_FIXTURE_H_INCLUDED
#define DISPATCH_FIXTURE_H_INCLUDED

#include <criterion/criterion.h>
#include <stdio.h>
#include "dispatch.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))
#define PEER          5

#define ALL_OK ZPEER_SLICE ("{\"responseList\":[{\"statusCode\":200}]}")

//  The core, and what it did last of each sort
typedef struct {
    zpeer_dispatch_t *core;
    uint64_t now;
    char trace[512];  //  Names of all actions since it was last cleared
    uint64_t token;   //  Of the last question to health
    bool gated;
    zpeer_result_t done;
    char detail[ZPEER_ATTEMPT_DETAIL_MAX];
    uint16_t codes[4];
    size_t code_count;
    uint64_t held[4];
    size_t held_count;
    uint64_t echo;
    char path[64];
} fixture_t;

static inline fixture_t
s_setup (bool remote, uint32_t credit)
{
    zpeer_dispatch_options_t options = {
        .peer = PEER,
        .credit = credit,
        .remote = remote,
        .busy = {{503}, 1},
    };
    return (fixture_t){
        .core = zpeer_dispatch_new (1000, &options),
        .now = 1000,
    };
}

static void
s_note (fixture_t *self, const char *word)
{
    size_t used = strlen (self->trace);
    snprintf (self->trace + used, sizeof self->trace - used, "%s%s",
              used ? " " : "", word);
}

static void
s_take_done (fixture_t *self, const zpeer_dispatch_action_t *action)
{
    const zpeer_slice_t *frames = action->frames;
    cr_assert_eq (action->frame_count, 5);
    cr_assert_eq (
        zpeer_wire_get_done (frames[1].data, frames[1].size, &self->done),
        ZPEER_OK);
    cr_assert_eq (zpeer_wire_get_codes (frames[2].data, frames[2].size,
                                        self->codes, LENGTH (self->codes),
                                        &self->code_count),
                  ZPEER_OK);
    snprintf (self->detail, sizeof self->detail, "%.*s", (int) frames[4].size,
              frames[4].data);
}

static void
s_take_held (fixture_t *self, zpeer_slice_t held)
{
    zpeer_wire_beat_t beat;
    cr_assert_eq (zpeer_wire_get_held (held.data, held.size, &beat, self->held,
                                       LENGTH (self->held), &self->held_count),
                  ZPEER_OK);
    cr_assert_eq (beat.sent, self->now);
    self->echo = beat.echo;
}

static void
s_take_message (fixture_t *self, const zpeer_dispatch_action_t *action)
{
    const zpeer_slice_t *frames = action->frames;
    zpeer_wire_command_t command =
        zpeer_wire_command (frames[0].data, frames[0].size);
    uint32_t number;
    bool remote;
    s_note (self, zpeer_wire_command_text (command));
    if (command == ZPEER_WIRE_DONE)
        s_take_done (self, action);
    if (command == ZPEER_WIRE_READY)
        cr_assert_eq (zpeer_wire_get_ready (frames[1].data, frames[1].size,
                                            &number, &remote),
                      ZPEER_OK);
    if (command == ZPEER_WIRE_HEARTBEAT)
        s_take_held (self, frames[1]);
    if (command == ZPEER_WIRE_FAIL || command == ZPEER_WIRE_HASREACHEDMAX)
        cr_assert_eq (zpeer_wire_get_fail (frames[1].data, frames[1].size,
                                           &self->token, &number, &self->gated),
                      ZPEER_OK);
}

static void
s_run (fixture_t *self)
{
    static const char *const names[] = {
        [ZPEER_DISPATCH_REQUEST] = "request",
        [ZPEER_DISPATCH_ABORT] = "abort",
        [ZPEER_DISPATCH_RELEASE] = "release",
        [ZPEER_DISPATCH_FAILED] = "failed",
        [ZPEER_DISPATCH_UNHEARD] = "unheard",
        [ZPEER_DISPATCH_GONE] = "gone",
    };
    zpeer_dispatch_action_t action;
    while (zpeer_dispatch_next (self->core, self->now, &action)) {
        if (action.kind == ZPEER_DISPATCH_BATCHER ||
            action.kind == ZPEER_DISPATCH_HEALTH)
            s_take_message (self, &action);
        else
            s_note (self, names[action.kind]);
        if (action.kind == ZPEER_DISPATCH_REQUEST)
            snprintf (self->path, sizeof self->path, "%.*s",
                      (int) action.request.path.size, action.request.path.data);
    }
}

#define s_assert_trace(self, expected)                                         \
    do {                                                                       \
        s_run (self);                                                          \
        cr_assert_str_eq ((self)->trace, expected);                            \
        (self)->trace[0] = 0;                                                  \
    } while (0)

static inline void
s_batch (fixture_t *self, uint64_t id)
{
    zpeer_wire_batch_t batch = {id, ZPEER_MODE_BATCH, 1};
    cr_assert_eq (zpeer_dispatch_batch (self->core, self->now, &batch,
                                        ZPEER_SLICE ("{}"), NULL),
                  ZPEER_OK);
}

//  A batch that ends so
static inline void
s_reply (fixture_t *self, uint64_t id, zpeer_end_t end, uint16_t status)
{
    zpeer_reply_t reply = {
        .end = end,
        .status = status,
        .body = ALL_OK,
        .detail = "as the library says",
    };
    zpeer_dispatch_reply (self->core, self->now, id, &reply);
}

static inline void
s_health (fixture_t *self, uint32_t count, uint32_t max, bool announce)
{
    zpeer_wire_failed_t failed = {self->token, count, max, count >= max,
                                  announce};
    zpeer_dispatch_failed (self->core, &failed);
}

#endif
