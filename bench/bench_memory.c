//  What an instance costs: in the view, in each lane, and what a waiting change
//  adds. In the calling thread: parser, view and lanes as the engine uses them.
//
//  bench_memory instances lanes
//
//  Heap is what malloc has handed out (mallinfo2), resident is what the kernel
//  counts. Both are differences, divided by the number of instances.

#include <assert.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arguments.h"
#include "lane.h"
#include "source.h"
#include "banned.h"

#define LANES_MAX 64
#define CREDIT    6

typedef struct {
    double heap;
    double resident;
} memory_t;

typedef struct {
    zpeer_lane_t *lanes[LANES_MAX];
    unsigned from;  //  Lanes that are fed
    unsigned to;    //  Up to, not including
    size_t instances;
    uint64_t text_bytes;
    uint64_t batch;
    memory_t before;
} bench_t;

static memory_t
s_memory (void)
{
    struct mallinfo2 info = mallinfo2 ();
    char line[128] = "";
    double pages = 0;
    FILE *in = fopen ("/proc/self/statm", "r");
    if (in && fgets (line, sizeof line, in) && strchr (line, ' '))
        pages = strtod (strchr (line, ' '), NULL);
    if (in)
        fclose (in);
    return (memory_t){(double) (info.uordblks + info.hblkhd),
                      pages * (double) sysconf (_SC_PAGESIZE)};
}

//  What has been added since it was last asked, an instance
static memory_t
s_added (bench_t *self)
{
    memory_t now = s_memory ();
    double count = (double) self->instances;
    memory_t added = {(now.heap - self->before.heap) / count,
                      (now.resident - self->before.resident) / count};
    self->before = now;
    return added;
}

static void
s_print (bench_t *self, const char *what)
{
    memory_t added = s_added (self);
    printf (" %s_bytes=%.1f %s_resident_bytes=%.1f", what, added.heap, what,
            added.resident);
}

static void
s_change (void *arg, const zpeer_parsed_t *event,
          const zpeer_applied_t *applied)
{
    bench_t *self = (bench_t *) arg;
    zpeer_change_t change = applied->change;
    change.state = applied->state;
    for (unsigned i = self->from; i < self->to; i++)
        zpeer_lane_change (self->lanes[i], 1, &change);
    self->text_bytes += event->info.size;
}

static zpeer_lane_t *
s_lane (void)
{
    zpeer_lane_options_t options = {.max_items = 250,
                                    .max_bytes = 1048576,
                                    .linger_ms = 10,
                                    .read_timeout_ms = 30000,
                                    .pool = UINT32_MAX};
    return zpeer_lane_new (&options);
}

//  The peer takes everything
static void
s_deliver (bench_t *self, zpeer_lane_t *lane)
{
    zpeer_lane_batch_t batch;
    uint64_t now = 1000;
    while (zpeer_lane_next (lane, now, CREDIT, ++self->batch, &batch)) {
        zpeer_result_t result = {.id = batch.id,
                                 .verdict = ZPEER_SUCCESS,
                                 .status = 200,
                                 .elapsed_ms = 1,
                                 .items = batch.count,
                                 .detail = ""};
        zpeer_lane_done (lane, now, &result);
    }
    assert (zpeer_lane_idle (lane));
}

static void
s_feed (bench_t *self, source_t *source, const load_t *load, unsigned from,
        unsigned to)
{
    self->from = from;
    self->to = to;
    source_take (source, load, s_change, self);
}

static void
s_measure (bench_t *self, source_t *source, const load_t *registers,
           const load_t *heartbeats, unsigned lanes)
{
    zpeer_lane_stats_t stats;
    s_memory ();  //  What stdio allocates
    self->before = s_memory ();
    source_take (source, registers, s_change, self);
    double text = (double) self->text_bytes / (double) self->instances;
    printf ("memory instances=%zu lanes=%u text_bytes=%.1f", self->instances,
            lanes, text);
    s_print (self, "view");
    for (unsigned i = 0; i < lanes; i++)
        self->lanes[i] = s_lane ();
    s_feed (self, source, registers, 0, 1);
    s_deliver (self, self->lanes[0]);
    s_print (self, "first_lane");
    s_feed (self, source, registers, 1, lanes);
    for (unsigned i = 1; i < lanes; i++)
        s_deliver (self, self->lanes[i]);
    s_print (self, "further_lanes");
    s_feed (self, source, heartbeats, 0, lanes);
    s_print (self, "waiting_everywhere");
    zpeer_lane_stats (self->lanes[0], &stats);
    assert (stats.waiting == self->instances);
    printf (" lane_says_bytes=%.1f\n",
            (double) stats.memory_bytes / (double) self->instances);
}

int
main (int argc, char **argv)
{
    arguments_t args;
    arguments_open (&args, argc, argv, "instances lanes");
    size_t instances = arguments_number (&args, 1, ARGUMENTS_INSTANCES_MAX);
    unsigned lanes = (unsigned) arguments_number (&args, 2, LANES_MAX);
    arguments_close (&args);
    bench_t bench = {.batch = 0};
    load_t registers, heartbeats;
    source_t source;
    bench.instances = load_registers (&registers, instances);
    load_heartbeats (&heartbeats, bench.instances);
    source_open (&source);
    s_measure (&bench, &source, &registers, &heartbeats, lanes);
    for (unsigned i = 0; i < lanes; i++)
        zpeer_lane_destroy (&bench.lanes[i]);
    source_close (&source);
    load_free (&registers);
    load_free (&heartbeats);
    return EXIT_SUCCESS;
}
