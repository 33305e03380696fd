#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include "network.h"
#include "world.h"
#include "banned.h"

//  Jobs -----------------------------------------------------------------------

static void
s_job_free (job_t *self)
{
    job_t **place = &self->dispatcher->jobs;
    while (*place != self)
        place = &(*place)->next;
    *place = self->next;
    if (self->running)
        request_give_up (self->running);
    message_free (self->message);
    free (self);
}

static void
s_job_release (job_t *self)
{
    self->released = true;
    if (!self->running)
        s_job_free (self);
}

//  Actions of the core --------------------------------------------------------

static void
s_request (dispatcher_t *self, const zpeer_dispatch_action_t *action)
{
    job_t *job = (job_t *) action->owner;
    batch_t *batch = batch_find (self->peer->world, action->id);
    if (!batch || job->running || job->released || job->id != action->id ||
        job->made >= (batch->single ? batch->count : 1) ||
        action->single != batch->single) {
        world_fail (self->peer->world, "request", "P%u D%u #%" PRIu64,
                    self->peer->number, self->number, action->id);
        return;
    }
    job->running = request_new (batch, job->made++,
                                (uint32_t) action->request.body.size, job);
    network_send (job->running);
}

//  Whenever one is aborted all are
static void
s_abort (dispatcher_t *self)
{
    job_t *next;
    for (job_t *job = self->jobs; job; job = next) {
        next = job->next;
        if (!job->running)
            continue;
        request_give_up (job->running);
        job->running = NULL;
        if (job->released)
            s_job_free (job);
    }
}

static void
s_message (dispatcher_t *self, const zpeer_dispatch_action_t *action)
{
    zpeer_slice_t frames[MESSAGE_FRAMES_MAX] = {
        zpeer_slice_str (self->identity)};
    for (size_t i = 0; i < action->frame_count; i++)
        frames[i + 1] = action->frames[i];
    link_send (&self->up, frames, action->frame_count + 1);
}

static void
s_do (dispatcher_t *self, const zpeer_dispatch_action_t *action)
{
    world_t *world = self->peer->world;
    switch (action->kind) {
    case ZPEER_DISPATCH_REQUEST: s_request (self, action); break;
    case ZPEER_DISPATCH_ABORT: s_abort (self); break;
    case ZPEER_DISPATCH_RELEASE: s_job_release ((job_t *) action->owner); break;
    case ZPEER_DISPATCH_BATCHER: s_message (self, action); break;
    case ZPEER_DISPATCH_HEALTH:
        self->successes +=
            zpeer_slice_eq (action->frames[0], ZPEER_SLICE ("OK"));
        link_send (&self->ask, action->frames, action->frame_count);
        break;
    case ZPEER_DISPATCH_FAILED: break;
    case ZPEER_DISPATCH_UNHEARD: world_count (world, TALLY_UNHEARD); break;
    case ZPEER_DISPATCH_GONE:
        world_count (world, TALLY_NO_BATCHER);
        world_say (world, "P%u D%u: no batcher, %" PRIu32 " requests aborted",
                   self->peer->number, self->number, action->aborted);
    }
}

static void s_wake (world_t *world, void *whom, uint64_t when);

void
dispatcher_act (dispatcher_t *self)
{
    world_t *world = self->peer->world;
    zpeer_dispatch_action_t action;
    while (!world->fault &&
           zpeer_dispatch_next (self->core, world->now, &action))
        s_do (self, &action);
    uint64_t wake = zpeer_dispatch_wake (self->core);
    if (world->fault || wake == UINT64_MAX || wake == self->wake)
        return;
    if (wake <= world->now) {
        world_fail (world, "dispatch spins", "P%u D%u: wake %" PRIu64,
                    self->peer->number, self->number, wake);
        return;
    }
    self->wake = wake;
    agenda_put (&world->agenda, wake, s_wake, self, wake);
}

static void
s_wake (world_t *world, void *whom, uint64_t when)
{
    dispatcher_t *self = (dispatcher_t *) whom;
    (void) world;
    if (!self->core || self->wake != when)
        return;
    self->wake = 0;
    dispatcher_act (self);
}

//  What comes in --------------------------------------------------------------

//  Returns whether the message is kept
static bool
s_handle_batch (dispatcher_t *self, message_t *message)
{
    zpeer_slice_t fixed = message->frames[1];
    zpeer_wire_batch_t batch;
    if (message->count != 3 ||
        zpeer_wire_get_batch (fixed.data, fixed.size, &batch)) {
        zpeer_dispatch_ignore (self->core);
        return false;
    }
    job_t *job = (job_t *) calloc (1, sizeof *job);
    assert (job);
    *job = (job_t){.next = self->jobs,
                   .dispatcher = self,
                   .id = batch.id,
                   .message = message};
    self->jobs = job;
    if (zpeer_dispatch_batch (self->core, self->peer->world->now, &batch,
                              message->frames[2], job))
        s_job_free (job);
    return true;
}

static void
s_handle_ack (dispatcher_t *self, const message_t *message)
{
    zpeer_slice_t fixed = message->frames[1];
    uint64_t id;
    if (message->count != 2 || zpeer_wire_get_id (fixed.data, fixed.size, &id))
        zpeer_dispatch_ignore (self->core);
    else
        zpeer_dispatch_ack (self->core, id);
}

static void
s_handle_heartbeat (dispatcher_t *self, const message_t *message)
{
    zpeer_slice_t fixed = message->frames[1];
    uint64_t last;
    uint64_t sent;
    if (message->count != 2 ||
        zpeer_wire_get_last (fixed.data, fixed.size, &last, &sent))
        zpeer_dispatch_ignore (self->core);
    else
        zpeer_dispatch_heartbeat (self->core, self->peer->world->now, last,
                                  sent);
}

//  Returns whether the message is kept
static bool
s_handle_message (dispatcher_t *self, message_t *message)
{
    switch (message_command (message, 0)) {
    case ZPEER_WIRE_BATCH: return s_handle_batch (self, message);
    case ZPEER_WIRE_ACK: s_handle_ack (self, message); break;
    case ZPEER_WIRE_HEARTBEAT: s_handle_heartbeat (self, message); break;
    default: zpeer_dispatch_ignore (self->core);
    }
    return false;
}

static void
s_from_batcher (void *whom, message_t *message)
{
    dispatcher_t *self = (dispatcher_t *) whom;
    if (!self->core || !s_handle_message (self, message))
        message_free (message);
    if (self->core)
        dispatcher_act (self);
}

static void
s_from_health (void *whom, message_t *message)
{
    dispatcher_t *self = (dispatcher_t *) whom;
    zpeer_slice_t fixed = message->frames[1];
    zpeer_wire_failed_t failed;
    if (self->core &&
        zpeer_wire_get_failed (fixed.data, fixed.size, &failed) == ZPEER_OK) {
        zpeer_dispatch_failed (self->core, &failed);
        dispatcher_act (self);
    }
    message_free (message);
}

static void
s_to_health (void *whom, message_t *message)
{
    dispatcher_t *self = (dispatcher_t *) whom;
    health_receive (&self->peer->health, message, &self->told);
    message_free (message);
}

static void
s_to_batcher (void *whom, message_t *message)
{
    dispatcher_t *self = (dispatcher_t *) whom;
    batcher_receive (&self->peer->batcher, message);
}

//  A 2xx that can be read is told to health, and nothing else is
static bool
s_succeeds (const request_t *request)
{
    return request->end == ZPEER_END_OK && request->status / 100 == 2 &&
           request->body == BODY_PROPER;
}

void
dispatcher_reply (request_t *request, zpeer_slice_t body)
{
    job_t *job = request->job;
    dispatcher_t *self = job->dispatcher;
    zpeer_reply_t reply = {.end = request->end,
                           .status = request->status,
                           .repeated = request->repeated,
                           .retry_after_ms = request->retry_after_ms,
                           .body = body,
                           .detail = ""};
    request->open = false;
    request->job = NULL;
    job->running = NULL;
    unsigned successes =
        self->successes + (!job->released && s_succeeds (request));
    if (job->released)
        s_job_free (job);
    else
        zpeer_dispatch_reply (self->core, self->peer->world->now, job->id,
                              &reply);
    dispatcher_act (self);
    if (self->successes != successes)
        world_fail (self->peer->world, "health",
                    "P%u D%u #%" PRIu64 ": success is not told",
                    self->peer->number, self->number, request->batch->id);
}

static void
s_link (dispatcher_t *self, link_t *link, const char *from, const char *to,
        link_fn *deliver)
{
    char name[sizeof link->name];
    snprintf (name, sizeof name, "P%u %s > %s", self->peer->number, from, to);
    link_init (link, self->peer->world, name, self->remote, deliver, self);
}

void
dispatcher_connect (dispatcher_t *self)
{
    char me[8];
    snprintf (me, sizeof me, "D%u", self->number % 100);
    s_link (self, &self->up, me, "batcher", s_to_batcher);
    s_link (self, &self->down, "batcher", me, s_from_batcher);
    s_link (self, &self->ask, me, "health", s_to_health);
    s_link (self, &self->told, "health", me, s_from_health);
}

void
dispatcher_end (dispatcher_t *self)
{
    for (job_t *job = self->jobs, *next; job; job = next) {
        next = job->next;
        s_job_free (job);
    }
    zpeer_dispatch_destroy (&self->core);
}
