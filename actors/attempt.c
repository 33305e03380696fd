#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "attempt.h"
#include "banned.h"

#define CODE_OK       200
#define CODE_MISSING  404
#define CODE_CONFLICT 409
#define CODE_FAILED   500

struct zpeer_attempt {
    zpeer_mode_t mode;
    zpeer_slice_t body;       //  Borrowed
    size_t offset;            //  Of the next single request
    uint32_t made;            //  Requests asked for
    bool fetches;             //  The newest request asks for a copy
    bool deviates;            //  Some single request's status is not 2xx
    zpeer_result_t result;    //  Its pointers lead to what follows
    uint16_t *codes;          //  Owned; of single requests
    zpeer_copy_t *copies;     //  Owned; of single requests
    zpeer_answer_t *answers;  //  Owned; what codes and copies point into
    size_t answer_count;
    char detail[ZPEER_ATTEMPT_DETAIL_MAX];
};

void
zpeer_attempt_destroy (zpeer_attempt_t **self_p)
{
    zpeer_attempt_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < self->answer_count; i++)
        zpeer_answer_free (&self->answers[i]);
    free (self->answers);
    free (self->copies);
    free (self->codes);
    free (self);
}

zpeer_attempt_t *
zpeer_attempt_new (const zpeer_wire_batch_t *batch, zpeer_slice_t body)
{
    zpeer_attempt_t *self = (zpeer_attempt_t *) calloc (1, sizeof *self);
    assert (self);
    self->mode = batch->mode;
    self->body = body;
    self->result.id = batch->id;
    self->result.items = batch->items;
    self->result.detail = self->detail;
    return self;
}

static int
s_next_single (zpeer_attempt_t *self, zpeer_wire_request_t *request)
{
    int rc = zpeer_wire_get_request (self->body.data, self->body.size,
                                     &self->offset, request);
    bool all = self->made == self->result.items;
    if (rc == ZPEER_E_AGAIN)
        return all ? ZPEER_E_AGAIN : ZPEER_E_PARSE;
    return all ? ZPEER_E_PARSE : rc;
}

static int
s_next_batch (zpeer_attempt_t *self, zpeer_wire_request_t *request)
{
    if (self->made)
        return ZPEER_E_AGAIN;
    *request = (zpeer_wire_request_t){
        "POST", ZPEER_SLICE (ZPEER_ATTEMPT_BATCH_PATH), self->body};
    return ZPEER_OK;
}

int
zpeer_attempt_next (zpeer_attempt_t *self, zpeer_wire_request_t *request)
{
    int rc = zpeer_attempt_single (self) ? s_next_single (self, request)
                                         : s_next_batch (self, request);
    if (rc != ZPEER_OK)
        return rc;
    self->made++;
    self->fetches = request->method[0] == 'G';
    return ZPEER_OK;
}

//  --------------------------------------------------------------------------
//  What a status says

static bool
s_listed (const zpeer_statuses_t *list, uint16_t status)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->codes[i] == status)
            return true;
    return false;
}

static zpeer_end_t
s_end_of_status (const zpeer_attempt_t *self, const zpeer_statuses_t *busy,
                 uint16_t status)
{
    if (status >= 200 && status < 300)
        return ZPEER_END_OK;
    if (s_listed (busy, status))
        return ZPEER_END_BUSY;
    if (zpeer_attempt_single (self) &&
        (status == CODE_MISSING || status == CODE_CONFLICT ||
         status == CODE_FAILED))
        return ZPEER_END_ITEM;
    return status >= 500 ? ZPEER_END_STATUS_5XX : ZPEER_END_STATUS;
}

static void
s_set_detail (zpeer_attempt_t *self, const char *text)
{
    snprintf (self->detail, sizeof self->detail, "%s", text);
}

//  Room for one more answer, which is freed with the attempt
static zpeer_answer_t *
s_new_answer (zpeer_attempt_t *self)
{
    size_t size = (self->answer_count + 1) * sizeof *self->answers;
    self->answers = (zpeer_answer_t *) realloc (self->answers, size);
    assert (self->answers);
    zpeer_answer_t *answer = &self->answers[self->answer_count++];
    *answer = (zpeer_answer_t){0};
    return answer;
}

//  Reads what the peer says of every item of a batch
static zpeer_end_t
s_read_items (zpeer_attempt_t *self, zpeer_slice_t body)
{
    zpeer_answer_t *answer = s_new_answer (self);
    zpeer_result_t *result = &self->result;
    if (zpeer_answer_parse (answer, body.data, body.size, result->items,
                            self->detail, sizeof self->detail))
        return ZPEER_END_UNUSABLE;
    result->codes = answer->all_ok ? NULL : answer->codes;
    result->copies = answer->copies;
    result->copy_count = answer->copy_count;
    return ZPEER_END_OK;
}

//  --------------------------------------------------------------------------
//  Single requests

//  The peer's copy that came with the answer to the newest request, if any
static void
s_add_copy (zpeer_attempt_t *self, zpeer_slice_t body)
{
    zpeer_answer_t *answer = s_new_answer (self);
    zpeer_result_t *result = &self->result;
    if (zpeer_answer_entity (answer, body.data, body.size))
        return;
    size_t count = result->copy_count + 1;
    self->copies =
        (zpeer_copy_t *) realloc (self->copies, count * sizeof *self->copies);
    assert (self->copies);
    zpeer_copy_t *copy = &self->copies[result->copy_count];
    *copy = answer->copies[0];
    copy->index = self->made - 1;
    result->copies = self->copies;
    result->copy_count = count;
}

//  An item's code is its request's status; any 2xx is 200
static void
s_add_code (zpeer_attempt_t *self, uint16_t code)
{
    uint32_t items = self->result.items;
    if (!self->codes) {
        self->codes = (uint16_t *) calloc (items, sizeof *self->codes);
        assert (self->codes);
        for (uint32_t i = 0; i < items; i++)
            self->codes[i] = CODE_OK;
    }
    self->codes[self->made - 1] = code;
    self->result.codes = self->codes;
    self->deviates = true;
}

zpeer_end_t
zpeer_attempt_reply (zpeer_attempt_t *self, const zpeer_statuses_t *busy,
                     const zpeer_reply_t *reply)
{
    assert (self->made > 0);
    zpeer_result_t *result = &self->result;
    result->status = reply->status;
    result->retry_after_ms = reply->retry_after_ms;
    s_set_detail (self, reply->detail);
    result->repeated |= reply->repeated;
    zpeer_end_t end = reply->end;
    if (end == ZPEER_END_OK)
        end = s_end_of_status (self, busy, reply->status);
    if (end == ZPEER_END_OK && !zpeer_attempt_single (self))
        end = s_read_items (self, reply->body);
    if (end == ZPEER_END_ITEM)
        s_add_code (self, reply->status);
    bool copies = end == ZPEER_END_ITEM && reply->status == CODE_CONFLICT;
    if (copies || (end == ZPEER_END_OK && self->fetches))
        s_add_copy (self, reply->body);
    return end;
}

//  Codes and copies belong to an attempt that came to its end. A broken one is
//  tried again as a whole: what was answered before may have been applied.
zpeer_end_t
zpeer_attempt_end (zpeer_attempt_t *self, zpeer_end_t end)
{
    zpeer_result_t *result = &self->result;
    if (end == ZPEER_END_OK && self->deviates)
        end = ZPEER_END_ITEM;
    if (end != ZPEER_END_OK && end != ZPEER_END_ITEM) {
        result->codes = NULL;
        result->copies = NULL;
        result->copy_count = 0;
        result->ambiguous = self->made > 1;
    }
    result->end = end;
    return end;
}

zpeer_result_t *
zpeer_attempt_result (zpeer_attempt_t *self)
{
    return &self->result;
}

bool
zpeer_attempt_single (const zpeer_attempt_t *self)
{
    return self->mode == ZPEER_MODE_SINGLE;
}
