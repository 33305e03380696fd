#include "script.h"
#include "source.h"
#include "banned.h"

#define ANSWER_NEED_MS 50

static uint64_t
s_max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void s_ask_view (world_t *world);

static void
s_forgotten (world_t *world, unsigned key)
{
    instance_t *instance = &world->instances[key];
    instance->forgotten = true;
    world->forgotten_at = s_max (world->forgotten_at, instance->top);
}

//  What is old leaves the view
static void
s_expire (world_t *world, void *whom, uint64_t when)
{
    zpeer_change_t change;
    (void) whom;
    if (world->view_wake != when)
        return;
    world->view_wake = 0;
    while (zpeer_view_expire (world->view, world->now, &change)) {
        unsigned key = world_key (change.state);
        bool released = change.flags & ZPEER_CHANGE_RELEASE;
        world_say (world, "I%u %s", key, released ? "released" : "ages out");
        world_count (world, released ? TALLY_RELEASES : TALLY_AGED_OUT);
        if (!released)
            s_forgotten (world, key);
        for (unsigned i = 0; i < world->peer_count; i++)
            peer_tell (&world->peers[i], &change);
    }
    world_gone (world);
    s_ask_view (world);
    for (unsigned i = 0; i < world->peer_count; i++)
        peer_poll (&world->peers[i]);
}

static void
s_ask_view (world_t *world)
{
    uint64_t wake = zpeer_view_wake (world->view);
    if (wake == UINT64_MAX || wake == world->view_wake)
        return;
    world->view_wake = s_max (wake, world->now + 1);
    agenda_put (&world->agenda, world->view_wake, s_expire, NULL,
                world->view_wake);
}

//  As the source's own peers send it
static item_t
s_replica (const event_t *event)
{
    const zpeer_parsed_t *parsed = &event->parsed;
    bool registers = parsed->action == ZPEER_REGISTER;
    return (item_t){
        .timestamp = parsed->timestamp,
        .version = event->version,
        .key = (uint16_t) event->key,
        .action = (uint8_t) parsed->action,
        .status = (uint8_t) parsed->status,
        .override = (uint8_t) (registers ? parsed->override : ZPEER_UNKNOWN)};
}

static void
s_say_event (world_t *world, const event_t *event,
             const zpeer_applied_t *applied)
{
    if (!world->history)
        return;
    char text[REGISTRY_TEXT_MAX];
    char view[REGISTRY_TEXT_MAX];
    item_t item = s_replica (event);
    record_t record = world_record (world, event->key);
    world_say (world, "event %s%s -> view %s%s%s", item_text (&item, text),
               event->parsed.replicated ? " replicated" : "",
               record_text (&record, view),
               applied->tell ? "" : ", nobody is told",
               applied->need_register ? ", need-register" : "");
}

//  What the source itself remembers of it
static void
s_note (world_t *world, const event_t *event, const zpeer_applied_t *applied)
{
    instance_t *instance = &world->instances[event->key];
    if (event->parsed.action == ZPEER_FORGET)
        s_forgotten (world, event->key);
    if (!applied->state)
        return;
    instance->known = true;
    instance->top = s_max (instance->top, applied->state->top);
    if (event->parsed.action != ZPEER_REGISTER ||
        !zpeer_state_present (applied->state))
        return;
    instance->forgotten = false;
    //  A peer's Register of something we had forgotten: what else our peers
    //  hold of it is not our affair
    if (event->parsed.replicated && applied->tell &&
        (applied->change.flags & ZPEER_CHANGE_FRESH))
        instance->orphan = true;
}

static void
s_tell_peer (peer_t *peer, const event_t *event, const zpeer_applied_t *applied)
{
    uint64_t now = peer->world->now;
    item_t item = s_replica (event);
    //  Whoever sent it tells every peer at the same moment
    if (event->parsed.replicated)
        registry_apply (&peer->registry, &item, BY_REPLICATION, now);
    if (!applied->tell)
        return;
    peer_tell (peer, &applied->change);
    if (!event->parsed.replicated)
        peer_expect (peer, event->key, applied->change.handle);
}

void
source_feed (world_t *world, const event_t *event)
{
    zpeer_applied_t applied;
    zpeer_view_apply (world->view, world->now, &event->parsed, &applied);
    s_note (world, event, &applied);
    s_say_event (world, event, &applied);
    world->tally->events[event->parsed.action]++;
    world->tally->counts[TALLY_REPLICATED] += event->parsed.replicated;
    world->tally->counts[TALLY_UNTOLD] += applied.tell && !applied.change.state;
    for (unsigned i = 0; i < world->peer_count; i++)
        s_tell_peer (&world->peers[i], event, &applied);
    if (applied.need_register && !event->parsed.replicated &&
        !world_is_calm (world) && rng_chance (&world->rng, 700))
        world_after (world, ANSWER_NEED_MS, script_answer_need,
                     &world->instances[event->key], event->parsed.timestamp);
    s_ask_view (world);
    for (unsigned i = 0; i < world->peer_count; i++)
        peer_poll (&world->peers[i]);
}
