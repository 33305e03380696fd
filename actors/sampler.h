/*  sampler.h - log lines of which one of a kind goes in 10 s

        zpeer_sample (&self->lines, self->now, EVENT_REJECTED, reason);

    The others are counted. The next line of the kind says how many there were,
    or, if none comes in time, a line of the same id that says only that:

        while (…) {
            …wait, at most until zpeer_sampler_wake (&self->lines)
            zpeer_sampler_tell (&self->lines, now);
        }
        zpeer_sampler_end (&self->lines);

    Threads: one. Units: now is monotonic, ms. A plain struct; zeroed nobody
    listens.
*/
#ifndef ZPEER_SAMPLER_H_INCLUDED
#define ZPEER_SAMPLER_H_INCLUDED

#include "log.h"
#include "throttle.h"

typedef struct {
    zpeer_log_t log;
    const char *about;  //  Borrowed; the peer's URL, or NULL
    zpeer_throttle_t kinds[ZPR_MESSAGES];
    bool holds;        //  Some were held back
    uint64_t wake_at;  //  While it holds: when that is said at the latest
} zpeer_sampler_t;

//  Hands message ZPR_name to the host, or counts it. Its format ends with
//  ZPEER_HELD, for which no argument is given; the others are looked at only if
//  the line goes.
#define zpeer_sample(self, now, name, ...)                                     \
    do {                                                                       \
        char zpeer_held[ZPEER_THROTTLE_TEXT_MAX];                              \
        if (zpeer_sampler_pass ((self), (now), ZPR_##name, zpeer_held))        \
            zpeer_log (&(self)->log, name, __VA_ARGS__, zpeer_held);           \
    } while (0)

bool zpeer_sampler_pass (zpeer_sampler_t *self, uint64_t now,
                         zpeer_message_t message,
                         char held[ZPEER_THROTTLE_TEXT_MAX]);

//  When zpeer_sampler_tell has something to say; UINT64_MAX: nothing is held back
uint64_t zpeer_sampler_wake (const zpeer_sampler_t *self);

//  How long until then, microseconds; -1: for ever
int64_t zpeer_sampler_wait_us (const zpeer_sampler_t *self, uint64_t now);

//  Says how many lines were held back, of each kind for which that is due
void zpeer_sampler_tell (zpeer_sampler_t *self, uint64_t now);

//  The same for all, due or not: there will be no more lines
void zpeer_sampler_end (zpeer_sampler_t *self);

//  The same for one throttle; about may be NULL
void
zpeer_sampler_say (const zpeer_log_t *log, zpeer_message_t message,
                   const char *about, zpeer_throttle_t *throttle, uint64_t now);

#endif
