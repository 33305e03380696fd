/*  dispatch_log.h - what a dispatcher has to say: log lines and figures

    Of failures it tells the causes that only it knows: network, silence, TLS,
    nonsense, one line of a kind in 10 s (sampler.h). Statuses, escalation and what was
    dropped are the batcher's to tell.

    Threads: one. Units: now is monotonic, ms.
*/
#ifndef ZPEER_DISPATCH_LOG_H_INCLUDED
#define ZPEER_DISPATCH_LOG_H_INCLUDED

#include "dispatch.h"
#include "report.h"
#include "sampler.h"

typedef struct {
    zpeer_sampler_t lines;  //  About the peer's URL, without credentials
    uint32_t read_timeout_ms;
    zpeer_report_t report;  //  Owned
} zpeer_dispatch_log_t;

void zpeer_dispatch_log_failed (zpeer_dispatch_log_t *self, uint64_t now,
                                const zpeer_result_t *result);

//  A connection is too old, and there can be no new one: why
void zpeer_dispatch_log_renewal (zpeer_dispatch_log_t *self, uint64_t now,
                                 const char *why);

//  Health did not say within waited_ms whether it was one failure too many
void zpeer_dispatch_log_unheard (zpeer_dispatch_log_t *self, uint64_t now,
                                 uint32_t waited_ms);

//  The batcher was silent for silent_ms, and aborted requests with it
void zpeer_dispatch_log_gone (zpeer_dispatch_log_t *self, uint32_t silent_ms,
                              uint32_t aborted);

//  Room for the key of an end, NUL included
#define ZPEER_DISPATCH_KEY_MAX 32

//  The key of the figure that counts attempts by this end: "end-read-timeout" for
//  "read timeout"
void zpeer_dispatch_log_key (zpeer_end_t end, char key[ZPEER_DISPATCH_KEY_MAX]);

//  Reports all figures as one outcome
void zpeer_dispatch_log_stats (zpeer_dispatch_log_t *self,
                               const zpeer_dispatch_stats_t *stats);

#endif
