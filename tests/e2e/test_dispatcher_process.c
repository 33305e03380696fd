//  A dispatcher in another process: killed with a batch in its hands, or cut off

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zpeer/zpeer.h>
#include "command.h"
#include "forwarder.h"
#include "port.h"
#include "scripted_peer.h"
#include "socket.h"
#include "stage.h"
#include "banned.h"

typedef struct {
    char peer[64];
    char batcher[ZPEER_ENDPOINT_MAX];
    char health[ZPEER_ENDPOINT_MAX];
} job_t;

//  --------------------------------------------------------------------------
//  The other process: reads a job, works until it is killed

static void
s_worker (int jobs)
{
    job_t job;
    char answer[ZPEER_COMMAND_ANSWER_MAX];
    if (read (jobs, &job, sizeof job) != sizeof job)
        _exit (1);
    zpeer_socket_init ();
    zactor_t *actor = zactor_new (zpeer_dispatcher, NULL);
    const char *const calls[][3] = {{"PEER", "0", job.peer},
                                    {"CONNECT", job.batcher, NULL},
                                    {"HEALTH", job.health, NULL},
                                    {"START", NULL, NULL}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (zpeer_command_call (actor, 5000, answer, calls[i][0], calls[i][1],
                                calls[i][2], NULL))
            _exit (2);
    for (;;)
        pause ();
}

//  Forked before this process starts any thread
static pid_t
s_fork (int *jobs)
{
    int ends[2];
    cr_assert_eq (pipe (ends), 0);
    pid_t pid = fork ();
    if (pid == 0) {
        close (ends[1]);
        s_worker (ends[0]);
    }
    close (ends[0]);
    *jobs = ends[1];
    return pid;
}

static void
s_end (pid_t pid)
{
    kill (pid, SIGKILL);
    waitpid (pid, NULL, 0);
}

//  --------------------------------------------------------------------------

static zpeer_engine_t *s_engine;
static speer_t *s_peer;
static zpeer_feed_t *s_feed;

//  The peer opens its batcher for the worker, and hangs on whatever comes first
static void
s_start (const char *batcher, const char *health, job_t *job)
{
    const char *const set[] = {"zpeer.stop.deadline-ms=200",
                               "zpeer.stats.interval-ms=200", NULL};
    s_peer = speer_new (0, -1);
    s_engine = stage_engine (set);
    cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peer)),
                  ZPEER_OK);
    cr_assert_eq (
        zpeer_engine_open_peer (s_engine, speer_url (s_peer), batcher, health),
        ZPEER_OK, "%s", zpeer_engine_error (s_engine));
    snprintf (job->peer, sizeof job->peer, "%s", speer_url (s_peer));
    snprintf (job->batcher, sizeof job->batcher, "%s", batcher);
    snprintf (job->health, sizeof job->health, "%s", health);
    s_feed = stage_feed (s_engine);
}

//  Gives the worker its job
static void
s_employ (int jobs, const job_t *job)
{
    cr_assert_eq (write (jobs, job, sizeof *job), (ssize_t) sizeof *job);
    close (jobs);
}

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
}

TestSuite (dispatcher_process, .timeout = 60);

//  Waits until the batcher says how many dispatchers it has
static void
s_expect_dispatchers (const char *figure)
{
    const char *topic;
    const void *data;
    size_t size;
    bool seen = false;
    zpeer_watch_t *watch =
        zpeer_watch_new (zpeer_engine_outcomes (s_engine), "stats");
    int64_t deadline = zpeer_socket_deadline (3 * STAGE_WAIT_MS);
    while (!seen && zclock_mono () < deadline)
        if (!zpeer_watch_recv (watch, STAGE_WAIT_MS, &topic, &data, &size)) {
            char *json = zpeer_watch_json (data, size);
            seen = strstr (json, figure) != NULL;
            free (json);
        }
    zpeer_watch_destroy (&watch);
    cr_assert (seen, "never %s", figure);
}

//  A lane begins with a small window, and failures make it small again; successes
//  widen it
static void
s_work_well (void)
{
    for (unsigned i = 0; i < 5; i++) {
        uint64_t items = speer_get (s_peer, SPEER_ITEMS);
        stage_registers (s_feed, 2500);
        cr_assert (speer_wait (s_peer, SPEER_ITEMS, items + 2500, 20000));
    }
}

//  Lets requests with other instances hang until both dispatchers have one: more
//  than the six of the engine's own
static void
s_both_hang (void)
{
    uint64_t open = 0;
    s_expect_dispatchers ("\"dispatchers\":2,");
    s_work_well ();
    speer_rule (s_peer, &(speer_rule_t){.answer = SPEER_HANG, .count = 12});
    for (unsigned i = 0; i < 100 && open < 7; i++) {
        stage_registers_from (s_feed, 2500, 2500);
        speer_wait (s_peer, SPEER_IN_FLIGHT, 7, 100);
        open = speer_get (s_peer, SPEER_IN_FLIGHT);
    }
    cr_assert_geq (open, 7, "the worker got no batch");
}

//  The peer is well again; what hangs at the engine's own dispatcher is given up
//  with the peer's connections
static void
s_heal (void)
{
    speer_clear (s_peer);
    speer_mode (s_peer, SPEER_REFUSE);
    speer_mode (s_peer, SPEER_LISTEN);
}

static void
s_expect_all (void)
{
    cr_expect (speer_wait (s_peer, SPEER_INSTANCES, 5000, 20000), "%d of 5000",
               (int) speer_get (s_peer, SPEER_INSTANCES));
}

//  Both dispatchers have a batch that hangs; one is killed with it. What it had
//  is taken back and told all the same.
static void
s_play (const char *batcher, const char *health)
{
    int jobs;
    job_t job;
    pid_t worker = s_fork (&jobs);
    s_start (batcher, health, &job);
    s_employ (jobs, &job);
    s_both_hang ();
    s_end (worker);
    s_heal ();
    s_expect_all ();
    s_stop ();
}

Test (dispatcher_process, killed_with_a_batch_over_ipc)
{
    char batcher[64], health[64];
    snprintf (batcher, sizeof batcher, "ipc:///tmp/zpeer-test-b-%d",
              (int) getpid ());
    snprintf (health, sizeof health, "ipc:///tmp/zpeer-test-h-%d",
              (int) getpid ());
    s_play (batcher, health);
    unlink (batcher + sizeof "ipc://" - 1);
    unlink (health + sizeof "ipc://" - 1);
}

static void
s_tcp (char endpoint[64], int port)
{
    snprintf (endpoint, 64, "tcp://127.0.0.1:%d", port);
}

Test (dispatcher_process, killed_with_a_batch_over_tcp)
{
    char batcher[64], health[64];
    s_tcp (batcher, speer_free_port ());
    s_tcp (health, speer_free_port ());
    s_play (batcher, health);
}

//  Both dispatchers have a batch that hangs; one is cut off from the engine with
//  it, and comes back. What it had is told by the other; then it works again.
static void
s_play_cut (speer_passage_t passage)
{
    int jobs, ports[] = {speer_free_port (), speer_free_port ()};
    job_t job;
    char batcher[64], health[64];
    pid_t worker = s_fork (&jobs);
    s_tcp (batcher, ports[0]);
    s_tcp (health, ports[1]);
    s_start (batcher, health, &job);
    speer_forwarder_t *cable = speer_forwarder_new (ports[0]);
    s_tcp (job.batcher, speer_forwarder_port (cable));
    s_employ (jobs, &job);
    s_both_hang ();
    speer_forwarder_set (cable, passage);
    s_heal ();
    s_expect_all ();
    s_expect_dispatchers ("\"dispatchers\":1,");
    speer_forwarder_set (cable, SPEER_PASS);
    s_both_hang ();
    s_heal ();
    s_end (worker);
    speer_forwarder_destroy (&cable);
    s_stop ();
}

Test (dispatcher_process, its_connection_is_closed_and_made_again)
{
    s_play_cut (SPEER_CUT);
}

Test (dispatcher_process, its_connection_is_silent_for_a_while)
{
    s_play_cut (SPEER_HOLD);
}
