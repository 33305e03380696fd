//  What rules make of an answer, and when
#include <zlib.h>
#include "scripted_case.h"
#include "banned.h"

TestSuite (scripted_answers, .init = s_setup, .fini = s_teardown,
           .timeout = 60);

#define TWO REGISTER_AT ("5") "," CANCEL

//  The milliseconds between receipt and answer of the n-th request
static uint64_t
s_took (uint64_t n)
{
    speer_record_t record;
    cr_assert (speer_request (s_peer, n, &record));
    cr_assert (record.done_ms);
    uint64_t took = record.done_ms - record.at_ms;
    speer_record_free (&record);
    return took;
}

//  Posts two items under a rule and reads for limit_ms
static void
s_post_under (const speer_rule_t *rule, int limit_ms)
{
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert (fd >= 0);
    speer_clear (s_peer);
    speer_rule (s_peer, rule);
    s_send (fd, TWO);
    speer_response_free (&s_response);
    speer_client_read (fd, limit_ms, &s_response);
    close (fd);
}

Test (scripted_answers, any_status_with_headers_and_nothing_applied)
{
    s_post_under (&(speer_rule_t){.status = 503,
                                  .headers = "Retry-After: 7\r\n",
                                  .body = "{\"error\":\"busy\"}"},
                  LIMIT_MS);
    cr_assert_eq (s_response.status, 503);
    cr_assert (strstr (s_response.text, "\r\nRetry-After: 7\r\n"));
    cr_assert_str_eq (s_response.body, "{\"error\":\"busy\"}");
    cr_assert_eq (speer_get (s_peer, SPEER_APPLIED), 0);
    cr_assert_eq (speer_get (s_peer, SPEER_FAULTS), 1);
}

Test (scripted_answers, a_status_after_all_was_applied)
{
    s_post_under (&(speer_rule_t){.status = 500, .apply = SPEER_APPLY_FIRST},
                  LIMIT_MS);
    cr_assert_eq (s_response.status, 500);
    cr_assert_eq (s_response.length, 0);
    cr_assert_eq (speer_get (s_peer, SPEER_APPLIED), 1);
}

Test (scripted_answers, changes_can_come_first_and_the_answer_when_released)
{
    int fd = speer_client_connect (speer_port (s_peer));
    speer_rule (s_peer, &(speer_rule_t){.apply = SPEER_APPLY_FIRST,
                                        .delay_ms = SPEER_HELD});
    s_send (fd, REGISTER_AT ("5") "," HEARTBEAT ("4"));
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, LIMIT_MS));
    cr_assert_eq (speer_get (s_peer, SPEER_ANSWERED), 0);
    speer_release (s_peer);
    speer_client_read (fd, LIMIT_MS, &s_response);
    cr_assert_eq (s_code (1), 409);
    close (fd);
}

Test (scripted_answers, what_is_not_applied_is_answered_200)
{
    s_post_under (&(speer_rule_t){.apply = SPEER_APPLY_NEVER}, LIMIT_MS);
    cr_assert_eq (s_code (0), 200);
    cr_assert_eq (s_code (1), 200);
    cr_assert_eq (speer_get (s_peer, SPEER_APPLIED), 0);
}

Test (scripted_answers, garbage_is_no_json)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_GARBAGE}, LIMIT_MS);
    cr_assert_eq (s_response.status, 200);
    cr_assert_eq (s_response.end, SPEER_END_WHOLE);
    cr_assert_null (json_loads (s_response.body, 0, NULL));
}

Test (scripted_answers, not_http_is_no_http)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_NOT_HTTP}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_CLOSED);
    cr_assert_eq (s_response.status, 0);
    cr_assert_gt (strlen (s_response.text), 0);
}

Test (scripted_answers, a_length_too_long_leaves_the_client_waiting)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_LONG}, QUIET_MS);
    cr_assert_eq (s_response.end, SPEER_END_LIMIT);
    cr_assert_eq (s_response.length, s_response.body_bytes + 16);
    cr_assert_eq (s_code (1), 200);
}

Test (scripted_answers, a_length_too_short_cuts_the_body)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_SHORT}, LIMIT_MS);
    cr_assert_eq (s_response.length, s_response.body_bytes / 2);
}

Test (scripted_answers, one_entry_too_few_or_too_many)
{
    s_post_under (&(speer_rule_t){.answer = SPEER_FEWER}, LIMIT_MS);
    cr_assert_eq (s_code (0), 200);
    cr_assert_eq (s_code (1), 0);
    //  The item without an entry has been applied like the others
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    s_post_under (&(speer_rule_t){.answer = SPEER_MORE}, LIMIT_MS);
    cr_assert_eq (s_code (2), 200);
    cr_assert_eq (s_code (3), 0);
}

Test (scripted_answers, a_huge_body_is_still_json)
{
    s_post_under (&(speer_rule_t){.body_bytes = 3000000}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_WHOLE);
    cr_assert_eq (s_response.body_bytes, 3000000);
    cr_assert_eq (s_code (1), 200);
}

Test (scripted_answers, a_gzip_body_inflates_to_the_answer)
{
    char plain[4096] = "";
    z_stream stream = {.next_out = (Bytef *) plain,
                       .avail_out = sizeof plain - 1};
    s_post_under (&(speer_rule_t){.gzip = true, .body_bytes = 2000}, LIMIT_MS);
    cr_assert (strstr (s_response.text, "\r\nContent-Encoding: gzip\r\n"));
    cr_assert_lt (s_response.body_bytes, 200);
    stream.next_in = (Bytef *) s_response.body;
    stream.avail_in = (uInt) s_response.body_bytes;
    cr_assert_eq (inflateInit2 (&stream, 15 + 16), Z_OK);
    cr_assert_eq (inflate (&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd (&stream);
    cr_assert (strstr (plain, "{\"responseList\":[{\"statusCode\":200}"));
    cr_assert_eq (strlen (plain), 2000);
}

Test (scripted_answers, a_chunked_body_has_no_length)
{
    s_post_under (&(speer_rule_t){.chunked = true, .close = true}, LIMIT_MS);
    cr_assert_eq (s_response.length, 0);
    cr_assert (strstr (s_response.text, "\r\nTransfer-Encoding: chunked\r\n"));
    cr_assert (strstr (s_response.text, "]}\r\n0\r\n\r\n"));
}

Test (scripted_answers, a_dripping_body_comes_whole_in_the_end)
{
    s_post_under (&(speer_rule_t){.drip_ms = 1}, LIMIT_MS);
    cr_assert_eq (s_response.end, SPEER_END_WHOLE);
    cr_assert_eq (s_code (1), 200);
    cr_assert_geq (s_took (0), s_response.body_bytes - 1);
}

Test (scripted_answers, slow_per_request_and_per_item)
{
    s_post_under (&(speer_rule_t){.delay_ms = 30, .item_ms = 10}, LIMIT_MS);
    cr_assert_geq (s_took (0), 50);
}

//  Much longer than a busy machine may keep a thread waiting
#define WORK_MS 400

//  Three requests at once, each of which takes WORK_MS
static void
s_three_at_once (void)
{
    int fds[3];
    speer_rule (s_peer, &(speer_rule_t){.delay_ms = WORK_MS});
    for (int i = 0; i < 3; i++) {
        fds[i] = speer_client_connect (speer_port (s_peer));
        s_send (fds[i], HEARTBEAT ("5"));
    }
    cr_assert (speer_wait (s_peer, SPEER_ANSWERED, 3, LIMIT_MS));
    for (int i = 0; i < 3; i++)
        close (fds[i]);
}

Test (scripted_answers, parallel_work_takes_as_long_as_one)
{
    s_three_at_once ();
    for (uint64_t n = 0; n < 3; n++)
        cr_assert_lt (s_took (n), 2 * (uint64_t) WORK_MS);
}

Test (scripted_answers, serial_work_begins_when_the_one_before_is_done)
{
    speer_record_t records[3];
    speer_set (s_peer, SPEER_SET_SERIAL, 1);
    s_three_at_once ();
    for (uint64_t n = 0; n < 3; n++)
        cr_assert (speer_request (s_peer, n, &records[n]));
    for (int i = 0; i < 2; i++)
        cr_assert_geq (records[i + 1].done_ms,
                       records[0].at_ms + (uint64_t) (i + 2) * WORK_MS);
    for (int i = 0; i < 3; i++)
        speer_record_free (&records[i]);
}

Test (scripted_answers, the_newest_rule_counts_until_it_is_used_up)
{
    speer_rule (s_peer, &(speer_rule_t){.status = 500, .skip = 1, .count = 1});
    speer_rule (s_peer, &(speer_rule_t){.status = 503, .count = 2});
    int wanted[] = {503, 503, 200, 500, 200};
    for (int i = 0; i < 5; i++)
        cr_assert_eq (s_post (CANCEL), wanted[i], "request %d", i);
}

Test (scripted_answers, rules_match_by_method_and_path)
{
    speer_rule (s_peer, &(speer_rule_t){.method = "PUT", .status = 500});
    speer_rule (s_peer, &(speer_rule_t){.path = "/asg/", .status = 503});
    cr_assert_eq (s_post (CANCEL), 200);
    cr_assert_eq (s_call ("PUT", "/eureka/apps/A/a1", MARKED, NULL), 500);
    cr_assert_eq (
        s_call ("PUT", "/eureka/asg/g/status?value=ENABLED", MARKED, NULL),
        503);
}

Test (scripted_answers, items_are_answered_by_rule)
{
    speer_item_rule (s_peer, &(speer_item_rule_t){.action = "Register",
                                                  .app = "A",
                                                  .id = "a1",
                                                  .status = 500,
                                                  .count = 1});
    speer_item_rule (s_peer, &(speer_item_rule_t){.nth = 2,
                                                  .status = 409,
                                                  .entity = "{\"app\":\"A\"}"});
    s_post (REGISTER_AT ("5") "," HEARTBEAT ("5"));
    cr_assert_eq (s_code (0), 500);
    cr_assert_eq (s_code (1), 409);
    cr_assert (strstr (s_response.body, "\"responseEntity\":{\"app\":\"A\"}"));
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    s_post (REGISTER_AT ("5"));
    cr_assert_eq (s_code (0), 200);
}

Test (scripted_answers, an_item_can_fail_and_be_applied)
{
    speer_item_rule (s_peer,
                     &(speer_item_rule_t){.status = 500, .apply = true});
    cr_assert_eq (s_item (REGISTER_AT ("5")), 500);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 1);
}

Test (scripted_answers, an_item_can_spoil_its_batch)
{
    speer_item_rule (s_peer, &(speer_item_rule_t){.action = "Cancel",
                                                  .app = "A",
                                                  .status = 400,
                                                  .whole = true,
                                                  .count = 1});
    cr_assert_eq (s_post (REGISTER_AT ("5") "," CANCEL), 400);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    cr_assert_eq (s_post (REGISTER_AT ("5") "," CANCEL), 200);
}

Test (scripted_answers, counting_answers_200_for_each_item)
{
    speer_set (s_peer, SPEER_SET_COUNT, 1);
    s_post (TWO "," HEARTBEAT ("7"));
    cr_assert_eq (s_code (2), 200);
    cr_assert_eq (s_code (3), 0);
    s_post (CANCEL);
    cr_assert_eq (s_code (0), 200);
    cr_assert_eq (s_code (1), 0);
    cr_assert_eq (speer_get (s_peer, SPEER_ITEMS), 4);
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
    cr_assert_eq (s_call ("PUT", "/eureka/apps/A/a1", MARKED, NULL), 200);
}

Test (scripted_answers, counting_answers_batches_of_any_size)
{
    static const char item[] = "," CANCEL;
    size_t size = sizeof item - 1;
    char *items = (char *) calloc (301, size);
    cr_assert (items);
    speer_set (s_peer, SPEER_SET_COUNT, 1);
    for (size_t i = 0; i < 300; i++) {
        memcpy (items + i * size, item, size);
        if (i % 50 == 0 || i >= 248) {
            cr_assert_eq (s_post (items + 1), 200);
            cr_assert_eq (s_code (i), 200);
            cr_assert_eq (s_code (i + 1), 0);
        }
    }
    free (items);
}

Test (scripted_answers, counting_counts_where_blocks_of_bytes_meet)
{
    char body[2048];
    speer_set (s_peer, SPEER_SET_COUNT, 1);
    for (size_t at = 0; at < 700; at++) {
        memset (body, ' ', sizeof body);
        memcpy (body + at, "\"action\":", 9);
        memcpy (body + at + 9, "\"action\":\"action\" :", 19);
        body[1000] = 0;
        speer_response_free (&s_response);
        speer_call (speer_port (s_peer), "POST", BATCH, NULL, body,
                    &s_response);
        cr_assert_eq (speer_get (s_peer, SPEER_ITEMS), 2 * (at + 1));
    }
}

Test (scripted_answers, receipt_times_are_sampled)
{
    speer_sample_t samples[8];
    speer_set (s_peer, SPEER_SET_SAMPLE, 2);
    s_post (HEARTBEAT ("11") "," HEARTBEAT ("12") "," HEARTBEAT ("13"));
    s_post (REGISTER_AT ("99") "," HEARTBEAT ("14") "," HEARTBEAT ("15"));
    cr_assert_eq (speer_get (s_peer, SPEER_SAMPLES), 3);
    cr_assert_eq (speer_samples (s_peer, samples, 8), 3);
    cr_assert_eq (samples[0].timestamp, 11);
    cr_assert_eq (samples[1].timestamp, 13);
    cr_assert_eq (samples[2].timestamp, 15);
    cr_assert_gt (samples[2].received_ns, samples[0].received_ns);
    cr_assert_eq (speer_samples (s_peer, samples, 8), 0);
}
