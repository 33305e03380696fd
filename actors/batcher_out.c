#include <assert.h>
#include "batcher_impl.h"
#include "verdict.h"
#include "banned.h"

//  How much later than its requests can take a batch may be done, ms
#define GRACE_MS 30000

//  Whether the items go one by one
static bool
s_single (const batcher_t *self, which_t which, const zpeer_lane_batch_t *batch)
{
    return which == LANE_ASGS || !self->options->batch_enabled ||
           batch->items[0].action == ZPEER_ITEM_FETCH;
}

static void
s_write (zpeer_buffer_t *body, const zpeer_lane_batch_t *batch, bool single)
{
    if (single) {
        for (uint32_t i = 0; i < batch->count; i++)
            zpeer_wire_put_request (body, &batch->items[i]);
        return;
    }
    zpeer_buffer_reserve (body, batch->bytes + sizeof ZPEER_BATCH_HEAD +
                                    sizeof ZPEER_BATCH_TAIL);
    zpeer_item_write_all (batch->items, batch->count, body);
}

static void
s_free_body (void *data, void *hint)
{
    (void) hint;
    free (data);
}

//  The pause of one lane is the peer's, and holds for the other
static void
s_share_pause (batcher_t *self)
{
    for (int i = 0; i < LANES; i++)
        zpeer_lane_hold (self->lanes[i],
                         zpeer_lane_pause (self->lanes[LANES - 1 - i]));
}

void
batcher_done (batcher_t *self, which_t which, const zpeer_result_t *result)
{
    //  What was dropped before was not dropped by this attempt
    zpeer_peerlog_flush (&self->peerlog, 0);
    zpeer_lane_evidence_t evidence;
    zpeer_lane_done (self->lanes[which], self->now, result);
    zpeer_lane_evidence (self->lanes[which], &evidence);
    if (which == LANE_INSTANCES || !zpeer_lane_asg_refused (result))
        zpeer_peerlog_attempt (&self->peerlog, self->now, result, &evidence);
    s_share_pause (self);
}

void
batcher_take_back (batcher_t *self, which_t which, uint64_t id)
{
    zpeer_result_t result = {.id = id, .detail = ""};
    zpeer_verdict_judge (ZPEER_END_TAKEN_BACK, self->reached, false, &result);
    batcher_done (self, which, &result);
}

void
batcher_take_back_lost (batcher_t *self)
{
    uint64_t id;
    unsigned lane, count = 0;
    for (; zpeer_roster_lost (self->roster, &id, &lane); count++)
        batcher_take_back (self, (which_t) lane, id);
    if (count)
        zpeer_sample (&self->peerlog.lines, self->now, DISPATCHER_LOST,
                      self->url, count);
}

zpeer_inlet_t *
batcher_server (batcher_t *self, int number)
{
    return zpeer_roster_remote (self->roster, number) ? &self->remote
                                                      : &self->local;
}

//  When a dispatcher must have said that a batch is done: its requests go one after
//  the other, each may take the deadline, and health is asked in the end
static uint64_t
s_due_at (const batcher_t *self, which_t which, const zpeer_lane_batch_t *batch)
{
    uint64_t requests = s_single (self, which, batch) ? batch->count : 1;
    return self->now + requests * self->options->request_deadline_ms + GRACE_MS;
}

//  Sends a batch to a dispatcher; false: it is not there any more
static bool
s_send (batcher_t *self, which_t which, int number,
        const zpeer_lane_batch_t *batch)
{
    zpeer_wire_batch_t wire = {
        .id = batch->id,
        .mode = s_single (self, which, batch) ? ZPEER_MODE_SINGLE
                                              : ZPEER_MODE_BATCH,
        .items = batch->count,
    };
    zpeer_buffer_t body = {0};
    s_write (&body, batch, wire.mode == ZPEER_MODE_SINGLE);
    uint8_t header[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_batch (header, &wire);
    zpeer_slice_t frames[] = {
        zpeer_roster_identity (self->roster, number),
        ZPEER_SLICE ("BATCH"),
        {(const char *) header, size},
    };
    zmq_msg_t message;
    size = body.size;
    int rc = zmq_msg_init_data (&message, zpeer_buffer_take (&body), size,
                                s_free_body, NULL);
    assert (rc == 0);
    zpeer_inlet_t *server = batcher_server (self, number);
    rc = zpeer_socket_send_msg (server->socket, frames, 3, &message);
    server->used = true;
    if (rc)
        zmq_msg_close (&message);
    return rc == ZPEER_OK;
}

//  The dispatcher refused the batch: it is gone, with all it has
static void
s_unsent (batcher_t *self, which_t which, int number, uint64_t id)
{
    zpeer_result_t result = {
        .id = id,
        .end = ZPEER_END_TAKEN_BACK,
        .verdict = ZPEER_TRANSIENT_ERROR,
        .reached = self->reached,
        .detail = "",
    };
    zpeer_roster_gone (self->roster, number);
    batcher_done (self, which, &result);
    batcher_take_back_lost (self);
}

bool
batcher_may_send (const batcher_t *self)
{
    return !self->reached ||
           (!zpeer_lane_flights (self->lanes[LANE_INSTANCES]) &&
            !zpeer_lane_flights (self->lanes[LANE_ASGS]));
}

static void
s_send_lane (batcher_t *self, which_t which)
{
    zpeer_lane_batch_t batch;
    while (batcher_may_send (self)) {
        int number = zpeer_roster_pick (self->roster);
        uint32_t credit = zpeer_roster_credit (self->roster);
        if (!zpeer_lane_next (self->lanes[which], self->now, credit,
                              self->next_id, &batch))
            return;
        self->next_id++;
        if (s_send (self, which, number, &batch))
            zpeer_roster_sent (self->roster, number, batch.id, which,
                               s_due_at (self, which, &batch));
        else
            s_unsent (self, which, number, batch.id);
    }
}

static void
s_send_released (batcher_t *self)
{
    if (!self->released.size)
        return;
    zpeer_slice_t frames[] = {
        ZPEER_SLICE ("RELEASED"),
        {self->released.data, self->released.size},
    };
    //  While the acceptor does not take it, what comes later joins it
    if (zpeer_socket_send (self->uplink, frames, 2) == ZPEER_OK)
        zpeer_buffer_reset (&self->released);
}

static void
s_send_walked (batcher_t *self)
{
    if (!self->walked)
        return;
    uint8_t fields[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_walked (fields, self->id, self->walk);
    zpeer_slice_t frames[] = {
        ZPEER_SLICE ("WALKED"),
        {(const char *) fields, size},
    };
    self->walked = zpeer_socket_send (self->uplink, frames, 2) != ZPEER_OK;
}

void
batcher_send_up (batcher_t *self)
{
    s_send_released (self);
    s_send_walked (self);
}

bool
batcher_keeps (const batcher_t *self)
{
    return self->released.size || self->walked;
}

void
batcher_send (batcher_t *self)
{
    for (int i = 0; i < LANES; i++)
        s_send_lane (self, (which_t) i);
}
