//  How many tasks a second go from the events socket to counting peers, nothing
//  lost.
//
//  bench_end_to_end heartbeats|registers peers instances rounds [inproc|ipc|tcp]

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rig.h"
#include "banned.h"

//  More than ever wait: heartbeats that overflow would be lost
static char s_pool[] =
    "eureka.server.max-elements-in-peer-replication-pool=10000000";

int
main (int argc, char **argv)
{
    if (argc < 5)
        return EXIT_FAILURE;
    unsigned peers = (unsigned) strtoul (argv[2], NULL, 10);
    size_t instances = strtoull (argv[3], NULL, 10);
    unsigned rounds = (unsigned) strtoul (argv[4], NULL, 10);
    const char *kind = argc > 5 ? argv[5] : "inproc";
    load_t registers, heartbeats;
    load_registers (&registers, instances);
    load_heartbeats (&heartbeats, instances);
    rig_t rig;
    rig_start (&rig, argv[0], peers, kind, (char *[]){s_pool, NULL});
    rig_warm (&rig, &registers);
    bool registering = !strcmp (argv[1], "registers");
    rig_flood_t flood =
        rig_flood (&rig, registering ? &registers : &heartbeats, rounds);
    rig_stop (&rig);
    printf ("end_to_end kind=%s peers=%u transport=%s instances=%zu "
            "tasks=%llu missing=%lld tasks_per_second=%.0f "
            "cpu_ns_per_task=%.0f peer_cpu_ns_per_task=%.0f\n",
            argv[1], peers, kind, instances, (unsigned long long) flood.tasks,
            (long long) (flood.tasks - flood.received),
            (double) flood.received / flood.seconds, flood.cpu_ns,
            flood.peer_cpu_ns);
    load_free (&registers);
    load_free (&heartbeats);
    return EXIT_SUCCESS;
}
