#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "race.h"
#include "socket.h"
#include "banned.h"

#define THREADS_MAX 16

//  How long a thread waits before it looks whether it has to stop
#define PATIENCE_MS 10

//  Events in a request, and instances they are about
#define EVENTS    64
#define INSTANCES 200

//  Bytes of a request
#define FRAME_MAX 65536

typedef struct {
    race_t *race;  //  Borrowed
    pthread_t thread;
    unsigned number;
    char endpoint[ZPEER_ENDPOINT_MAX];
    race_step_fn *step;  //  NULL: a feeder or a watcher
    void *arg;
} job_t;

struct race {
    atomic_bool enough;
    unsigned count;
    job_t jobs[THREADS_MAX];
};

void
race_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    (void) level;
    atomic_fetch_add ((atomic_ullong *) arg, strlen (id) + strlen (text));
}

static void
s_set (zpeer_engine_t *engine, const char *key, const char *value)
{
    RACE_CHECK (zpeer_engine_set (engine, key, value) == ZPEER_OK);
}

zpeer_engine_t *
race_engine (zpeer_log_fn *log, void *arg)
{
    char endpoint[ZPEER_ENDPOINT_MAX];
    zpeer_engine_t *engine = zpeer_engine_new ();
    zpeer_engine_set_log (engine, log, arg);
    zpeer_socket_unique (endpoint, "events");
    s_set (engine, "zpeer.events.endpoint", endpoint);
    zpeer_socket_unique (endpoint, "outcomes");
    s_set (engine, "zpeer.outcomes.endpoint", endpoint);
    s_set (engine, "zpeer.outcomes.delivered", "true");
    s_set (engine, "zpeer.stats.interval-ms", "100");
    s_set (engine, "zpeer.stop.deadline-ms", "200");
    s_set (engine, "zpeer.tombstone-ms", "0");
    s_set (engine, "apiml.discovery.maxPeerRetries", "2");
    s_set (engine, "eureka.server.peer-node-read-timeout-ms", "300");
    RACE_CHECK (zpeer_engine_start (engine) == ZPEER_OK);
    return engine;
}

//  --------------------------------------------------------------------------
//  Feeders and watchers

//  A small generator of numbers, one a thread
static unsigned
s_random (uint64_t *seed, unsigned limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned) (*seed >> 33) % limit;
}

static zpeer_event_t *
s_event (uint64_t *seed)
{
    char text[16];
    zpeer_action_t action = (zpeer_action_t) s_random (seed, ZPEER_ACTIONS);
    zpeer_event_t *event = zpeer_event_new (action);
    snprintf (text, sizeof text, "%u", s_random (seed, INSTANCES));
    if (action == ZPEER_ASG_STATUS_UPDATE)
        zpeer_event_set_asg (event, text);
    else {
        zpeer_event_set_app (event, "CART");
        zpeer_event_set_id (event, text);
    }
    zpeer_event_set_timestamp (event, 1718271499871u + s_random (seed, 3));
    zpeer_event_set_status (event, s_random (seed, 2) ? ZPEER_UP
                                                      : ZPEER_OUT_OF_SERVICE);
    zpeer_event_set_replicated (event, s_random (seed, 10) == 0);
    if (action == ZPEER_REGISTER) {
        zpeer_event_put_str (event, "hostName", "shop02.example.net");
        zpeer_event_put_str (event, "ipAddr", "192.0.2.52");
    }
    return event;
}

static size_t
s_frame (uint64_t *seed, char frame[FRAME_MAX])
{
    size_t size = 0;
    for (unsigned i = 0; i < EVENTS; i++) {
        zpeer_event_t *event = s_event (seed);
        RACE_CHECK (zpeer_event_encode (event, frame, FRAME_MAX, &size) ==
                    ZPEER_OK);
        zpeer_event_destroy (&event);
    }
    return size;
}

static void
s_feed (const job_t *job)
{
    char frame[FRAME_MAX];
    uint64_t seed = job->number + 1;
    zpeer_feed_t *feed = zpeer_feed_new (job->endpoint, 8);
    RACE_CHECK (feed);
    while (!atomic_load (&job->race->enough)) {
        zpeer_reply_t reply;
        size_t size = s_frame (&seed, frame);
        zpeer_feed_send_frame (feed, frame, size, PATIENCE_MS, NULL);
        while (zpeer_feed_recv (feed, &reply, 0) == ZPEER_OK)
            RACE_CHECK (reply.accepted > 0);
    }
    zpeer_feed_destroy (&feed);
}

static void
s_watch (const job_t *job)
{
    zpeer_watch_t *watch = zpeer_watch_new (job->endpoint, NULL);
    RACE_CHECK (watch);
    while (!atomic_load (&job->race->enough)) {
        const char *topic;
        const void *data;
        size_t size;
        if (zpeer_watch_recv (watch, PATIENCE_MS, &topic, &data, &size))
            continue;
        char *json = zpeer_watch_json (data, size);
        RACE_CHECK (json && *topic);
        free (json);
    }
    zpeer_watch_destroy (&watch);
}

static void
s_repeat (const job_t *job)
{
    while (!atomic_load (&job->race->enough))
        job->step (job->arg);
}

//  --------------------------------------------------------------------------

static void *
s_run_feed (void *job)
{
    s_feed ((const job_t *) job);
    return NULL;
}

static void *
s_run_watch (void *job)
{
    s_watch ((const job_t *) job);
    return NULL;
}

static void *
s_run_repeat (void *job)
{
    s_repeat ((const job_t *) job);
    return NULL;
}

static job_t *
s_job (race_t *self, const char *endpoint)
{
    RACE_CHECK (self->count < THREADS_MAX);
    job_t *job = &self->jobs[self->count];
    job->race = self;
    job->number = self->count++;
    snprintf (job->endpoint, sizeof job->endpoint, "%s", endpoint);
    return job;
}

static void
s_start (job_t *job, void *(*run) (void *job))
{
    RACE_CHECK (pthread_create (&job->thread, NULL, run, job) == 0);
}

void
race_feed (race_t *self, const char *events)
{
    s_start (s_job (self, events), s_run_feed);
}

void
race_watch (race_t *self, const char *outcomes)
{
    s_start (s_job (self, outcomes), s_run_watch);
}

void
race_repeat (race_t *self, race_step_fn *step, void *arg)
{
    job_t *job = s_job (self, "");
    job->step = step;
    job->arg = arg;
    s_start (job, s_run_repeat);
}

race_t *
race_new (void)
{
    race_t *self = (race_t *) calloc (1, sizeof *self);
    RACE_CHECK (self);
    return self;
}

void
race_destroy (race_t **self_p)
{
    race_t *self = *self_p;
    *self_p = NULL;
    atomic_store (&self->enough, true);
    for (unsigned i = 0; i < self->count; i++)
        pthread_join (self->jobs[i].thread, NULL);
    free (self);
}
