//  Batches larger than those of Eureka, whose answers speak of each item

#include <criterion/criterion.h>
#include "batcher_fixture.h"
#include "chunk.h"
#include "lane.h"
#include "banned.h"

#define ITEMS      1500
#define ITEMS_TEXT "1500"

#define TEXT_MAX 32

static void
s_setup (void)
{
    fixture_setup ();
    fixture_set ("zpeer.batch.max-items", ITEMS_TEXT);
    //  So that only full batches go
    fixture_set ("zpeer.batch.linger-ms", "60000");
}

TestSuite (batcher_large, .init = s_setup, .fini = fixture_teardown,
           .timeout = 60);

//  Tells the batcher of as many instances, and takes one batch with all of them
static uint64_t
s_batch_of (zpeer_action_t action, uint32_t items)
{
    for (uint32_t from = 0; from < items; from += ZPEER_CHUNK_MAX) {
        zpeer_chunk_t *chunk = zpeer_chunk_new ();
        uint32_t left = items - from;
        fixture_add (chunk, action, from,
                     left < ZPEER_CHUNK_MAX ? left : ZPEER_CHUNK_MAX, 0);
        fixture_send (chunk);
    }
    zpeer_wire_batch_t batch = fixture_batch ();
    cr_assert_eq (batch.items, items, "%u items of %u", batch.items, items);
    return batch.id;
}

//  The instances of the batch that came, in the order of its items
static void
s_read_handles (uint32_t handles[ITEMS])
{
    static const char key[] = "\"id\":\"i";
    zpeer_slice_t body = zpeer_frames_at (&fixture.frames, 2);
    const char *at = body.data;
    const char *end = body.data + body.size;
    for (uint32_t i = 0; i < ITEMS; i++) {
        at = (const char *) memmem (at, (size_t) (end - at), key, strlen (key));
        cr_assert_not_null (at);
        at += strlen (key);
        handles[i] = (uint32_t) strtoul (at, NULL, 10);
    }
}

//  What the peer has of an instance
static const char *
s_copy (uint32_t handle, char text[TEXT_MAX])
{
    snprintf (text, TEXT_MAX, "{\"number\":%u}", handle);
    return text;
}

static void
s_done (const zpeer_result_t *result)
{
    uint8_t fields[ZPEER_WIRE_MAX];
    size_t size = zpeer_wire_put_done (fields, result);
    zpeer_buffer_t codes = {0};
    zpeer_buffer_t copies = {0};
    zpeer_wire_put_codes (&codes, result);
    zpeer_wire_put_copies (&copies, result);
    zpeer_slice_t frames[] = {ZPEER_SLICE ("DONE"),
                              {(const char *) fields, size},
                              {codes.data, codes.size},
                              {copies.data, copies.size},
                              ZPEER_SLICE ("")};
    cr_assert_eq (zpeer_socket_send (fixture.dispatcher, frames, 5), ZPEER_OK);
    zpeer_buffer_free (&codes);
    zpeer_buffer_free (&copies);
}

//  Registers all instances: batches begin small, and double with each success
static void
s_grow (void)
{
    uint32_t items = ZPEER_LANE_FIRST_ITEMS;
    for (; items < ITEMS; items *= 2)
        fixture_done (
            (zpeer_result_t){.id = s_batch_of (ZPEER_REGISTER, items)});
    fixture_done ((zpeer_result_t){.id = s_batch_of (ZPEER_REGISTER, ITEMS)});
}

//  The peer has every third instance, lacks the next, and has a newer one of the
//  last
static void
s_answer (uint64_t id, const uint32_t handles[ITEMS])
{
    static const uint16_t kinds[] = {200, 404, 409};
    static uint16_t codes[ITEMS];
    static zpeer_copy_t copies[ITEMS];
    static char texts[ITEMS][TEXT_MAX];
    zpeer_result_t result = {
        .id = id, .items = ITEMS, .codes = codes, .copies = copies};
    for (uint32_t i = 0; i < ITEMS; i++) {
        codes[i] = kinds[i % 3];
        if (codes[i] == 409)
            copies[result.copy_count++] = (zpeer_copy_t){
                .index = i,
                .timestamp = 9,
                .json = zpeer_slice_str (s_copy (handles[i], texts[i])),
            };
    }
    s_done (&result);
}

Test (batcher_large, each_item_of_a_large_batch_has_its_own_code_and_copy)
{
    static uint32_t handles[ITEMS];
    char text[TEXT_MAX];
    char id[TEXT_MAX];
    fixture_start (false);
    fixture_ready (1, false);
    s_grow ();
    uint64_t batch = s_batch_of (ZPEER_HEARTBEAT, ITEMS);
    s_read_handles (handles);
    s_answer (batch, handles);
    //  What the peer lacks goes again, as a pair
    cr_expect_eq (fixture_batch ().items, 2 * ITEMS / 3);
    for (uint32_t i = 2; i < ITEMS; i += 3) {
        fixture_expect_outcome ("conflict", s_copy (handles[i], text));
        zpeer_slice_t map = zpeer_frames_at (&fixture.frames, 1);
        snprintf (id, sizeof id, "i%u", handles[i]);
        cr_assert_not_null (memmem (map.data, map.size, id, strlen (id)));
    }
}
