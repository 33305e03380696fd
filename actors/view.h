/*  view.h - the acceptor's registry: what the source says

    Applies every event in order of arrival, by the rules of a receiving
    registry (EUREKA.md 3.4, without status rule 4), and says for each what the
    lanes must be told. Gives every instance and every ASG its handle.

    A core: no socket, thread, clock or log. now is the monotonic time in ms.

    Handles. Dense, from 0, instances and ASGs each their own range. An instance
    that leaves for good is released:

      1. The lanes are told RELEASE, with the state.
      2. Each lane answers once it owes nothing, with the seq of that state;
         one that never knew the instance, at once.
      3. When all have, the handle can be used again. Until then the view keeps
         the instance: if it comes back, it has the same handle, and a state
         with a new seq, by which answers that crossed are told apart.

    Limits. Tombstones are let go of when they are old enough, or when there are
    more than instances present, the oldest first; ZPEER_VIEW_TOMBSTONES may
    always stay, so that a small registry keeps its own. What lanes hold back
    after that, since a peer is away, has a bound in bytes:

      1. From its RELEASE on, what an instance costs counts.
      2. Beyond the bound the lanes are told GIVE_UP, of those released first.
         Each drops what it had to tell, and answers as above.
      3. A peer may hold what was given up, with an override, until its lease
         runs out there: for that long every new instance is FRESH.
*/
#ifndef ZPEER_VIEW_H_INCLUDED
#define ZPEER_VIEW_H_INCLUDED

#include "chunk.h"
#include "event.h"

//  Tombstones that are kept however few instances are present
#define ZPEER_VIEW_TOMBSTONES 1000

typedef struct {
    uint32_t tombstone_ms;  //  How long a cancelled instance is remembered, at
                            //  least
    uint32_t outlive_ms;    //  How much longer than two of its leases, too: so
                            //  long peers may hold it. 0: that does not matter
    uint64_t cancels_max_bytes;  //  Of what is being released; 0: no bound
    bool age_out;                //  Drop what had no event for two leases
    uint64_t seed;  //  Of the hash, so that nobody can choose names
                    //  that collide
} zpeer_view_options_t;

typedef struct {
    uint32_t instances;   //  Present
    uint32_t tombstones;  //  Cancelled, forgotten, or never registered
    uint32_t releasing;   //  Gone, but a lane has not answered
    uint32_t unknown;     //  Of the tombstones: renew without a Register
    uint32_t asgs;
    uint64_t outdated;         //  Events older than the view, in all
    uint64_t aged_out;         //  Instances, in all
    uint64_t given_up;         //  Instances, in all
    uint64_t releasing_bytes;  //  Of those releasing that are not given up
} zpeer_view_stats_t;

typedef struct zpeer_view zpeer_view_t;

zpeer_view_t *zpeer_view_new (const zpeer_view_options_t *options);

void zpeer_view_destroy (zpeer_view_t **self_p);

//  What an event comes to
typedef struct {
    bool tell;              //  change is for the lanes
    bool need_register;     //  Outcome: the host has a Register and we do not
    zpeer_change_t change;  //  change.state is borrowed from the view, and NULL
                            //  when every lane has it
    zpeer_state_t *state;   //  Borrowed: the instance's present state; NULL:
                            //  the view does not know it
} zpeer_applied_t;

//  Steps of zpeer_view_fetch
#define ZPEER_VIEW_STEPS 3

//  What an event needs is in five places of memory, each of which says where the
//  next is. Events that wait to be applied can have them fetched meanwhile:
//  expect, which sets the event's tag, then fetch step 0, 1, 2, each some time
//  after the one before. Only hints: events applied in between may do what they
//  like. An event that is applied has a tag from the same view, or 0.
void zpeer_view_expect (const zpeer_view_t *self, zpeer_parsed_t *event);
void zpeer_view_fetch (const zpeer_view_t *self, const zpeer_parsed_t *event,
                       unsigned step);

void zpeer_view_apply (zpeer_view_t *self, uint64_t now,
                       const zpeer_parsed_t *event, zpeer_applied_t *applied);

//  From now on every change carries its state again: a lane was added, or one
//  missed a chunk.
void zpeer_view_tell_all (zpeer_view_t *self);

//  Lanes are numbered by whoever keeps the view, 0..63. A lane that is added
//  knows nothing yet: implies zpeer_view_tell_all. A lane that is removed has
//  nothing to answer any more.
void zpeer_view_add_lane (zpeer_view_t *self, unsigned lane);

void zpeer_view_remove_lane (zpeer_view_t *self, unsigned lane);

//  A lane has dropped the instance it knew in the state seq. Ignored when that
//  is not what it was told to release.
void zpeer_view_released (zpeer_view_t *self, unsigned lane, uint32_t handle,
                          uint64_t seq);

//  Lets go of what is old: one instance a call. Returns true and fills change
//  when the lanes must be told; call again until false. An instance that had no
//  event for two leases goes as if it were forgotten (FORGET: nothing is sent),
//  and is then a tombstone; a tombstone goes for good (RELEASE), and is given up
//  when that takes too much memory (RELEASE and GIVE_UP). The state is borrowed
//  until the next call.
bool
zpeer_view_expire (zpeer_view_t *self, uint64_t now, zpeer_change_t *change);

//  When zpeer_view_expire should be called again, 0: at once; UINT64_MAX: not
//  before an event comes. An instance that was renewed may cost one early call.
uint64_t zpeer_view_wake (const zpeer_view_t *self);

//  The present state of an instance, or of an ASG if app is empty, borrowed;
//  NULL: not known
zpeer_state_t *
zpeer_view_find (const zpeer_view_t *self, zpeer_slice_t app, zpeer_slice_t id);

//  Handles in use are below; of instances, and of ASGs
uint32_t zpeer_view_limit (const zpeer_view_t *self);

uint32_t zpeer_view_limit_asgs (const zpeer_view_t *self);

//  What a lane must be told that missed changes of an instance: its present
//  state (OWE), or FORGET if the source let go of it without a Cancel; then
//  RELEASE, and GIVE_UP, if the view is letting go of it. Fills at most two changes, their
//  states borrowed; returns how many, 0 for a handle that is not in use. With
//  two: a lane that was not told RELEASE in its turn, since it was added later,
//  must not be told now, for nobody waits until it lets go.
unsigned zpeer_view_catch_up (const zpeer_view_t *self, uint32_t handle,
                              zpeer_change_t changes[2]);

//  The same for an ASG: its present state as an AsgStatusUpdate, or nothing
unsigned zpeer_view_catch_up_asg (const zpeer_view_t *self, uint32_t handle,
                                  zpeer_change_t changes[2]);

void zpeer_view_stats (const zpeer_view_t *self, zpeer_view_stats_t *stats);

#endif
