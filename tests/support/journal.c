#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "journal.h"
#include "scan.h"
#include "banned.h"

struct speer_journal {
    speer_record_t *records;  //  Owned; SPEER_RECORDS_MAX of them, a ring
    uint64_t count;           //  Records so far
    uint64_t kept_from;       //  Bodies of earlier ones have been dropped
    speer_sample_t
        *samples;         //  Owned; SPEER_SAMPLES_HELD, NULL before the first
    uint64_t sampled;     //  Samples noted so far
    uint64_t taken;       //  Samples taken so far
    uint64_t phase;       //  Items seen while sampling
    int64_t received_ns;  //  Of the body just being sampled
};

speer_journal_t *
speer_journal_new (void)
{
    speer_journal_t *self = (speer_journal_t *) calloc (1, sizeof *self);
    assert (self);
    self->records =
        (speer_record_t *) calloc (SPEER_RECORDS_MAX, sizeof *self->records);
    assert (self->records);
    return self;
}

void
speer_journal_destroy (speer_journal_t **self_p)
{
    speer_journal_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < SPEER_RECORDS_MAX; i++)
        speer_record_free (&self->records[i]);
    free (self->records);
    free (self->samples);
    free (self);
}

void
speer_record_free (speer_record_t *record)
{
    free (record->method);
    free (record->path);
    free (record->head);
    free (record->body);
    *record = (speer_record_t){0};
}

//  A copy with a NUL behind it
static char *
s_copy (const char *data, size_t size)
{
    char *copy = (char *) malloc (size + 1);
    assert (copy);
    memcpy (copy, data, size);
    copy[size] = 0;
    return copy;
}

static speer_record_t *
s_record (const speer_journal_t *self, uint64_t number)
{
    return &self->records[number % SPEER_RECORDS_MAX];
}

//  Drops head and body of all but the latest keep records
static void
s_drop_bodies (speer_journal_t *self, size_t keep)
{
    for (; self->kept_from + keep < self->count; self->kept_from++) {
        speer_record_t *record = s_record (self, self->kept_from);
        free (record->head);
        free (record->body);
        record->head = NULL;
        record->body = NULL;
    }
}

uint64_t
speer_journal_add (speer_journal_t *self, const speer_http_t *request,
                   uint64_t at_ms, size_t items, size_t keep)
{
    uint64_t number = self->count++;
    speer_record_t *record = s_record (self, number);
    speer_record_free (record);
    *record = (speer_record_t){
        .at_ms = at_ms, .items = items, .body_bytes = request->body_size};
    record->method = s_copy (request->method, request->method_size);
    record->path = s_copy (request->target, request->target_size);
    if (keep) {
        record->head = s_copy (request->head, request->head_size);
        record->body = s_copy (request->body, request->body_size);
    }
    s_drop_bodies (self, keep);
    return number;
}

const speer_record_t *
speer_journal_get (const speer_journal_t *self, uint64_t number)
{
    return number < self->count && self->count - number <= SPEER_RECORDS_MAX
               ? s_record (self, number)
               : NULL;
}

void
speer_journal_done (speer_journal_t *self, uint64_t number, uint64_t at_ms,
                    int status)
{
    if (!speer_journal_get (self, number))
        return;
    s_record (self, number)->done_ms = at_ms;
    s_record (self, number)->status = status;
}

uint64_t
speer_journal_count (const speer_journal_t *self)
{
    return self->count;
}

static void
s_sample (void *arg, int64_t timestamp)
{
    speer_journal_t *self = (speer_journal_t *) arg;
    if (self->sampled - self->taken == SPEER_SAMPLES_HELD)
        return;
    self->samples[self->sampled++ % SPEER_SAMPLES_HELD] =
        (speer_sample_t){self->received_ns, timestamp};
}

void
speer_journal_sample (speer_journal_t *self, const speer_http_t *request,
                      int64_t received_ns, uint64_t every)
{
    if (!self->samples)
        self->samples = (speer_sample_t *) calloc (SPEER_SAMPLES_HELD,
                                                   sizeof *self->samples);
    assert (self->samples);
    self->received_ns = received_ns;
    speer_scan_timestamps (request->body, request->body_size, every,
                           &self->phase, s_sample, self);
}

size_t
speer_journal_samples (const speer_journal_t *self)
{
    return (size_t) (self->sampled - self->taken);
}

size_t
speer_journal_take_samples (speer_journal_t *self, speer_sample_t *samples,
                            size_t max)
{
    size_t count = 0;
    while (count < max && self->taken < self->sampled)
        samples[count++] = self->samples[self->taken++ % SPEER_SAMPLES_HELD];
    return count;
}
