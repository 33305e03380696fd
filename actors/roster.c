#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "roster.h"
#include "banned.h"

//  Of a ZeroMQ routing id
#define IDENTITY_MAX 255

#define NOBODY (-1)

typedef struct {
    uint64_t id;
    uint64_t due_at;
    int number;  //  Of the dispatcher; NOBODY: it is lost
    unsigned lane;
} batch_t;

typedef struct {
    bool used;
    bool remote;
    bool proven;  //  Not on probation
    uint8_t identity_size;
    char identity[IDENTITY_MAX];
    uint32_t credit;
    uint32_t held;      //  Batches it has
    uint64_t last;      //  Newest batch sent to it
    uint64_t heard_at;  //  When something came from it
} dispatcher_t;

struct zpeer_roster {
    dispatcher_t *dispatchers;  //  Owned; by number
    uint32_t size;              //  Numbers ever used
    batch_t *batches;           //  Owned
    uint32_t batch_count;
    uint32_t batch_capacity;
    uint32_t lost;      //  Batches that nobody has any more
    uint32_t on_trial;  //  Batches of those on probation
};

zpeer_roster_t *
zpeer_roster_new (void)
{
    zpeer_roster_t *self = (zpeer_roster_t *) calloc (1, sizeof *self);
    assert (self);
    return self;
}

void
zpeer_roster_destroy (zpeer_roster_t **self_p)
{
    zpeer_roster_t *self = *self_p;
    *self_p = NULL;
    if (!self)
        return;
    free (self->dispatchers);
    free (self->batches);
    free (self);
}

//  --------------------------------------------------------------------------
//  Who is there

int
zpeer_roster_known (zpeer_roster_t *self, uint64_t now, zpeer_slice_t identity,
                    bool remote)
{
    for (uint32_t i = 0; i < self->size; i++) {
        dispatcher_t *dispatcher = &self->dispatchers[i];
        if (!dispatcher->used || dispatcher->remote != remote ||
            dispatcher->identity_size != identity.size ||
            memcmp (dispatcher->identity, identity.data, identity.size) != 0)
            continue;
        dispatcher->heard_at = now;
        return (int) i;
    }
    return NOBODY;
}

//  A number nobody has, if there may be one more of the kind
static int
s_vacant (zpeer_roster_t *self, bool remote)
{
    int vacant = NOBODY;
    uint32_t alike = 0;
    for (uint32_t i = 0; i < self->size; i++) {
        const dispatcher_t *dispatcher = &self->dispatchers[i];
        if (!dispatcher->used)
            vacant = (int) i;
        alike += dispatcher->used && dispatcher->remote == remote;
    }
    if (alike == ZPEER_ROSTER_MAX)
        return NOBODY;
    if (vacant != NOBODY)
        return vacant;
    self->dispatchers = (dispatcher_t *) realloc (
        self->dispatchers, (self->size + 1) * sizeof (dispatcher_t));
    assert (self->dispatchers);
    return (int) self->size++;
}

int
zpeer_roster_heard (zpeer_roster_t *self, uint64_t now, zpeer_slice_t identity,
                    bool remote)
{
    if (!identity.size || identity.size > IDENTITY_MAX)
        return NOBODY;
    int number = zpeer_roster_known (self, now, identity, remote);
    if (number != NOBODY)
        return number;
    number = s_vacant (self, remote);
    if (number == NOBODY)
        return NOBODY;
    dispatcher_t *dispatcher = &self->dispatchers[number];
    *dispatcher = (dispatcher_t){.used = true,
                                 .remote = remote,
                                 .proven = !remote,
                                 .identity_size = (uint8_t) identity.size,
                                 .heard_at = now};
    memcpy (dispatcher->identity, identity.data, identity.size);
    return number;
}

static uint32_t
s_at_most (uint32_t credit)
{
    return credit < ZPEER_ROSTER_CREDIT_MAX ? credit : ZPEER_ROSTER_CREDIT_MAX;
}

void
zpeer_roster_ready (zpeer_roster_t *self, int number, uint32_t credit)
{
    self->dispatchers[number].credit = s_at_most (credit);
}

static bool
s_among (uint64_t id, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

//  It has a batch less
static void
s_let_go (zpeer_roster_t *self, int number)
{
    dispatcher_t *dispatcher = &self->dispatchers[number];
    dispatcher->held--;
    self->on_trial -= !dispatcher->proven;
}

static void
s_lose (zpeer_roster_t *self, batch_t *batch)
{
    s_let_go (self, batch->number);
    batch->number = NOBODY;
    self->lost++;
}

static void
s_prove (zpeer_roster_t *self, int number, bool proven)
{
    dispatcher_t *dispatcher = &self->dispatchers[number];
    if (dispatcher->proven == proven)
        return;
    dispatcher->proven = proven;
    if (proven)
        self->on_trial -= dispatcher->held;
    else
        self->on_trial += dispatcher->held;
}

void
zpeer_roster_holds (zpeer_roster_t *self, int number, uint32_t credit,
                    uint64_t echo, const uint64_t *ids, size_t count)
{
    self->dispatchers[number].credit = s_at_most (credit);
    for (uint32_t i = 0; i < self->batch_count; i++) {
        batch_t *batch = &self->batches[i];
        if (batch->number == number && batch->id <= echo &&
            !s_among (batch->id, ids, count))
            s_lose (self, batch);
    }
}

void
zpeer_roster_gone (zpeer_roster_t *self, int number)
{
    for (uint32_t i = 0; i < self->batch_count; i++)
        if (self->batches[i].number == number)
            s_lose (self, &self->batches[i]);
    self->dispatchers[number].used = false;
}

//  Whether it has held a batch for longer than that can take
static bool
s_is_late (const zpeer_roster_t *self, const batch_t *batch, uint64_t now)
{
    return batch->number != NOBODY && now >= batch->due_at &&
           self->dispatchers[batch->number].remote;
}

void
zpeer_roster_expire (zpeer_roster_t *self, uint64_t now)
{
    for (uint32_t i = 0; i < self->batch_count; i++) {
        batch_t *batch = &self->batches[i];
        if (!s_is_late (self, batch, now))
            continue;
        s_prove (self, batch->number, false);
        s_lose (self, batch);
    }
    for (uint32_t i = 0; i < self->size; i++) {
        const dispatcher_t *dispatcher = &self->dispatchers[i];
        if (dispatcher->used && dispatcher->remote &&
            now >= dispatcher->heard_at + ZPEER_ROSTER_SILENCE_MS)
            zpeer_roster_gone (self, (int) i);
    }
}

uint64_t
zpeer_roster_wake (const zpeer_roster_t *self)
{
    uint64_t at = UINT64_MAX;
    for (uint32_t i = 0; i < self->size; i++) {
        const dispatcher_t *dispatcher = &self->dispatchers[i];
        if (dispatcher->used && dispatcher->remote &&
            at > dispatcher->heard_at + ZPEER_ROSTER_SILENCE_MS)
            at = dispatcher->heard_at + ZPEER_ROSTER_SILENCE_MS;
    }
    for (uint32_t i = 0; i < self->batch_count; i++) {
        const batch_t *batch = &self->batches[i];
        if (at > batch->due_at && s_is_late (self, batch, batch->due_at))
            at = batch->due_at;
    }
    return at;
}

//  --------------------------------------------------------------------------
//  Who has what

static uint32_t
s_room (const zpeer_roster_t *self, const dispatcher_t *dispatcher)
{
    if (!dispatcher->used || dispatcher->held >= dispatcher->credit)
        return 0;
    if (!dispatcher->proven)
        return !self->on_trial;
    return dispatcher->credit - dispatcher->held;
}

uint32_t
zpeer_roster_credit (const zpeer_roster_t *self)
{
    uint32_t credit = 0;
    bool trial = false;
    for (uint32_t i = 0; i < self->size; i++) {
        const dispatcher_t *dispatcher = &self->dispatchers[i];
        uint32_t room = s_room (self, dispatcher);
        credit += dispatcher->proven ? room : 0;
        trial |= !dispatcher->proven && room;
    }
    return credit + trial;
}

int
zpeer_roster_pick (const zpeer_roster_t *self)
{
    int best = NOBODY;
    uint32_t most = 0;
    for (uint32_t i = 0; i < self->size; i++) {
        uint32_t room = s_room (self, &self->dispatchers[i]);
        if (room > most) {
            most = room;
            best = (int) i;
        }
    }
    return best;
}

zpeer_slice_t
zpeer_roster_identity (const zpeer_roster_t *self, int number)
{
    const dispatcher_t *dispatcher = &self->dispatchers[number];
    return (zpeer_slice_t){dispatcher->identity, dispatcher->identity_size};
}

bool
zpeer_roster_remote (const zpeer_roster_t *self, int number)
{
    return self->dispatchers[number].remote;
}

void
zpeer_roster_sent (zpeer_roster_t *self, int number, uint64_t id, unsigned lane,
                   uint64_t due_at)
{
    if (self->batch_count == self->batch_capacity) {
        self->batch_capacity =
            self->batch_capacity ? 2 * self->batch_capacity : 16;
        self->batches = (batch_t *) realloc (
            self->batches, self->batch_capacity * sizeof (batch_t));
        assert (self->batches);
    }
    self->batches[self->batch_count++] = (batch_t){id, due_at, number, lane};
    self->dispatchers[number].held++;
    self->on_trial += !self->dispatchers[number].proven;
    self->dispatchers[number].last = id;
}

uint64_t
zpeer_roster_last (const zpeer_roster_t *self, int number)
{
    return self->dispatchers[number].last;
}

static void
s_remove (zpeer_roster_t *self, uint32_t index)
{
    self->batches[index] = self->batches[--self->batch_count];
}

int
zpeer_roster_done (zpeer_roster_t *self, int number, uint64_t id)
{
    for (uint32_t i = 0; i < self->batch_count; i++) {
        batch_t batch = self->batches[i];
        if (batch.id != id || batch.number == NOBODY || batch.number != number)
            continue;
        s_let_go (self, number);
        s_prove (self, number, true);
        s_remove (self, i);
        return (int) batch.lane;
    }
    return NOBODY;
}

bool
zpeer_roster_lost (zpeer_roster_t *self, uint64_t *id, unsigned *lane)
{
    for (uint32_t i = 0; self->lost && i < self->batch_count; i++) {
        batch_t batch = self->batches[i];
        if (batch.number != NOBODY)
            continue;
        *id = batch.id;
        *lane = batch.lane;
        s_remove (self, i);
        self->lost--;
        return true;
    }
    return false;
}

uint32_t
zpeer_roster_count (const zpeer_roster_t *self)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->size; i++)
        count += self->dispatchers[i].used;
    return count;
}
