#include <assert.h>
#include <stdio.h>
#include <time.h>
#include "load.h"
#include "stopwatch.h"
#include "trickle.h"
#include "banned.h"

#define FRAME_MAX   8192
#define WINDOW      256
#define PATIENCE_MS 10000

static zpeer_event_t *
s_event (unsigned index, unsigned generation)
{
    char id[64];
    zpeer_event_t *event = zpeer_event_new (ZPEER_REGISTER);
    snprintf (id, sizeof id, "host%05u.example.net:trickle-%u:8080", index,
              generation);
    zpeer_event_set_app (event, "TRICKLE");
    zpeer_event_set_id (event, id);
    zpeer_event_put_str (event, "hostName", id);
    zpeer_event_put_str (event, "ipAddr", "192.0.2.41");
    return event;
}

void
trickle_open (trickle_t *self, const char *endpoint, double per_second,
              unsigned generation)
{
    *self = (trickle_t){.feed = zpeer_feed_new (endpoint, WINDOW),
                        .per_second = per_second};
    assert (self->feed);
    for (unsigned i = 0; i < TRICKLE_INSTANCES; i++)
        self->events[i] = s_event (i, generation);
}

void
trickle_fill (trickle_t *self)
{
    for (unsigned i = 0; i < TRICKLE_INSTANCES; i++)
        load_put_info (self->events[i], i);
}

void
trickle_close (trickle_t *self)
{
    zpeer_feed_destroy (&self->feed);
    for (unsigned i = 0; i < TRICKLE_INSTANCES; i++)
        zpeer_event_destroy (&self->events[i]);
}

static void
s_wait_until (int64_t at_ns)
{
    struct timespec at = {.tv_sec = at_ns / 1000000000,
                          .tv_nsec = at_ns % 1000000000};
    clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void
s_send (trickle_t *self)
{
    char frame[FRAME_MAX];
    size_t used = 0;
    zpeer_reply_t reply;
    zpeer_event_t *event = self->events[self->sent++ % TRICKLE_INSTANCES];
    int rc =
        zpeer_event_set_timestamp (event, (uint64_t) stopwatch_ns () / 1000);
    assert (rc == ZPEER_OK);  //  The machine has been up for less than 84 days
    zpeer_event_encode (event, frame, sizeof frame, &used);
    rc = zpeer_feed_send_frame (self->feed, frame, used, PATIENCE_MS, NULL);
    assert (rc == ZPEER_OK);
    while (zpeer_feed_recv (self->feed, &reply, 0) == ZPEER_OK)
        assert (!reply.rejected);
}

static void
s_flow (trickle_t *self)
{
    zpeer_reply_t reply;
    double apart_ns = 1e9 / self->per_second;
    while (self->sent < self->total && !atomic_load (&self->stop)) {
        double due_ns = (double) self->sent * apart_ns;
        s_wait_until (self->begun_ns + (int64_t) due_ns);
        s_send (self);
    }
    while (zpeer_feed_recv (self->feed, &reply, PATIENCE_MS) == ZPEER_OK)
        continue;
}

static void
s_begin (trickle_t *self, uint64_t total)
{
    self->begun_ns = stopwatch_ns ();
    self->sent = 0;
    self->total = total;
    atomic_store (&self->stop, false);
}

void
trickle_run (trickle_t *self, uint64_t total)
{
    s_begin (self, total);
    s_flow (self);
}

static void *
s_thread (void *arg)
{
    s_flow ((trickle_t *) arg);
    return NULL;
}

void
trickle_start (trickle_t *self)
{
    s_begin (self, UINT64_MAX);
    int rc = pthread_create (&self->thread, NULL, s_thread, self);
    assert (rc == 0);
}

void
trickle_stop (trickle_t *self)
{
    atomic_store (&self->stop, true);
    pthread_join (self->thread, NULL);
}
