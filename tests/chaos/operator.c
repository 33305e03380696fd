#include <stdio.h>
#include "operator.h"
#include "banned.h"

static void
s_ask (run_t *run, const char *command, const char *url)
{
    const char *wrong = service_ask (&run->service, command, url);
    history_say (&run->history, "operator: %s %s", command, url);
    if (wrong)
        run_fail (run, "operator", "%s %s: %s", command, url, wrong);
}

//  When something is done next
static void
s_plan (run_t *run)
{
    run->operator_at =
        run_now (run) + 300 + (int64_t) rng_below (&run->operator, 1500);
}

void
operator_init (run_t *run)
{
    rng_seed (&run->operator, run->seed ^ 0x6f706572);
    s_plan (run);
}

//  The last peer is not one of the engine's yet
static bool
s_join (run_t *run)
{
    if (run->joined == run->peer_count)
        return false;
    s_ask (run, "add-peer", run->peers[run->joined++].url);
    return true;
}

static void
s_interfere (run_t *run)
{
    const char *command = RNG_PICK (&run->operator, char *, "resync", "verify",
                                    "retry-now", "retry-now");
    unsigned pick = (unsigned) rng_below (&run->operator, run->peer_count + 1);
    s_ask (run, command, pick < run->joined ? run->peers[pick].url : "all");
}

void
operator_turn (run_t *run)
{
    if (run->features[FEATURE_REMOTE] || run_now (run) < run->operator_at)
        return;
    bool joins = rng_chance (&run->operator, 400);
    if (!(joins && s_join (run)) && run->features[FEATURE_WALKS])
        s_interfere (run);
    s_plan (run);
}

bool
operator_calm (run_t *run)
{
    s_join (run);
    if (!run->features[FEATURE_WALKS] || !rng_chance (&run->operator, 500))
        return false;
    for (unsigned i = 0; i < run->peer_count; i++)
        if (run->peers[i].kills) {
            run->peers[i].walks_due = run->peers[i].walks + 1;
            s_ask (run, "verify", run->peers[i].url);
        }
    return true;
}

bool
operator_done (const run_t *run)
{
    for (unsigned i = 0; i < run->peer_count; i++)
        if (run->peers[i].walks < run->peers[i].walks_due)
            return false;
    return true;
}
