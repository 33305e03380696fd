/*  journal.h - what came in: records of requests, samples of receipt times

    Rings: the oldest records go, the newest samples are not noted.
*/
#ifndef SPEER_JOURNAL_H_INCLUDED
#define SPEER_JOURNAL_H_INCLUDED

#include "http.h"
#include "scripted_peer.h"

typedef struct speer_journal speer_journal_t;

speer_journal_t *speer_journal_new (void);
void speer_journal_destroy (speer_journal_t **self_p);

//  Notes a request; of the latest keep ones head and body are held. Returns its
//  number, from 0.
uint64_t speer_journal_add (speer_journal_t *self, const speer_http_t *request,
                            uint64_t at_ms, size_t items, size_t keep);

//  Notes the answer; ignored if the record has gone
void speer_journal_done (speer_journal_t *self, uint64_t number, uint64_t at_ms,
                         int status);

//  The record, borrowed until the next call that adds; NULL if it has gone
const speer_record_t *
speer_journal_get (const speer_journal_t *self, uint64_t number);

uint64_t speer_journal_count (const speer_journal_t *self);

//  Notes the timestamp of every n-th item of a body
void speer_journal_sample (speer_journal_t *self, const speer_http_t *request,
                           int64_t received_ns, uint64_t every);
size_t speer_journal_samples (const speer_journal_t *self);
size_t speer_journal_take_samples (speer_journal_t *self,
                                   speer_sample_t *samples, size_t max);

#endif
