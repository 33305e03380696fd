#include <assert.h>
#include <string.h>
#include "dispatch_impl.h"
#include "verdict.h"
#include "banned.h"

static void
s_add_frame (zpeer_dispatch_action_t *action, const void *data, size_t size)
{
    action->frames[action->frame_count++] =
        (zpeer_slice_t){(const char *) data, size};
}

//  The batch is reported; who need not wait for an ACK forgets it
static void
s_write_done (zpeer_dispatch_t *self, uint64_t now, job_t *job,
              zpeer_dispatch_action_t *action)
{
    assert (job);
    const zpeer_result_t *result = zpeer_attempt_result (job->attempt);
    zpeer_buffer_reset (&self->codes);
    zpeer_wire_put_codes (&self->codes, result);
    zpeer_wire_put_copies (&self->rest, result);
    s_add_frame (action, self->fixed,
                 zpeer_wire_put_done (self->fixed, result));
    s_add_frame (action, self->codes.data, self->codes.size);
    s_add_frame (action, self->rest.data, self->rest.size);
    s_add_frame (action, result->detail, strlen (result->detail));
    job->due_at = now + self->options.beat_ms;
    if (!self->options.remote)
        zpeer_dispatch_drop (self, job);
}

static void
s_write_heartbeat (zpeer_dispatch_t *self, uint64_t now,
                   zpeer_dispatch_action_t *action)
{
    zpeer_wire_beat_t beat = {self->options.credit, self->echo, now};
    uint64_t ids[ZPEER_WIRE_HELD_MAX];
    for (size_t i = 0; i < self->job_count; i++)
        ids[i] = zpeer_dispatch_job_id (&self->jobs[i]);
    zpeer_wire_put_held (&self->rest, &beat, ids, self->job_count);
    s_add_frame (action, self->rest.data, self->rest.size);
}

//  The fixed frame of what is short; a question to health is about a job
static size_t
s_write_fixed (zpeer_dispatch_t *self, zpeer_wire_command_t command,
               const job_t *job)
{
    const zpeer_dispatch_options_t *options = &self->options;
    if (command == ZPEER_WIRE_READY)
        return zpeer_wire_put_ready (self->fixed, options->credit,
                                     options->remote);
    if (command == ZPEER_WIRE_OK)
        return zpeer_wire_put_peer (self->fixed, options->peer);
    assert (job);
    zpeer_end_t end = zpeer_attempt_result (job->attempt)->end;
    bool gated = command == ZPEER_WIRE_FAIL && zpeer_verdict_row (end)->gated;
    return zpeer_wire_put_fail (self->fixed, job->token, options->peer, gated);
}

static void
s_write (zpeer_dispatch_t *self, uint64_t now, zpeer_wire_command_t command,
         job_t *job, zpeer_dispatch_action_t *action)
{
    const char *text = zpeer_wire_command_text (command);
    zpeer_buffer_reset (&self->rest);
    s_add_frame (action, text, strlen (text));
    if (command == ZPEER_WIRE_DONE)
        s_write_done (self, now, job, action);
    else if (command == ZPEER_WIRE_HEARTBEAT)
        s_write_heartbeat (self, now, action);
    else if (command != ZPEER_WIRE_GOODBYE)
        s_add_frame (action, self->fixed, s_write_fixed (self, command, job));
}

static void
s_write_request (zpeer_dispatch_t *self, const job_t *job,
                 zpeer_dispatch_action_t *action)
{
    assert (job);
    action->owner = job->owner;
    action->request = job->request;
    action->single = zpeer_attempt_single (job->attempt);
    self->stats.requests++;
    self->stats.body_bytes += job->request.body.size;
}

static void
s_act (zpeer_dispatch_t *self, uint64_t now, const todo_t *todo, job_t *job,
       zpeer_dispatch_action_t *action)
{
    *action = (zpeer_dispatch_action_t){
        .kind = todo->kind,
        .id = todo->id,
        .owner = todo->owner,
        .result = job ? zpeer_attempt_result (job->attempt) : NULL,
        .aborted = todo->aborted,
    };
    if (todo->kind == ZPEER_DISPATCH_REQUEST)
        s_write_request (self, job, action);
    else if (todo->kind == ZPEER_DISPATCH_BATCHER ||
             todo->kind == ZPEER_DISPATCH_HEALTH)
        s_write (self, now, todo->command, job, action);
}

bool
zpeer_dispatch_next (zpeer_dispatch_t *self, uint64_t now,
                     zpeer_dispatch_action_t *action)
{
    zpeer_attempt_destroy (&self->last);
    if (self->todo_next == self->todo_count) {
        self->todo_next = self->todo_count = 0;
        zpeer_dispatch_timers (self, now);
    }
    while (self->todo_next < self->todo_count) {
        todo_t todo = self->todos[self->todo_next++];
        job_t *job = todo.about ? zpeer_dispatch_job (self, todo.id) : NULL;
        if (todo.about && !job)
            continue;
        s_act (self, now, &todo, job, action);
        return true;
    }
    return false;
}
