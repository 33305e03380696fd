//  How many tasks a second go from the events socket to counting peers, nothing
//  lost.
//
//  bench_end_to_end heartbeats|registers peers instances rounds [inproc|ipc|tcp]

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "rig.h"
#include "banned.h"

#define KINDS "heartbeats|registers"

//  More than ever wait: heartbeats that overflow would be lost
static char s_pool[] =
    "eureka.server.max-elements-in-peer-replication-pool=10000000";

int
main (int argc, char **argv)
{
    arguments_t args;
    arguments_open (&args, argc, argv,
                    KINDS " peers instances rounds [" RIG_TRANSPORTS "]");
    const char *kind = arguments_word (&args, KINDS);
    unsigned peers = (unsigned) arguments_number (&args, 1, RIG_PEERS_MAX);
    size_t instances = arguments_number (&args, 1, ARGUMENTS_INSTANCES_MAX);
    unsigned rounds =
        (unsigned) arguments_number (&args, 1, ARGUMENTS_ROUNDS_MAX);
    const char *transport = arguments_left (&args)
                                ? arguments_word (&args, RIG_TRANSPORTS)
                                : "inproc";
    arguments_close (&args);
    load_t registers, heartbeats;
    load_registers (&registers, instances);
    load_heartbeats (&heartbeats, instances);
    rig_t rig;
    rig_start (&rig, argv[0], peers, transport, (char *[]){s_pool, NULL});
    rig_warm (&rig, &registers);
    bool registering = !strcmp (kind, "registers");
    rig_flood_t flood =
        rig_flood (&rig, registering ? &registers : &heartbeats, rounds);
    rig_stop (&rig);
    printf ("end_to_end kind=%s peers=%u transport=%s instances=%zu "
            "tasks=%llu missing=%lld tasks_per_second=%.0f "
            "cpu_ns_per_task=%.0f peer_cpu_ns_per_task=%.0f\n",
            kind, peers, transport, instances, (unsigned long long) flood.tasks,
            (long long) (flood.tasks - flood.received),
            (double) flood.received / flood.seconds, flood.cpu_ns,
            flood.peer_cpu_ns);
    load_free (&registers);
    load_free (&heartbeats);
    return EXIT_SUCCESS;
}
