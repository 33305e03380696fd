#include "world.h"
#include "banned.h"

//  Messages lost over a bad connection, and as many that come twice, per mille
#define LOST_PER_MILLE  30
#define TWICE_PER_MILLE 30

//  Messages that take longer than a few beats of a dispatcher
#define SLOW_PER_MILLE 5
#define SLOW_MS        2600

void
link_init (link_t *self, world_t *world, const char *name, bool remote,
           link_fn *deliver, void *whom)
{
    *self = (link_t){
        .world = world, .deliver = deliver, .whom = whom, .remote = remote};
    snprintf (self->name, sizeof self->name, "%s", name);
}

static uint64_t
s_delay (link_t *self)
{
    world_t *world = self->world;
    rng_t *rng = &world->rng;
    if (!self->remote)
        return self->slow_ms ? rng_below (rng, self->slow_ms) : 0;
    if (world_is_calm (world))
        return RNG_PICK (rng, uint64_t, 0, 1, 5);
    if (world->features[FEATURE_LOSSY] && rng_chance (rng, SLOW_PER_MILLE))
        return SLOW_MS;
    return RNG_PICK (rng, uint64_t, 0, 0, 1, 1, 5, 50, 400);
}

//  Heartbeats are told of only when something happens to them
static void
s_say (link_t *self, const message_t *message, const char *fate)
{
    char text[MESSAGE_TEXT_MAX];
    world_t *world = self->world;
    if (!world_tells (world))
        return;
    bool beat = message_command (message, 0) == ZPEER_WIRE_HEARTBEAT ||
                message_command (message, 1) == ZPEER_WIRE_HEARTBEAT;
    if (!beat || *fate)
        world_say (world, "%s: %s%s", self->name, message_text (message, text),
                   fate);
}

static void
s_drain (link_t *self)
{
    while (self->cut != CUT_HOLDS && self->queue.first &&
           self->queue.first->at <= self->world->now)
        self->deliver (self->whom, queue_take (&self->queue));
}

static void
s_arrive (world_t *world, void *whom, uint64_t number)
{
    (void) world;
    (void) number;
    s_drain ((link_t *) whom);
}

static void
s_put (link_t *self, const zpeer_slice_t *frames, size_t count)
{
    world_t *world = self->world;
    uint64_t at = world->now + s_delay (self);
    if (self->last_at < at)
        self->last_at = at;
    message_t *message = message_new (frames, count);
    message->at = self->last_at;
    queue_put (&self->queue, message);
    agenda_put (&world->agenda, message->at, s_arrive, self, 0);
}

void
link_send (link_t *self, const zpeer_slice_t *frames, size_t count)
{
    world_t *world = self->world;
    bool bad = self->remote && world->features[FEATURE_LOSSY] &&
               !world_is_calm (world);
    bool lost = self->cut == CUT_LOSES ||
                (bad && rng_chance (&world->rng, LOST_PER_MILLE));
    bool twice = bad && rng_chance (&world->rng, TWICE_PER_MILLE);
    message_t *message = message_new (frames, count);
    s_say (self, message,
           lost                     ? " is lost"
           : twice                  ? " comes twice"
           : self->cut == CUT_HOLDS ? " is held back"
                                    : "");
    message_free (message);
    if (lost) {
        world_count (world, TALLY_LOST);
        return;
    }
    s_put (self, frames, count);
    if (twice) {
        world_count (world, TALLY_TWICE);
        s_put (self, frames, count);
    }
}

void
link_cut (link_t *self, cut_t cut)
{
    self->cut = cut;
    if (cut == CUT_LOSES)
        queue_clear (&self->queue);
}

void
link_mend (link_t *self)
{
    self->cut = CUT_NOT;
    s_drain (self);
}

void
link_clear (link_t *self)
{
    queue_clear (&self->queue);
    self->cut = CUT_NOT;
    self->last_at = 0;
}
