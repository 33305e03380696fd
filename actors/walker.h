/*  walker.h - walks the view for one lane at a time

    A walk tells a lane all that the view knows, in chunks of its own (chunk.h):
    RESYNC makes the lane owe its peer every instance, VERIFY has it ask about
    each. ASGs are told again by RESYNC only, for nobody can ask about them.

      1. Who asks waits for the walks asked for before. Peers are told one after
         the other, so that not all of them are loaded at once.
      2. At most ZPEER_WALKER_PORTION entries of the view are looked at in a
         turn, and a turn comes every ZPEER_WALKER_PACE_MS: feeders go on.
      3. At most ZPEER_WALKER_UNREAD chunks lie in the lane's inbox, which
         keeps room for what changes. While the hand-over waits for the lane,
         the walk waits, too: the order of the changes of an instance holds.
      4. The next walk begins when the lane has told its peer everything
         (walked), or was removed, or ZPEER_WALKER_LIMIT_MS after its inbox took
         the last chunk: a peer that is down does not hold up the others. A lane
         that reads nothing for as long goes behind those that wait.

    What is entered in the view after a walk began is not part of it: the lane
    is told as all others are.

    A core: no socket, thread, clock or log. now: monotonic, ms.
*/
#ifndef ZPEER_WALKER_H_INCLUDED
#define ZPEER_WALKER_H_INCLUDED

#include "handover.h"

#define ZPEER_WALKER_PORTION  250
#define ZPEER_WALKER_PACE_MS  1
#define ZPEER_WALKER_UNREAD   2
#define ZPEER_WALKER_LIMIT_MS 30000

typedef struct {
    uint64_t begun;      //  Walks, in all; one given up and begun anew is two
    uint32_t waiting;    //  Walks
    uint32_t under_way;  //  Walks, 0 or 1
} zpeer_walker_stats_t;

typedef struct zpeer_walker zpeer_walker_t;

//  View, hand-over and arg are borrowed, and must live as long; post is what
//  the hand-over has, too
zpeer_walker_t *
zpeer_walker_new (const zpeer_view_t *view, const zpeer_handover_t *handover,
                  zpeer_post_fn *post, void *arg);

void zpeer_walker_destroy (zpeer_walker_t **self_p);

//  Asks for a walk. It waits for those that were asked for before, that of its own
//  lane among them; a lane has one that waits, and RESYNC, which does more than
//  VERIFY, is what it is if either was asked for. Returns ZPEER_OK, or
//  ZPEER_E_UNKNOWN: the hand-over has no such lane.
int
zpeer_walker_ask (zpeer_walker_t *self, unsigned lane, zpeer_walk_kind_t kind);

//  The lane is gone, and so are its walks. For a lane that has none nothing
//  happens; the same holds below.
void zpeer_walker_remove (zpeer_walker_t *self, unsigned lane);

//  The lane has told its peer all of the walk with this number. Of one that has
//  been given up it may say so late, when its next one is under way.
void zpeer_walker_walked (zpeer_walker_t *self, unsigned lane, uint64_t number);

//  Posts the next portion if it may; right after zpeer_handover_send, so that
//  nothing the lane was not told of is in the view
void zpeer_walker_turn (zpeer_walker_t *self, uint64_t now);

//  When zpeer_walker_turn must be called, beside after every
//  zpeer_handover_send; UINT64_MAX: not before somebody asks
uint64_t zpeer_walker_wake (const zpeer_walker_t *self);

void
zpeer_walker_stats (const zpeer_walker_t *self, zpeer_walker_stats_t *stats);

#endif
