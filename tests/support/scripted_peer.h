/*  scripted_peer.h - an in-memory Eureka server that misbehaves on request

    Answers as EUREKA.md 1 to 3 says a Spring or Netflix peer does: the batch
    endpoint, the calls for one instance, ASG status, GET apps, apps/{APP} and
    apps/{APP}/{ID}, each below /eureka/, /eureka/v2/ and /v2/. A script, changed
    at any time by these functions or by POST /script on the control port
    (script.h has the document), makes it slow, silent, broken or unreachable.

    It shares no code with zpeer, not even the buffer, so that a mistake in one
    is not made up for by the same mistake in the other. "speer" is the prefix
    of everything in this folder. Known to differ from
    a real server, which tests/interop/README.md compares it with: it speaks
    JSON only (a GET need not ask for it), an expired lease goes at once, ASG
    updates are taken as in the cloud, and nesting that breaks a real codec in
    odd ways is 400.

    Threads: each peer is one thread of its own; every function may be called
    from any thread. What a function changes holds when it returns.

    Units: ms; _ns where it says so. Times are CLOCK_MONOTONIC, the clock of the
    registry is CLOCK_REALTIME plus what speer_advance added.

    Blocking: only the wait functions wait, each with a limit in ms.
*/
#ifndef SPEER_SCRIPTED_PEER_H_INCLUDED
#define SPEER_SCRIPTED_PEER_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "rule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct speer speer_t;

//  What can be counted, and waited for: name, JSON name, meaning
#define SPEER_COUNTERS(X)                                                      \
    X (REQUESTS, "requests", "requests read, whatever became of them")         \
    X (BATCHES, "batches", "of these: POST peerreplication/batch")             \
    X (ITEMS, "items", "items in batches, and 1 for each other call")          \
    X (APPLIED, "applied", "requests whose changes were made")                 \
    X (ANSWERED, "answered", "answers sent whole")                             \
    X (FAULTS, "faults", "requests a rule with a fault or a status met")       \
    X (ABANDONED, "abandoned", "connections the client closed unanswered")     \
    X (UNMARKED, "unmarked", "calls without x-netflix-discovery-replication")  \
    X (BYTES, "bytes", "received in whole requests")                           \
    X (CONNECTIONS, "connections", "accepted so far")                          \
    X (OPEN, "open", "connections open now")                                   \
    X (IN_FLIGHT, "in-flight", "requests unanswered now, hung ones included")  \
    X (MAX_IN_FLIGHT, "max-in-flight", "most of these at any time")            \
    X (PENDING, "pending", "requests delayed, held or to be applied late")     \
    X (INSTANCES, "instances", "leases now")                                   \
    X (SAMPLES, "samples", "receipt times waiting to be read")

typedef enum {
#define X(name, label, meaning) SPEER_##name,
    SPEER_COUNTERS (X)
#undef X
        SPEER_COUNTERS_MAX
} speer_counter_t;

//  How it works: name, option name, default, meaning
#define SPEER_SETTINGS(X)                                                      \
    X (COUNT, "count", 0,                                                      \
       "count items, answer 200: no registry, no bodies kept")                 \
    X (SERIAL, "serial", 0, "work on one request after the other")             \
    X (EXPIRE, "expire", 0, "leases expire by the registry's clock")           \
    X (SYNC, "sync", 1, "compare timestamps (syncWhenTimestampDiffers)")       \
    X (ENTITY, "entity", 1, "a 409 item carries the copy (bugfix.934)")        \
    X (GUNZIP, "gunzip", 0,                                                    \
       "read gzipped requests (a Netflix WAR; Spring: 400)")                   \
    X (KEEP, "keep", 64, "bodies of so many latest requests are kept")         \
    X (SAMPLE, "sample", 0, "note the receipt of every n-th item; 0: none")

typedef enum {
#define X(name, label, value, meaning) SPEER_SET_##name,
    SPEER_SETTINGS (X)
#undef X
        SPEER_SETTINGS_MAX
} speer_setting_t;

//  How it treats connections: name, JSON name, meaning
#define SPEER_MODES(X)                                                         \
    X (LISTEN, "listen", "as a server does")                                   \
    X (REFUSE, "refuse", "connections are cut, new ones refused")              \
    X (BLACK_HOLE, "black-hole", "accepts and never reads")                    \
    X (DEAF, "deaf", "its queue is full: connecting times out")                \
    X (RESET_ALL, "reset", "resets each connection before reading from it")

typedef enum {
#define X(name, label, meaning) SPEER_##name,
    SPEER_MODES (X)
#undef X
        SPEER_MODES_MAX
} speer_mode_t;

//  Starts a peer that listens on 127.0.0.1:port, and for its control calls on
//  control; 0: any free port, -1 (control only): none. NULL if a port is taken.
speer_t *speer_new (int port, int control);

//  Stops the thread and closes everything. Works twice.
void speer_destroy (speer_t **self_p);

//  "http://127.0.0.1:<port>/eureka/"; valid as long as the peer
const char *speer_url (const speer_t *self);

//  "http://127.0.0.1:<control port>/", or NULL without one
const char *speer_control_url (const speer_t *self);

int speer_port (const speer_t *self);

//  ---- The script

//  Adds a rule for whole requests, or for items in batches. The newest rule that
//  matches counts; used up, it lets the one before it show again. Texts are
//  copied.
void speer_rule (speer_t *self, const speer_rule_t *rule);
void speer_item_rule (speer_t *self, const speer_item_rule_t *rule);

//  Drops all rules. Requests already under work keep theirs.
void speer_clear (speer_t *self);

//  Lets go on what SPEER_HELD holds. Returns how many that were.
size_t speer_release (speer_t *self);

void speer_set (speer_t *self, speer_setting_t setting, int64_t value);

//  The same port serves all modes. Returns false if it cannot be listened to
//  again (somebody else has taken it), and then stays in SPEER_REFUSE.
bool speer_mode (speer_t *self, speer_mode_t mode);

//  Moves the registry's clock forward
void speer_advance (speer_t *self, int64_t ms);

//  As new: no leases, rules, records or counts, clock and settings at their
//  defaults, listening; connections are closed, delayed work is dropped
void speer_reset (speer_t *self);

//  Applies a script document (script.h). Returns NULL, or what is wrong with it
//  (the caller's to free); what stands before the mistake is done.
char *speer_script (speer_t *self, const char *json);

//  ---- Waiting

uint64_t speer_get (speer_t *self, speer_counter_t counter);

//  Waits until the counter is at least (at most) value. False: limit_ms over.
bool speer_wait (speer_t *self, speer_counter_t counter, uint64_t value,
                 int limit_ms);
bool speer_wait_at_most (speer_t *self, speer_counter_t counter, uint64_t value,
                         int limit_ms);

//  Waits until fn (self, arg) is true; it is asked after each thing that
//  happens, and may call any function here but the waiting ones
typedef bool (speer_condition_fn) (speer_t *self, void *arg);
bool speer_wait_until (speer_t *self, speer_condition_fn *fn, void *arg,
                       int limit_ms);

//  ---- What came in

typedef struct {
    uint64_t at_ms;     //  When it had been read
    uint64_t done_ms;   //  When its answer was sent, 0: not
    int status;         //  Of the answer, 0: none
    size_t items;       //  As SPEER_ITEMS
    char *method;       //  Owned
    char *path;         //  Owned; as sent, with the query
    char *head;         //  Owned; request line and headers; "" if not kept
    char *body;         //  Owned; with a NUL behind it; "" if not kept
    size_t body_bytes;  //  Of the body as it came, kept or not
} speer_record_t;

//  Copies the n-th request since the start or reset (from 0). False if there is
//  none, or it is more than SPEER_RECORDS_MAX requests ago. Free the copy.
#define SPEER_RECORDS_MAX 4096
bool speer_request (speer_t *self, uint64_t n, speer_record_t *record);
void speer_record_free (speer_record_t *record);

//  Receipt of an item: its lastDirtyTimestamp as sent, which may be anything the
//  sender wants to know the age of
typedef struct {
    int64_t received_ns;  //  CLOCK_MONOTONIC
    int64_t timestamp;
} speer_sample_t;

//  Takes up to max samples, oldest first; returns how many. The ring holds
//  SPEER_SAMPLES_HELD, later ones are not noted.
#define SPEER_SAMPLES_HELD 65536
size_t speer_samples (speer_t *self, speer_sample_t *samples, size_t max);

//  ---- The registry

typedef struct {
    char status[16];
    char overridden[16];  //  overriddenStatus of the instance
    char held[16];        //  Override held for the id, "" if none
    int64_t dirty;        //  lastDirtyTimestamp
    int64_t registered;   //  registrationTimestamp
    int64_t renewed;      //  lastRenewalTimestamp; duration ahead, as in Eureka
    int64_t duration_ms;
} speer_lease_t;

//  False if there is no such instance; lease may be NULL
bool speer_lease (speer_t *self, const char *app, const char *id,
                  speer_lease_t *lease);

//  What GET apps, or apps/{APP}/{ID}, answers. The caller's to free; NULL if
//  there is no such instance.
char *speer_apps (speer_t *self);
char *speer_instance (speer_t *self, const char *app, const char *id);

//  "ENABLED", "DISABLED", or NULL when nobody ever told
const char *speer_asg (speer_t *self, const char *name);

//  Another writer: applies a batch body as if some other peer had sent it;
//  nothing is recorded or counted. Returns the HTTP status.
int speer_apply (speer_t *self, const char *body);

#ifdef __cplusplus
}
#endif

#endif
