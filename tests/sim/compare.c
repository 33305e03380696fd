#include <inttypes.h>
#include "compare.h"
#include "probe.h"
#include "stroll.h"
#include "banned.h"

//  How long a try may take, with all that its dispatcher has to tell of it
#define TRY_MS       10000
#define TRY_TIMEOUTS 2

//  From a release to the last lane's answer, if nothing is to be told
#define RELEASE_MS 3000

//  Answers 400 that one bad item may cost a peer, and how many more for each other
//  one there: until it is found, they share batches, as many as halving needs
#define BAD_ALONE 16
#define BAD_OTHER 2
#define BAD_MOST  24

//  Restarts that make a peer look as if it did not store what it is told
#define MISSES 3

bool
compare_tried_for_ever (const world_t *world, const peer_t *peer,
                        uint32_t handle)
{
    const zpeer_lane_t *lane = peer_lane (peer);
    const zpeer_state_t *state = lane ? probe_state (lane, handle) : NULL;
    if (!state)
        return false;
    //  Of what is refused while nothing else is taken nobody can say that the
    //  peer is well
    return probe_retried (lane, handle) ||
           (!probe_answers (lane) && flaw_stands (world, world_key (state)));
}

//  Whether the peer has what was told by an engine before, and not by this one: it goes
//  with its lease. Until then a Register does not take its override away, nor replaces
//  what is newer; and another that takes it away may leave what has come since at
//  UNKNOWN.
static bool
s_is_ghost (const peer_key_t *mine, const record_t *ours,
            const record_t *theirs)
{
    bool bare = theirs->status == ZPEER_UNKNOWN &&
                theirs->version == ours->version &&
                theirs->timestamp == ours->timestamp;
    return mine->ghost && theirs->there &&
           (!ours->there || theirs->timestamp > ours->timestamp ||
            theirs->override != ours->override || bare);
}

//  Whether the lane cannot know better, or the peer refuses
static bool
s_excused (const world_t *world, const peer_t *peer, unsigned key)
{
    const instance_t *instance = &world->instances[key];
    const peer_key_t *mine = &peer->keys[key];
    const record_t *theirs = &peer->servers[0].records[key];
    record_t ours = world_record (world, key);
    if ((instance->forgotten && !ours.there) || instance->orphan || mine->lost)
        return true;
    if (mine->dropped || s_is_ghost (mine, &ours, theirs))
        return true;
    //  What is refused is tried again for ever
    const zpeer_state_t *state = world_state (world, key);
    if (!world->healed && state &&
        compare_tried_for_ever (world, peer, state->handle))
        return true;
    //  Of an item answered 200 and not stored only a later Heartbeat can tell,
    //  and what came between counts
    if (!world->healed && (mine->rejected || mine->silent))
        return true;
    //  Nor can that, if the peer had the same timestamp before
    if (mine->silent && ours.there && theirs->there &&
        ours.timestamp == theirs->timestamp)
        return true;
    //  Nobody has told the lane that this is not so
    if ((mine->wiped || mine->torn) && !world->healed)
        return true;
    //  What an earlier lane left is settled after the peer's next answer, and nobody
    //  has asked it anything
    if (!world_record (world, key).there && peer_joined (peer) &&
        probe_unanswered (peer_lane (peer)))
        return true;
    //  Another's registration stands, though nothing may have told the lane
    return mine->touched && ((mine->conflict && !world->healed) ||
                             (theirs->there && theirs->by == BY_OTHER));
}

static const char *
s_difference (const record_t *ours, const record_t *theirs)
{
    if (ours->version != theirs->version)
        return "info";
    if (ours->status != theirs->status)
        return "status";
    if (ours->timestamp != theirs->timestamp)
        return "timestamp";
    if (ours->override != theirs->override)
        return "override";
    return NULL;
}

const char *
compare_differs (world_t *world, const peer_t *peer, unsigned key)
{
    record_t ours = world_record (world, key);
    const record_t *theirs = &peer->servers[0].records[key];
    //  Several servers are not promised to be equal
    if (peer->server_count > 1 || s_excused (world, peer, key) ||
        (!ours.there && !theirs->there))
        return NULL;
    if (!theirs->there)
        return "absent at the peer";
    if (!ours.there)
        return "present at the peer";
    const char *difference = s_difference (&ours, theirs);
    if (!difference || !peer->keys[key].touched)
        return difference;
    world_count (world, TALLY_TOUCHED);
    return NULL;
}

//  Whether the two items of an instance, behind another lane's one, may take a peer that
//  works in turn as long as the read timeout: then it looks as if they hung
static bool
s_is_too_slow (const peer_t *peer)
{
    double items = peer->serial ? 3 : 2;
    return items * peer->per_item_ms + 3.0 * peer->latency_ms >=
           peer->world->read_timeout_ms;
}

static void
s_compare_key (world_t *world, const peer_t *peer, unsigned key)
{
    const instance_t *instance = &world->instances[key];
    const peer_key_t *mine = &peer->keys[key];
    if (mine->conflict && !mine->touched && !mine->ahead && !instance->orphan)
        world_fail (world, "false conflict", "P%u: I%u", peer->number, key);
    if (mine->refused && !mine->touched && peer->server_count == 1 &&
        peer->spells_400 < 2 && !mine->toxic && !instance->had &&
        !instance->flaws && peer->life < MISSES && !s_is_too_slow (peer))
        world_fail (world, "false rejection", "P%u: I%u", peer->number, key);
    const char *difference = compare_differs (world, peer, key);
    if (difference) {
        char ours[REGISTRY_TEXT_MAX];
        char theirs[REGISTRY_TEXT_MAX];
        record_t record = world_record (world, key);
        world_fail (world, difference, "P%u: I%u: view %s, peer %s",
                    peer->number, key, record_text (&record, ours),
                    record_text (&peer->servers[0].records[key], theirs));
    }
}

//  An ASG has its state, if no update of it came late or was given up
static void
s_compare_asg (world_t *world, const peer_t *peer, unsigned key)
{
    const zpeer_state_t *state = world_state (world, key);
    const peer_key_t *mine = &peer->keys[key];
    const record_t *theirs = &peer->servers[0].records[key];
    if (!state || mine->rejected || mine->wiped || mine->late ||
        peer->server_count > 1)
        return;
    if (!theirs->there || theirs->status != state->status)
        world_fail (world, "ASG", "P%u: A%u: view %s, peer %s", peer->number,
                    key_number (key),
                    zpeer_status_name ((zpeer_status_t) state->status),
                    theirs->there
                        ? zpeer_status_name ((zpeer_status_t) theirs->status)
                        : "absent");
}

//  All dispatchers are there, and hold nothing, but for what is tried for ever
static void
s_compare_dispatchers (world_t *world, const peer_t *peer)
{
    uint32_t credit = 0;
    uint32_t count = 0;
    uint32_t local = 0;
    //  What is tried for ever may be under way in the end
    bool fresh = world->now - peer->sent_at <
                 TRY_MS + TRY_TIMEOUTS * (uint64_t) world->read_timeout_ms;
    for (uint32_t handle = 0; fresh && handle < KEYS_MAX; handle++)
        if (compare_tried_for_ever (world, peer, handle))
            return;
    for (unsigned i = 0; i < DISPATCHERS_MAX; i++) {
        const dispatcher_t *dispatcher = &peer->dispatchers[i];
        if (!dispatcher->core)
            continue;
        count++;
        credit += dispatcher->credit;
        local += dispatcher->remote ? 0 : dispatcher->credit;
        if (dispatcher->jobs || probe_held (dispatcher->core))
            world_fail (world, "held for ever", "P%u D%u", peer->number, i);
    }
    //  Remote ones that have done nothing yet are on probation, with one together
    uint32_t room = zpeer_roster_credit (peer->batcher.roster);
    uint32_t least = local + (credit > local);
    if (zpeer_roster_count (peer->batcher.roster) != count || room > credit ||
        room < least)
        world_fail (world, "roster",
                    "P%u: %" PRIu32 " dispatchers, credit %" PRIu32
                    "; should be %" PRIu32 ", %" PRIu32,
                    peer->number, zpeer_roster_count (peer->batcher.roster),
                    room, count, credit);
}

//  Nothing is left to do, and the lane knows every instance as the view does
static void
s_compare_lane (world_t *world, const peer_t *peer, const zpeer_lane_t *lane)
{
    for (uint32_t handle = 0; handle < KEYS_MAX; handle++) {
        const zpeer_state_t *state = probe_state (lane, handle);
        //  Of several servers one asks for what another one has
        if (!probe_settled (lane, handle) && peer->server_count == 1 &&
            !compare_tried_for_ever (world, peer, handle))
            world_fail (world, "not settled", "P%u: handle %" PRIu32,
                        peer->number, handle);
        if (state && world_state (world, world_key (state)) != state)
            world_fail (world, "old state", "P%u: handle %" PRIu32,
                        peer->number, handle);
    }
}

static void
s_compare_versions (world_t *world, const peer_t *peer)
{
    unsigned most = BAD_ALONE - BAD_OTHER;
    for (uint32_t i = 1; i <= world->version; i++)
        if (world->versions[i].bad[peer->number] && most < BAD_MOST)
            most += BAD_OTHER;
    for (uint32_t i = 1; i <= world->version; i++) {
        uint8_t bad = world->versions[i].bad[peer->number];
        if (bad > world->tally->most_400)
            world->tally->most_400 = bad;
        if (bad > most)
            world_fail (world, "bad item",
                        "P%u: v%" PRIu32 ": 400 %u times, not %u at most",
                        peer->number, i, bad, most);
    }
}

//  Whether a lane holds on to what the view has let go of: it has a doubt about it
//  that no traffic settles, or the peer does not take its Cancel
static bool
s_is_kept (const world_t *world, uint32_t handle)
{
    for (unsigned i = 0; i < world->peer_count; i++) {
        const peer_t *peer = &world->peers[i];
        const zpeer_lane_t *lane = peer_lane (peer);
        const zpeer_state_t *state = probe_state (lane, handle);
        if (state && !zpeer_state_present (state) &&
            (probe_unsure (lane, handle) ||
             compare_tried_for_ever (world, peer, handle)))
            return true;
    }
    return false;
}

//  What the view has let go of is gone
static void
s_compare_view (world_t *world)
{
    zpeer_view_stats_t stats;
    zpeer_view_stats (world->view, &stats);
    //  Where leases are renewed all the time something may just be on its way, and
    //  so may the answer of a lane
    if (world->peers[0].servers[0].lease_ms ||
        world->now <= world->released_at + RELEASE_MS)
        return;
    uint32_t kept = 0;
    for (uint32_t handle = 0; handle < KEYS_MAX; handle++)
        kept += s_is_kept (world, handle);
    if (stats.releasing > kept)
        world_fail (world, "not released", "%" PRIu32 " instances",
                    stats.releasing);
}

void
compare_all (world_t *world)
{
    for (unsigned i = 0; i < world->peer_count; i++) {
        const peer_t *peer = &world->peers[i];
        for (unsigned j = 0; j < LANES; j++)
            s_compare_lane (world, peer, peer->batcher.lanes[j]);
        s_compare_dispatchers (world, peer);
        s_compare_versions (world, peer);
        peer_expire (&world->peers[i]);
        for (unsigned key = 0; key < world->keys; key++)
            s_compare_key (world, peer, key);
        for (unsigned key = KEYS_MAX; key < KEYS_ALL; key++)
            s_compare_asg (world, peer, key);
    }
    s_compare_view (world);
    stroll_compare (world);
}
