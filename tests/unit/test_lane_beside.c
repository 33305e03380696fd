//  Live changes beside a walk of the whole view

#include <criterion/criterion.h>
#include <string.h>
#include "lane_fixture.h"
#include "banned.h"

//  All instances, and whose changes are looked at; '0' is new
#define ALL   "abcdefghijklmnopqrstuvwxyz"
#define NAMES "0amz"

//  Of the lane's window
#define CREDIT_MAX 6

typedef struct {
    uint64_t id;
    bool own;  //  There is something of the instance in it that changes
} flight_t;

//  A walk of all instances, at a peer that works in turn
typedef struct {
    unsigned credit;
    unsigned items;    //  Of a batch, at most
    unsigned flag;     //  Of the walk
    char name;         //  Whose change is looked at
    unsigned at;       //  It comes after so many answers
    unsigned batches;  //  Answered
    unsigned before;   //  Sent between it and its change
    flight_t flights[CREDIT_MAX];
    unsigned count;
} walk_t;

static lane_fixture_t s;

static void
s_setup (void)
{
    lane_fixture_init (&s);
}

static void
s_teardown (void)
{
    lane_fixture_fini (&s);
}

TestSuite (lane_beside, .init = s_setup, .fini = s_teardown);

static void
s_change (char name, uint64_t timestamp)
{
    lane_fixture_change (
        &s, name, ZPEER_REGISTER,
        (lane_state_t){.status = ZPEER_UP, .timestamp = timestamp});
}

static void
s_begin (const walk_t *walk)
{
    zpeer_lane_options_t options = lane_fixture_options ();
    lane_fixture_fini (&s);
    options.max_items = walk->items;
    lane_fixture_init_with (&s, &options);
    for (const char *name = ALL; *name; name++)
        s_change (*name, 5);
    while (*lane_fixture_next (&s))
        lane_fixture_ok (&s);
    zpeer_lane_walk_begin (s.lane);
    for (const char *name = ALL; *name; name++)
        lane_fixture_flag (&s, *name, walk->flag | ZPEER_CHANGE_WALK);
    zpeer_lane_walk_complete (s.lane);
}

//  Whether the batch that was just sent has something of the instance
static bool
s_has (const walk_t *walk)
{
    const char text[] = {' ', walk->name, 0};
    return strstr (s.sent, text);
}

//  Whether its change has gone, or the question about it
static bool
s_is_told (const walk_t *walk)
{
    return strstr (s.sent, "@6") && s_has (walk);
}

static bool
s_is_away (const walk_t *walk)
{
    for (unsigned i = 0; i < walk->count; i++)
        if (walk->flights[i].own)
            return true;
    return false;
}

//  Sends what may go. Returns whether the change has.
static bool
s_send (walk_t *walk)
{
    while (walk->count < walk->credit &&
           *lane_fixture_next_of (&s, walk->credit - walk->count)) {
        bool waits = walk->batches > walk->at && !s_is_away (walk);
        walk->flights[walk->count++] = (flight_t){s.last_id, s_has (walk)};
        if (s_is_told (walk))
            return true;
        walk->before += waits;
    }
    return false;
}

static void
s_answer (walk_t *walk)
{
    s.now += 20;
    s.last_id = walk->flights[0].id;
    lane_fixture_ok (&s);
    memmove (walk->flights, walk->flights + 1,
             sizeof walk->flights - sizeof *walk->flights);
    walk->count--;
    walk->batches++;
}

//  Returns false if the walk was over before the change came
static bool
s_walk (walk_t *walk)
{
    s_begin (walk);
    while (!s_send (walk)) {
        if (!walk->count)
            return false;
        if (walk->batches == walk->at)
            s_change (walk->name, 6);
        s_answer (walk);
    }
    return true;
}

//  The most that goes before a change, whenever in the walk it comes
static unsigned
s_most (walk_t walk)
{
    unsigned most = 0;
    walk_t tried = walk;
    for (; s_walk (&tried); tried = walk) {
        if (most < tried.before)
            most = tried.before;
        walk.at++;
    }
    cr_expect_gt (walk.at, 0);
    return most;
}

//  Beside what is on its way when it comes: the walk leaves a place for it, unless what
//  the peer was asked about is to be told first
static void
s_expect_one (unsigned credit, unsigned items, unsigned flag)
{
    for (const char *name = NAMES; *name; name++) {
        walk_t walk = {
            .credit = credit, .items = items, .flag = flag, .name = *name};
        unsigned most = s_most (walk);
        cr_expect_leq (most, 1, "%u before %c, of %u items, %u at once", most,
                       *name, items, credit);
    }
}

Test (lane_beside, a_resync_delays_a_change_by_one_batch_at_most)
{
    for (unsigned credit = 1; credit <= CREDIT_MAX; credit++)
        for (unsigned items = 1; items <= 64; items *= 2)
            s_expect_one (credit, items, ZPEER_CHANGE_OWE);
}

Test (lane_beside, a_verify_delays_a_change_by_one_batch_at_most)
{
    for (unsigned credit = 1; credit <= CREDIT_MAX; credit++)
        for (unsigned items = 1; items <= 64; items *= 2)
            s_expect_one (credit, items, ZPEER_CHANGE_VERIFY);
}
