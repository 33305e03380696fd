#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "routes.h"
#include "scan.h"
#include "work.h"
#include "banned.h"

#define HELD        INT64_MAX  //  Due when released
#define INFLATE_MAX (16u << 20)
#define ALL_OK_MAX  4096  //  Items of the largest batch that zpeer sends

//  A request under work
typedef struct s_job {
    struct s_job *prev;
    struct s_job *next;
    speer_conn_t *conn;        //  Borrowed; NULL: gone, or answered
    speer_http_t request;      //  Points into bytes once it has to wait
    char *bytes;               //  Owned; NULL while the connection has them
    const speer_rule_t *rule;  //  One reference, or NULL
    speer_reply_t reply;       //  Once it has been applied
    size_t items;
    bool batch;
    bool handled;   //  reply is there
    bool answered;  //  Only the late changes are left
    int64_t due_at;
} s_job_t;

typedef struct {
    char *data;
    size_t size;
} s_bytes_t;

struct speer_work {
    speer_core_t *core;  //  Borrowed
    s_job_t *jobs;       //  Owned; those that wait
    int64_t busy_until;  //  Serial: when the work begun so far will be done
    s_bytes_t all_ok[ALL_OK_MAX + 1];  //  Owned; the answers while counting, by
                                       //  number of items, made when needed
};

static const speer_rule_t s_no_rule = {.answer = SPEER_PROPER};

static const speer_rule_t *
s_rule (const s_job_t *job)
{
    return job->rule ? job->rule : &s_no_rule;
}

static void
s_job_free (s_job_t *job)
{
    speer_rules_release (job->rule);
    speer_reply_free (&job->reply);
    free (job->bytes);
    free (job);
}

//  Copies the request, which the connection is about to forget
static void
s_job_keep (s_job_t *job)
{
    speer_http_t *request = &job->request;
    if (job->bytes)
        return;
    char *bytes = (char *) malloc (request->head_size + request->body_size + 1);
    assert (bytes);
    memcpy (bytes, request->head, request->head_size);
    memcpy (bytes + request->head_size, request->body, request->body_size);
    request->method = bytes + (request->method - request->head);
    request->target = bytes + (request->target - request->head);
    request->head = bytes;
    request->body = bytes + request->head_size;
    job->bytes = bytes;
}

//  ---- Working

//  Finds the proper answer, and makes the changes with apply
static void
s_handle (speer_work_t *self, s_job_t *job, bool apply)
{
    speer_answer_t answer = s_rule (job)->answer;
    //  Item rules have shaped the answer; what is late is made as it is
    speer_batch_way_t way = {.apply = apply,
                             .rules = !job->answered,
                             .extra = answer == SPEER_MORE    ? 1
                                      : answer == SPEER_FEWER ? -1
                                                              : 0};
    if (self->core->settings[SPEER_SET_COUNT])
        speer_reply_set (&job->reply, 200, job->batch ? SPEER_JSON : NULL,
                         job->batch ? speer_batch_all_ok (job->items) : NULL);
    else
        speer_routes_handle (self->core, &job->request, way, &job->reply);
    self->core->counters[SPEER_APPLIED] += apply;
    job->handled = true;
}

//  What a status of our own stands for has not been done. FIRST is over by now,
//  LATE is to come.
static bool
s_applies (const speer_rule_t *rule)
{
    return rule->apply == SPEER_APPLY_AUTO && !rule->status;
}

static void
s_answer (speer_conns_t *conns, s_job_t *job)
{
    speer_conn_t *conn = job->conn;
    speer_output_t output =
        speer_reply_write (&job->reply, job->rule, job->request.keep_alive);
    int drip_ms = s_rule (job)->drip_ms;
    job->conn = NULL;
    if (conn) {
        conn->job = NULL;
        conn->status = output.status;
        speer_conn_answer (conns, conn, &output, drip_ms);
    }
    free (output.data);
}

static int64_t
s_due (int delay_ms)
{
    return delay_ms == SPEER_HELD ? HELD : speer_now_ms () + delay_ms;
}

//  The delay is over: applies and answers. True if the job is done with.
static bool
s_finish (speer_work_t *self, speer_conns_t *conns, s_job_t *job)
{
    if (job->answered) {
        s_handle (self, job, true);
        return true;
    }
    if (!job->handled)
        s_handle (self, job, s_applies (s_rule (job)));
    if (s_rule (job)->apply == SPEER_APPLY_LATE)
        s_job_keep (job);
    s_answer (conns, job);
    job->answered = true;
    job->due_at = s_due (s_rule (job)->late_ms);
    return s_rule (job)->apply != SPEER_APPLY_LATE;
}

//  When the request is answered. Serial work begins when the earlier is done.
static int64_t
s_plan (speer_work_t *self, const s_job_t *job)
{
    const speer_rule_t *rule = s_rule (job);
    int64_t now = speer_now_ms ();
    int64_t work_ms = rule->delay_ms + (int64_t) job->items * rule->item_ms;
    if (rule->delay_ms == SPEER_HELD)
        return HELD;
    if (!self->core->settings[SPEER_SET_SERIAL])
        return now + work_ms;
    int64_t begin = self->busy_until > now ? self->busy_until : now;
    self->busy_until = begin + work_ms;
    return self->busy_until;
}

static void
s_start (speer_work_t *self, speer_conns_t *conns, s_job_t *job)
{
    job->due_at = s_plan (self, job);
    bool due = job->due_at <= speer_now_ms ();
    if (s_rule (job)->apply == SPEER_APPLY_FIRST)
        s_handle (self, job, true);
    if (due && s_finish (self, conns, job)) {
        s_job_free (job);
        return;
    }
    s_job_keep (job);
    if (job->conn)
        job->conn->job = job;
    DL_APPEND (self->jobs, job);
    self->core->counters[SPEER_PENDING]++;
}

//  ---- Counting

//  The whole answer to a batch of that many items
static const s_bytes_t *
s_all_ok (speer_work_t *self, size_t items)
{
    s_bytes_t *bytes = &self->all_ok[items];
    if (!bytes->data) {
        speer_reply_t reply = {0};
        speer_reply_set (&reply, 200, SPEER_JSON, speer_batch_all_ok (items));
        speer_output_t output = speer_reply_write (&reply, NULL, true);
        *bytes = (s_bytes_t){output.data, output.size};
    }
    return bytes;
}

static void
s_answer_counted (speer_work_t *self, speer_conns_t *conns, speer_conn_t *conn,
                  size_t items)
{
    const s_bytes_t *bytes = s_all_ok (self, items);
    speer_output_t output = {.data = bytes->data,
                             .size = bytes->size,
                             .then = SPEER_THEN_KEEP,
                             .whole = true,
                             .status = 200};
    self->core->counters[SPEER_APPLIED]++;
    conn->status = output.status;
    speer_conn_answer (conns, conn, &output, 0);
}

//  ---- Requests

//  With GUNZIP a gzipped body is replaced; returns the memory, the caller's
static char *
s_inflate (speer_work_t *self, speer_http_t *request)
{
    if (!self->core->settings[SPEER_SET_GUNZIP] ||
        !speer_http_header_has (request, "Content-Encoding", "gzip"))
        return NULL;
    size_t size;
    char *plain =
        speer_gunzip (request->body, request->body_size, INFLATE_MAX, &size);
    if (plain) {
        request->body = plain;
        request->body_size = size;
    }
    return plain;
}

//  Counts and records it. Returns the number of its items.
static size_t
s_note (speer_work_t *self, speer_conn_t *conn, const speer_http_t *request,
        bool batch)
{
    uint64_t *counters = self->core->counters;
    const int64_t *settings = self->core->settings;
    size_t items =
        batch ? speer_scan_items (request->body, request->body_size) : 1;
    int64_t now_ns = speer_now_ns ();
    counters[SPEER_REQUESTS]++;
    counters[SPEER_BATCHES] += batch;
    counters[SPEER_ITEMS] += items;
    counters[SPEER_BYTES] += request->head_size + request->body_size;
    if (++counters[SPEER_IN_FLIGHT] > counters[SPEER_MAX_IN_FLIGHT])
        counters[SPEER_MAX_IN_FLIGHT] = counters[SPEER_IN_FLIGHT];
    counters[SPEER_UNMARKED] += !batch && *request->method != 'G' &&
                                !speer_routes_is_replication (request);
    conn->record = speer_journal_add (
        self->core->journal, request, (uint64_t) now_ns / 1000000, items,
        settings[SPEER_SET_COUNT] ? 0 : (size_t) settings[SPEER_SET_KEEP]);
    if (settings[SPEER_SET_SAMPLE] && batch)
        speer_journal_sample (self->core->journal, request, now_ns,
                              (uint64_t) settings[SPEER_SET_SAMPLE]);
    return items;
}

void
speer_work_request (speer_work_t *self, speer_conns_t *conns,
                    speer_conn_t *conn, speer_http_t *request)
{
    bool batch = speer_routes_is_batch (request);
    char *plain = s_inflate (self, request);
    size_t items = s_note (self, conn, request, batch);
    const speer_rule_t *rule = speer_rules_take (self->core->rules, request);
    conn->status = 0;
    self->core->counters[SPEER_FAULTS] +=
        rule && (rule->answer != SPEER_PROPER || rule->status);
    if (!rule && batch && items <= ALL_OK_MAX && request->keep_alive &&
        self->core->settings[SPEER_SET_COUNT] &&
        !self->core->settings[SPEER_SET_SERIAL])
        s_answer_counted (self, conns, conn, items);
    else {
        s_job_t *job = (s_job_t *) calloc (1, sizeof *job);
        assert (job);
        job->conn = conn;
        job->request = *request;
        job->rule = rule;
        job->batch = batch;
        job->items = items;
        s_start (self, conns, job);
    }
    free (plain);
}

void
speer_work_sent (speer_work_t *self, speer_conn_t *conn)
{
    self->core->counters[SPEER_ANSWERED]++;
    self->core->counters[SPEER_IN_FLIGHT]--;
    speer_journal_done (self->core->journal, conn->record,
                        (uint64_t) speer_now_ms (), conn->status);
}

void
speer_work_gone (speer_work_t *self, speer_conn_t *conn, bool left)
{
    s_job_t *job = (s_job_t *) conn->job;
    self->core->counters[SPEER_ABANDONED] += left;
    self->core->counters[SPEER_IN_FLIGHT]--;
    if (job)
        job->conn = NULL;
}

void
speer_work_turn (speer_work_t *self, speer_conns_t *conns)
{
    s_job_t *job = NULL;
    s_job_t *next = NULL;
    int64_t now = speer_now_ms ();
    DL_FOREACH_SAFE (self->jobs, job, next)
    {
        if (job->due_at > now || !s_finish (self, conns, job))
            continue;
        DL_DELETE (self->jobs, job);
        self->core->counters[SPEER_PENDING]--;
        s_job_free (job);
    }
}

int64_t
speer_work_wake_at (const speer_work_t *self)
{
    int64_t wake_at = INT64_MAX;
    s_job_t *job = NULL;
    DL_FOREACH (self->jobs, job)
    if (job->due_at < wake_at)
        wake_at = job->due_at;
    return wake_at;
}

size_t
speer_work_release (speer_work_t *self)
{
    size_t count = 0;
    s_job_t *job = NULL;
    DL_FOREACH (self->jobs, job)
    if (job->due_at == HELD) {
        job->due_at = 0;
        count++;
    }
    return count;
}

void
speer_work_drop (speer_work_t *self)
{
    s_job_t *job = NULL;
    s_job_t *next = NULL;
    DL_FOREACH_SAFE (self->jobs, job, next)
    {
        DL_DELETE (self->jobs, job);
        s_job_free (job);
    }
    self->core->counters[SPEER_PENDING] = 0;
    self->busy_until = 0;
}

speer_work_t *
speer_work_new (speer_core_t *core)
{
    speer_work_t *self = (speer_work_t *) calloc (1, sizeof *self);
    assert (self);
    self->core = core;
    return self;
}

void
speer_work_destroy (speer_work_t **self_p)
{
    speer_work_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    speer_work_drop (self);
    for (size_t i = 0; i <= ALL_OK_MAX; i++)
        free (self->all_ok[i].data);
    free (self);
}
