#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "compare.h"
#include "plan.h"
#include "banned.h"

#define KEY_MAX 64

//  An event is on its way no longer than that
#define TOLD_MS 1500

//  What each server writes as it likes
static const char *const s_volatile[] = {
    "status",     "overriddenStatus",
    "actionType", "isCoordinatingDiscoveryServer",
    "leaseInfo",  "lastUpdatedTimestamp",
    "metadata",   "lastDirtyTimestamp",
};

static bool
s_has_text (const json_t *info, const char *name, const char *text)
{
    const char *value = json_string_value (json_object_get (info, name));
    return value && !strcmp (value, text);
}

static bool
s_same_timestamp (const json_t *theirs, uint64_t timestamp)
{
    const char *text =
        json_string_value (json_object_get (theirs, "lastDirtyTimestamp"));
    return text && strtoull (text, NULL, 10) == timestamp;
}

static bool
s_same_duration (const json_t *ours, const json_t *theirs)
{
    const json_t *lease = json_object_get (ours, "leaseInfo");
    return !lease ||
           json_equal (json_object_get (lease, "durationInSecs"),
                       json_object_get (json_object_get (theirs, "leaseInfo"),
                                        "durationInSecs"));
}

static bool
s_same_info (const zpeer_state_t *state, const json_t *theirs)
{
    json_t *mine = source_info (state);
    json_t *copy = json_copy ((json_t *) theirs);
    bool same = s_same_duration (mine, theirs) &&
                json_equal (json_object_get (mine, "metadata"),
                            json_object_get (theirs, "metadata"));
    for (size_t i = 0; i < sizeof s_volatile / sizeof *s_volatile; i++) {
        json_object_del (mine, s_volatile[i]);
        json_object_del (copy, s_volatile[i]);
    }
    same = same && json_equal (mine, copy);
    json_decref (mine);
    json_decref (copy);
    return same;
}

static const char *
s_difference (const zpeer_state_t *state, const json_t *theirs)
{
    bool present = state && zpeer_state_present (state);
    if (!present)
        return theirs ? "present at the peer" : NULL;
    if (!theirs)
        return "absent at the peer";
    if (!s_same_info (state, theirs))
        return "info";
    if (!s_has_text (theirs, "status", zpeer_status_name (state->status)))
        return "status";
    if (!s_has_text (theirs, "overriddenStatus",
                     zpeer_status_name (state->override)))
        return "override";
    return s_same_timestamp (theirs, state->timestamp) ? NULL : "timestamp";
}

//  What the source has forgotten a peer may still hold; but if that came back
//  empty since, nobody may have told it
static bool
s_may_linger (const run_t *run, const peer_t *peer, const instance_t *instance)
{
    int64_t emptied_at = peer->emptied_at - run->history.started;
    return !peer->kills || emptied_at < instance->said_at + TOLD_MS;
}

static bool
s_exempt (const run_t *run, const peer_t *peer, const instance_t *instance,
          const zpeer_state_t *state, const json_t *theirs)
{
    const mark_t *mark = &peer->marks[instance - run->instances];
    bool present = state && zpeer_state_present (state);
    if (instance->forgotten && !present && s_may_linger (run, peer, instance))
        return true;
    if (mark->rejected_at && mark->rejected_at >= instance->said_at)
        return true;
    return mark->touched &&
           (mark->conflict_at || s_has_text (theirs, "hostName", PLAN_OTHER));
}

static void
s_say (run_t *run, const peer_t *peer, const instance_t *instance,
       const zpeer_state_t *state, const json_t *theirs, const char *difference)
{
    char *copy = theirs ? json_dumps (theirs, JSON_COMPACT) : NULL;
    if (state && zpeer_state_present (state))
        history_say (
            &run->history,
            "P%u %s differs: %s; source: %s, %s, %" PRIu64 ", %.*s; peer: %s",
            peer->number, instance->id, difference,
            zpeer_status_name (state->status),
            zpeer_status_name (state->override), state->timestamp,
            (int) state->info->size, state->info->data, copy ? copy : "absent");
    else
        history_say (&run->history, "P%u %s differs: %s; source: %s; peer: %s",
                     peer->number, instance->id, difference,
                     instance->forgotten ? "forgotten" : "absent",
                     copy ? copy : "absent");
    free (copy);
}

//  After our Cancel another registered it: that must still be there
static const char *
s_guard (const peer_t *peer, const mark_t *mark, const json_t *theirs)
{
    if (!mark->guarded || peer->kills ||
        s_has_text (theirs, "hostName", PLAN_OTHER))
        return NULL;
    return "another's registration is gone";
}

unsigned
compare_peer (run_t *run, peer_t *peer, bool say)
{
    unsigned differences = 0;
    json_t *registry = peer_registry (peer);
    if (!registry) {
        if (say)
            history_say (&run->history, "P%u does not answer", peer->number);
        return 1;
    }
    for (unsigned i = 0; i < run->instance_count; i++) {
        const instance_t *instance = &run->instances[i];
        const mark_t *mark = &peer->marks[i];
        char key[KEY_MAX];
        snprintf (key, sizeof key, "%s\t%s", instance->app, instance->id);
        const json_t *theirs = json_object_get (registry, key);
        const zpeer_state_t *state =
            source_find (run->source, instance->app, instance->id);
        const char *difference = s_guard (peer, mark, theirs);
        if (!difference && !s_exempt (run, peer, instance, state, theirs))
            difference = s_difference (state, theirs);
        if (difference && say)
            s_say (run, peer, instance, state, theirs, difference);
        differences += difference != NULL;
        json_object_del (registry, key);
    }
    if (json_object_size (registry)) {
        differences++;
        if (say)
            history_say (&run->history, "P%u holds what nobody registered",
                         peer->number);
    }
    json_decref (registry);
    return differences;
}
