//  A dispatcher in another process: killed with a batch in its hands, or cut off

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zpeer/zpeer.h>
#include "command.h"
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
    const char *const set[] = {"zpeer.stop.deadline-ms=200", NULL};
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

static void
s_stop (void)
{
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    speer_destroy (&s_peer);
}

TestSuite (dispatcher_process, .timeout = 60);

//  Both dispatchers have a batch that hangs; one is killed with it
static void
s_play (const char *batcher, const char *health)
{
    int jobs;
    job_t job;
    pid_t worker = s_fork (&jobs);
    s_start (batcher, health, &job);
    cr_assert_eq (write (jobs, &job, sizeof job), (ssize_t) sizeof job);
    close (jobs);
    speer_rule (s_peer, &(speer_rule_t){.answer = SPEER_HANG, .count = 12});
    //  More than the six requests of the engine's own dispatcher
    uint64_t open = 0;
    for (unsigned i = 0; i < 100 && open < 7; i++) {
        stage_registers (s_feed, 2500);
        speer_wait (s_peer, SPEER_IN_FLIGHT, 7, 100);
        open = speer_get (s_peer, SPEER_IN_FLIGHT);
    }
    cr_assert_geq (open, 7, "the worker got no batch");
    s_end (worker);
    speer_clear (s_peer);
    //  What it had is taken back and told all the same; what hangs at the
    //  engine's own dispatcher is given up with the peer's connections
    speer_mode (s_peer, SPEER_REFUSE);
    speer_mode (s_peer, SPEER_LISTEN);
    cr_expect (speer_wait (s_peer, SPEER_INSTANCES, 2500, 20000), "%d of 2500",
               (int) speer_get (s_peer, SPEER_INSTANCES));
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

//  An endpoint with a port nobody has at the moment
static void
s_free_port (char endpoint[64])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    cr_assert_eq (bind (fd, (struct sockaddr *) &address, size), 0);
    getsockname (fd, (struct sockaddr *) &address, &size);
    close (fd);
    snprintf (endpoint, 64, "tcp://127.0.0.1:%d", ntohs (address.sin_port));
}

Test (dispatcher_process, killed_with_a_batch_over_tcp)
{
    char batcher[64], health[64];
    s_free_port (batcher);
    s_free_port (health);
    s_play (batcher, health);
}
