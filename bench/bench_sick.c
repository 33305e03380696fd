//  What two peers notice of a third that accepts connections and never reads:
//  their rate and their latency, first while all are well, then with the third
//  sick, and at its maximum of failures.
//
//  bench_sick instances rounds per_second seconds

#include <stdio.h>
#include <stdlib.h>
#include "arguments.h"
#include "rig.h"
#include "stopwatch.h"
#include "banned.h"

#define PEERS       3
#define SAMPLES_MAX 120000

//  Heartbeats that overflow would be lost
static char s_pool[] =
    "eureka.server.max-elements-in-peer-replication-pool=10000000";

typedef struct {
    const load_t *load;
    unsigned rounds;
    double per_second;
    double seconds;
} plan_t;

static void
s_measure (rig_t *rig, const plan_t *plan, const char *third)
{
    static double ms[SAMPLES_MAX];
    rig_flood_t flood = rig_flood (rig, plan->load, plan->rounds);
    size_t count =
        rig_trickle (rig, plan->per_second, plan->seconds, ms, SAMPLES_MAX);
    printf ("sick third=%s counted=%u missing=%lld tasks_per_second=%.0f "
            "per_second=%.0f samples=%zu p50_ms=%.2f p99_ms=%.2f\n",
            third, rig->counted, (long long) (flood.tasks - flood.received),
            (double) flood.received / flood.seconds, plan->per_second, count,
            stopwatch_percentile (ms, count, 50),
            stopwatch_percentile (ms, count, 99));
    fflush (stdout);
}

int
main (int argc, char **argv)
{
    arguments_t args;
    arguments_open (&args, argc, argv, "instances rounds per_second seconds");
    size_t instances = arguments_number (&args, 1, ARGUMENTS_INSTANCES_MAX);
    plan_t plan = {0};
    plan.rounds = (unsigned) arguments_number (&args, 1, ARGUMENTS_ROUNDS_MAX);
    plan.per_second = arguments_real (&args, 1, ARGUMENTS_PER_SECOND_MAX);
    plan.seconds = arguments_real (&args, 1, ARGUMENTS_SECONDS_MAX);
    arguments_close (&args);
    load_t registers, heartbeats;
    load_registers (&registers, instances);
    load_heartbeats (&heartbeats, instances);
    plan.load = &heartbeats;
    rig_t rig;
    rig_start (&rig, argv[0], PEERS, "inproc", (char *[]){s_pool, NULL});
    rig_warm (&rig, &registers);
    //  The third takes its share of the machine as long as it is well. So that
    //  only its sickness makes the difference, it is not part of the first
    //  measurement either: the engine does not know it yet.
    rig.counted = PEERS - 1;
    zpeer_engine_remove_peer (rig.engine, rig.peers[PEERS - 1].url);
    s_measure (&rig, &plan, "absent");
    zpeer_engine_add_peer (rig.engine, rig.peers[PEERS - 1].url);
    s_measure (&rig, &plan, "well");
    peer_script (&rig.peers[PEERS - 1], "{\"mode\": \"black-hole\"}");
    s_measure (&rig, &plan, "black-hole");
    rig_stop (&rig);
    load_free (&registers);
    load_free (&heartbeats);
    return EXIT_SUCCESS;
}
