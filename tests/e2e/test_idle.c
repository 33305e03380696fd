//  What an engine costs that has nothing to do, or nobody to tell

#include <criterion/criterion.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <czmq.h>
#include <zpeer/watch.h>
#include "scripted_peer.h"
#include "stage.h"
#include "banned.h"

#define PEERS 2

static zpeer_engine_t *s_engine;
static speer_t *s_peers[PEERS];
static zpeer_feed_t *s_feed;
static zpeer_watch_t *s_watch;

static void
s_start (const char *one, const char *two)
{
    const char *const set[] = {one, two, NULL};
    s_engine = stage_engine (set);
    for (int i = 0; i < PEERS; i++) {
        s_peers[i] = speer_new (0, -1);
        cr_assert_eq (zpeer_engine_add_peer (s_engine, speer_url (s_peers[i])),
                      ZPEER_OK);
    }
    s_feed = stage_feed (s_engine);
    s_watch = zpeer_watch_new (zpeer_engine_outcomes (s_engine), NULL);
}

static void
s_stop (void)
{
    zpeer_watch_destroy (&s_watch);
    zpeer_feed_destroy (&s_feed);
    zpeer_engine_destroy (&s_engine);
    for (int i = 0; i < PEERS; i++)
        speer_destroy (&s_peers[i]);
}

TestSuite (idle, .fini = s_stop, .timeout = 120);

//  The line of /proc that says how often a thread waited for something
static const char s_waits_are[] = "voluntary_ctxt_switches:";

static unsigned long
s_waits_of (const char *thread)
{
    char line[256];
    unsigned long waits = 0;
    snprintf (line, sizeof line, "/proc/self/task/%s/status", thread);
    FILE *file = fopen (line, "r");
    cr_assert (file);
    while (fgets (line, sizeof line, file))
        if (strncmp (line, s_waits_are, strlen (s_waits_are)) == 0)
            waits = strtoul (line + strlen (s_waits_are), NULL, 10);
    fclose (file);
    return waits;
}

//  How often all threads waited
static unsigned long
s_waits (void)
{
    unsigned long waits = 0;
    DIR *threads = opendir ("/proc/self/task");
    for (struct dirent *entry; (entry = readdir (threads));)
        if (*entry->d_name != '.')
            waits += s_waits_of (entry->d_name);
    closedir (threads);
    return waits;
}

//  Reads outcomes until none comes for ms, or max have come; returns how many
static unsigned
s_outcomes (int ms, unsigned max)
{
    unsigned count = 0;
    const char *topic;
    const void *data;
    size_t size;
    while (count < max &&
           zpeer_watch_recv (s_watch, ms, &topic, &data, &size) == ZPEER_OK)
        count++;
    return count;
}

//  Waits of all threads during 3 s in which nothing is said, ours included
static unsigned long
s_waits_in_silence (void)
{
    unsigned long waits = s_waits ();
    cr_assert_eq (s_outcomes (3000, 1), 0);
    return s_waits () - waits;
}

static double
s_cpu_ms (void)
{
    struct rusage usage;
    getrusage (RUSAGE_SELF, &usage);
    return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

//  One Register reaches both
static void
s_work_once (void)
{
    stage_register (s_feed, "1");
    for (int i = 0; i < PEERS; i++)
        cr_assert (speer_wait (s_peers[i], SPEER_INSTANCES, 1, STAGE_WAIT_MS));
}

//  --------------------------------------------------------------------------

Test (idle, nothing_wakes_up_between_two_figures)
{
    s_start ("zpeer.stats.interval-ms=60000", NULL);
    s_work_once ();
    s_outcomes (500, UINT_MAX);
    //  One wait is ours. On a busy machine the work above may not be over yet;
    //  what ticks is there each time.
    unsigned long waits = s_waits_in_silence ();
    for (int i = 0; i < 4 && waits > 3; i++)
        waits = s_waits_in_silence ();
    cr_expect_leq (waits, 3, "%lu wake-ups in 3 s", waits);
}

Test (idle, only_figures_wake_it_up)
{
    s_start ("zpeer.stats.interval-ms=200", NULL);
    s_work_once ();
    //  Each figure costs three: its actor's, the reporter's and ours
    unsigned long waits = s_waits ();
    for (unsigned i = 1; i < 5; i++) {
        cr_assert_eq (s_outcomes (STAGE_WAIT_MS, 25), 25);
        if (s_waits () - waits <= 3 * 25 + 5)
            return;
        waits = s_waits ();
    }
    cr_assert_fail ("more than 80 wake-ups for 25 figures");
}

//  --------------------------------------------------------------------------

//  Of a processor, over five seconds
static double
s_cpu_share (void)
{
    double cpu = s_cpu_ms ();
    int64_t since = zclock_mono ();
    while (zclock_mono () - since < 5000)
        s_outcomes (1000, 1);
    return (s_cpu_ms () - cpu) / (double) (zclock_mono () - since);
}

//  One of two peers is dead, and 10,000 instances wait for it
static void
s_play (speer_mode_t mode, const char *timeout)
{
    s_start ("zpeer.stats.interval-ms=60000", timeout);
    speer_mode (s_peers[0], mode);
    for (unsigned i = 0; i < 4; i++)
        stage_registers_from (s_feed, 2500 * i, 2500);
    cr_assert (speer_wait (s_peers[1], SPEER_INSTANCES, 10000, STAGE_WAIT_MS));
    s_outcomes (500, UINT_MAX);
    //  As above: what it costs to wait is there each time
    double share = s_cpu_share ();
    for (int i = 0; i < 3 && share >= 0.01; i++)
        share = s_cpu_share ();
    cr_expect_lt (share, 0.01, "%.4f of a processor", share);
    cr_expect_eq (speer_get (s_peers[0], SPEER_ITEMS), 0);
}

Test (idle, ten_thousand_waiting_for_a_silent_peer_take_no_time)
{
    s_play (SPEER_BLACK_HOLE, "eureka.server.peer-node-read-timeout-ms=1000");
}

Test (idle, ten_thousand_waiting_for_a_peer_that_refuses_take_no_time)
{
    s_play (SPEER_REFUSE, NULL);
}
