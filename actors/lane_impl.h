/*  lane_impl.h - what the parts of the lane share

    lane.c          entries and their queues
    lane_change.c   changes in (gathering)
    lane_batch.c    batches out (rendering)
    lane_answer.c   results in: what the peer says of each item
    lane_failure.c  results in: attempts that failed, and the pauses then
    lane_size.c     how large batches are, how many at once, and when the next goes
    lane_split.c    refused batches: one bad item does not take 249 good ones along
    lane_cancel.c   Cancels without a timestamp
    lane_owed.c     what is told in vain, or again
    lane_hang.c     what failed goes in smaller batches, and not with others
    lane_rest.c     what the peer does not take now, and is tried again
    lane_doubt.c    what may have been told, or may yet be
    lane_stats.c    gauges, the accounting sum, the end

    Where an instance can be. It is in one place at a time:

         change              lane_next                  lane_done
      ┌──────────▶ LIVE ─────────────────▶ in flight ──────────────▶ nowhere
      │              ▲                     │   │   ▲
    nowhere          └── Congestion, ◀─────┘   │   │ as ASK, then as ACT
                         TransientError,       │   │
                         404: in front         ▼   │
                                             OWED ─┘
                              PermanentError (also: settling, a change beside
                              a flight, what the acceptor could not hand over)

    What waits is a set of kinds: C Cancel, R Register, S StatusUpdate, D
    DeleteStatusOverride, H Heartbeat. An example, with an instance at UP:

      1. StatusUpdate(OUT): wait = S, the instance stands in LIVE.
      2. A batch goes: wait = 0, flight = S, phase = LIVE. On the wire it is
         StatusUpdate(OUT), for nothing else waited.
      3. Register(DOWN) comes meanwhile: wait = R. It does not go yet.
      4. The read timeout: the peer may have set the override, or may yet. So
         the instance is unsure, and wait = S + R: it goes as a pair,
         DeleteStatusOverride(DOWN) and Register(DOWN, override OUT), which
         leaves any peer in exactly this state.
      5. Success. A read timeout later the doubt is settled: the state has
         changed since the attempt of 2, so the instance becomes OWED.
      6. It is asked (phase ASK, a Heartbeat with the highest timestamp it ever
         had), and on 200 or 404 told the pair again (phase ACT). On 409 somebody
         else has registered it since, and nothing is sent.
*/
#ifndef ZPEER_LANE_IMPL_H_INCLUDED
#define ZPEER_LANE_IMPL_H_INCLUDED

#include "heap.h"
#include "lane.h"

//  Kinds of change that wait, or are on their way. FULL is no task: it only
//  widens what is rendered to the pair that gives a peer exactly the state.
#define C     ZPEER_LANE_C
#define R     ZPEER_LANE_R
#define S     ZPEER_LANE_S
#define D     ZPEER_LANE_D
#define H     ZPEER_LANE_H
#define FULL  32u
#define TASKS (C | R | S | D | H)

#define NOBODY UINT32_MAX  //  No handle: end of a queue
#define NEVER  UINT64_MAX

//  A Heartbeat with this timestamp has the peer name its own
#define TIMESTAMP_LOWEST 1

//  How long the answer to a question counts, ms. What it said of the peer may have
//  changed since, and neither Cancel nor DeleteStatusOverride is guarded there.
#define ANSWER_MS 1000

//  How long the peer may not yet have what others say of an instance that it was
//  told of from here, ms
#define ACTED_MS 60000

//  A peer that answers nothing in time is told of all it can be, for the sake of
//  their leases: not sooner after an answer, and not more often, ms. A lease lives
//  180 s, once it was renewed; attempts of 30 s and the pauses between them come on
//  top.
#define PROBE_ALL_FIRST_MS 90000
#define PROBE_ALL_EVERY_MS 120000

//  A batch that took longer than the read timeout makes the next so much
//  smaller. Halving took a peer that is far too slow to the counter's maximum
//  before the size was right: six batches in flight, and four more.
#define SHRINK 4

//  Requests refused in a row that mean that bad items are many, and that the peer
//  takes nothing
#define BARREN_MANY 4
#define BARREN_ALL  7

//  Room for items beyond the most a batch may have: the first instance may need
//  two where there is room for one, and the next is rendered before it is
//  found not to fit
#define ITEMS_BEYOND 3

//  Why an instance is in a batch
typedef enum {
    PHASE_NONE,    //  It is in none
    PHASE_LIVE,    //  Changes, as they came
    PHASE_ASK,     //  The question before a refresh: a Heartbeat with top
    PHASE_ACT,     //  The refresh
    PHASE_FORGET,  //  Whatever it was: nobody waits for the result
    PHASE_GONE  //  The same of what the view has given up: if it comes late, so
                //  it does
} phase_t;

//  Where an instance waits
typedef enum {
    QUEUE_NONE,
    QUEUE_LIVE,  //  A change that the peer has not been told of
    QUEUE_OWED,  //  Told in vain
    QUEUE_PART   //  Part of a bisection
} queue_t;

typedef enum {
    OWED = 1,       //  Told in vain: needs a refresh
    RENEW = 2,      //  Owed, but what was lost is only a Heartbeat
    ASK = 4,        //  No refresh, but an unguarded retry: ask before it acts
    AGAIN = 8,      //  Something happened during the flight that its result
                    //  cannot know
    STORED = 16,    //  A Register was confirmed, and no Heartbeat since
    REFUSED = 32,   //  Rejected: reported, and not taken since
    SETTLING = 64,  //  Its doubt has a time to be settled
    REFUSED_ACT = 128,  //  What was not taken of it was more than a Heartbeat
    LEAVING = 256,      //  The view has let go of it
    WALKED = 512,       //  OWED, and part of the walk
    TROUBLED = 1024,    //  A suspect, for a status that a peer in trouble gives
    RESTING = 2048,     //  It is tried again at a time of its own
    CHANCE = 8192,      //  A suspect, though what it met may have been chance
    CANCELLED =
        16384,      //  A Cancel was accepted that the peer has not confirmed
    CLEAN = 32768,  //  The peer has confirmed a Cancel before what it was told
                    //  of the present life: it holds nothing newer of an
                    //  earlier one
    HELD = 4096  //  Until then nothing is told of it, but for Heartbeats, if it
                 //  was no Heartbeat that the peer did not take
} flag_t;

//  What rests goes in batches with others, or alone
typedef enum { TOGETHER, ALONE } rest_t;

//  Why an instance is not owed any more
typedef enum {
    PAID_REPAIRED,  //  The peer was told
    PAID_REFUSED,   //  It cannot be told: conflict, rejected, dropped
    PAID_OTHERWISE  //  It had it; or somebody else told it; or it need not know
} payment_t;

//  One instance
typedef struct {
    zpeer_state_t *state;  //  Owned reference; NULL: not in use
    uint64_t given;   //  Timestamp of a Heartbeat the view cannot vouch for; or
                      //  the highest known, of what was cancelled and forgotten
    uint32_t unsure;  //  The state in the first ambiguous attempt not yet
                      //  settled, as lane_seq has it; 0: there is none
    uint32_t suspect;  //  Newest batch when it was answered 400 alone, or was
                       //  TROUBLED, as lane_suspect has it; 0: it was not
    uint32_t since;    //  When the first waiting change came; low half of ms
    uint32_t beat;     //  When the newest waiting Heartbeat came; the same
    uint32_t next;     //  In its queue; NOBODY: it is the last
    uint32_t prev;
    uint32_t
        asked;  //  When the question was answered, as lane_stamp has it; 0:
                //  it was not
    uint16_t flags;   //  flag_t
    uint16_t acted;   //  When something was last sent that may change it at the
                      //  peer, as lane_second has it; 0: never
    uint8_t wait;     //  Kinds the peer has not confirmed, not on their way
    uint8_t flight;   //  Kinds on their way
    uint8_t phase;    //  phase_t
    uint8_t queue;    //  queue_t
    uint8_t misses;   //  404 to a Heartbeat, each after a confirmed Register
    uint8_t tries;    //  Pauses it rested for, one after the other
    bool lonely : 1;  //  It failed alone, twice, and rested for that
    bool hung : 1;    //  It failed with others, see lane_hang.c
    bool
        untold : 1;  //  The peer has it newer than it was asked about, and did not
                     //  tell how new: that is to be fetched
} entry_t;

//  With the room the array keeps for more, an instance costs at most 64
_Static_assert(sizeof (entry_t) == 56, "memory an instance and lane");

//  An instance with an ambiguous attempt that is not settled
typedef struct {
    uint32_t handle;
    uint32_t settle;  //  When to look whether the state has changed since, if
                      //  the instance is SETTLING; low half of ms
} doubt_t;

typedef struct {
    uint32_t head;
    uint32_t tail;
    uint32_t count;
} list_t;

//  One instance in a batch
typedef struct {
    uint32_t handle;
    uint32_t first;      //  Index of its first item
    uint64_t seq;        //  Of the state it was rendered from
    uint64_t timestamp;  //  Of its first item
    uint8_t count;       //  Items: one or two
    uint8_t actions[2];
    uint8_t bits;   //  When its result is handled: what was on its way,
    uint8_t phase;  //  and why
    bool live;      //  It was a live change, not only owed
} part_t;

//  Handles from, up to but not including to
typedef struct {
    uint32_t from;
    uint32_t to;
} range_t;

//  The bisection of a batch that was refused as a whole
typedef struct {
    uint32_t *handles;  //  Owned
    range_t *ranges;    //  Owned; of handles still to send: a stack
    uint32_t range_count;
    uint32_t left;  //  Requests it may still use
    bool ok;        //  A part of it was delivered
    bool flying;
} split_t;

typedef struct {
    uint64_t id;
    uint64_t sent_at;
    uint32_t items;
    uint32_t bytes;
    uint32_t count;      //  Parts
    uint32_t from;       //  Of the range of its split
    split_t *split;      //  Borrowed from the lane; NULL: no bisection
    bool owed;           //  Nothing but what is owed
    uint64_t last_ok;    //  Of the lane when it was sent
    uint64_t last_good;  //  Of the lane when it was sent
    part_t parts[];
} flight_t;

struct zpeer_lane {
    zpeer_lane_options_t options;
    entry_t *entries;  //  Owned; by handle
    uint32_t capacity;
    uint32_t instances;  //  Entries in use
    uint64_t now;        //  Of the call that is being worked on
    uint64_t batch;      //  Whose end it is; 0: none's
    list_t live;
    list_t owed;
    uint32_t owed_size;     //  Items a batch of these may have
    uint32_t owed_window;   //  Such batches that may be in flight
    uint32_t owed_flights;  //  Such batches that are
    uint64_t due_at;        //  The oldest change in live has lingered then; it
                            //  may be earlier, when that one has gone
    uint64_t expire_at;     //  No waiting Heartbeat expires before
    uint32_t beat_cursor;   //  Nothing before it in live waits with a Heartbeat
                            //  only; NOBODY: nothing at all does
    uint32_t shortest_ms;  //  No Heartbeat was worth less: so none needs a look
                           //  at its state, which is far away in memory
    doubt_t *unsure;       //  Owned; unsettled ambiguous attempts
    uint32_t unsure_count;
    uint32_t unsure_capacity;
    uint32_t doubtful;  //  Of these: not SETTLING
    uint32_t backoff_ms;
    uint64_t settle_at;      //  Nothing is to be settled before
    uint64_t inherit_until;  //  What is told before that may be undone by what
                             //  an earlier lane sent
    flight_t **flights;      //  Owned
    uint32_t flight_count;
    uint32_t flight_capacity;
    split_t **splits;  //  Owned; the first is worked on
    uint32_t split_count;
    uint32_t split_capacity;
    zpeer_item_t *items;  //  Owned; those of the batch being built
    uint32_t size;        //  Items a batch may have
    uint32_t byte_limit;
    uint64_t probe_all_at;  //  No probe has all it can before; 0: not known yet
    uint64_t probe_all_from;  //  accepted, when one had, or the peer answered
    uint32_t window;          //  Batches that may be in flight
    uint32_t credit;     //  Most the dispatchers could take, when last told
    double per_item_ms;  //  Smoothed; 0: not known
    uint64_t pause;      //  Nothing is sent before
    uint64_t taken_at;   //  When an item was taken last; 0: none was
    zpeer_heap_t resting[2];  //  By rest_t: what is tried again, and when
    uint64_t launched;        //  Batches, ever
    uint64_t
        alone_from;     //  Of those that go alone the next is not tried before
    uint64_t alone_at;  //  so many batches were launched, or this time has come
    uint32_t turn;      //  Places filled from both queues
    uint32_t batch_turn;   //  Batches, while both queues had something
    uint64_t last_id;      //  Newest batch
    uint64_t last_ok;      //  Newest batch answered 2xx, not all of it 5xx
    uint64_t last_good;    //  Newest one of which an item was taken
    uint64_t ok_before;    //  These two, when the batch was sent whose end is
    uint64_t good_before;  //  being worked on
    uint64_t random;
    uint64_t hung_at;  //  Before, the others go first
    zpeer_lane_evidence_t evidence;
    bool answering;      //  The last attempt was a success
    bool refused;        //  The last attempt was answered, and failed
    bool reached;        //  The counter stands at its maximum
    bool splittable;     //  A refusal means one bad item, not a bad peer
    bool idle;           //  What waits is to go after the next answer
    bool probe_all;      //  The next probe may have all: one item was too much
    uint32_t failures;   //  Attempts in a row that failed, but for refusals
    uint32_t hanging;    //  Instances that are hung
    uint32_t hung_size;  //  Items a batch of what is hung may have
    bool hung_quick;     //  The last that failed was answered
    uint64_t barren_id;  //  Newest batch when the last of these was counted
    uint32_t barren;     //  Requests that were refused since the last success
    uint32_t owing;      //  Instances that are OWED
    uint32_t renewing;   //  RENEW
    uint32_t refusing;   //  REFUSED
    zpeer_lane_walk_t walk;
    uint64_t accepted;
    uint64_t in_flight;  //  Tasks
    uint64_t ended[ZPEER_ENDINGS];
};

//  How many they are: an instruction that counts bits is not on every machine
static inline unsigned
lane_tasks (unsigned bits)
{
    static const uint8_t counts[TASKS + 1] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2,
                                              3, 2, 3, 3, 4, 1, 2, 2, 3, 2, 3,
                                              3, 4, 2, 3, 3, 4, 3, 4, 4, 5};
    return counts[bits & TASKS];
}

//  Tasks end: those of bits
static inline void
lane_end (zpeer_lane_t *self, zpeer_ending_t ending, unsigned bits)
{
    self->ended[ending] += lane_tasks (bits);
}

static inline void
lane_flag (entry_t *entry, flag_t flag, bool on)
{
    entry->flags = (uint16_t) (on ? entry->flags | flag : entry->flags & ~flag);
}

//  Whether it is the answer of somebody, and says that the attempt failed
static inline bool
lane_is_status (const zpeer_result_t *result)
{
    return result->end == ZPEER_END_STATUS ||
           result->end == ZPEER_END_STATUS_5XX;
}

static inline bool
lane_wants (const entry_t *entry)
{
    return entry->wait || (entry->flags & OWED);
}

//  A suspect, but for one whose status was its own, goes alone. While it is held,
//  nothing of it goes but Heartbeats, which are not suspected.
static inline bool
lane_poison (const entry_t *entry)
{
    return entry->suspect && !(entry->flags & TROUBLED);
}

//  Whether it may change what the peer has
static inline bool
lane_acts (const part_t *part)
{
    return part->count > 1 || (part->actions[0] != ZPEER_HEARTBEAT &&
                               part->actions[0] != ZPEER_ITEM_FETCH);
}

//  How long ago, for points in time kept as the low half of their ms
static inline uint32_t
lane_age (uint64_t now, uint32_t then)
{
    return (uint32_t) now - then;
}

//  The highest timestamp known of the instance, 0: none. The view says none of what
//  was forgotten; a Cancel that came before that is still asked about.
static inline uint64_t
lane_top (const entry_t *entry)
{
    bool kept =
        (entry->flags & CANCELLED) && !zpeer_state_present (entry->state);
    return entry->state->top ? entry->state->top : kept ? entry->given : 0;
}

//  Whether it was cancelled, and no timestamp of it is known: whether the peer has it
//  from before then is told by how long ago that was
static inline bool
lane_by_age (const entry_t *entry)
{
    return !lane_top (entry) && (entry->flags & CANCELLED) &&
           !zpeer_state_present (entry->state);
}

//  Whether what the peer has of it is to be fetched, to be cancelled
static inline bool
lane_fetches (const entry_t *entry)
{
    return entry->untold && lane_by_age (entry);
}

static inline bool
lane_alone (const entry_t *entry)
{
    return (lane_poison (entry) && !(entry->flags & HELD)) ||
           lane_fetches (entry);
}

//  Whether the peer can be asked about it: with the highest timestamp; or if there is
//  none, and it was cancelled, for what the peer has
static inline bool
lane_askable (const entry_t *entry)
{
    return lane_top (entry) || lane_by_age (entry);
}

//  The highest timestamp that the peer can be expected to hold; one that any
//  registration is above, if none is known
static inline uint64_t
lane_held_timestamp (const entry_t *entry)
{
    if (!lane_top (entry))
        return TIMESTAMP_LOWEST;
    return entry->flags & CLEAN && zpeer_state_present (entry->state)
               ? entry->state->timestamp
               : lane_top (entry);
}

//  Whether the peer may hold an earlier life that is newer than the present one: it
//  would keep that
static inline bool
lane_began_lower (const entry_t *entry)
{
    return zpeer_state_present (entry->state) && !(entry->flags & CLEAN) &&
           entry->state->timestamp < entry->state->top;
}

//  A batch's id as suspects keep it; ids grow, so that their order holds
static inline uint32_t
lane_suspect (uint64_t id)
{
    return (uint32_t) id ? (uint32_t) id : 1;
}

//  Whether a batch is a later one than that by which the entry became a suspect. Ids
//  begin anywhere; 0 is none.
static inline bool
lane_is_later (uint64_t id, const entry_t *entry)
{
    return id && (int32_t) ((uint32_t) id - entry->suspect) > 0;
}

//  A point in time as it is kept where 0 means never
static inline uint32_t
lane_stamp (uint64_t now)
{
    return (uint32_t) now ? (uint32_t) now : 1;
}

//  The same in seconds; it comes round after 18 hours
static inline uint16_t
lane_second (uint64_t now)
{
    return (uint16_t) (now / 1000 % UINT16_MAX + 1);
}

//  Whether the question was answered, and not too long ago
static inline bool
lane_answered (const zpeer_lane_t *self, const entry_t *entry)
{
    return entry->asked && lane_age (self->now, entry->asked) <= ANSWER_MS;
}

static inline list_t *
lane_list (zpeer_lane_t *self, queue_t queue)
{
    return queue == QUEUE_LIVE ? &self->live : &self->owed;
}

//  lane.c

//  The entry of a handle, zeroed if the lane did not know it
entry_t *lane_entry (zpeer_lane_t *self, uint32_t handle);

//  Takes the entry out of its queue
void lane_take_out (zpeer_lane_t *self, entry_t *entry);

static inline void
lane_leave (zpeer_lane_t *self, entry_t *entry)
{
    if (entry->queue != QUEUE_NONE)
        lane_take_out (self, entry);
}

//  Puts the entry where it belongs now; front: it was there before, or an
//  answer waits for it
void lane_stand (zpeer_lane_t *self, entry_t *entry, bool front);

//  Puts the entry in the queue of live changes, though it may be owed
void lane_stand_live (zpeer_lane_t *self, entry_t *entry);

//  The same behind those that wait there, for it may be the reason of a failure
void lane_stand_behind (zpeer_lane_t *self, entry_t *entry);

//  Puts the entry, which was asked about and is to be told now, in front of the
//  queue it came from; live: something changed meanwhile, or had before
void lane_stand_answered (zpeer_lane_t *self, entry_t *entry, bool live);

//  Whether the peer was sent something within ACTED_MS that may change the instance
//  there
bool lane_acted_lately (const zpeer_lane_t *self, const entry_t *entry);

//  Says something about an instance
void
lane_report (zpeer_lane_t *self, entry_t *entry, zpeer_lane_report_t report);

//  Ends what waits for an instance that the peer cannot be told of now: what it
//  refuses, or has newer from elsewhere, rests. Reported when it is news.
void lane_give_up (zpeer_lane_t *self, entry_t *entry,
                   zpeer_lane_report_t report, zpeer_ending_t ending);

//  Drops an instance the view has let go of, if nothing holds it
void lane_release (zpeer_lane_t *self, entry_t *entry);

//  lane_owed.c

//  Owes the peer the instance's whole state
void lane_owe (zpeer_lane_t *self, entry_t *entry);

//  Owes it a Heartbeat, if nothing more is owed already
void lane_renew (zpeer_lane_t *self, entry_t *entry);

//  A Heartbeat that waited will not be sent: owes another one. An ASG update has
//  no other.
void lane_lose_beat (zpeer_lane_t *self, entry_t *entry, zpeer_ending_t ending);

//  A Heartbeat older than its lease's renewal interval says nothing any more: the
//  next one is due
void lane_expire (zpeer_lane_t *self, uint64_t now);

//  How batches of what is owed follow the peer: as they begin, and after one that
//  took so long (NEVER: it failed)
void lane_owed_begin (zpeer_lane_t *self);
void
lane_owed_follow (zpeer_lane_t *self, const flight_t *flight, uint64_t took_ms);

//  Owes it nothing any more
void lane_pay (zpeer_lane_t *self, entry_t *entry, payment_t how);

//  The peer has what it was told: nothing is to be tried again
void lane_take (zpeer_lane_t *self, entry_t *entry);

//  The peer does not take the instance, or does
void lane_refuse (zpeer_lane_t *self, entry_t *entry, bool refused);

//  lane_rest.c

//  The instance was told to a peer that keeps missing it: not again before a
//  renewal interval has passed
void lane_rest_told (zpeer_lane_t *self, entry_t *entry);

//  The peer did not take the instance: it is tried again after a pause, longer each
//  time
void lane_rest (zpeer_lane_t *self, entry_t *entry);

//  It may have been chance that the peer did not take it: it is tried again before
//  its lease runs out
void lane_rest_soon (zpeer_lane_t *self, entry_t *entry);

//  It is tried again as soon as may be
void lane_rest_now (zpeer_lane_t *self, entry_t *entry);

//  One that went alone was taken: the next may be tried at once
void lane_rest_hurry (zpeer_lane_t *self);

//  It need not be tried again: the peer has taken it, or it is gone
void lane_rest_end (zpeer_lane_t *self, entry_t *entry);

//  Owes what has rested long enough
void lane_rest_over (zpeer_lane_t *self, uint64_t now);

//  When that is to be called again; NEVER: not by itself
uint64_t lane_rest_wake (const zpeer_lane_t *self);

//  The instance is part of the walk, as far as it is owed
void lane_walk (zpeer_lane_t *self, entry_t *entry);

//  lane_doubt.c

//  No state has this seq: an attempt that may be applied by half leaves none
#define SEQ_NONE UINT64_MAX

//  A state's seq as doubts keep it
static inline uint32_t
lane_seq (uint64_t seq)
{
    if (seq == SEQ_NONE)
        return UINT32_MAX;
    return (uint32_t) (seq % (UINT32_MAX - 1) + 1);
}

//  The peer may yet apply an attempt made in the state seq
void lane_doubt (zpeer_lane_t *self, entry_t *entry, uint64_t seq);

//  The same for a part of an attempt, if that was ambiguous and may change anything
void lane_doubt_part (zpeer_lane_t *self, entry_t *entry, const part_t *part,
                      const zpeer_result_t *result);

//  Whatever the peer may yet apply is not settled any more
void lane_sure (zpeer_lane_t *self, entry_t *entry);

//  Marks every ambiguous attempt to be settled a read timeout from now
void lane_settle_all (zpeer_lane_t *self, uint64_t now);

//  Settles what is due. If the state has changed since the attempt, what the peer
//  has now is anybody's guess: it is owed.
void lane_settle (zpeer_lane_t *self, uint64_t now);

//  lane_size.c

//  Batches that may be in flight at present; credit: all together
uint32_t lane_window (const zpeer_lane_t *self, uint32_t credit);

//  Whether the lane may send: no pause, and room in its window
bool lane_is_free (const zpeer_lane_t *self, uint64_t now, unsigned credit);

//  Batches as large, and as many at once, as the peer can answer in time: one was
void lane_follow (zpeer_lane_t *self, uint64_t now, const flight_t *flight);

//  A batch that failed for its size, or may have, makes the next smaller
void lane_shrink (zpeer_lane_t *self, const flight_t *flight);

//  lane_cancel.c

//  A Cancel that this lane has not heard of, or has told
void lane_cancel_learn (entry_t *entry, const zpeer_change_t *change);

//  The peer has told what it has of what was cancelled, with a timestamp
void
lane_cancel_told (zpeer_lane_t *self, entry_t *entry, const zpeer_copy_t *copy);

//  lane_hang.c

//  A batch failed, and the peer answers others. Something in it may be the reason.
//  quick: it was answered, so that more of the kind cost little
void lane_hang (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
                const part_t *parts, uint32_t count, bool quick);

//  The same of one that was not in the batch; and of the size alone
void lane_hang_entry (zpeer_lane_t *self, entry_t *entry);
void lane_hang_smaller (zpeer_lane_t *self, const flight_t *flight, bool quick);

//  An instance is hung no more; and what is in a batch that was answered
void lane_hang_end (zpeer_lane_t *self, entry_t *entry);
void lane_hang_over (zpeer_lane_t *self, const flight_t *flight,
                     const part_t *parts, uint32_t count);

//  lane_failure.c

//  The state that an ambiguous attempt leaves the peer in, if it comes late
uint64_t lane_late_seq (const zpeer_lane_t *self, const part_t *part);

//  Takes a failed attempt in. parts: without the forgotten ones
void lane_failed (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
                  part_t *parts, uint32_t count, const zpeer_result_t *result);

//  What is back waits as before. If it may have been the reason itself, it waits
//  behind the others: what they are answered tells.
void lane_stand_back (zpeer_lane_t *self, const part_t *parts, uint32_t count,
                      bool behind);

//  What comes back, and what gathered meanwhile, as one
void lane_merge (zpeer_lane_t *self, entry_t *entry, unsigned sent);

//  Any number
uint64_t lane_random (zpeer_lane_t *self);

//  Up to a quarter more, for what happens to many at once should not again
uint32_t lane_jitter (zpeer_lane_t *self, uint32_t ms);

//  A failure: pause, one batch at a time, what was asked is to be asked again
void lane_pace (zpeer_lane_t *self, uint64_t now, const zpeer_result_t *result);

//  lane_split.c

//  The peer has refused an instance; troubled: as one in trouble does; well: the
//  newest batch by which it was known to be well, when this one was sent. Returns
//  whether that confirms a suspicion, and it is to be rejected; the first time it
//  raises one.
bool lane_confirms (const zpeer_lane_t *self, entry_t *entry,
                    const part_t *part, bool troubled, uint64_t well);

//  An instance failed alone, which others do not. The second time, if others were
//  answered in between, it is given up for now and rests: then returns true.
bool lane_lonely (zpeer_lane_t *self, const part_t *part,
                  const zpeer_result_t *result);

//  What was sent of an instance was not taken: it is owed. bits: what that was
void lane_fail (zpeer_lane_t *self, entry_t *entry, unsigned bits);

//  The next part of the bisection under way: how many handles, or 0. They stay
//  valid until the split ends.
uint32_t lane_split_next (zpeer_lane_t *self, const uint32_t **handles,
                          split_t **split, uint32_t *from);

//  A part of a bisection was sent as questions, which are answered: it is the next
//  to go again. parts: without the forgotten ones
void lane_split_answered (zpeer_lane_t *self, const flight_t *flight,
                          const part_t *parts, uint32_t count);

//  Whether the failure is about something in the batch, and not about the peer
bool lane_is_refusal (const zpeer_lane_t *self, const zpeer_result_t *result);

//  A batch was refused, or was too large. parts: without the forgotten ones
void lane_refused (zpeer_lane_t *self, uint64_t now, flight_t *flight,
                   uint32_t parts, const zpeer_result_t *result);

//  A part of a bisection was answered; refused: as if there were something in it that
//  the peer cannot take
void lane_split_step (zpeer_lane_t *self, uint64_t now, const flight_t *flight,
                      const zpeer_result_t *result, bool refused);

//  There was nothing left of it to send
void lane_split_empty (zpeer_lane_t *self, split_t *split);

void lane_split_free (split_t *split);

#endif
