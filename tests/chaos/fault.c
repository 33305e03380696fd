#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fault.h"
#include "plan.h"
#include "banned.h"

#define SCRIPT_MAX    1024
#define KILLS_MAX     2    //  More could look as if it stored nothing
#define RESTART_TRIES 200  //  For a port that was lent to somebody meanwhile

//  What a fault is like
enum {
    T_ONCE = 1,     //  Once a peer: twice could look like something else
    T_BATCH = 2,    //  Of batches only
    T_REFUSES = 4,  //  One instance is chosen, and refused
    T_MUTE = 8,     //  Meanwhile nothing is applied and nothing confirmed
    T_SHORT = 16,   //  Over as soon as it has begun
    T_BRIEF = 32    //  Over before a request is given up
};

typedef struct {
    const char *name;
    unsigned weight;
    unsigned traits;
    int refusal;         //  Status it may refuse anything with; 0: none
    int feature;         //  Needs it; FEATURES: none
    const char *script;  //  ' for "; with the words of s_draw. NULL: the next
    void (*begin) (run_t *run, peer_t *peer);
    void (*end) (run_t *run, peer_t *peer);
} kind_t;

static void s_kill (run_t *run, peer_t *peer);
static void s_restart (run_t *run, peer_t *peer);
static void s_freeze (run_t *run, peer_t *peer);
static void s_thaw (run_t *run, peer_t *peer);
static void s_other (run_t *run, peer_t *peer);
static void s_replace_dispatcher (run_t *run, peer_t *peer);
static void s_freeze_dispatcher (run_t *run, peer_t *peer);
static void s_thaw_dispatcher (run_t *run, peer_t *peer);

#define SCRIPT(name, weight, traits, script)                                   \
    {                                                                          \
        name, weight, traits, 0, FEATURES, script, NULL, NULL                  \
    }
#define REFUSAL(name, weight, traits, refusal, script)                         \
    {                                                                          \
        name, weight, traits, refusal, FEATURE_REFUSE, script, NULL, NULL      \
    }

static const kind_t s_kinds[] = {
    SCRIPT ("late", 6, 0, "{'rules':[{'delay_ms':$delay}]}"),
    SCRIPT ("late once", 4, 0, "{'rules':[{'delay_ms':$delay,'count':$few}]}"),
    SCRIPT ("slow items", 3, 0,
            "{'settings':{'serial':1},'rules':[{'item_ms':$item}]}"),
    SCRIPT ("busy", 4, T_MUTE,
            "{'rules':[{'status':503,'headers':'Retry-After: 1\\r\\n'}]}"),
    SCRIPT ("busy once", 3, 0,
            "{'rules':[{'status':503,'headers':'Retry-After: 1\\r\\n',"
            "'count':$few}]}"),
    SCRIPT ("busy, odd hint", 2, T_MUTE,
            "{'rules':[{'status':503,'headers':'Retry-After: soon\\r\\n'}]}"),
    SCRIPT ("bad request", 3, T_ONCE | T_MUTE, "{'rules':[{'status':400}]}"),
    SCRIPT ("server error", 2, T_MUTE | T_BATCH,
            "{'rules':[{'status':$error}]}"),
    SCRIPT ("server error, applied", 3, T_BATCH,
            "{'rules':[{'status':$error,'apply':'first'}]}"),
    SCRIPT ("forbidden", 3, T_MUTE, "{'rules':[{'status':$forbidden}]}"),
    SCRIPT ("reset before", 4, T_MUTE,
            "{'rules':[{'answer':'reset','apply':'never'}]}"),
    SCRIPT ("reset after", 4, 0,
            "{'rules':[{'answer':'reset','apply':'first','count':$few}]}"),
    SCRIPT ("silent, applied late", 8, 0,
            "{'rules':[{'answer':'$silent','apply':'late','late_ms':$late,"
            "'count':$few}]}"),
    SCRIPT ("silent, all applied late", 4, 0,
            "{'rules':[{'answer':'$silent','apply':'late','late_ms':$late}]}"),
    SCRIPT ("closed", 3, 0, "{'rules':[{'answer':'close','apply':'$apply'}]}"),
    SCRIPT ("half an answer", 4, T_BATCH,
            "{'rules':[{'answer':'$half','apply':'$apply','count':$few}]}"),
    SCRIPT ("useless answer", 5, T_BATCH,
            "{'rules':[{'answer':'$useless','apply':'$apply','count':$few}]}"),
    SCRIPT ("not HTTP", 2, 0,
            "{'rules':[{'answer':'not-http','apply':'$apply','count':$few}]}"),
    SCRIPT ("hung", 4, 0,
            "{'rules':[{'answer':'hang','apply':'$apply','count':$few}]}"),
    SCRIPT ("byte by byte", 2, 0,
            "{'rules':[{'drip_ms':1,'chunked':true,'count':$few}]}"),
    SCRIPT ("refuses connections", 3, T_MUTE, "{'mode':'refuse'}"),
    SCRIPT ("cuts connections", 3, T_SHORT, "{'mode':'refuse'}"),
    SCRIPT ("never reads", 3, 0, "{'mode':'black-hole'}"),
    SCRIPT ("deaf", 2, T_MUTE, "{'mode':'deaf'}"),
    SCRIPT ("resets connections", 3, T_MUTE, "{'mode':'reset'}"),
    REFUSAL ("poisoned item", 6, T_REFUSES | T_BATCH, 0,
             "{'items':[{'id':'$id','status':400,'whole':true}]}"),
    REFUSAL ("poisoned call", 6, T_REFUSES, 0,
             "{'rules':[{'path':'$id','status':400}]}"),
    REFUSAL ("too large", 4, T_BATCH, 413,
             "{'rules':[{'status':413,'count':$few}]}"),
    REFUSAL ("items fail", 4, T_BATCH, 500,
             "{'items':[{'status':500,'count':$few}]}"),
    REFUSAL ("an item fails", 4, T_BATCH | T_REFUSES, 0,
             "{'items':[{'id':'$id','status':500}]}"),
    REFUSAL ("items unknown", 3, T_BATCH, 404,
             "{'items':[{'action':'Heartbeat','status':404,'count':$few}]}"),
    {"killed", 5, 0, 0, FEATURE_KILLS, NULL, s_kill, s_restart},
    {"frozen", 6, 0, 0, FEATURES, NULL, s_freeze, s_thaw},
    {"another writer", 12, T_SHORT, 0, FEATURE_OTHERS, NULL, s_other, NULL},
    {"dispatcher killed", 16, T_BRIEF, 0, FEATURE_REMOTE,
     "{'rules':[{'answer':'hang','apply':'$apply'}]}", NULL,
     s_replace_dispatcher},
    {"dispatcher frozen", 6, 0, 0, FEATURE_REMOTE, NULL, s_freeze_dispatcher,
     s_thaw_dispatcher},
};

#define KINDS      (sizeof s_kinds / sizeof *s_kinds)
#define FAULT_NONE KINDS

//  ---- Scripts

//  What a word of a script stands for
static void
s_draw (run_t *run, peer_t *peer, const char *word, size_t size, char out[32])
{
    static const struct {
        const char *word;
        const char *values[10];
    } choices[] = {
        {"apply", {"auto", "first", "never"}},
        {"half", {"hang-half", "close-half", "reset-half"}},
        {"useless", {"garbage", "long", "short", "fewer", "more"}},
        {"silent", {"reset", "close"}},
        {"error", {"500", "502", "504"}},
        {"forbidden", {"401", "403", "302", "415"}},
    };
    rng_t *rng = &peer->rng;
    unsigned timeout = run->read_timeout_ms;
    uint64_t number = 1 + rng_below (rng, 6);
    if (!strncmp (word, "delay", size))
        number = timeout / 4 + rng_below (rng, run->latest_ms - timeout / 4);
    else if (!strncmp (word, "late", size))
        number = timeout / 3 + rng_below (rng, timeout / 2);
    else if (!strncmp (word, "item", size))
        number = 1 + rng_below (rng, 8);
    snprintf (out, 32, "%" PRIu64, number);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *const *values = choices[i].values;
        size_t count = 0;
        while (values[count])
            count++;
        if (!strncmp (choices[i].word, word, size) && !choices[i].word[size])
            snprintf (out, 32, "%s", values[rng_below (rng, count)]);
    }
}

//  An instance to be refused
static const char *
s_refuse (run_t *run, peer_t *peer)
{
    unsigned number = (unsigned) rng_below (&peer->rng, run->base_count);
    peer->marks[number].refused = true;
    return run->instances[number].id;
}

static void
s_write (run_t *run, peer_t *peer, const kind_t *kind, char script[SCRIPT_MAX])
{
    size_t size = 0;
    const char *chosen = kind->traits & T_REFUSES ? s_refuse (run, peer) : NULL;
    for (const char *at = kind->script; *at; at++) {
        char word[32] = {*at};
        if (*at == '\'')
            *word = '"';
        if (*at == '$') {
            size_t length = strspn (at + 1, "abcdefghijklmnopqrstuvwxyz");
            if (length == 2 && chosen)
                snprintf (word, sizeof word, "%s", chosen);
            else
                s_draw (run, peer, at + 1, length, word);
            at += length;
        }
        size +=
            (size_t) snprintf (script + size, SCRIPT_MAX - size, "%s", word);
        assert (size < SCRIPT_MAX);
    }
}

static void
s_script (run_t *run, peer_t *peer, const char *script)
{
    char *wrong = peer_script (peer, script);
    if (wrong)
        run_fail (run, "control", "P%u: %s: %s", peer->number, script, wrong);
    free (wrong);
}

//  ---- Faults that are no scripts

static void
s_kill (run_t *run, peer_t *peer)
{
    (void) run;
    peer_kill (peer);
}

static void
s_restart (run_t *run, peer_t *peer)
{
    for (unsigned i = 0; i < RESTART_TRIES && peer->state == PEER_DEAD; i++)
        peer_start (peer, run->programs->scripted_peer, run->service.log);
    if (peer->state == PEER_DEAD)
        run_fail (run, "control", "P%u does not start again", peer->number);
}

static void
s_freeze (run_t *run, peer_t *peer)
{
    (void) run;
    peer_freeze (peer);
}

static void
s_thaw (run_t *run, peer_t *peer)
{
    (void) run;
    peer_thaw (peer);
}

//  Another server registers an instance here, newer than anything of ours
static void
s_register_other (run_t *run, peer_t *peer, unsigned number)
{
    char script[SCRIPT_MAX];
    const instance_t *instance = &run->instances[number];
    uint64_t timestamp =
        PLAN_EPOCH + PLAN_OTHER_LEAD + rng_below (&peer->rng, PLAN_OTHER_LEAD);
    snprintf (
        script, sizeof script,
        "{\"apply\":{\"replicationList\":[{\"appName\":\"%s\","
        "\"id\":\"%s\",\"action\":\"Register\",\"lastDirtyTimestamp\":"
        "%" PRIu64 ",\"instanceInfo\":{\"instanceId\":\"%s\","
        "\"hostName\":\"" PLAN_OTHER "\",\"app\":\"%s\",\"ipAddr\":"
        "\"192.0.2.9\",\"status\":\"UP\",\"lastDirtyTimestamp\":\"%" PRIu64
        "\",\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
        "MyDataCenterInfo\",\"name\":\"MyOwn\"}}}]}}",
        instance->app, instance->id, timestamp, instance->id, instance->app,
        timestamp);
    history_say (&run->history, "P%u another writer: %s %" PRIu64, peer->number,
                 instance->id, timestamp);
    peer->marks[number].touched = true;
    s_script (run, peer, script);
}

static void
s_other (run_t *run, peer_t *peer)
{
    unsigned number = (unsigned) rng_below (&peer->rng, run->base_count);
    if (!run->instances[number].retired)
        s_register_other (run, peer, number);
}

//  With batches in its hands
static void
s_replace_dispatcher (run_t *run, peer_t *peer)
{
    service_kill_dispatcher (&run->service, peer);
    service_start_dispatcher (&run->service, peer);
}

static void
s_freeze_dispatcher (run_t *run, peer_t *peer)
{
    service_signal_dispatcher (&run->service, peer, SIGSTOP);
}

static void
s_thaw_dispatcher (run_t *run, peer_t *peer)
{
    service_signal_dispatcher (&run->service, peer, SIGCONT);
}

//  Whether the peer has refused the Cancel of an instance since the fault began,
//  or it has been dropped since; bodies: what it has been sent since
static bool
s_refused_cancel (const run_t *run, const peer_t *peer, unsigned number,
                  const char *bodies)
{
    char item[SCRIPT_MAX];
    const instance_t *instance = &run->instances[number];
    int64_t dropped_at = peer->marks[number].dropped_at;
    snprintf (item, sizeof item, "\"id\":\"%s\",\"action\":\"Cancel\"",
              instance->id);
    return (dropped_at > instance->said_at && dropped_at > peer->fault_at) ||
           strstr (bodies, item);
}

//  An instance that the source has cancelled and nobody else has
static bool
s_is_cancelled (const run_t *run, const peer_t *peer, unsigned number)
{
    const instance_t *instance = &run->instances[number];
    const zpeer_state_t *state =
        source_find (run->source, instance->app, instance->id);
    return state && !zpeer_state_present (state) && !instance->present &&
           !instance->forgotten && !instance->retired &&
           !peer->marks[number].touched;
}

//  The peer has refused everything for a while, so the Cancels it refused will
//  come again. What another server registers now they must not delete.
static void
s_guard (run_t *run, peer_t *peer)
{
    unsigned number = (unsigned) rng_below (&peer->rng, run->base_count);
    char *bodies = peer_bodies (peer, peer->fault_requests);
    for (unsigned i = 0; i < run->base_count; i++) {
        number = (number + 1) % run->base_count;
        if (!s_is_cancelled (run, peer, number) ||
            !s_refused_cancel (run, peer, number, bodies))
            continue;
        history_say (&run->history, "P%u to be guarded: %s", peer->number,
                     run->instances[number].id);
        run->instances[number].retired = true;
        peer->marks[number].guarded = true;
        s_register_other (run, peer, number);
        break;
    }
    free (bodies);
}

//  ---- When

static bool
s_fits (const run_t *run, const peer_t *peer, unsigned number)
{
    const kind_t *kind = &s_kinds[number];
    if (kind->feature < FEATURES && !run->features[kind->feature])
        return false;
    if (kind->begin == s_kill && peer->kills >= KILLS_MAX)
        return false;
    if (kind->traits & T_ONCE && peer->had >> number & 1)
        return false;
    return !(kind->traits & T_BATCH && run->features[FEATURE_SINGLE]);
}

static unsigned
s_choose (const run_t *run, peer_t *peer)
{
    unsigned total = 0;
    for (unsigned i = 0; i < KINDS; i++)
        total += s_fits (run, peer, i) ? s_kinds[i].weight : 0;
    unsigned pick = (unsigned) rng_below (&peer->rng, total);
    for (unsigned i = 0; i < KINDS; i++) {
        unsigned weight = s_fits (run, peer, i) ? s_kinds[i].weight : 0;
        if (pick < weight)
            return i;
        pick -= weight;
    }
    return 0;
}

//  How long it lasts, ms
static int64_t
s_length (const run_t *run, peer_t *peer, unsigned traits)
{
    uint64_t timeout = run->read_timeout_ms;
    if (traits & T_SHORT)
        return 0;
    if (traits & T_BRIEF)
        return (int64_t) (timeout / 3 + rng_below (&peer->rng, timeout / 2));
    unsigned pick = (unsigned) rng_below (&peer->rng, 100);
    if (pick < 30)
        return 50 + (int64_t) rng_below (&peer->rng, 250);
    if (pick < 80)
        return 300 + (int64_t) rng_below (&peer->rng, 900);
    return 1200 + (int64_t) rng_below (&peer->rng, 1300);
}

static void
s_begin (run_t *run, peer_t *peer)
{
    char script[SCRIPT_MAX] = "";
    peer->fault = s_choose (run, peer);
    const kind_t *kind = &s_kinds[peer->fault];
    peer->had |= UINT64_C (1) << peer->fault;
    peer->fault_at = run_now (run);
    run->faults++;
    peer->due_at = peer->fault_at + s_length (run, peer, kind->traits);
    if (kind->refusal)
        peer->refusals[kind->refusal] = true;
    if (kind->traits & T_MUTE)
        peer->fault_requests = peer_counter (peer, "requests");
    if (kind->script)
        s_write (run, peer, kind, script);
    history_say (&run->history, "P%u --- %s %s", peer->number, kind->name,
                 script);
    if (kind->script)
        s_script (run, peer, script);
    else
        kind->begin (run, peer);
}

static void
s_end (run_t *run, peer_t *peer)
{
    const kind_t *kind = &s_kinds[peer->fault];
    if (kind->traits & T_MUTE && run->features[FEATURE_OTHERS] &&
        peer_counter (peer, "pending") == 0)
        s_guard (run, peer);
    peer->fault = FAULT_NONE;
    if (kind->end)
        kind->end (run, peer);
    if (peer->state == PEER_RUNS && kind->script)
        s_script (run, peer, "{\"clear\":true,\"mode\":\"listen\"}");
    history_say (&run->history, "P%u --- %s: over", peer->number, kind->name);
    peer->due_at =
        run_now (run) + run->latest_ms + (int64_t) rng_below (&peer->rng, 600);
}

void
fault_init (run_t *run)
{
    for (unsigned i = 0; i < run->peer_count; i++) {
        peer_t *peer = &run->peers[i];
        rng_seed (&peer->rng, run->seed * PEERS_MAX + i);
        peer->fault = FAULT_NONE;
        peer->due_at = run_now (run) + (int64_t) rng_below (&peer->rng, 1500);
    }
}

void
fault_turn (run_t *run)
{
    for (unsigned i = 0; i < run->peer_count; i++) {
        peer_t *peer = &run->peers[i];
        if (run_now (run) < peer->due_at)
            continue;
        if (peer->fault == FAULT_NONE)
            s_begin (run, peer);
        else
            s_end (run, peer);
    }
}

void
fault_calm (run_t *run)
{
    for (unsigned i = 0; i < run->peer_count; i++)
        if (run->peers[i].fault != FAULT_NONE)
            s_end (run, &run->peers[i]);
}
