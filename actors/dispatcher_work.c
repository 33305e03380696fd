#include <assert.h>
#include <stdlib.h>
#include "dispatcher_impl.h"
#include "banned.h"

//  A batch whose body is kept while somebody reads it
typedef struct {
    uint64_t id;
    zmq_msg_t body;  //  Owned
    bool running;    //  HTTP reads it
    bool released;   //  The core is done with it
} batch_t;

//  --------------------------------------------------------------------------
//  Batches

static void
s_batch_free (batch_t *self)
{
    zmq_msg_close (&self->body);
    free (self);
}

//  Takes the body over, without copying it
static batch_t *
s_batch_new (uint64_t id, zmq_msg_t *body)
{
    batch_t *self = (batch_t *) calloc (1, sizeof *self);
    assert (self);
    self->id = id;
    zmq_msg_init (&self->body);
    zmq_msg_move (&self->body, body);
    return self;
}

static void
s_batch_release (batch_t *self)
{
    self->released = true;
    if (!self->running)
        s_batch_free (self);
}

//  --------------------------------------------------------------------------
//  HTTP

static void
s_start_request (zpeer_dispatcher_t *self,
                 const zpeer_dispatch_action_t *action)
{
    batch_t *batch = (batch_t *) action->owner;
    zpeer_http_request_t request = {
        .method = zpeer_slice_str (action->request.method),
        .path = action->request.path,
        .body = action->request.body,
        .replication = action->single,
        .token = batch,
    };
    batch->running = true;
    zpeer_http_start (self->http, &request, self->now);
}

//  An aborted request has no result that the core would want
static void
s_handle_result (zpeer_dispatcher_t *self, const zpeer_http_result_t *result)
{
    batch_t *batch = (batch_t *) result->token;
    zpeer_reply_t reply = {
        .end = result->end == ZPEER_END_STATUS ? ZPEER_END_OK : result->end,
        .status = result->status,
        .repeated = result->repeated,
        .retry_after_ms = result->retry_after_ms,
        .body = result->body,
        .detail = result->detail,
    };
    batch->running = false;
    if (*result->renewal)
        zpeer_dispatch_log_renewal (&self->log, self->now, result->renewal);
    if (batch->released)
        s_batch_free (batch);
    else if (result->end != ZPEER_END_TAKEN_BACK)
        zpeer_dispatch_reply (self->core, self->now, batch->id, &reply);
}

static void
s_take_results (zpeer_dispatcher_t *self)
{
    zpeer_http_result_t result;
    while (zpeer_http_next (self->http, &result))
        s_handle_result (self, &result);
}

void
zpeer_dispatcher_perform (zpeer_dispatcher_t *self)
{
    zpeer_http_perform (self->http, self->now);
    s_take_results (self);
}

//  Whenever one is aborted all are
static void
s_abort_requests (zpeer_dispatcher_t *self)
{
    zpeer_http_abort (self->http, self->now);
    s_take_results (self);
}

//  --------------------------------------------------------------------------
//  Actions of the core

//  Refused: a DONE is repeated, or nobody is there for it; for a question that
//  health does not answer the core has a rule
static void
s_send (zpeer_inlet_t *to, const zpeer_dispatch_action_t *action)
{
    zpeer_socket_send (to->socket, action->frames, action->frame_count);
    to->used = true;
}

static void
s_do (zpeer_dispatcher_t *self, const zpeer_dispatch_action_t *action)
{
    switch (action->kind) {
    case ZPEER_DISPATCH_REQUEST: s_start_request (self, action); break;
    case ZPEER_DISPATCH_ABORT: s_abort_requests (self); break;
    case ZPEER_DISPATCH_RELEASE:
        s_batch_release ((batch_t *) action->owner);
        break;
    case ZPEER_DISPATCH_BATCHER: s_send (&self->batcher, action); break;
    case ZPEER_DISPATCH_HEALTH: s_send (&self->health, action); break;
    case ZPEER_DISPATCH_FAILED:
        zpeer_dispatch_log_failed (&self->log, self->now, action->result);
        break;
    case ZPEER_DISPATCH_UNHEARD:
        zpeer_dispatch_log_unheard (&self->log, self->now,
                                    ZPEER_DISPATCH_HEALTH_MS);
        break;
    case ZPEER_DISPATCH_GONE:
        zpeer_dispatch_log_gone (&self->log,
                                 self->beat_ms * ZPEER_DISPATCH_BEATS_GONE,
                                 action->aborted);
        break;
    }
}

void
zpeer_dispatcher_act (zpeer_dispatcher_t *self)
{
    zpeer_dispatch_action_t action;
    while (zpeer_dispatch_next (self->core, self->now, &action))
        s_do (self, &action);
}

//  --------------------------------------------------------------------------
//  Messages

//  Frames: BATCH, fixed fields, body
static int
s_handle_batch (zpeer_dispatcher_t *self)
{
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 1);
    zpeer_wire_batch_t batch;
    if (self->frames.count != 3 ||
        zpeer_wire_get_batch (fixed.data, fixed.size, &batch))
        return ZPEER_E_PARSE;
    batch_t *owner = s_batch_new (batch.id, &self->frames.frames[2]);
    zpeer_slice_t body = {(const char *) zmq_msg_data (&owner->body),
                          zmq_msg_size (&owner->body)};
    if (zpeer_dispatch_batch (self->core, self->now, &batch, body, owner))
        s_batch_free (owner);  //  It has counted that
    return ZPEER_OK;
}

static int
s_handle_ack (zpeer_dispatcher_t *self)
{
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 1);
    uint64_t id;
    if (self->frames.count != 2 ||
        zpeer_wire_get_id (fixed.data, fixed.size, &id))
        return ZPEER_E_PARSE;
    zpeer_dispatch_ack (self->core, id);
    return ZPEER_OK;
}

static int
s_handle_heartbeat (zpeer_dispatcher_t *self)
{
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 1);
    uint64_t last;
    uint64_t sent;
    if (self->frames.count != 2 ||
        zpeer_wire_get_last (fixed.data, fixed.size, &last, &sent))
        return ZPEER_E_PARSE;
    zpeer_dispatch_heartbeat (self->core, self->now, last, sent);
    return ZPEER_OK;
}

static int
s_handle_failed (zpeer_dispatcher_t *self)
{
    zpeer_slice_t fixed = zpeer_frames_at (&self->frames, 1);
    zpeer_wire_failed_t failed;
    if (self->frames.count != 2 ||
        zpeer_wire_get_failed (fixed.data, fixed.size, &failed))
        return ZPEER_E_PARSE;
    zpeer_dispatch_failed (self->core, &failed);
    return ZPEER_OK;
}

static int
s_handle_message (zpeer_dispatcher_t *self, const zpeer_inlet_t *inlet)
{
    zpeer_slice_t text = zpeer_frames_at (&self->frames, 0);
    zpeer_wire_command_t command = zpeer_wire_command (text.data, text.size);
    if (inlet == &self->health)
        return command == ZPEER_WIRE_FAILED ? s_handle_failed (self)
                                            : ZPEER_E_PARSE;
    switch (command) {
    case ZPEER_WIRE_BATCH: return s_handle_batch (self);
    case ZPEER_WIRE_ACK: return s_handle_ack (self);
    case ZPEER_WIRE_HEARTBEAT: return s_handle_heartbeat (self);
    default: return ZPEER_E_PARSE;
    }
}

void
zpeer_dispatcher_receive (zpeer_dispatcher_t *self, zpeer_inlet_t *inlet)
{
    for (unsigned i = 0; i < ZPEER_DISPATCHER_DRAIN_MAX; i++) {
        if (zpeer_inlet_recv (inlet, &self->frames))
            break;
        if (s_handle_message (self, inlet))
            zpeer_dispatch_ignore (self->core);
    }
}
