/*  race.h - what the race tests share

    These are plain programs: they load an actor, or all of them, from many
    threads, and ThreadSanitizer says what was wrong (preset tsan; in any other
    build they still run, as load). They measure nothing and compare little;
    RACE_CHECK sees to it that the load was there at all.

    Threads: what takes no race_t can be called from any.
*/
#ifndef RACE_H_INCLUDED
#define RACE_H_INCLUDED

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <zpeer/zpeer.h>

//  Limit of every wait
#define RACE_WAIT_MS 30000

//  Ends the program when something is not as it must be; at once, as czmq would
//  wait for sockets at exit
#define RACE_CHECK(condition)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf (stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,        \
                     #condition);                                              \
            _Exit (1);                                                         \
        }                                                                      \
    } while (0)

//  Waits for a condition that other threads make true
#define RACE_UNTIL(condition)                                                  \
    do {                                                                       \
        int64_t deadline_ = zclock_mono () + RACE_WAIT_MS;                     \
        while (!(condition)) {                                                 \
            RACE_CHECK (zclock_mono () < deadline_);                           \
            sched_yield ();                                                    \
        }                                                                      \
    } while (0)

//  Calls a command of an actor, which must not refuse it
#define RACE_CALL(actor, answer, ...)                                          \
    RACE_CHECK (zpeer_command_call ((actor), RACE_WAIT_MS, (answer),           \
                                    __VA_ARGS__, (char *) NULL) == ZPEER_OK)

//  A log function that reads all it is given; arg is an atomic_ullong, which
//  counts the characters
void
race_log (void *arg, zpeer_log_level_t level, const char *id, const char *text);

//  A started engine with short times and endpoints of its own
zpeer_engine_t *race_engine (zpeer_log_fn *log, void *arg);

//  Threads that go on until the end, each with a feed or a watch of its own
typedef struct race race_t;

race_t *race_new (void);

//  Feeds events of all kinds about some hundred instances, whatever comes of it
void race_feed (race_t *self, const char *events);

//  Reads all outcomes as text
void race_watch (race_t *self, const char *outcomes);

//  Runs step (arg) again and again
typedef void (race_step_fn) (void *arg);
void race_repeat (race_t *self, race_step_fn *step, void *arg);

//  Stops all threads and waits for them
void race_destroy (race_t **self_p);

#endif
