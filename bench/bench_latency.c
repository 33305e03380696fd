//  How long an event takes from the feeder's send to the peer's receipt. Each is
//  a Register whose lastDirtyTimestamp is the time of sending; the peer notes
//  when it arrives.
//
//  bench_latency per_second seconds [key=value]...

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zpeer/zpeer.h>
#include "peers.h"
#include "stopwatch.h"
#include "banned.h"

#define INSTANCES   10000
#define SAMPLES_MAX 60000  //  What the peer keeps
#define FRAME_MAX   8192

static void
s_wait_until (int64_t at_ns)
{
    struct timespec at = {.tv_sec = at_ns / 1000000000,
                          .tv_nsec = at_ns % 1000000000};
    clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static zpeer_event_t *
s_event (unsigned index)
{
    char id[64];
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    snprintf (id, sizeof id, "host%05u.example.net:service:8080", index);
    zpeer_event_set_app (event, "SERVICE");
    zpeer_event_set_id (event, id);
    zpeer_event_put_str (event, "hostName", id);
    zpeer_event_put_str (event, "ipAddr", "192.0.2.41");
    return event;
}

static void
s_feed (const char *endpoint, double per_second, double seconds)
{
    static zpeer_event_t *events[INSTANCES];
    zpeer_reply_t reply;
    zpeer_feed_t *feed = zpeer_feed_new (endpoint, 256);
    assert (feed);
    for (unsigned i = 0; i < INSTANCES; i++)
        events[i] = s_event (i);
    int64_t start = stopwatch_ns ();
    uint64_t total = (uint64_t) (per_second * seconds);
    for (uint64_t sent = 0; sent < total; sent++) {
        char frame[FRAME_MAX];
        size_t used = 0;
        s_wait_until (start + (int64_t) ((double) sent * 1e9 / per_second));
        zpeer_event_t *event = events[sent % INSTANCES];
        zpeer_event_set_timestamp (event, (uint64_t) stopwatch_ns ());
        zpeer_event_encode (event, frame, sizeof frame, &used);
        int rc = zpeer_feed_send_frame (feed, frame, used, 10000, NULL);
        assert (rc == ZPEER_OK);
        while (zpeer_feed_recv (feed, &reply, 0) == ZPEER_OK)
            assert (!reply.rejected);
    }
    while (zpeer_feed_recv (feed, &reply, 10000) == ZPEER_OK)
        ;
    zpeer_feed_destroy (&feed);
    for (unsigned i = 0; i < INSTANCES; i++)
        zpeer_event_destroy (&events[i]);
}

//  Samples come as [[received_ns, timestamp], ...]
static size_t
s_samples (const peer_t *peer, double *ms, size_t max)
{
    size_t count = 0;
    char *body = peer_get (peer, "samples");
    for (char *at = strchr (body, '['); at && count < max;) {
        at = strchr (at + 1, '[');
        if (!at)
            break;
        int64_t received = strtoll (at + 1, &at, 10);
        while (*at && (*at < '0' || *at > '9'))
            at++;
        ms[count++] = (double) (received - strtoll (at, NULL, 10)) / 1e6;
    }
    free (body);
    return count;
}

int
main (int argc, char **argv)
{
    static double ms[SAMPLES_MAX];
    if (argc < 3)
        return 2;
    double per_second = strtod (argv[1], NULL);
    double seconds = strtod (argv[2], NULL);
    char option[32];
    unsigned every = (unsigned) (per_second * seconds / 50000) + 1;
    snprintf (option, sizeof option, "--sample=%u", every);
    peer_t peer;
    if (peer_start (&peer, argv[0], option))
        return 1;
    zpeer_engine_t *engine = zpeer_engine_new ();
    zpeer_engine_set (engine, "zpeer.events.endpoint", "inproc://events");
    zpeer_engine_set (engine, "zpeer.outcomes.endpoint", "inproc://outcomes");
    for (int i = 3; i < argc; i++) {
        char *value = strchr (argv[i], '=');
        assert (value);
        *value = 0;
        zpeer_engine_set (engine, argv[i], value + 1);
    }
    int rc = zpeer_engine_start (engine);
    assert (rc == ZPEER_OK);
    zpeer_engine_add_peer (engine, peer.url);
    s_feed (zpeer_engine_events (engine), per_second, seconds);
    zpeer_engine_stop (engine);
    size_t count = 0, more;
    while ((more = s_samples (&peer, ms + count, SAMPLES_MAX - count)) > 0)
        count += more;
    printf ("per_second=%.0f samples=%zu p50_ms=%.2f p90_ms=%.2f p99_ms=%.2f "
            "max_ms=%.2f\n",
            per_second, count, stopwatch_percentile (ms, count, 50),
            stopwatch_percentile (ms, count, 90),
            stopwatch_percentile (ms, count, 99),
            stopwatch_percentile (ms, count, 100));
    zpeer_engine_destroy (&engine);
    peer_stop (&peer);
    return 0;
}
