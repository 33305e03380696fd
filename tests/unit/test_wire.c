#include <criterion/criterion.h>
#include "wire.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

//  PROTOCOL.md shows these very bytes
#define cr_assert_bytes(data, size, ...)                                       \
    do {                                                                       \
        const uint8_t expected_[] = {__VA_ARGS__};                             \
        cr_assert_eq (size, sizeof expected_);                                 \
        cr_assert_arr_eq (data, expected_, sizeof expected_);                  \
    } while (0)

Test (wire, every_command_is_found_by_its_text)
{
    for (unsigned i = 0; i < ZPEER_WIRE_COMMAND_COUNT; i++) {
        const char *text = zpeer_wire_command_text ((zpeer_wire_command_t) i);
        cr_assert_eq (zpeer_wire_command (text, strlen (text)), i);
        cr_assert_neq (zpeer_wire_command (text, strlen (text) - 1), i);
    }
    cr_assert_eq (zpeer_wire_command ("FAILED!", 7), ZPEER_WIRE_COMMAND_COUNT);
    cr_assert_eq (zpeer_wire_command (NULL, 0), ZPEER_WIRE_COMMAND_COUNT);
    cr_assert_str_eq (zpeer_wire_command_text (ZPEER_WIRE_COMMAND_COUNT), "?");
}

Test (wire, ready_comes_back_as_it_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_ready (out, 6, true);
    cr_assert_bytes (out, size, 0, 0, 0, 6, 1);

    uint32_t credit = 0;
    bool remote = false;
    cr_assert_eq (zpeer_wire_get_ready (out, size, &credit, &remote), ZPEER_OK);
    cr_assert_eq (credit, 6);
    cr_assert (remote);
}

Test (wire, batch_comes_back_as_it_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    zpeer_wire_batch_t batch = {258, ZPEER_MODE_SINGLE, 250};
    size_t size = zpeer_wire_put_batch (out, &batch);
    cr_assert_bytes (out, size, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 250);

    zpeer_wire_batch_t read;
    cr_assert_eq (zpeer_wire_get_batch (out, size, &read), ZPEER_OK);
    cr_assert_eq (read.id, batch.id);
    cr_assert_eq (read.mode, batch.mode);
    cr_assert_eq (read.items, batch.items);
}

Test (wire, batch_without_items_or_of_an_unknown_mode_is_refused)
{
    zpeer_wire_batch_t batch = {.id = 9};
    const uint8_t none[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    const uint8_t mode[] = {0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 1};
    cr_assert_eq (zpeer_wire_get_batch (none, sizeof none, &batch),
                  ZPEER_E_PARSE);
    cr_assert_eq (zpeer_wire_get_batch (mode, sizeof mode, &batch),
                  ZPEER_E_PARSE);
    cr_assert_eq (batch.id, 9, "outputs are untouched on failure");
}

Test (wire, id_comes_back_as_it_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t id = 0;
    size_t size = zpeer_wire_put_id (out, 258);
    cr_assert_bytes (out, size, 0, 0, 0, 0, 0, 0, 1, 2);
    cr_assert_eq (zpeer_wire_get_id (out, size, &id), ZPEER_OK);
    cr_assert_eq (id, 258);
}

Test (wire, held_ids_come_back_as_they_went)
{
    zpeer_buffer_t out = {0};
    const uint64_t ids[] = {257, 1ull << 40};
    zpeer_wire_beat_t beat = {6, 258, 5000};
    zpeer_wire_put_held (&out, &beat, ids, LENGTH (ids));
    cr_assert_bytes (out.data, out.size, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 1, 2, 0,
                     0, 0, 0, 0, 0, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1,
                     0, 0, 0, 0, 0);

    uint64_t read[LENGTH (ids)];
    size_t count;
    beat = (zpeer_wire_beat_t){0};
    cr_assert_eq (zpeer_wire_get_held (out.data, out.size, &beat, read,
                                       LENGTH (read), &count),
                  ZPEER_OK);
    cr_assert_eq (beat.credit, 6);
    cr_assert_eq (beat.echo, 258);
    cr_assert_eq (beat.sent, 5000);
    cr_assert_eq (count, LENGTH (ids));
    cr_assert_arr_eq (read, ids, sizeof ids);
    zpeer_buffer_free (&out);
}

Test (wire, the_answer_to_a_heartbeat_comes_back_as_it_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t last = 0;
    uint64_t sent = 0;
    size_t size = zpeer_wire_put_last (out, 258, 5000);
    cr_assert_bytes (out, size, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0x13,
                     0x88);
    cr_assert_eq (zpeer_wire_get_last (out, size, &last, &sent), ZPEER_OK);
    cr_assert_eq (last, 258);
    cr_assert_eq (sent, 5000);
}

Test (wire, more_held_ids_than_there_is_room_for_are_refused)
{
    zpeer_buffer_t out = {0};
    const uint64_t ids[] = {1, 2, 3};
    zpeer_wire_beat_t beat = {6, 12, 1};
    zpeer_wire_put_held (&out, &beat, ids, LENGTH (ids));
    uint64_t read[2];
    size_t count = 77;
    cr_assert_eq (zpeer_wire_get_held (out.data, out.size, &beat, read,
                                       LENGTH (read), &count),
                  ZPEER_E_PARSE);
    cr_assert_eq (count, 77);
    zpeer_buffer_free (&out);
}

static const zpeer_copy_t s_copies[] = {
    {0, 1718270911002, {"{\"app\":\"A\"}", 11}},
    {2, 0, {"{}", 2}},
};

static const uint16_t s_codes[] = {409, 200, 409};

static const zpeer_result_t s_result = {
    .id = 258,
    .end = ZPEER_END_READ_TIMEOUT,
    .verdict = ZPEER_PERMANENT_ERROR,
    .reached = true,
    .ambiguous = true,
    .escalated = true,
    .repeated = true,
    .count = 10,
    .max = 10,
    .status = 200,
    .retry_after_ms = 5000,
    .elapsed_ms = 30001,
    .items = 3,
    .codes = s_codes,
    .copies = s_copies,
    .copy_count = LENGTH (s_copies),
};

Test (wire, done_comes_back_as_it_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_done (out, &s_result);
    cr_assert_bytes (out, size, 0, 0, 0, 0, 0, 0, 1, 2, 6, 3, 27, 0, 0, 0, 10,
                     0, 0, 0, 10, 0, 200, 0, 0, 0x13, 0x88, 0, 0, 0x75, 0x31, 0,
                     3);

    zpeer_result_t read = {0};
    cr_assert_eq (zpeer_wire_get_done (out, size, &read), ZPEER_OK);
    cr_assert_eq (read.id, 258);
    cr_assert_eq (read.end, ZPEER_END_READ_TIMEOUT);
    cr_assert_eq (read.verdict, ZPEER_PERMANENT_ERROR);
    cr_assert (read.reached && read.ambiguous && read.escalated);
    cr_assert (read.repeated);
    cr_assert_not (read.announce);
    cr_assert_eq (read.count, 10);
    cr_assert_eq (read.max, 10);
    cr_assert_eq (read.status, 200);
    cr_assert_eq (read.retry_after_ms, 5000);
    cr_assert_eq (read.elapsed_ms, 30001);
    cr_assert_eq (read.items, 3);
    cr_assert_null (read.codes);
    cr_assert_null (read.copies);
    cr_assert_str_empty (read.detail);
}

Test (wire, done_with_a_value_that_does_not_exist_is_refused)
{
    static const struct {
        size_t at;
        uint8_t value;
    } wrong[] = {{8, ZPEER_END_COUNT}, {9, ZPEER_VERDICTS}, {10, 32}};
    for (size_t i = 0; i < LENGTH (wrong); i++) {
        uint8_t out[ZPEER_WIRE_MAX];
        zpeer_result_t read = {0};
        size_t size = zpeer_wire_put_done (out, &s_result);
        out[wrong[i].at] = wrong[i].value;
        cr_assert_eq (zpeer_wire_get_done (out, size, &read), ZPEER_E_PARSE,
                      "byte %zu", wrong[i].at);
    }
}

Test (wire, codes_come_back_as_they_went)
{
    zpeer_buffer_t out = {0};
    uint16_t read[3];
    size_t count;
    zpeer_wire_put_codes (&out, &s_result);
    cr_assert_bytes (out.data, out.size, 1, 0x99, 0, 200, 1, 0x99);
    cr_assert_eq (zpeer_wire_get_codes (out.data, out.size, read, 3, &count),
                  ZPEER_OK);
    cr_assert_eq (count, 3);
    cr_assert_arr_eq (read, s_codes, sizeof s_codes);

    cr_assert_eq (zpeer_wire_get_codes (out.data, out.size, read, 2, &count),
                  ZPEER_E_PARSE);
    cr_assert_eq (zpeer_wire_get_codes (out.data, 5, read, 3, &count),
                  ZPEER_E_PARSE);
    zpeer_buffer_free (&out);
}

Test (wire, no_codes_are_an_empty_frame)
{
    zpeer_buffer_t out = {0};
    zpeer_wire_put_codes (&out, &(zpeer_result_t){.items = 250});
    cr_assert_eq (out.size, 0);
    size_t count = 77;
    cr_assert_eq (zpeer_wire_get_codes (NULL, 0, NULL, 0, &count), ZPEER_OK);
    cr_assert_eq (count, 0);
}

Test (wire, copies_come_back_as_they_went)
{
    zpeer_buffer_t out = {0};
    zpeer_copy_t read[2];
    size_t count;
    zpeer_wire_put_copies (&out, &s_result);
    cr_assert_eq (
        zpeer_wire_get_copies (out.data, out.size, read, LENGTH (read), &count),
        ZPEER_OK);
    cr_assert_eq (count, LENGTH (s_copies));
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq (read[i].index, s_copies[i].index);
        cr_assert_eq (read[i].timestamp, s_copies[i].timestamp);
        cr_assert (zpeer_slice_eq (read[i].json, s_copies[i].json));
    }
    zpeer_buffer_free (&out);
}

Test (wire, copies_cut_anywhere_are_refused)
{
    zpeer_buffer_t out = {0};
    zpeer_copy_t read[2];
    size_t count;
    zpeer_wire_put_copies (&out, &s_result);
    size_t first = 14 + s_copies[0].json.size;
    for (size_t size = 1; size < out.size; size++)
        if (size != first)
            cr_assert_eq (
                zpeer_wire_get_copies (out.data, size, read, 2, &count),
                ZPEER_E_PARSE, "%zu bytes", size);
    cr_assert_eq (zpeer_wire_get_copies (out.data, out.size, read, 1, &count),
                  ZPEER_E_PARSE, "no room for the second");
    zpeer_buffer_free (&out);
}

Test (wire, copies_out_of_order_are_refused)
{
    static const zpeer_copy_t wrong[][2] = {{{.index = 2}, {.index = 1}},
                                            {{.index = 2}, {.index = 2}}};
    for (size_t i = 0; i < LENGTH (wrong); i++) {
        zpeer_buffer_t out = {0};
        zpeer_copy_t read[2];
        size_t count;
        zpeer_wire_put_copies (
            &out, &(zpeer_result_t){.copies = wrong[i], .copy_count = 2});
        cr_assert_eq (
            zpeer_wire_get_copies (out.data, out.size, read, 2, &count),
            ZPEER_E_PARSE);
        zpeer_buffer_free (&out);
    }
}

Test (wire, fail_and_its_answer_come_back_as_they_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t token;
    uint32_t peer;
    bool gated;
    size_t size = zpeer_wire_put_fail (out, 5, 63, true);
    cr_assert_bytes (out, size, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 63, 1);
    cr_assert_eq (zpeer_wire_get_fail (out, size, &token, &peer, &gated),
                  ZPEER_OK);
    cr_assert (token == 5 && peer == 63 && gated);

    zpeer_wire_failed_t failed = {5, 10, 10, true, false};
    zpeer_wire_failed_t read;
    size = zpeer_wire_put_failed (out, &failed);
    cr_assert_bytes (out, size, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 10, 0, 0, 0,
                     10, 1, 0);
    cr_assert_eq (zpeer_wire_get_failed (out, size, &read), ZPEER_OK);
    cr_assert (read.token == 5 && read.count == 10 && read.max == 10);
    cr_assert (read.reached && !read.announce);
}

Test (wire, a_peer_that_cannot_be_is_refused)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint64_t token;
    uint32_t peer = 77;
    bool gated;
    size_t size = zpeer_wire_put_fail (out, 5, ZPEER_WIRE_PEERS_MAX, true);
    cr_assert_eq (zpeer_wire_get_fail (out, size, &token, &peer, &gated),
                  ZPEER_E_PARSE);
    size = zpeer_wire_put_peer (out, ZPEER_WIRE_PEERS_MAX);
    cr_assert_eq (zpeer_wire_get_peer (out, size, &peer), ZPEER_E_PARSE);
    cr_assert_eq (peer, 77);
}

Test (wire, peer_comes_back_as_it_went)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint32_t peer;
    size_t size = zpeer_wire_put_peer (out, 63);
    cr_assert_bytes (out, size, 0, 0, 0, 63);
    cr_assert_eq (zpeer_wire_get_peer (out, size, &peer), ZPEER_OK);
    cr_assert_eq (peer, 63);
}

Test (wire, walked_names_the_lane_and_its_walk)
{
    uint8_t out[ZPEER_WIRE_MAX];
    uint32_t lane = 0;
    uint64_t walk = 0;
    size_t size = zpeer_wire_put_walked (out, 3, 5);
    cr_assert_bytes (out, size, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 5);
    cr_assert_eq (zpeer_wire_get_walked (out, size, &lane, &walk), ZPEER_OK);
    cr_assert_eq (lane, 3);
    cr_assert_eq (walk, 5);
    cr_assert_eq (zpeer_wire_command ("WALKED", 6), ZPEER_WIRE_WALKED);
    cr_assert_str_eq (zpeer_wire_command_text (ZPEER_WIRE_WALKED), "WALKED");
}

Test (wire, released_instances_are_read_one_by_one)
{
    zpeer_buffer_t out = {0};
    uint32_t lane;
    uint32_t handle;
    uint64_t seq;
    zpeer_wire_put_released (&out, 3, 70, 1000);
    zpeer_wire_put_released (&out, 3, 71, 1001);
    cr_assert_bytes (out.data, out.size, 0, 0, 0, 3, 0, 0, 0, 70, 0, 0, 0, 0, 0,
                     0, 3, 0xe8, 0, 0, 0, 71, 0, 0, 0, 0, 0, 0, 3, 0xe9);
    size_t offset = 0;
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq (zpeer_wire_get_released (out.data, out.size, &offset,
                                               &lane, &handle, &seq),
                      ZPEER_OK);
        cr_assert (lane == 3 && handle == 70 + i && seq == 1000 + i);
    }
    cr_assert_eq (zpeer_wire_get_released (out.data, out.size, &offset, &lane,
                                           &handle, &seq),
                  ZPEER_E_AGAIN);
    offset = 0;
    cr_assert_eq (zpeer_wire_get_released (out.data, out.size - 1, &offset,
                                           &lane, &handle, &seq),
                  ZPEER_E_PARSE);
    zpeer_buffer_free (&out);
}

//  Every fixed frame with a byte too few and a byte too many
Test (wire, frames_of_a_wrong_size_are_refused)
{
    const uint8_t data[ZPEER_WIRE_MAX] = {[10] = 1};
    uint32_t number;
    uint64_t id;
    uint64_t sent;
    bool flag;
    zpeer_wire_batch_t batch;
    zpeer_result_t result;
    zpeer_wire_failed_t failed;
    for (int by = -1; by <= 1; by += 2) {
        size_t extra = (size_t) by;
        cr_assert (zpeer_wire_get_ready (data, 5 + extra, &number, &flag));
        cr_assert (zpeer_wire_get_batch (data, 11 + extra, &batch));
        cr_assert (zpeer_wire_get_id (data, 8 + extra, &id));
        cr_assert (zpeer_wire_get_last (data, 16 + extra, &id, &sent));
        cr_assert (zpeer_wire_get_done (data, 31 + extra, &result));
        cr_assert (zpeer_wire_get_fail (data, 13 + extra, &id, &number, &flag));
        cr_assert (zpeer_wire_get_failed (data, 18 + extra, &failed));
        cr_assert (zpeer_wire_get_peer (data, 4 + extra, &number));
        cr_assert (zpeer_wire_get_walked (data, 12 + extra, &number, &id));
    }
}
