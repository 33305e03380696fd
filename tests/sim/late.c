#include <assert.h>
#include <stdlib.h>
#include "late.h"
#include "banned.h"

//  When the source reads again while a lane has no room
#define HELD_UP_MS 20

struct late {
    struct late *next;
    event_t event;
    unsigned lives[PEERS_MAX];  //  Of the peers, when they heard of it
};
typedef struct late late_t;

bool
late_waits (const world_t *world, unsigned key)
{
    const late_t *late = world->late;
    while (late && late->event.key != key)
        late = late->next;
    return late;
}

//  What a peer has lost since, nobody tells it again
static void
s_note_lost (world_t *world, const late_t *late)
{
    for (unsigned i = 0; i < world->peer_count; i++) {
        peer_t *peer = &world->peers[i];
        peer_key_t *key = &peer->keys[late->event.key];
        key->replica_life = late->lives[i];
        key->torn |= late->lives[i] != peer->life;
    }
}

//  The oldest of the instance, whichever this turn was for
static void
s_hear (world_t *world, void *whom, uint64_t key)
{
    if (!source_reads (world)) {
        world_after (world, HELD_UP_MS, s_hear, whom, key);
        return;
    }
    late_t **link = &world->late;
    while ((*link)->event.key != key)
        link = &(*link)->next;
    late_t *late = *link;
    *link = late->next;
    s_note_lost (world, late);
    source_hear (world, &late->event);
    free (late);
}

bool
late_hear (world_t *world, const event_t *event)
{
    bool late =
        world->features[FEATURE_AHEAD] && event->key < KEYS_MAX &&
        (late_waits (world, event->key) || rng_chance (&world->rng, 500));
    if (!late) {
        source_hear (world, event);
        return false;
    }
    late_t *copy = (late_t *) malloc (sizeof *copy);
    assert (copy);
    copy->event = *event;
    copy->next = NULL;
    for (unsigned i = 0; i < world->peer_count; i++)
        copy->lives[i] = world->peers[i].life;
    if (event->parsed.info.size)
        copy->event.parsed.info = zpeer_slice_str (copy->event.info);
    late_t **link = &world->late;
    while (*link)
        link = &(*link)->next;
    *link = copy;
    world_count (world, TALLY_AHEAD);
    world_after (world, rng_below (&world->rng, LATE_MAX_MS), s_hear, NULL,
                 event->key);
    return true;
}

void
late_free (world_t *world)
{
    while (world->late) {
        late_t *late = world->late;
        world->late = late->next;
        free (late);
    }
}
