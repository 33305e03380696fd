/*  world.h - one seeded run in virtual time

    A source with its view, one to three peers with a lane each, a network with
    faults, other writers. After a while calm: no more changes, no more faults.
    Then every peer must equal the view.

    The cores are the real ones (view, handover, walker, lane, roster, dispatch,
    counter, verdict), and so are the messages between them; the rest is here:

        world        time, the history
        plan         what is to happen in a run, and when
        calm         the calm behind it: renewals, healing, checks
        anew         the engine is started anew
        script       events at random
        source       the acceptor: events into the view, chunks to the lanes
        late         what the source hears later than its peers
        peer         what is known of a peer, what its lanes must not be blamed
                     for
        batcher      a peer's lanes and its roster: chunks and messages in (_in),
                     batches out (_out)
        attempt      what a lane must keep to: window, pauses, pace
        caution      and when it must ask first
        stroll       what a walk of the view must keep to
        dispatcher   its life, and (_work) batches in, requests out
        health       the counter of a peer
        message      what they send each other, and
        link         how it comes there: late, twice, not at all
        batch        what a lane sent, and the requests made of it
        flaw         items that a peer does not bear
        twin         another engine with the same source
        network      faults of a request
        remote       what the peer behind them does with it, and
        reply        the body of its answer
        registry     what it does with an item
        compare      what must be true in the end
        probe        looks into cores, for what the world must know
        agenda, rng, tally
*/
#ifndef SIM_WORLD_H_INCLUDED
#define SIM_WORLD_H_INCLUDED

#include "agenda.h"
#include "flaw.h"
#include "handover.h"
#include "peer.h"
#include "rng.h"
#include "tally.h"
#include "view.h"
#include "walker.h"

#define PEERS_MAX 3

//  How long an ASG update is worth sending
#define ASG_LIFE_MS 30000

//  With that many instances batches are large, and some delays would only be
//  long
#define MANY_KEYS 10

//  What may happen in a run; each with its share of runs, per cent. 0: only when
//  it is asked for. A new one goes to the end, so that old seeds stay what they are.
#define FEATURES(X)                                                            \
    X (POISON, 40)     /* Registers for which a batch is answered 400 */       \
    X (TOXIC, 40)      /* Registers answered 500 */                            \
    X (REFUSE, 40)     /* Registers answered 200, and not stored */            \
    X (OTHER, 40)      /* Others register our instances at a peer */           \
    X (REPLICATED, 40) /* Events that our peers tell the others */             \
    X (RESTART, 40)    /* A peer restarts, empty */                            \
    X (OLDER, 40)      /* Outdated timestamps */                               \
    X (FORGET, 40)     /* Forget */                                            \
    X (HOT, 40)        /* One instance that changes all the time */            \
    X (RESYNC, 40)     /* A peer is told the whole view again, */              \
    X (VERIFY, 40)     /* or asked about it */                                 \
    X (RETRY, 20)      /* Pauses are ended by hand */                          \
    X (SAME, 40)       /* Registers that repeat the info */                    \
    X (AGE, 20)        /* Short leases, that run out */                        \
    X (TOMBSTONE, 30)  /* Tombstones that go, and handles that come back */    \
    X (STUCK, 30)      /* Batchers that are slow to read */                    \
    X (ASG, 30)        /* ASGs, in lanes of their own */                       \
    X (SINGLE, 15)     /* A request for each item */                           \
    X (REMOTE, 60)     /* Dispatchers in other processes: */                   \
    X (LOSSY, 30)      /* their messages are lost, or come twice */            \
    X (CUT, 40)        /* their connections are cut for a while */             \
    X (DEATH, 40)      /* they die, or end, and others come */                 \
    X (DEAF, 30)       /* Health does not answer for a while */                \
    X (LATE, 15)       /* Lanes that are added late */                         \
    X (LEAVE, 15)      /* Lanes that are removed, and added again */           \
    X (RENEW,                                                                  \
       50) /* After a restart all is renewed or asked for, in the calm */      \
    X (FIREWALL, 20) /* One item has its whole batch answered 403, 500, … */ \
    X (HANG, 0)      /* Batches with one item run into the read timeout */     \
    X (CRASH, 20)    /* A peer restarts, empty, several times in a row */      \
    X (SERVERS, 10)  /* Several servers behind a peer's address */             \
    X (HEAL, 0)      /* What was refused is taken in the calm */               \
    X (LAGGARD, 0) /* A peer that takes long for each batch, large or small */ \
    X (WAIT, 30)   /* Retry-After of any length */                             \
    X (ASG_SICK, 30) /* ASG updates that fail beside all else */               \
    X (CLOCK, 0)     /* The clocks of instances are set back */                \
    X (CHECKUP, 0)   /* In the end equal peers are verified twice */           \
    X (REJOIN, 10)   /* Lanes that are removed, and added again at once */     \
    X (LEASES, 20)   /* Leases run out at the peers, and are renewed */        \
    X (AHEAD, 20)    /* Peers hear of replicated events before the source */   \
    X (TWIN, 20)     /* Another engine tells the peers the same */             \
    X (ENGINE, 20)   /* The engine is started anew */                          \
    X (CROWD, 10)    /* Of many items each has its batch refused as a whole */

typedef enum {
#define X(name, percent) FEATURE_##name,
    FEATURES (X)
#undef X
        FEATURE_COUNT
} feature_t;

//  What the source knows of an instance
typedef struct {
    char id[12];
    uint64_t top;           //  Highest timestamp ever, Forget or not
    uint64_t cancelled_at;  //  When the newest Cancel was accepted
    uint64_t gone_at;       //  When the view had let go of it last
    bool known;             //  The view has it
    bool forgotten;         //  And not registered since
    bool orphan;    //  Forgotten, and back through a peer's replication:
                    //  what else peers hold of it is not our affair
    uint8_t flaws;  //  flaw_t, of whatever is sent of it
    uint8_t had;    //  flaw_t, of all its versions
} instance_t;

typedef struct {
    uint8_t flaws;           //  flaw_t
    uint8_t bad[PEERS_MAX];  //  Batches refused for it, by peer
} version_t;

//  Another engine with the same source, see twin.h
typedef struct {
    item_t *items;  //  Owned; all that it ever told
    size_t count;
    size_t capacity;
    uint64_t told_at[PEERS_MAX];  //  When the newest arrives
} twin_t;

//  What somebody wishes of each feature
typedef enum { WISH_SHARE, WISH_ON, WISH_OFF } wish_t;

typedef struct world {
    uint64_t seed;
    uint64_t now;
    uint64_t calm_at;  //  UINT64_MAX: not yet
    uint64_t end_at;   //  Of the run
    uint64_t
        released_at;  //  When the view began last to let go of something, or
                      //  a lane last did
    uint64_t held_up_at;  //  Nothing is fed since; UINT64_MAX: it is
    bool healed;          //  Nothing is refused any more
    uint64_t steps;       //  What happened so far
    rng_t rng;
    agenda_t agenda;
    FILE *history;   //  Borrowed; NULL: nobody reads it
    uint64_t from;   //  Step from which the history is written
    uint64_t until;  //  Step at which the run is left
    bool by_hand;    //  From there on it waits for a line of stdin
    uint64_t lines;  //  Of the history
    tally_t *tally;  //  Borrowed

    //  The run
    bool features[FEATURE_COUNT];
    uint32_t read_timeout_ms;
    uint32_t pool;
    uint32_t max_items;
    uint32_t tombstone_ms;
    bool batch_enabled;
    zpeer_statuses_t busy;  //  That mean Congestion
    bool restarted;         //  A peer was, since then renewals matter
    bool checkup;           //  Peers that are equal need not be told anything
    uint64_t set_back_ms;   //  Clocks of instances
    bool anew;              //  The engine was started anew
    twin_t twin;
    struct late *late;  //  Owned; events that peers heard of before

    zpeer_view_t *view;          //  Owned
    zpeer_handover_t *handover;  //  Owned
    zpeer_walker_t *walker;      //  Owned
    uint64_t source_wake;        //  When both are to be asked again; 0: never
    unsigned keys;
    instance_t instances[KEYS_ALL];
    uint64_t forgotten_at;  //  Highest timestamp that was ever forgotten
    version_t *versions;    //  Owned; by version
    uint32_t version;       //  The newest; never 0
    uint32_t version_capacity;

    peer_t peers[PEERS_MAX];
    unsigned peer_count;
    batch_t **batches;  //  Owned; all there ever were, in the order of ids
    uint64_t batch_count;
    uint64_t batch_capacity;
    request_t *requests;  //  Owned; likewise

    //  The first fault found
    const char *fault;  //  Its kind; NULL: there is none
    char detail[256];
} world_t;

//  tally, history and wishes (one for each feature) are borrowed; history may be
//  NULL
void world_init (world_t *self, uint64_t seed, tally_t *tally, FILE *history,
                 const wish_t wishes[FEATURE_COUNT]);

//  Runs to the end, or to the first fault
void world_run (world_t *self);

void world_fini (world_t *self);

//  Something happens after a delay, ms
void world_after (world_t *self, uint64_t delay, agenda_fn *fn, void *whom,
                  uint64_t number);

//  Whether somebody reads the history at this step
bool world_tells (const world_t *self);

//  A line of the history: step, time, what happened
void world_say (world_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

//  Something must not be. kind is static.
void world_fail (world_t *self, const char *kind, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

static inline void
world_count (world_t *self, tally_kind_t kind)
{
    self->tally->counts[kind]++;
}

static inline bool
world_is_calm (const world_t *self)
{
    return self->calm_at != UINT64_MAX;
}

//  The number of an instance, or of an ASG, which come behind them
unsigned world_key (const zpeer_state_t *state);

//  Of the info text in a state
uint32_t world_version (const zpeer_state_t *state);

//  What the view says of an instance, borrowed; NULL: it does not know it
const zpeer_state_t *world_state (const world_t *self, unsigned key);

//  The same as a peer should have it
record_t world_record (const world_t *self, unsigned key);

//  What the view does not know, or is letting go of, nobody renews at a peer
//  without a lane: those leases run out
void world_lapse (peer_t *peer);

//  Looks for instances that the view has let go of for good
void world_gone (world_t *self);

#endif
