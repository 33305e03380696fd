#include <criterion/criterion.h>
#include "attempt.h"
#include "banned.h"

//  Three single requests: DELETE a, PUT b, POST c with a body
static const char s_single[] = "\0\0\1\0\0\0\0a"
                               "\2\0\1\0\0\0\0b"
                               "\1\0\1\0\0\0\2c{}";

static const zpeer_statuses_t s_busy = {{503, 429}, 2};

static zpeer_attempt_t *
s_new (zpeer_mode_t mode, uint32_t items)
{
    zpeer_wire_batch_t batch = {1, mode, items};
    return zpeer_attempt_new (&batch,
                              (zpeer_slice_t){s_single, sizeof s_single - 1});
}

static zpeer_end_t
s_reply (zpeer_attempt_t *self, uint16_t status, const char *body)
{
    zpeer_wire_request_t request;
    cr_assert_eq (zpeer_attempt_next (self, &request), ZPEER_OK);
    zpeer_reply_t reply = {
        .status = status,
        .body = zpeer_slice_str (body),
        .detail = "",
    };
    return zpeer_attempt_reply (self, &s_busy, &reply);
}

Test (attempt, a_batch_is_one_request)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_BATCH, 3);
    zpeer_wire_request_t request;
    cr_assert_eq (zpeer_attempt_next (self, &request), ZPEER_OK);
    cr_assert_str_eq (request.method, "POST");
    cr_assert (
        zpeer_slice_eq (request.path, ZPEER_SLICE ("peerreplication/batch/")));
    cr_assert_eq (request.body.data, s_single, "not copied");
    cr_assert_eq (zpeer_attempt_next (self, &request), ZPEER_E_AGAIN);
    zpeer_attempt_destroy (&self);
}

Test (attempt, item_codes_and_copies_of_a_batch_are_in_the_result)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_BATCH, 2);
    cr_assert_eq (s_reply (self, 200,
                           "{\"responseList\":[{\"statusCode\":200},"
                           "{\"statusCode\":409,\"responseEntity\":"
                           "{\"lastDirtyTimestamp\":\"7\"}}]}"),
                  ZPEER_END_OK);
    cr_assert_eq (zpeer_attempt_end (self, ZPEER_END_OK), ZPEER_END_OK);
    const zpeer_result_t *result = zpeer_attempt_result (self);
    cr_assert_eq (result->codes[0], 200);
    cr_assert_eq (result->codes[1], 409);
    cr_assert_eq (result->copy_count, 1);
    cr_assert_eq (result->copies[0].index, 1);
    cr_assert_eq (result->copies[0].timestamp, 7);
    zpeer_attempt_destroy (&self);
}

Test (attempt, single_requests_are_made_in_order)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_SINGLE, 3);
    static const char *const methods[] = {"DELETE", "PUT", "POST"};
    zpeer_wire_request_t request;
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq (zpeer_attempt_next (self, &request), ZPEER_OK);
        cr_assert_str_eq (request.method, methods[i]);
        cr_assert_eq (request.path.data[0], "abc"[i]);
    }
    cr_assert (zpeer_slice_eq (request.body, ZPEER_SLICE ("{}")));
    cr_assert_eq (zpeer_attempt_next (self, &request), ZPEER_E_AGAIN);
    zpeer_attempt_destroy (&self);
}

Test (attempt, any_2xx_of_single_requests_is_success)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_SINGLE, 3);
    cr_assert_eq (s_reply (self, 200, ""), ZPEER_END_OK);
    cr_assert_eq (s_reply (self, 204, ""), ZPEER_END_OK);
    cr_assert_eq (s_reply (self, 202, "what?"), ZPEER_END_OK);
    cr_assert_eq (zpeer_attempt_end (self, ZPEER_END_OK), ZPEER_END_OK);
    cr_assert_null (zpeer_attempt_result (self)->codes);
    zpeer_attempt_destroy (&self);
}

Test (attempt, item_statuses_of_single_requests_gather_as_codes)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_SINGLE, 3);
    cr_assert_eq (s_reply (self, 404, "{\"error\":\"Not Found\"}"),
                  ZPEER_END_ITEM);
    cr_assert_eq (s_reply (self, 204, ""), ZPEER_END_OK);
    cr_assert_eq (
        s_reply (self, 409, "{\"instance\":{\"lastDirtyTimestamp\":\"9\"}}"),
        ZPEER_END_ITEM);
    cr_assert_eq (zpeer_attempt_end (self, ZPEER_END_OK), ZPEER_END_ITEM);
    const zpeer_result_t *result = zpeer_attempt_result (self);
    cr_assert_eq (result->codes[0], 404);
    cr_assert_eq (result->codes[1], 200);
    cr_assert_eq (result->codes[2], 409);
    cr_assert_eq (result->copy_count, 1);
    cr_assert_eq (result->copies[0].index, 2);
    cr_assert_eq (result->copies[0].timestamp, 9);
    zpeer_attempt_destroy (&self);
}

Test (attempt, a_409_without_a_copy_is_a_409_all_the_same)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_SINGLE, 3);
    cr_assert_eq (s_reply (self, 409, "no JSON"), ZPEER_END_ITEM);
    cr_assert_eq (zpeer_attempt_result (self)->copy_count, 0);
    zpeer_attempt_destroy (&self);
}

//  A GET of an instance, method 3; what is no copy is a 200 without one
Test (attempt, a_fetch_brings_a_copy)
{
    static const char body[] = "\3\0\6\0\0\0\0apps/a";
    static const struct {
        uint16_t status;
        const char *body;
        zpeer_end_t end;
        size_t copies;
    } answers[] = {
        {200, "{\"instance\":{\"lastDirtyTimestamp\":9}}", ZPEER_END_OK, 1},
        {200, "<html>Log in</html>", ZPEER_END_OK, 0},
        {204, "", ZPEER_END_OK, 0},
        {404, "", ZPEER_END_ITEM, 0},
        {403, "{\"instance\":{\"lastDirtyTimestamp\":9}}", ZPEER_END_STATUS, 0},
    };
    zpeer_wire_batch_t batch = {1, ZPEER_MODE_SINGLE, 1};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        zpeer_attempt_t *self =
            zpeer_attempt_new (&batch, (zpeer_slice_t){body, sizeof body - 1});
        cr_expect_eq (s_reply (self, answers[i].status, answers[i].body),
                      answers[i].end, "%zu", i);
        zpeer_attempt_end (self, answers[i].end);
        const zpeer_result_t *result = zpeer_attempt_result (self);
        cr_expect_eq (result->copy_count, answers[i].copies, "%zu", i);
        if (answers[i].copies)
            cr_expect_eq (result->copies[0].timestamp, 9);
        zpeer_attempt_destroy (&self);
    }
}

//  The HTTP client gives no bytes as NULL
Test (attempt, an_answer_without_a_body_is_no_copy_and_of_a_batch_unusable)
{
    zpeer_reply_t conflict = {.status = 409, .detail = ""};
    zpeer_reply_t ok = {.status = 200, .detail = ""};
    zpeer_wire_request_t request;
    zpeer_attempt_t *single = s_new (ZPEER_MODE_SINGLE, 3);
    cr_assert_eq (zpeer_attempt_next (single, &request), ZPEER_OK);
    cr_assert_eq (zpeer_attempt_reply (single, &s_busy, &conflict),
                  ZPEER_END_ITEM);
    cr_assert_eq (zpeer_attempt_result (single)->copy_count, 0);
    zpeer_attempt_destroy (&single);

    zpeer_attempt_t *batch = s_new (ZPEER_MODE_BATCH, 1);
    cr_assert_eq (zpeer_attempt_next (batch, &request), ZPEER_OK);
    cr_assert_eq (zpeer_attempt_reply (batch, &s_busy, &ok),
                  ZPEER_END_UNUSABLE);
    zpeer_attempt_destroy (&batch);
}

Test (attempt, another_status_ends_all_and_what_was_answered_is_not_known)
{
    zpeer_attempt_t *self = s_new (ZPEER_MODE_SINGLE, 3);
    cr_assert_eq (s_reply (self, 404, ""), ZPEER_END_ITEM);
    cr_assert_eq (s_reply (self, 503, ""), ZPEER_END_BUSY);
    cr_assert_eq (zpeer_attempt_end (self, ZPEER_END_BUSY), ZPEER_END_BUSY);
    const zpeer_result_t *result = zpeer_attempt_result (self);
    cr_assert_null (result->codes);
    cr_assert (result->ambiguous, "the first request may have been applied");
    cr_assert_eq (result->status, 503);
    zpeer_attempt_destroy (&self);
}

//  The first one may be applied, whatever the second one came to
Test (attempt, a_request_that_went_out_twice_leaves_a_doubt)
{
    static const uint16_t statuses[] = {200, 404, 503};
    for (unsigned i = 0; i < 3; i++) {
        zpeer_wire_request_t request;
        zpeer_attempt_t *self = s_new (ZPEER_MODE_SINGLE, 1);
        zpeer_reply_t reply = {
            .status = statuses[i], .repeated = true, .detail = ""};
        cr_assert_eq (zpeer_attempt_next (self, &request), ZPEER_OK);
        zpeer_end_t end = zpeer_attempt_reply (self, &s_busy, &reply);
        zpeer_attempt_end (self, end);
        cr_assert (zpeer_attempt_result (self)->repeated);
        zpeer_attempt_destroy (&self);
    }
}

Test (attempt, a_body_with_fewer_or_more_requests_than_items_is_refused)
{
    zpeer_wire_request_t request;
    zpeer_attempt_t *fewer = s_new (ZPEER_MODE_SINGLE, 4);
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq (zpeer_attempt_next (fewer, &request), ZPEER_OK);
    cr_assert_eq (zpeer_attempt_next (fewer, &request), ZPEER_E_PARSE);
    zpeer_attempt_destroy (&fewer);

    zpeer_attempt_t *more = s_new (ZPEER_MODE_SINGLE, 2);
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq (zpeer_attempt_next (more, &request), ZPEER_OK);
    cr_assert_eq (zpeer_attempt_next (more, &request), ZPEER_E_PARSE);
    zpeer_attempt_destroy (&more);
}

//  What a status is, for a batch and for a single request
Test (attempt, statuses_are_told_apart)
{
    static const struct {
        uint16_t status;
        zpeer_end_t batch;
        zpeer_end_t single;
    } rows[] = {
        {302, ZPEER_END_STATUS, ZPEER_END_STATUS},
        {400, ZPEER_END_STATUS, ZPEER_END_STATUS},
        {404, ZPEER_END_STATUS, ZPEER_END_ITEM},
        {409, ZPEER_END_STATUS, ZPEER_END_ITEM},
        {429, ZPEER_END_BUSY, ZPEER_END_BUSY},
        {500, ZPEER_END_STATUS_5XX, ZPEER_END_ITEM},
        {502, ZPEER_END_STATUS_5XX, ZPEER_END_STATUS_5XX},
        {503, ZPEER_END_BUSY, ZPEER_END_BUSY},
        {600, ZPEER_END_STATUS_5XX, ZPEER_END_STATUS_5XX},
        {999, ZPEER_END_STATUS_5XX, ZPEER_END_STATUS_5XX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zpeer_attempt_t *batch = s_new (ZPEER_MODE_BATCH, 1);
        zpeer_attempt_t *single = s_new (ZPEER_MODE_SINGLE, 1);
        cr_assert_eq (s_reply (batch, rows[i].status, ""), rows[i].batch,
                      "batch %u", rows[i].status);
        cr_assert_eq (s_reply (single, rows[i].status, ""), rows[i].single,
                      "single %u", rows[i].status);
        zpeer_attempt_destroy (&batch);
        zpeer_attempt_destroy (&single);
    }
}
