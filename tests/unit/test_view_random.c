//  Random histories: what must hold after every step, whatever happened

#include <stdio.h>
#include <string.h>
#include "view_fixture.h"
#include "banned.h"

#define INSTANCES   12
#define HANDLES     32
#define LANES       3
#define ANSWERS_MAX 4096
#define STEPS       20000
#define SEEDS       20

//  What a lane was told of a handle; name is empty when it does not know it
typedef struct {
    char name[8];
    uint64_t seq;
    bool leaving;
} known_t;

typedef struct {
    unsigned lane;
    uint32_t handle;
    uint64_t seq;
} answer_t;

static known_t s_known[LANES][HANDLES];
static bool s_there[LANES];
static answer_t s_answers[ANSWERS_MAX];  //  On their way to the view
static uint32_t s_answer_count;
static uint64_t s_random;
static uint64_t s_seed;

TestSuite (view_random, .init = s_setup, .fini = s_teardown);

//  A number below limit (xorshift64*)
static uint32_t
s_below (uint32_t limit)
{
    s_random ^= s_random >> 12;
    s_random ^= s_random << 25;
    s_random ^= s_random >> 27;
    return (uint32_t) (s_random * UINT64_C (2685821657736338717) >> 33) % limit;
}

//  The lanes

static void
s_hear_state (known_t *known, const zpeer_state_t *state)
{
    const char *name = state->name->data + state->name->app_size + 1;
    cr_assert (!*known->name || !strcmp (known->name, name),
               "seed %lu: handle of %s given to %s", s_seed, known->name, name);
    snprintf (known->name, sizeof known->name, "%s", name);
    cr_assert_geq (state->seq, known->seq, "seed %lu", s_seed);
    known->seq = state->seq;
}

//  Every lane hears of a change; state is what the view has by now
static void
s_hear (const zpeer_change_t *change, const zpeer_state_t *state)
{
    cr_assert_lt (change->handle, HANDLES, "seed %lu", s_seed);
    for (unsigned lane = 0; lane < LANES; lane++) {
        known_t *known = &s_known[lane][change->handle];
        if (!s_there[lane])
            continue;
        if (change->state)
            s_hear_state (known, change->state);
        cr_assert (*known->name, "seed %lu: no state for lane %u", s_seed,
                   lane);
        cr_assert_eq (known->seq, state->seq, "seed %lu: an old state", s_seed);
        known->leaving = change->flags & ZPEER_CHANGE_RELEASE;
    }
}

//  Now and then a lane owes nothing any more, and says so
static void
s_answer (unsigned chance)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        for (uint32_t handle = 0; handle < HANDLES; handle++) {
            known_t *known = &s_known[lane][handle];
            if (!s_there[lane] || !known->leaving || s_below (chance))
                continue;
            cr_assert_lt (s_answer_count, ANSWERS_MAX);
            s_answers[s_answer_count++] = (answer_t){lane, handle, known->seq};
            *known = (known_t){0};
        }
}

//  The first answers arrive, in order
static void
s_arrive (uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        zpeer_view_released (s_view, s_answers[i].lane, s_answers[i].handle,
                             s_answers[i].seq);
    s_answer_count -= count;
    memmove (s_answers, s_answers + count, s_answer_count * sizeof *s_answers);
}

static void
s_toggle_lane (unsigned lane)
{
    s_there[lane] = !s_there[lane];
    if (s_there[lane])
        zpeer_view_add_lane (s_view, lane);
    else
        zpeer_view_remove_lane (s_view, lane);
    memset (s_known[lane], 0, sizeof s_known[lane]);
}

//  The steps

static void
s_expire (void)
{
    bool due = zpeer_view_wake (s_view) <= s_now;
    zpeer_change_t change;
    while (zpeer_view_expire (s_view, s_now, &change)) {
        cr_assert (due, "seed %lu: not woken for what is due", s_seed);
        s_hear (&change, change.state);
    }
    cr_assert_gt (zpeer_view_wake (s_view), s_now, "seed %lu", s_seed);
}

static void
s_check (const zpeer_state_t *state)
{
    bool yields =
        state->status == ZPEER_UP || state->status == ZPEER_OUT_OF_SERVICE;
    cr_assert (!yields || !state->override || state->status == state->override,
               "seed %lu: the override does not hold", s_seed);
    cr_assert_geq (state->top, state->timestamp, "seed %lu", s_seed);
    cr_assert (zpeer_state_present (state) ||
               (!state->timestamp && !state->status && !state->override));
}

static void
s_happen (void)
{
    static const zpeer_action_t actions[] = {
        ZPEER_REGISTER, ZPEER_HEARTBEAT,     ZPEER_HEARTBEAT,
        ZPEER_CANCEL,   ZPEER_STATUS_UPDATE, ZPEER_DELETE_STATUS_OVERRIDE,
        ZPEER_FORGET};
    char id[8];
    snprintf (id, sizeof id, "%u", s_below (INSTANCES));
    uint64_t timestamp = 1 + s_below (20);
    zpeer_status_t status = (zpeer_status_t) (1 + s_below (ZPEER_STATUSES - 1));
    zpeer_parsed_t event = s_registration (id, timestamp, status);
    event.action = actions[s_below (sizeof actions / sizeof *actions)];
    event.has_timestamp = event.action != ZPEER_CANCEL || s_below (2);
    event.replicated = !s_below (4);
    event.duration_ms = 1 + s_below (LEASE_MS);
    if (event.action == ZPEER_REGISTER && !s_below (3))
        event.override = (zpeer_status_t) s_below (ZPEER_STATUSES);
    if (event.action == ZPEER_DELETE_STATUS_OVERRIDE)
        event.has_status = s_below (2);
    s_apply (event);
    if (s_applied.state)
        s_check (s_applied.state);
    if (s_applied.tell)
        s_hear (&s_applied.change, s_applied.state);
}

static void
s_count (void)
{
    zpeer_view_stats_t stats = s_stats ();
    uint32_t present = 0;
    uint32_t known = 0;
    for (unsigned i = 0; i < INSTANCES; i++) {
        char id[8];
        snprintf (id, sizeof id, "%u", i);
        const zpeer_state_t *state =
            zpeer_view_find (s_view, ZPEER_SLICE ("APP"), zpeer_slice_str (id));
        known += state != NULL;
        present += state && zpeer_state_present (state);
    }
    cr_assert_eq (stats.instances, present, "seed %lu", s_seed);
    cr_assert_eq (stats.instances + stats.tombstones + stats.releasing, known,
                  "seed %lu", s_seed);
}

static void
s_step (void)
{
    switch (s_below (16)) {
    case 0: s_now += s_below (2 * LEASE_MS); break;
    case 1: s_now += s_below (2) ? TOMBSTONE_MS : 1; break;
    case 2: s_arrive (s_below (s_answer_count + 1)); break;
    case 3: s_answer (4); break;
    case 4:
        if (!s_below (50))
            s_toggle_lane (s_below (LANES));
        break;
    case 5: s_expire (); break;
    default: s_happen ();
    }
    s_count ();
}

//  When nothing happens for long enough, nothing is left
static void
s_end (void)
{
    s_now += 2 * LEASE_MS;
    s_expire ();
    s_now += TOMBSTONE_MS;
    s_expire ();
    s_answer (1);
    s_arrive (s_answer_count);
    zpeer_view_stats_t stats = s_stats ();
    cr_assert_eq (stats.instances + stats.tombstones + stats.releasing, 0,
                  "seed %lu", s_seed);
    cr_assert_eq (zpeer_view_wake (s_view), UINT64_MAX, "seed %lu", s_seed);
}

Test (view_random, invariants_hold_in_random_histories)
{
    for (s_seed = 1; s_seed <= SEEDS; s_seed++) {
        s_random = s_seed * UINT64_C (0x9e3779b97f4a7c15);
        for (int i = 0; i < STEPS; i++)
            s_step ();
        s_end ();
    }
}
