#include <inttypes.h>
#include "world.h"
#include "banned.h"

void
dispatcher_init (dispatcher_t *self, peer_t *peer, unsigned number, bool remote,
                 uint32_t credit)
{
    *self = (dispatcher_t){.peer = peer,
                           .number = number,
                           .used = true,
                           .remote = remote,
                           .credit = credit};
    dispatcher_connect (self);
}

void
dispatcher_start (dispatcher_t *self)
{
    if (self->core || !self->used)
        return;
    world_t *world = self->peer->world;
    self->life++;
    snprintf (self->identity, sizeof self->identity, "d%u.%u", self->number,
              self->life % 1000);
    zpeer_dispatch_options_t options = {.peer = self->peer->number,
                                        .credit = self->credit,
                                        .remote = self->remote,
                                        .busy = world->busy};
    self->core = zpeer_dispatch_new (world->now, &options);
    self->wake = 0;
    self->known = true;
    link_clear (&self->up);
    link_clear (&self->down);
    link_clear (&self->ask);
    link_clear (&self->told);
    world_say (world, "P%u D%u starts as %s, credit %" PRIu32 "%s",
               self->peer->number, self->number, self->identity, self->credit,
               self->remote ? ", remote" : "");
    dispatcher_act (self);
}

void
dispatcher_stop (dispatcher_t *self)
{
    if (!self->core)
        return;
    world_say (self->peer->world, "P%u D%u stops", self->peer->number,
               self->number);
    zpeer_dispatch_close (self->core);
    dispatcher_act (self);
    if (self->jobs)
        world_fail (self->peer->world, "body kept", "P%u D%u #%" PRIu64,
                    self->peer->number, self->number, self->jobs->id);
    self->known = false;
    dispatcher_end (self);
}

void
dispatcher_die (dispatcher_t *self, bool known)
{
    if (!self->core)
        return;
    world_count (self->peer->world, TALLY_DEATHS);
    world_say (self->peer->world, "P%u D%u dies", self->peer->number,
               self->number);
    self->known = known;
    link_clear (&self->up);
    dispatcher_end (self);
}

void
dispatcher_cut (dispatcher_t *self, link_t *link, cut_t cut)
{
    static const char *const names[] = {"mended", "lost", "held up"};
    world_say (self->peer->world, "%s: connection %s", link->name, names[cut]);
    if (cut == CUT_NOT)
        link_mend (link);
    else
        link_cut (link, cut);
}

void
dispatcher_deafen (dispatcher_t *self, cut_t cut)
{
    world_say (self->peer->world, "P%u D%u health %s", self->peer->number,
               self->number,
               cut == CUT_NOT ? "answers again" : "does not answer");
    if (cut == CUT_NOT) {
        link_mend (&self->ask);
        link_mend (&self->told);
    }
    else
        link_cut (RNG_PICK (&self->peer->world->rng, unsigned, 0, 1)
                      ? &self->ask
                      : &self->told,
                  cut);
}

void
dispatcher_fini (dispatcher_t *self)
{
    dispatcher_end (self);
    link_clear (&self->up);
    link_clear (&self->down);
    link_clear (&self->ask);
    link_clear (&self->told);
}
