/*  fuzz_answer.c - no reply of a peer can harm

    Input: one byte, how many items the batch had, then the reply. Beyond not
    crashing: what is taken has the right number of entries, is JSON for a
    parser that shares nothing with the scan, and every copy is JSON again.
*/
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include "answer.h"
#include "banned.h"

//  Where jansson gives up
#define DEPTH_MAX 2048

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
s_is_json (const char *data, size_t size)
{
    json_t *value = json_loadb (data, size, JSON_ALLOW_NUL, NULL);
    assert (value);
    json_decref (value);
}

static void
s_check (const zpeer_answer_t *answer, size_t expected)
{
    assert (answer->count == expected);
    assert (answer->all_ok == !answer->codes);
    size_t copied = 0;
    for (size_t i = 0; i < answer->copy_count; i++) {
        const zpeer_copy_t *copy = &answer->copies[i];
        assert (copy->index < (expected ? expected : 1));
        s_is_json (copy->json.data, copy->json.size);
        copied += copy->json.size;
    }
    assert (copied == answer->text.size);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const char *reply = (const char *) data + 1;
    char error[128];
    zpeer_answer_t answer;
    if (zpeer_answer_parse (&answer, reply, size - 1, data[0], error,
                            sizeof error) == ZPEER_OK) {
        s_check (&answer, data[0]);
        //  More could be nested deeper than jansson goes for a whole reply
        if (size < DEPTH_MAX)
            s_is_json (reply, size - 1);
        zpeer_answer_free (&answer);
    }
    if (zpeer_answer_entity (&answer, reply, size - 1) == ZPEER_OK) {
        assert (answer.copy_count == 1);
        zpeer_answer_free (&answer);
    }
    return 0;
}
