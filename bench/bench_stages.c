//  CPU time of one event, stage by stage, in one thread: the functions the actors
//  call, in their order, warm; each figure is the median over the rounds.
//
//  bench_stages heartbeats|registers instances rounds
//
//  instances: a multiple of 16,000 fills every batch and every frame.
//
//  A Register here tells of a newer lastDirtyTimestamp and the same InstanceInfo,
//  as one does whose instance changed its status. HTTP has its own benchmark.

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "answer.h"
#include "arguments.h"
#include "info.h"
#include "lane.h"
#include "socket.h"
#include "source.h"
#include "stopwatch.h"
#include "banned.h"

#define KINDS      "heartbeats|registers"
#define ROUNDS_MAX 1000
#define CREDIT     6
#define BATCH      250

//  Requests under way at a time; few, as they stay in the cache in an engine, too
#define WINDOW 16

#define STAGES(X)                                                              \
    X (RECEIVE, "receive")                                                     \
    X (PARSE, "parse")                                                         \
    X (READ, "read_info")                                                      \
    X (READ_WRITE, "read_write_info")                                          \
    X (PARSE_APPLY, "parse_apply")                                             \
    X (HAND_OVER, "hand_over")                                                 \
    X (LANE, "lane")                                                           \
    X (BODY, "body")                                                           \
    X (ANSWER, "answer")                                                       \
    X (ANSWER_MIXED, "answer_mixed")

typedef enum {
#define X(name, label) name,
    STAGES (X)
#undef X
        STAGES_MAX
} stage_t;

typedef struct {
    bool registers;
    load_t load;
    size_t events;            //  In load
    zpeer_change_t *changes;  //  Owned; what the view made of them
    source_t source;
    zpeer_lane_t *lane;
    zsock_t *feeder;
    zsock_t *router;
    zpeer_info_t info;
    zpeer_keys_t keys;
    zpeer_buffer_t json;
    char *answers[2];  //  To a batch: all 200, and with a few 404
    uint64_t now;
    uint64_t round;
    uint64_t batch;
    int64_t mark;               //  Where the lap began
    int64_t spent[STAGES_MAX];  //  This round
    double ns[STAGES_MAX][ROUNDS_MAX];
} bench_t;

static void
s_start (bench_t *self)
{
    self->mark = stopwatch_thread_ns ();
}

//  The time since the last lap or start was this stage's
static void
s_lap (bench_t *self, stage_t stage)
{
    int64_t now = stopwatch_thread_ns ();
    self->spent[stage] += now - self->mark;
    self->mark = now;
}

//  Receive ---------------------------------------------------------------------

//  A request and its answer, a frame of events each; the feeder's part does not
//  count
static void
s_receive (bench_t *self)
{
    zpeer_frames_t frames = {0};
    for (size_t first = 0; first < self->load.count; first += WINDOW) {
        size_t end = first + WINDOW;
        if (end > self->load.count)
            end = self->load.count;
        for (size_t i = first; i < end; i++) {
            const load_frame_t *frame = &self->load.frames[i];
            zpeer_slice_t payload = {frame->data, frame->size};
            zpeer_socket_send (self->feeder, &payload, 1);
        }
        s_start (self);
        while (zpeer_socket_recv (self->router, &frames) == ZPEER_OK) {
            zpeer_slice_t answer[] = {zpeer_frames_at (&frames, 0),
                                      zpeer_slice_str ("as long as one is")};
            zpeer_socket_send (self->router, answer, 2);
        }
        s_lap (self, RECEIVE);
        while (zpeer_socket_recv (self->feeder, &frames) == ZPEER_OK)
            continue;
    }
    zpeer_frames_close (&frames);
}

//  Parse, view, encode ---------------------------------------------------------

//  Parses every event; and hands it to the view if asked to: the difference is
//  what the view costs
static void
s_parse (bench_t *self, bool apply, stage_t stage)
{
    char reason[ZPEER_REASON_MAX];
    zpeer_parsed_t event;
    zpeer_applied_t applied;
    zpeer_change_t *change = self->changes;
    s_start (self);
    for (size_t i = 0; i < self->load.count; i++) {
        const load_frame_t *frame = &self->load.frames[i];
        for (size_t offset = 0; offset < frame->size;) {
            zpeer_parser_next (self->source.parser, frame->data, frame->size,
                               &offset, &event, reason);
            if (!apply)
                continue;
            if (self->registers)
                event.timestamp += self->round;
            zpeer_view_apply (self->source.view, self->now, &event, &applied);
            *change++ = applied.change;
        }
    }
    s_lap (self, stage);
}

static int
s_member (void *arg, zpeer_reader_t *reader, size_t index,
          const zpeer_field_t *field, const zpeer_token_t *token)
{
    bench_t *self = (bench_t *) arg;
    (void) index;
    (void) field;
    return zpeer_info_read (&self->info, reader, token);
}

//  Reads the InstanceInfo of every event, and writes it when asked to: the
//  difference is what encoding costs inside the parser
static void
s_info (bench_t *self, bool write, stage_t stage)
{
    static const zpeer_slice_t names[] = {ZPEER_NAME ("info")};
    char reason[ZPEER_REASON_MAX] = "";
    const zpeer_slice_t app = zpeer_slice_str ("SERVICE-07");
    const zpeer_slice_t id =
        zpeer_slice_str ("host00007.example.net:service-07:8080");
    s_start (self);
    for (size_t i = 0; i < self->load.count; i++) {
        const load_frame_t *frame = &self->load.frames[i];
        zpeer_reader_t reader = {
            {frame->data, frame->data + frame->size, UINT32_MAX, NULL},
            0,
            &self->keys,
            reason};
        while (reader.walk.at < reader.walk.end) {
            zpeer_token_t map;
            zpeer_keys_reset (&self->keys);
            int rc = zpeer_reader_next (&reader, &map);
            if (!rc)
                rc = zpeer_reader_map (&reader, &map, "", names, 1, NULL,
                                       s_member, self);
            assert (rc == ZPEER_OK);
            zpeer_buffer_reset (&self->json);
            if (write)
                zpeer_info_write (&self->info, app, id, &self->json);
        }
    }
    s_lap (self, stage);
}

//  Lane ------------------------------------------------------------------------

//  As the handover does it, but for the message around the chunk
static void
s_hand_over (bench_t *self)
{
    for (size_t i = 0; i < self->events;) {
        s_start (self);
        zpeer_chunk_t *chunk = zpeer_chunk_new ();
        for (; i < self->events && chunk->count < ZPEER_CHUNK_MAX; i++) {
            if (self->changes[i].state)
                zpeer_state_ref (self->changes[i].state);
            chunk->changes[chunk->count++] = self->changes[i];
        }
        s_lap (self, HAND_OVER);
        for (uint32_t n = 0; n < chunk->count; n++)
            zpeer_lane_change (self->lane, self->now, &chunk->changes[n]);
        s_lap (self, LANE);
        zpeer_chunk_unref (&chunk);
        s_lap (self, HAND_OVER);
    }
}

static void
s_write (const zpeer_lane_batch_t *batch)
{
    zpeer_buffer_t body = {0};
    zpeer_buffer_reserve (&body, batch->bytes + sizeof ZPEER_BATCH_HEAD +
                                     sizeof ZPEER_BATCH_TAIL);
    zpeer_item_write_all (batch->items, batch->count, &body);
    zpeer_buffer_free (&body);
}

static void
s_answer (bench_t *self, unsigned which)
{
    char error[256];
    zpeer_answer_t answer;
    const char *text = self->answers[which];
    int rc = zpeer_answer_parse (&answer, text, strlen (text), BATCH, error,
                                 sizeof error);
    assert (rc == ZPEER_OK);
    zpeer_answer_free (&answer);
}

static void
s_deliver (bench_t *self)
{
    zpeer_lane_batch_t batch;
    self->now += 1000;
    s_start (self);
    while (zpeer_lane_next (self->lane, self->now, CREDIT, ++self->batch,
                            &batch)) {
        zpeer_result_t result = {.id = batch.id,
                                 .verdict = ZPEER_SUCCESS,
                                 .status = 200,
                                 .elapsed_ms = 1,
                                 .items = batch.count,
                                 .detail = ""};
        s_lap (self, LANE);
        s_write (&batch);
        s_lap (self, BODY);
        s_answer (self, 0);
        s_lap (self, ANSWER);
        s_answer (self, 1);
        s_lap (self, ANSWER_MIXED);
        zpeer_lane_done (self->lane, self->now, &result);
    }
    s_lap (self, LANE);
    assert (zpeer_lane_idle (self->lane));
}

//  Setup -----------------------------------------------------------------------

//  One in 50 of a mixed answer is a 404
static char *
s_answer_text (bool mixed)
{
    zpeer_buffer_t text = {0};
    zpeer_buffer_lit (&text, "{\"responseList\":[");
    for (unsigned i = 0; i < BATCH; i++) {
        if (i)
            zpeer_buffer_lit (&text, ",");
        zpeer_buffer_lit (&text, "{\"statusCode\":");
        zpeer_buffer_uint (&text, mixed && i % 50 == 7 ? 404 : 200);
        zpeer_buffer_lit (&text, "}");
    }
    zpeer_buffer_add (&text, "]}", 3);
    return zpeer_buffer_take (&text);
}

static void
s_open (bench_t *self, size_t instances)
{
    load_t registers;
    zpeer_lane_options_t options = {.max_items = BATCH,
                                    .max_bytes = 1048576,
                                    .linger_ms = 10,
                                    .read_timeout_ms = 30000,
                                    .pool = UINT32_MAX};
    self->events = load_registers (&registers, instances);
    if (self->registers)
        load_registers (&self->load, instances);
    else
        load_heartbeats (&self->load, instances);
    self->changes =
        (zpeer_change_t *) calloc (self->events, sizeof *self->changes);
    assert (self->changes);
    source_open (&self->source);
    source_take (&self->source, &registers, NULL, NULL);
    zpeer_view_tell_all (self->source.view);
    load_free (&registers);
    self->lane = zpeer_lane_new (&options);
    self->router = zpeer_socket_new (ZPEER_ROLE_FEEDERS, 1000, -1);
    zpeer_socket_bind (self->router, "inproc://stages", NULL, NULL);
    self->feeder = zpeer_socket_new (ZPEER_ROLE_CLIENT, 1000, -1);
    zpeer_socket_connect (self->feeder, "inproc://stages");
    for (unsigned i = 0; i < 2; i++)
        self->answers[i] = s_answer_text (i == 1);
}

static void
s_close (bench_t *self)
{
    free (self->changes);
    zpeer_lane_destroy (&self->lane);
    source_close (&self->source);
    zsock_destroy (&self->feeder);
    zsock_destroy (&self->router);
    zpeer_info_free (&self->info);
    zpeer_keys_free (&self->keys);
    zpeer_buffer_free (&self->json);
    load_free (&self->load);
    for (unsigned i = 0; i < 2; i++)
        free (self->answers[i]);
}

static void
s_round (bench_t *self)
{
    memset (self->spent, 0, sizeof self->spent);
    self->round++;
    s_receive (self);
    s_parse (self, false, PARSE);
    s_parse (self, true, PARSE_APPLY);
    if (self->registers) {
        s_info (self, false, READ);
        s_info (self, true, READ_WRITE);
    }
    s_hand_over (self);
    s_deliver (self);
}

static void
s_print (bench_t *self, const char *kind, unsigned rounds)
{
    double ns[STAGES_MAX];
    for (int i = 0; i < STAGES_MAX; i++)
        ns[i] = stopwatch_median (self->ns[i], rounds);
    double encode = ns[READ_WRITE] - ns[READ];
    printf ("stages kind=%s instances=%zu receive=%.1f parse=%.1f encode=%.1f "
            "view=%.1f hand_over=%.1f lane=%.1f body=%.1f answer=%.1f "
            "answer_mixed=%.1f\n",
            kind, self->events, ns[RECEIVE], ns[PARSE] - encode, encode,
            ns[PARSE_APPLY] - ns[PARSE], ns[HAND_OVER], ns[LANE], ns[BODY],
            ns[ANSWER], ns[ANSWER_MIXED]);
}

int
main (int argc, char **argv)
{
    static bench_t bench;
    arguments_t args;
    arguments_open (&args, argc, argv, KINDS " instances rounds");
    const char *kind = arguments_word (&args, KINDS);
    size_t instances = arguments_number (&args, 1, ARGUMENTS_INSTANCES_MAX);
    unsigned rounds = (unsigned) arguments_number (&args, 1, ROUNDS_MAX);
    arguments_close (&args);
    bench.registers = !strcmp (kind, "registers");
    s_open (&bench, instances);
    s_round (&bench);  //  Warm
    for (unsigned i = 0; i < rounds; i++) {
        s_round (&bench);
        for (int stage = 0; stage < STAGES_MAX; stage++)
            bench.ns[stage][i] =
                (double) bench.spent[stage] / (double) bench.events;
    }
    s_print (&bench, kind, rounds);
    s_close (&bench);
    return EXIT_SUCCESS;
}
