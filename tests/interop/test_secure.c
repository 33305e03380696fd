//  A server that is hard to get at: HTTPS with a certificate of its own CA, basic
//  auth with special characters, a context path, answers in gzip

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "figures.h"
#include "banned.h"

#define URL_MAX_BYTES 512

//  Instances of the test about gzip, and bytes of metadata each
#define LARGE_COUNT 200
#define LARGE_BYTES 4000

//  Bytes of a Heartbeat at most
#define HEARTBEAT_MAX 256

static pair_t s_pair;
static char s_ca[URL_MAX_BYTES];  //  "zpeer.tls.ca-file=…"
static const char *s_set[] = {s_ca, NULL, NULL};

static void
s_start (void)
{
    snprintf (s_ca, sizeof s_ca, "zpeer.tls.ca-file=%s",
              remote_variable ("secure", "CA"));
}

static void
s_stop (void)
{
    pair_close (&s_pair);
}

TestSuite (secure, .init = s_start, .fini = s_stop, .timeout = 120);

static void
s_act (zpeer_action_t action, uint64_t at, zpeer_status_t status)
{
    pair_send (&s_pair, "a", &(pair_event_t){action, at, status, 0}, 1);
}

//  ---- The way there

static void
s_expect_actions (const char *const *set)
{
    pair_start (&s_pair, set);
    pair_add (&s_pair, remote_named ("secure"), NULL);
    pair_register (&s_pair, "a", 1000, "");
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1000);
    s_act (ZPEER_HEARTBEAT, 1000, 0);
    pair_delivered (&s_pair, pair_id (&s_pair, "a"), "Heartbeat");
    s_act (ZPEER_STATUS_UPDATE, 1001, ZPEER_OUT_OF_SERVICE);
    pair_await (&s_pair, "a", "OUT_OF_SERVICE", "OUT_OF_SERVICE", 1001);
    s_act (ZPEER_DELETE_STATUS_OVERRIDE, 1002, ZPEER_UP);
    pair_await (&s_pair, "a", "UP", "UNKNOWN", 1002);
    s_act (ZPEER_CANCEL, 0, 0);
    pair_await_gone (&s_pair, "a");
}

Test (secure, batches_reach_it)
{
    s_expect_actions (s_set);
}

Test (secure, calls_reach_it)
{
    s_set[1] = "zpeer.batch.enabled=false";
    s_expect_actions (s_set);
}

//  ---- Answers in gzip

//  The server's URL by way of a forwarder, which counts
static void
s_add_apart (void)
{
    char url[URL_MAX_BYTES];
    remote_t *remote = remote_named ("secure");
    const char *base = remote_base (remote);
    const char *port = strrchr (base, ':');
    char *rest = NULL;
    int target = (int) strtol (port + 1, &rest, 10);
    speer_forwarder_t *forwarder = speer_forwarder_new (target);
    snprintf (url, sizeof url, "%.*s:%d%s", (int) (port - base), base,
              speer_forwarder_port (forwarder), rest);
    s_pair.peers[s_pair.count].forwarder = forwarder;
    pair_add (&s_pair, remote, url);
}

//  A second writer gives the server a newer copy of every instance
static void
s_outdate (const char *metadata)
{
    char *body = NULL;
    size_t size = 0;
    FILE *out = open_memstream (&body, &size);
    cr_assert (out);
    for (unsigned i = 0; i < LARGE_COUNT; i++)
        fprintf (out,
                 "%s{\"appName\":\"%s\",\"id\":\"%u\",\"action\":\"Register\","
                 "\"instanceInfo\":{\"instanceId\":\"%s:%u\",\"app\":\"%s\","
                 "\"hostName\":\"h\",\"ipAddr\":\"192.0.2.9\","
                 "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
                 "MyDataCenterInfo\",\"name\":\"MyOwn\"},"
                 "\"lastDirtyTimestamp\":\"2000\"%s}}",
                 i ? "," : "{\"replicationList\":[", s_pair.app, i, s_pair.app,
                 i, s_pair.app, metadata);
    fputs ("]}", out);
    fclose (out);
    cr_assert_eq (remote_batch (s_pair.peers[0].remote, body, NULL), 200);
    free (body);
}

//  Heartbeats of all instances in one request; waits until each has met the newer
//  copy
static void
s_meet_copies (void)
{
    zpeer_buffer_t frame = {0};
    for (unsigned i = 0; i < LARGE_COUNT; i++) {
        char id[16];
        snprintf (id, sizeof id, "%u", i);
        zpeer_buffer_reserve (&frame, HEARTBEAT_MAX);
        zpeer_event_encode_simple (frame.data, frame.capacity, &frame.size,
                                   ZPEER_HEARTBEAT, s_pair.app,
                                   pair_id (&s_pair, id), 1000);
    }
    cr_assert_eq (zpeer_feed_send_frame (s_pair.feed, frame.data, frame.size,
                                         STAGE_WAIT_MS, NULL),
                  ZPEER_OK);
    stage_accepted (s_pair.feed, LARGE_COUNT);
    zpeer_buffer_free (&frame);
    for (unsigned i = 0; i < LARGE_COUNT; i++) {
        json_t *outcome = pair_outcome (&s_pair, 0, "conflict", NULL, NULL);
        json_t *copy = json_object_get (outcome, "copy");
        cr_expect_gt (json_string_length (copy), LARGE_BYTES);
    }
}

//  The server's copies come with status 409, many in an answer: fewer bytes in
//  gzip than zpeer reads out of them
Test (secure, answers_in_gzip_are_read)
{
    char id[16];
    char metadata[LARGE_BYTES + 64];
    int used = snprintf (metadata, sizeof metadata, ",\"metadata\":{\"k\":\"");
    memset (metadata + used, 'v', LARGE_BYTES);
    snprintf (metadata + used + LARGE_BYTES, 4, "\"}");
    pair_start (&s_pair, s_set);
    s_add_apart ();
    for (unsigned i = 0; i < LARGE_COUNT; i++) {
        snprintf (id, sizeof id, "%u", i);
        pair_register (&s_pair, id, 1000, metadata);
    }
    pair_await_count (&s_pair, s_pair.app, LARGE_COUNT);
    s_outdate (metadata);

    speer_forwarder_t *forwarder = s_pair.peers[0].forwarder;
    json_int_t read = figure_of (&s_pair, 0, "dispatcher", "reply-bytes");
    uint64_t came = speer_forwarder_bytes (forwarder);
    s_meet_copies ();
    read = figure_of (&s_pair, 0, "dispatcher", "reply-bytes") - read;
    came = speer_forwarder_bytes (forwarder) - came;
    cr_expect_gt (read, (json_int_t) LARGE_BYTES * LARGE_COUNT);
    cr_expect_lt (came, (uint64_t) read / 2, "%llu bytes for %lld",
                  (unsigned long long) came, (long long) read);
}

//  ---- What keeps zpeer out

//  The server's URL with another password; the caller's to free
static char *
s_wrong_url (void)
{
    char *url = NULL;
    const char *base = remote_variable ("secure", "URL");
    const char *secret = strchr (strchr (base, ':') + 1, ':') + 1;
    cr_assert (asprintf (&url, "%.*swrong%s", (int) (secret - base), base,
                         strchr (secret, '@')) > 0);
    return url;
}

static void
s_register_three (void)
{
    pair_register (&s_pair, "a", 1000, "");
    pair_register (&s_pair, "b", 1000, "");
    pair_register (&s_pair, "c", 1000, "");
}

//  1. Every batch is answered with 401. That is said, and all of it is owed.
//  2. The peer is added again with its password, and is told everything.
Test (secure, a_wrong_password_is_said_and_nothing_is_lost)
{
    char *url = s_wrong_url ();
    pair_start (&s_pair, s_set);
    pair_add (&s_pair, remote_named ("secure"), url);
    s_register_three ();
    json_t *outcome = pair_outcome (&s_pair, 0, "peer", "end", "HTTP status");
    cr_expect_eq (json_integer_value (json_object_get (outcome, "status")),
                  401);
    pair_outcome (&s_pair, 0, "dropped", "reason", "failed");
    cr_expect_eq (figure_of (&s_pair, 0, "peer", "owed"), 3);
    cr_expect_gt (figure_of (&s_pair, 0, "dispatcher", "end-http-status"), 0);
    cr_expect_eq (remote_count (s_pair.peers[0].remote, s_pair.app), 0);

    cr_assert_eq (zpeer_engine_remove_peer (s_pair.engine, url), ZPEER_OK);
    pair_add (&s_pair, remote_named ("secure"), NULL);
    pair_await_count (&s_pair, s_pair.app, 3);
    free (url);
}

//  The system's certificates know nothing of the server's CA
Test (secure, a_certificate_of_an_unknown_ca_is_refused)
{
    pair_start (&s_pair, NULL);
    pair_add (&s_pair, remote_named ("secure"), NULL);
    s_register_three ();
    json_t *outcome = pair_outcome (&s_pair, 0, "peer", "end", "TLS failure");
    const char *detail =
        json_string_value (json_object_get (outcome, "detail"));
    cr_expect (detail && strstr (detail, "certificate"), "%s", detail);
    cr_expect_eq (remote_count (s_pair.peers[0].remote, s_pair.app), 0);
}
