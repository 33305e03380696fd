/*  roster.h - the dispatchers of one peer, and the batches each of them has

    Knows who can take another batch, and whose batches have to be taken back:
    of a dispatcher that says goodbye, that is not heard of for 6 s, that does not
    hold what it was sent, or holds it for longer than its requests can take. Only
    remote dispatchers (ipc, tcp) can be lost; those over inproc are ended by the
    engine alone. Which it is its caller knows: nothing that a dispatcher says of
    itself is believed.

    A remote one is on probation until a batch of it is done, and again when it has
    held one for too long. All that are have one batch together: whoever connects
    and does nothing keeps one batch, for a time, and does not stop the peer.

    A core: no socket, clock or log. Units: now is monotonic, ms.
*/
#ifndef ZPEER_ROSTER_H_INCLUDED
#define ZPEER_ROSTER_H_INCLUDED

#include <zpeer/base.h>
#include "slice.h"

//  A remote dispatcher that is silent for so long has lost its batches
#define ZPEER_ROSTER_SILENCE_MS 6000

//  Most remote dispatchers of a peer, and most over inproc; one more is not heard
#define ZPEER_ROSTER_MAX 64

//  Most batches one dispatcher is given
#define ZPEER_ROSTER_CREDIT_MAX 256

typedef struct zpeer_roster zpeer_roster_t;

zpeer_roster_t *zpeer_roster_new (void);

void zpeer_roster_destroy (zpeer_roster_t **self_p);

//  Something came from the dispatcher with this routing id, if it is known. Returns
//  its number; -1: it is not.
int zpeer_roster_known (zpeer_roster_t *self, uint64_t now,
                        zpeer_slice_t identity, bool remote);

//  The same, and if it is not known, it is from now on. -1: there are too many.
int zpeer_roster_heard (zpeer_roster_t *self, uint64_t now,
                        zpeer_slice_t identity, bool remote);

//  READY: how many batches it can hold
void zpeer_roster_ready (zpeer_roster_t *self, int number, uint32_t credit);

//  HEARTBEAT: the ids it holds, and the newest it must have got. What it was
//  sent up to that and does not hold is lost: see zpeer_roster_lost.
void zpeer_roster_holds (zpeer_roster_t *self, int number, uint32_t credit,
                         uint64_t echo, const uint64_t *ids, size_t count);

//  It ends, or a message to it was refused: all it has is lost
void zpeer_roster_gone (zpeer_roster_t *self, int number);

//  Takes note of those that were silent, or held a batch, for too long
void zpeer_roster_expire (zpeer_roster_t *self, uint64_t now);

//  How many more batches all of them together can take
uint32_t zpeer_roster_credit (const zpeer_roster_t *self);

//  Who gets the next batch: the one with most room; -1: nobody can take one
int zpeer_roster_pick (const zpeer_roster_t *self);

//  Its routing id; valid until it is gone
zpeer_slice_t zpeer_roster_identity (const zpeer_roster_t *self, int number);

bool zpeer_roster_remote (const zpeer_roster_t *self, int number);

//  A batch of lane was sent to it. A remote one that still holds it at due_at has
//  lost it.
void zpeer_roster_sent (zpeer_roster_t *self, int number, uint64_t id,
                        unsigned lane, uint64_t due_at);

//  The newest batch sent to it; 0: none yet
uint64_t zpeer_roster_last (const zpeer_roster_t *self, int number);

//  It says that a batch is done: returns its lane, or -1 if it does not have it
int zpeer_roster_done (zpeer_roster_t *self, int number, uint64_t id);

//  One batch that was lost, with its lane; returns false when there is none.
//  Each is given once, and is known no more.
bool zpeer_roster_lost (zpeer_roster_t *self, uint64_t *id, unsigned *lane);

//  How many dispatchers there are
uint32_t zpeer_roster_count (const zpeer_roster_t *self);

//  When zpeer_roster_expire has something to do; UINT64_MAX: nothing yet
uint64_t zpeer_roster_wake (const zpeer_roster_t *self);

#endif
