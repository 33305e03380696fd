//  A busy peer says when to come again, as seconds or as a date, and is left
//  alone for so long; which statuses mean busy is a property

#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>
#include "scripted_peer.h"
#include "stage.h"
#include "witness.h"
#include "banned.h"

#define CONGESTED   "ZPR030"
#define HTTP_STATUS "ZPR035"

//  The pause after Congestion
#define PAUSE_MS UINT64_C (1000)

static zpeer_engine_t *s_engine;
static speer_t *s_peer;
static witness_t *s_witness;
static zpeer_feed_t *s_feed;

//  An engine with one peer, which answers the first request with status
static void
s_start (const char *set, int status, const char *headers)
{
    const char *const sets[] = {"zpeer.stop.deadline-ms=100", set, NULL};
    s_witness = witness_new ();
    s_peer = speer_new (0, -1);
    speer_rule (s_peer, &(speer_rule_t){
                            .status = status, .headers = headers, .count = 1});
    s_engine = stage_engine_new (sets);
    zpeer_engine_set_log (s_engine, witness_log, s_witness);
    cr_assert_eq (zpeer_engine_start (s_engine), ZPEER_OK);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    s_feed = stage_feed (s_engine);
}

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
    witness_destroy (&s_witness);
}

TestSuite (retry_after, .fini = s_stop, .timeout = 60);

static uint64_t
s_read_at (uint64_t n)
{
    speer_record_t record;
    cr_assert (speer_request (s_peer, n, &record));
    uint64_t at_ms = record.at_ms;
    speer_record_free (&record);
    return at_ms;
}

//  Registers an instance, and returns how long after the first request the peer
//  got the second, which it took
static uint64_t
s_left_alone_ms (void)
{
    stage_register (s_feed, "1");
    cr_assert (speer_wait (s_peer, SPEER_INSTANCES, 1, STAGE_WAIT_MS));
    return s_read_at (1) - s_read_at (0);
}

Test (retry_after, in_seconds_is_kept)
{
    s_start (NULL, 503, "Retry-After: 2\r\n");
    cr_expect_geq (s_left_alone_ms (), 2 * PAUSE_MS);
}

Test (retry_after, in_seconds_is_kept_on_the_single_path_too)
{
    s_start ("zpeer.batch.enabled=false", 503, "Retry-After: 2\r\n");
    cr_expect_geq (s_left_alone_ms (), 2 * PAUSE_MS);
}

Test (retry_after, as_a_date_is_kept)
{
    //  A date has no parts of a second, so that one second is lost at most; and
    //  one more if the machine is slow
    char headers[96];
    struct tm tm;
    time_t then = time (NULL) + 4;
    strftime (headers, sizeof headers,
              "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n",
              gmtime_r (&then, &tm));
    s_start (NULL, 503, headers);
    cr_expect_geq (s_left_alone_ms (), 2 * PAUSE_MS);
}

//  Taken for its first number, it would be longer than anything here waits
Test (retry_after, that_is_neither_changes_nothing)
{
    s_start (NULL, 503, "Retry-After: 60 or so\r\n");
    cr_expect_geq (s_left_alone_ms (), PAUSE_MS);
    cr_expect_eq (witness_count (s_witness, CONGESTED), 1);
}

Test (retry_after, a_429_is_busy_when_it_is_configured)
{
    s_start ("zpeer.congestion-statuses=429,503", 429, "Retry-After: 2\r\n");
    cr_expect_geq (s_left_alone_ms (), 2 * PAUSE_MS);
    cr_expect_eq (witness_count (s_witness, CONGESTED), 1);
    cr_expect (witness_says (s_witness, CONGESTED, "429"));
    cr_expect_eq (witness_count (s_witness, HTTP_STATUS), 0);
    //  Nothing had to be asked first: it was kept, not owed
    cr_expect_eq (speer_get (s_peer, SPEER_REQUESTS), 2);
}

Test (retry_after, a_429_is_any_other_status_when_it_is_not)
{
    s_start (NULL, 429, NULL);
    s_left_alone_ms ();
    cr_expect_eq (witness_count (s_witness, CONGESTED), 0);
    cr_expect (witness_says (s_witness, HTTP_STATUS, "429"));
    cr_expect_eq (speer_get (s_peer, SPEER_REQUESTS), 3, "owed: asked, told");
}
