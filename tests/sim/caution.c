#include <inttypes.h>
#include "caution.h"
#include "world.h"
#include "banned.h"

//  How long an answer counts, ms
#define ANSWER_MS 1000

//  Questions about an instance until something comes of them, if nothing fails: a
//  VERIFY asks more than the peer can be told at once, and what the peer can be told
//  at once may become less with each answer
#define QUESTIONS_MAX 4

void
caution_check (peer_t *peer, const batch_t *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const item_t *item = &batch->items[i];
        const peer_key_t *key = &peer->keys[item->key];
        //  Without a timestamp there is nothing to ask with
        if (item_only_asks (item) || !key->must_ask || !item->top)
            continue;
        if (!key->answered || peer->world->now > key->answered - 1 + ANSWER_MS)
            world_fail (peer->world, "not asked", "P%u #%" PRIu64 ": I%u",
                        peer->number, batch->id, item->key);
    }
}

//  In the calm nothing comes between an answer and what it was asked for, however
//  long the peer takes
static void
s_count_question (peer_t *peer, const item_t *item, uint16_t code)
{
    unsigned *questions = &peer->keys[item->key].questions;
    //  It may suffice that the peer has it
    *questions = code == 404 ? *questions + 1 : 0;
    if (*questions > QUESTIONS_MAX && world_is_calm (peer->world) &&
        peer->batch_ms)
        world_fail (peer->world, "questions", "P%u: I%u, %u times",
                    peer->number, item->key, *questions);
}

static void
s_succeeded (peer_t *peer, const item_t *item, uint16_t code)
{
    peer_key_t *key = &peer->keys[item->key];
    if (!item_only_asks (item)) {
        key->questions = 0;
        key->must_ask &= code == 500;
        return;
    }
    key->asked_at = item->applied_at;
    if (code == 409)  //  Another's stands, reported or not
        caution_drop (peer, item->key);
    if (code == 200 || code == 404)
        key->answered = peer->world->now + 1;
    if (item->asks)
        s_count_question (peer, item, code);
}

static void
s_failed (peer_t *peer, const item_t *item, bool owed)
{
    peer_key_t *key = &peer->keys[item->key];
    key->answered = 0;
    if (key->turn != item->turn || item_only_asks (item))
        return;
    if (owed || item->action == ZPEER_CANCEL)
        key->must_ask = true;
}

void
caution_learn (peer_t *peer, const batch_t *batch, const zpeer_result_t *result)
{
    bool owed = result->verdict == ZPEER_PERMANENT_ERROR && !batch->well;
    for (uint32_t i = 0; result->verdict != ZPEER_SUCCESS && i < batch->count;
         i++)
        peer->keys[batch->items[i].key].questions = 0;
    //  A bad item, or a batch too large, is no failure of the peer; but it may have
    //  done what it says it has not
    if (batch->well && result->verdict != ZPEER_SUCCESS && !result->ambiguous)
        return;
    for (uint32_t i = 0; i < batch->count; i++)
        if (result->verdict == ZPEER_SUCCESS)
            s_succeeded (peer, &batch->items[i],
                         result->codes ? result->codes[i] : 200);
        else
            s_failed (peer, &batch->items[i], owed);
}

void
caution_drop (peer_t *peer, unsigned key)
{
    peer->keys[key].must_ask = false;
    peer->keys[key].turn++;
}
