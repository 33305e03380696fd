#include <assert.h>
#include <stdlib.h>
#include "dispatch_impl.h"
#include "verdict.h"
#include "banned.h"

#define TODOS_MIN 16

//  The command of what is no message
#define NO_MESSAGE ZPEER_WIRE_COMMAND_COUNT

void
zpeer_dispatch_destroy (zpeer_dispatch_t **self_p)
{
    zpeer_dispatch_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < self->job_count; i++)
        zpeer_attempt_destroy (&self->jobs[i].attempt);
    zpeer_attempt_destroy (&self->last);
    zpeer_buffer_free (&self->codes);
    zpeer_buffer_free (&self->rest);
    free (self->jobs);
    free (self->todos);
    free (self);
}

//  --------------------------------------------------------------------------
//  What is to be done

static void
s_push (zpeer_dispatch_t *self, todo_t todo)
{
    if (self->todo_count == self->todo_room) {
        self->todo_room = self->todo_room ? self->todo_room * 2 : TODOS_MIN;
        self->todos = (todo_t *) realloc (self->todos, self->todo_room *
                                                           sizeof *self->todos);
        assert (self->todos);
    }
    self->todos[self->todo_count++] = todo;
}

//  A message that is about no batch
static void
s_push_message (zpeer_dispatch_t *self, zpeer_dispatch_kind_t kind,
                zpeer_wire_command_t command)
{
    s_push (self, (todo_t){.kind = kind, .command = command});
}

//  Something about a batch, a message perhaps
static void
s_push_about (zpeer_dispatch_t *self, const job_t *job,
              zpeer_dispatch_kind_t kind, zpeer_wire_command_t command)
{
    s_push (self, (todo_t){.kind = kind,
                           .command = command,
                           .about = true,
                           .id = zpeer_dispatch_job_id (job)});
}

//  What the caller does with what it keeps for a batch
static void
s_push_owner (zpeer_dispatch_t *self, const job_t *job,
              zpeer_dispatch_kind_t kind)
{
    s_push (self, (todo_t){.kind = kind,
                           .id = zpeer_dispatch_job_id (job),
                           .owner = job->owner});
}

zpeer_dispatch_t *
zpeer_dispatch_new (uint64_t now, const zpeer_dispatch_options_t *options)
{
    zpeer_dispatch_t *self = (zpeer_dispatch_t *) calloc (1, sizeof *self);
    assert (self);
    self->options = *options;
    if (!self->options.beat_ms)
        self->options.beat_ms = ZPEER_DISPATCH_BEAT_MS;
    self->jobs = (job_t *) calloc (ZPEER_WIRE_HELD_MAX, sizeof *self->jobs);
    assert (self->jobs);
    self->heard_at = now;
    self->beat_at = now + self->options.beat_ms;
    s_push_message (self, ZPEER_DISPATCH_BATCHER, ZPEER_WIRE_READY);
    return self;
}

//  --------------------------------------------------------------------------
//  Jobs

job_t *
zpeer_dispatch_job (zpeer_dispatch_t *self, uint64_t id)
{
    for (size_t i = 0; i < self->job_count; i++)
        if (zpeer_dispatch_job_id (&self->jobs[i]) == id)
            return &self->jobs[i];
    return NULL;
}

void
zpeer_dispatch_drop (zpeer_dispatch_t *self, job_t *job)
{
    zpeer_attempt_destroy (&self->last);
    self->last = job->attempt;
    *job = self->jobs[--self->job_count];
}

static void
s_release (zpeer_dispatch_t *self, job_t *job)
{
    if (!job->released)
        s_push_owner (self, job, ZPEER_DISPATCH_RELEASE);
    job->released = true;
}

static void
s_abort (zpeer_dispatch_t *self, job_t *job)
{
    if (job->phase == RUNNING)
        s_push_owner (self, job, ZPEER_DISPATCH_ABORT);
    s_release (self, job);
}

//  It is over: the verdict stands
static void
s_report (zpeer_dispatch_t *self, job_t *job)
{
    if (zpeer_attempt_result (job->attempt)->verdict != ZPEER_SUCCESS)
        s_push_about (self, job, ZPEER_DISPATCH_FAILED, NO_MESSAGE);
    job->phase = ENDED;
    job->due_at = UINT64_MAX;  //  Until it has been sent once
    s_push_about (self, job, ZPEER_DISPATCH_BATCHER, ZPEER_WIRE_DONE);
}

//  Judges by what health said; what the attempt knows of itself stays
static void
s_judge (job_t *job, bool reached, bool announce)
{
    zpeer_result_t *result = zpeer_attempt_result (job->attempt);
    bool ambiguous = result->ambiguous;
    zpeer_verdict_judge (result->end, reached, announce, result);
    result->ambiguous |= ambiguous;
}

//  Asks health about a failure: to count it and compare, or only to compare
static void
s_ask (zpeer_dispatch_t *self, uint64_t now, job_t *job, bool counts)
{
    job->phase = ASKING;
    job->due_at = now + ZPEER_DISPATCH_HEALTH_MS;
    job->token = ++self->token;
    s_push_about (self, job, ZPEER_DISPATCH_HEALTH,
                  counts ? ZPEER_WIRE_FAIL : ZPEER_WIRE_HASREACHEDMAX);
}

//  No more requests for this batch
static void
s_finish (zpeer_dispatch_t *self, uint64_t now, job_t *job, zpeer_end_t end)
{
    end = zpeer_attempt_end (job->attempt, end);
    zpeer_attempt_result (job->attempt)->elapsed_ms =
        (uint32_t) (now - job->started_at);
    self->stats.ends[end]++;
    self->stats.in_flight--;
    s_release (self, job);
    const zpeer_verdict_row_t *row = zpeer_verdict_row (end);
    if (row->below != ZPEER_SUCCESS)
        s_ask (self, now, job, row->counts);
    else {
        s_judge (job, false, false);
        s_report (self, job);
    }
}

//  Makes the batch's next request, or ends it
static void
s_advance (zpeer_dispatch_t *self, uint64_t now, job_t *job)
{
    int rc = zpeer_attempt_next (job->attempt, &job->request);
    if (rc == ZPEER_OK)
        s_push_about (self, job, ZPEER_DISPATCH_REQUEST, NO_MESSAGE);
    else
        s_finish (self, now, job,
                  rc == ZPEER_E_AGAIN ? ZPEER_END_OK : ZPEER_END_INTERNAL);
}

//  The batch that has waited longest: ids grow
static job_t *
s_first_waiting (zpeer_dispatch_t *self)
{
    job_t *first = NULL;
    for (size_t i = 0; i < self->job_count; i++) {
        job_t *job = &self->jobs[i];
        if (job->phase == WAITING &&
            (!first ||
             zpeer_dispatch_job_id (job) < zpeer_dispatch_job_id (first)))
            first = job;
    }
    return first;
}

//  Starts what may start
static void
s_fill (zpeer_dispatch_t *self, uint64_t now)
{
    job_t *job;
    while (self->stats.in_flight < self->options.credit &&
           (job = s_first_waiting (self)) != NULL) {
        job->phase = RUNNING;
        job->started_at = now;
        self->stats.in_flight++;
        s_advance (self, now, job);
    }
}

//  --------------------------------------------------------------------------
//  What comes in

//  When the lease ends
static uint64_t
s_gone_at (const zpeer_dispatch_t *self)
{
    if (!self->options.remote)
        return UINT64_MAX;
    uint64_t patience =
        (uint64_t) self->options.beat_ms * ZPEER_DISPATCH_BEATS_GONE;
    return self->heard_at + patience;
}

//  What is refused, though it was sent, the batcher misses in HEARTBEAT
static int
s_refuses (zpeer_dispatch_t *self, uint64_t now, uint64_t id)
{
    if (self->gone || s_gone_at (self) <= now)
        return ZPEER_E_STATE;
    if (self->job_count == ZPEER_WIRE_HELD_MAX)
        return ZPEER_E_TOO_LARGE;
    return zpeer_dispatch_job (self, id) ? ZPEER_E_EXISTS : ZPEER_OK;
}

int
zpeer_dispatch_batch (zpeer_dispatch_t *self, uint64_t now,
                      const zpeer_wire_batch_t *batch, zpeer_slice_t body,
                      void *owner)
{
    int rc = s_refuses (self, now, batch->id);
    if (rc) {
        self->stats.ignored++;
        return rc;
    }
    job_t *job = &self->jobs[self->job_count++];
    *job = (job_t){
        .attempt = zpeer_attempt_new (batch, body),
        .owner = owner,
        .phase = WAITING,
    };
    self->stats.batches++;
    s_fill (self, now);
    return ZPEER_OK;
}

void
zpeer_dispatch_reply (zpeer_dispatch_t *self, uint64_t now, uint64_t id,
                      const zpeer_reply_t *reply)
{
    job_t *job = zpeer_dispatch_job (self, id);
    if (!job || job->phase != RUNNING) {
        self->stats.ignored++;
        return;
    }
    self->stats.reply_bytes += reply->body.size;
    self->stats.reconnects += reply->repeated;
    zpeer_end_t end =
        zpeer_attempt_reply (job->attempt, &self->options.busy, reply);
    if (zpeer_verdict_row (end)->resets)
        s_push_message (self, ZPEER_DISPATCH_HEALTH, ZPEER_WIRE_OK);
    if (end == ZPEER_END_OK || end == ZPEER_END_ITEM)
        s_advance (self, now, job);
    else
        s_finish (self, now, job, end);
    s_fill (self, now);
}

//  The job whose question to health has this token; NULL: none waits for it
static job_t *
s_asking (zpeer_dispatch_t *self, uint64_t token)
{
    for (size_t i = 0; i < self->job_count; i++)
        if (self->jobs[i].phase == ASKING && self->jobs[i].token == token)
            return &self->jobs[i];
    return NULL;
}

void
zpeer_dispatch_failed (zpeer_dispatch_t *self,
                       const zpeer_wire_failed_t *failed)
{
    job_t *job = s_asking (self, failed->token);
    if (!job) {
        self->stats.ignored++;
        return;
    }
    zpeer_result_t *result = zpeer_attempt_result (job->attempt);
    result->count = failed->count;
    result->max = failed->max;
    s_judge (job, failed->reached, failed->announce);
    s_report (self, job);
}

void
zpeer_dispatch_ack (zpeer_dispatch_t *self, uint64_t id)
{
    job_t *job = zpeer_dispatch_job (self, id);
    if (job && job->phase == ENDED)
        zpeer_dispatch_drop (self, job);
    else
        self->stats.ignored++;
}

//  The lease goes on, if this is no old answer. A batcher that had been gone
//  learns anew what it may send; results it may have missed are repeated as they
//  fall due.
void
zpeer_dispatch_heartbeat (zpeer_dispatch_t *self, uint64_t now, uint64_t last,
                          uint64_t sent)
{
    self->echo = last;
    if (sent > self->heard_at && sent <= now)
        self->heard_at = sent;
    if (!self->gone || s_gone_at (self) <= now)
        return;
    self->gone = false;
    s_push_message (self, ZPEER_DISPATCH_BATCHER, ZPEER_WIRE_READY);
}

void
zpeer_dispatch_ignore (zpeer_dispatch_t *self)
{
    self->stats.ignored++;
}

//  --------------------------------------------------------------------------
//  What the time brings

//  Whether the maximum is reached is not known. A failure that counts keeps its
//  tasks; one that does not is what it is.
static void
s_unheard (zpeer_dispatch_t *self, job_t *job)
{
    zpeer_result_t *result = zpeer_attempt_result (job->attempt);
    self->stats.unheard++;
    s_judge (job, false, false);
    if (zpeer_verdict_row (result->end)->counts)
        result->verdict = ZPEER_CONGESTION;
    s_push_about (self, job, ZPEER_DISPATCH_UNHEARD, NO_MESSAGE);
    s_report (self, job);
}

static void
s_job_timer (zpeer_dispatch_t *self, job_t *job)
{
    if (job->phase == ASKING)
        s_unheard (self, job);
    else {
        job->due_at = UINT64_MAX;
        self->stats.repeats++;
        s_push_about (self, job, ZPEER_DISPATCH_BATCHER, ZPEER_WIRE_DONE);
    }
}

//  What runs or waits is aborted and forgotten: a batcher that comes back sees
//  that it is not held any more. Results go on waiting for their ACK.
static void
s_gone (zpeer_dispatch_t *self)
{
    todo_t todo = {.kind = ZPEER_DISPATCH_GONE};
    for (size_t i = self->job_count; i-- > 0;) {
        job_t *job = &self->jobs[i];
        if (job->phase == RUNNING)
            todo.aborted++;
        if (job->phase == RUNNING || job->phase == WAITING) {
            s_abort (self, job);
            zpeer_dispatch_drop (self, job);
        }
    }
    self->stats.in_flight = 0;
    self->gone = true;
    self->echo = 0;
    self->stats.gone++;
    s_push (self, todo);
}

//  Whether a job's time counts: nothing is repeated to a batcher that is gone
static bool
s_timed (const zpeer_dispatch_t *self, const job_t *job)
{
    return job->phase == ASKING || (job->phase == ENDED && !self->gone);
}

void
zpeer_dispatch_timers (zpeer_dispatch_t *self, uint64_t now)
{
    if (self->closed)
        return;
    if (!self->gone && s_gone_at (self) <= now)
        s_gone (self);
    for (size_t i = 0; i < self->job_count; i++) {
        job_t *job = &self->jobs[i];
        if (s_timed (self, job) && job->due_at <= now)
            s_job_timer (self, job);
    }
    if (self->options.remote && self->beat_at <= now) {
        self->beat_at = now + self->options.beat_ms;
        s_push_message (self, ZPEER_DISPATCH_BATCHER, ZPEER_WIRE_HEARTBEAT);
    }
}

static uint64_t
s_earlier (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t
zpeer_dispatch_wake (const zpeer_dispatch_t *self)
{
    if (self->todo_next < self->todo_count)
        return 0;
    if (self->closed)
        return UINT64_MAX;
    uint64_t at = self->gone ? UINT64_MAX : s_gone_at (self);
    if (self->options.remote)
        at = s_earlier (at, self->beat_at);
    for (size_t i = 0; i < self->job_count; i++)
        if (s_timed (self, &self->jobs[i]))
            at = s_earlier (at, self->jobs[i].due_at);
    return at;
}

void
zpeer_dispatch_close (zpeer_dispatch_t *self)
{
    self->closed = true;
    while (self->job_count) {
        s_abort (self, &self->jobs[0]);
        zpeer_dispatch_drop (self, &self->jobs[0]);
    }
    if (self->options.remote)
        s_push_message (self, ZPEER_DISPATCH_BATCHER, ZPEER_WIRE_GOODBYE);
}

void
zpeer_dispatch_stats (const zpeer_dispatch_t *self,
                      zpeer_dispatch_stats_t *stats)
{
    *stats = self->stats;
}
