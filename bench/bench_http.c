//  What sending costs alone: the HTTP client with six batches in flight, the
//  same body over and over, to a counting peer that answers 200 for each item.
//
//  bench_http heartbeats|registers posts

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "http.h"
#include "item.h"
#include "peers.h"
#include "source.h"
#include "stopwatch.h"
#include "banned.h"

#define KINDS  "heartbeats|registers"
#define ITEMS  250
#define WINDOW 6
#define WARM   100

typedef struct {
    zpeer_http_t *http;
    zpeer_buffer_t body;
    zpeer_action_t action;
    unsigned items;
} bench_t;

static void
s_item (void *arg, const zpeer_parsed_t *event, const zpeer_applied_t *applied)
{
    bench_t *self = (bench_t *) arg;
    if (self->items == ITEMS)
        return;
    zpeer_item_t item = {.state = applied->state,
                         .timestamp = event->timestamp,
                         .action = (uint8_t) self->action,
                         .status = applied->state->status,
                         .override = applied->state->override};
    if (self->items++)
        zpeer_buffer_lit (&self->body, ",");
    zpeer_item_write (&item, &self->body);
}

static void
s_write_body (bench_t *self)
{
    load_t load;
    source_t source;
    load_registers (&load, ITEMS);
    source_open (&source);
    zpeer_buffer_lit (&self->body, ZPEER_BATCH_HEAD);
    source_take (&source, &load, s_item, self);
    zpeer_buffer_lit (&self->body, ZPEER_BATCH_TAIL);
    source_close (&source);
    load_free (&load);
}

static void
s_start (bench_t *self, uint64_t now)
{
    zpeer_http_request_t request = {
        .method = zpeer_slice_str ("POST"),
        .path = zpeer_slice_str ("peerreplication/batch/"),
        .body = {self->body.data, self->body.size},
    };
    zpeer_http_start (self->http, &request, now);
}

static void
s_post (bench_t *self, unsigned posts)
{
    zpeer_http_result_t result;
    for (unsigned started = 0, ended = 0; ended < posts;) {
        uint64_t now = (uint64_t) (stopwatch_ns () / 1000000);
        while (started < posts && zpeer_http_in_flight (self->http) < WINDOW) {
            s_start (self, now);
            started++;
        }
        zpeer_http_poll (self->http, NULL, 0, 1000);
        zpeer_http_perform (self->http, now);
        while (zpeer_http_next (self->http, &result)) {
            assert (result.status == 200);
            ended++;
        }
    }
}

static void
s_open (bench_t *self, const char *text)
{
    char error[ZPEER_URL_ERROR_MAX];
    zpeer_url_t url;
    zpeer_http_options_t options = {.connect_timeout_ms = 1000,
                                    .read_timeout_ms = 30000,
                                    .deadline_ms = 120000,
                                    .reply_max_bytes = 16777216,
                                    .max_in_flight = WINDOW};
    int rc = zpeer_url_parse (&url, text, error);
    assert (rc == ZPEER_OK);
    self->http = zpeer_http_new (&url, &options);
    zpeer_url_free (&url);
}

int
main (int argc, char **argv)
{
    arguments_t args;
    arguments_open (&args, argc, argv, KINDS " posts");
    const char *kind = arguments_word (&args, KINDS);
    unsigned posts =
        (unsigned) arguments_number (&args, 1, ARGUMENTS_ROUNDS_MAX);
    arguments_close (&args);
    bool registers = !strcmp (kind, "registers");
    bench_t bench = {.action = registers ? ZPEER_REGISTER : ZPEER_HEARTBEAT};
    peer_t peer;
    s_write_body (&bench);
    if (peer_start (&peer, argv[0]))
        return EXIT_FAILURE;
    s_open (&bench, peer.url);
    s_post (&bench, WARM);
    int64_t start = stopwatch_ns (), cpu = stopwatch_thread_ns ();
    s_post (&bench, posts);
    double seconds = (double) (stopwatch_ns () - start) / 1e9;
    double us = (double) (stopwatch_thread_ns () - cpu) / 1e3 / posts;
    printf ("http kind=%s items=%d body_bytes=%zu posts_per_second=%.0f "
            "cpu_us_per_post=%.2f cpu_ns_per_item=%.1f\n",
            kind, ITEMS, bench.body.size, posts / seconds, us,
            us * 1e3 / ITEMS);
    zpeer_http_destroy (&bench.http);
    zpeer_buffer_free (&bench.body);
    peer_stop (&peer);
    return EXIT_SUCCESS;
}
