/*  registry.h - a receiving registry, as far as convergence is concerned

    EUREKA.md 3.1 and 3.4, for replicated calls: without status rule 4. It has
    leases by key, the number of an instance in this world. A plain struct:
    zeroed is empty.
*/
#ifndef SIM_REGISTRY_H_INCLUDED
#define SIM_REGISTRY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

//  Most instances of a world, and ASGs; these come behind the instances
#define KEYS_MAX 40
#define ASGS_MAX 3
#define KEYS_ALL (KEYS_MAX + ASGS_MAX)

//  Room for an item's or a record's text
#define REGISTRY_TEXT_MAX 96

//  Who made a registration
typedef enum {
    BY_US,
    BY_REPLICATION,  //  The source's own peers
    BY_OTHER         //  Somebody who knows nothing of our source
} writer_t;

//  One entry of a batch, or an event of the source
typedef struct {
    uint64_t timestamp;   //  0: none
    uint64_t asked_at;    //  When the peer applied the last question about the
                          //  instance, as of when the batch was sent
    uint64_t applied_at;  //  When the peer applied this, if it said what it had
    uint64_t top;         //  Highest timestamp of the instance; 0: none known
    unsigned turn;        //  Of the instance at the peer, see peer_key_t
    uint32_t version;     //  Of the info text; Register only
    uint16_t key;
    uint16_t code;  //  The peer's answer
    uint64_t copy;  //  And, with a 409 or a copy, the timestamp of what it has
    uint64_t age_ms;   //  and for how long it has had it
    uint8_t action;    //  zpeer_action_t
    uint8_t status;    //  zpeer_status_t
    uint8_t override;  //  zpeer_status_t; UNKNOWN: none
    bool guarded;      //  An act that a question preceded
    bool asks;         //  A question
} item_t;

//  One lease. A held override never outlives its lease, so it can live in it.
typedef struct {
    uint64_t timestamp;
    uint64_t since;
    uint64_t lapses_at;  //  0: not at all
    uint32_t version;
    uint8_t status;
    uint8_t override;
    uint8_t by;  //  writer_t
    bool there;
} record_t;

typedef struct {
    record_t records[KEYS_ALL];  //  Of an ASG status alone counts
    uint64_t
        lease_ms;  //  How long a lease lives that was never renewed, and half
                   //  as long as one that was; 0: all live for ever
} registry_t;

//  Lets go of what nobody has renewed; others renew what is theirs. Returns how
//  many that were.
unsigned registry_expire (registry_t *self, uint64_t now);

//  All is lost
void registry_clear (registry_t *self);

//  Applies one item and returns its status code
uint16_t registry_apply (registry_t *self, const item_t *item, writer_t by,
                         uint64_t now);

//  How instances and ASGs are called in a history
static inline char
key_letter (unsigned key)
{
    return key < KEYS_MAX ? 'I' : 'A';
}

static inline unsigned
key_number (unsigned key)
{
    return key < KEYS_MAX ? key : key - KEYS_MAX;
}

//  It changes nothing but a lease
bool item_only_asks (const item_t *self);

//  Both return text
const char *item_text (const item_t *self, char text[REGISTRY_TEXT_MAX]);

const char *record_text (const record_t *self, char text[REGISTRY_TEXT_MAX]);

#endif
