/*  race_engines.c - two engines in one process, started and stopped under load

    Each has a thread that starts it, adds a peer, and stops it again, with
    feeders and watchers at work. They share the log function, and whatever the
    library keeps for the process.
*/
#include <pthread.h>
#include <stdatomic.h>
#include "race.h"
#include "scripted_peer.h"
#include "banned.h"

#define ENGINES 2
#define CYCLES  3

static atomic_ullong s_logged;

static void
s_cycle (speer_t *peer)
{
    zpeer_engine_t *engine = race_engine (race_log, &s_logged);
    RACE_CHECK (zpeer_engine_add_peer (engine, speer_url (peer)) == ZPEER_OK);
    race_t *race = race_new ();
    for (unsigned i = 0; i < 2; i++)
        race_feed (race, zpeer_engine_events (engine));
    race_watch (race, zpeer_engine_outcomes (engine));
    uint64_t items = speer_get (peer, SPEER_ITEMS);
    RACE_CHECK (speer_wait (peer, SPEER_ITEMS, items + 300, RACE_WAIT_MS));
    RACE_CHECK (zpeer_engine_stop (engine) >= 0);
    race_destroy (&race);
    zpeer_engine_destroy (&engine);
}

static void *
s_run (void *arg)
{
    (void) arg;
    speer_t *peer = speer_new (0, -1);
    for (unsigned i = 0; i < CYCLES; i++)
        s_cycle (peer);
    speer_destroy (&peer);
    return NULL;
}

int
main (void)
{
    pthread_t threads[ENGINES];
    for (unsigned i = 0; i < ENGINES; i++)
        RACE_CHECK (pthread_create (&threads[i], NULL, s_run, NULL) == 0);
    for (unsigned i = 0; i < ENGINES; i++)
        pthread_join (threads[i], NULL);
    RACE_CHECK (s_logged > 0);
    return 0;
}
