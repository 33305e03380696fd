/*  event.h - an event as the acceptor sees it

    What zpeer_parser_next leaves for the view. The public half is
    <zpeer/event.h>; the fields and their limits are in PROTOCOL.md.
*/
#ifndef ZPEER_EVENT_IMPL_H_INCLUDED
#define ZPEER_EVENT_IMPL_H_INCLUDED

#include <zpeer/event.h>
#include "buffer.h"

//  Limits, bytes
#define ZPEER_APP_MAX    255
#define ZPEER_ID_MAX     512
#define ZPEER_ASG_MAX    255
#define ZPEER_ORIGIN_MAX 2048                   //  The URL of a peer
#define ZPEER_EVENT_MAX  ((size_t) 256 * 1024)  //  One event as msgpack
#define ZPEER_INFO_MAX   ((size_t) 256 * 1024)  //  One InstanceInfo as JSON

//  A key of metadata; for a longer one peers refuse the whole batch (Jackson, from
//  2.16 on)
#define ZPEER_KEY_MAX ((size_t) 50000)

//  Room for one rejection's text, NUL included
#define ZPEER_REASON_MAX 256

//  Members of an event: name here, name on the wire
#define ZPEER_EVENT_MEMBERS(X)                                                 \
    X (ACTION, "action")                                                       \
    X (APP, "app")                                                             \
    X (ID, "id")                                                               \
    X (TIMESTAMP, "lastDirtyTimestamp")                                        \
    X (STATUS, "status")                                                       \
    X (OVERRIDE, "overriddenStatus")                                           \
    X (REPLICATED, "replicated")                                               \
    X (ASG, "asg")                                                             \
    X (INFO, "info")                                                           \
    X (SNAPSHOT, "snapshot")                                                   \
    X (AS_OF, "asOf")                                                          \
    X (ORIGIN, "origin")

typedef enum {
#define X(name, text) ZPEER_EVENT_##name,
    ZPEER_EVENT_MEMBERS (X)
#undef X
        ZPEER_EVENT_COUNT
} zpeer_event_member_t;

//  One parsed event. Slices stay valid until the next parse with the same
//  parser, or until the frame goes.
typedef struct {
    zpeer_action_t action;
    zpeer_slice_t app;  //  Upper-cased (ASCII); empty for an ASG
    zpeer_slice_t id;   //  Or the ASG's name
    bool replicated;    //  At most one of these: replicated and snapshot, or
    bool snapshot;      //  replicated and an origin. Snapshot: a Register only
    uint8_t from;       //  Number of the lane whose peer is the origin, and 1;
                        //  0: none. Set by whoever applies it
    bool has_timestamp;
    bool has_status;          //  Always for a Register
    uint64_t timestamp;       //  lastDirtyTimestamp
    zpeer_status_t status;    //  For an ASG: UP is ENABLED, OUT_OF_SERVICE is
                              //  DISABLED
    zpeer_status_t override;  //  overriddenStatus; UNKNOWN: none
    zpeer_slice_t info;       //  Register only: InstanceInfo's JSON up to, not
                              //  including, the comma before "status"
    uint32_t renewal_ms;      //  leaseInfo.renewalIntervalInSecs; without
                              //  leaseInfo 90,000 (EUREKA.md 4.1)
    uint32_t duration_ms;     //  leaseInfo.durationInSecs; default 90,000
    uint64_t as_of;           //  Of a snapshot: the engine's time it is of; 0:
                              //  the present
    zpeer_slice_t origin;     //  URL of the peer it came from; empty: none
    uint32_t tag;             //  A hint of whoever applies it; 0: none
} zpeer_parsed_t;

//  Keeps its memory from event to event
typedef struct zpeer_parser zpeer_parser_t;

zpeer_parser_t *zpeer_parser_new (void);

void zpeer_parser_destroy (zpeer_parser_t **self_p);

//  Parses the msgpack map at *offset of the frame.
//  ZPEER_OK: an event, *offset behind it. Else event is untouched.
//  ZPEER_E_REJECTED: a whole map that is no good event; *offset behind it, the
//  reason in reason, naming the field.
//  ZPEER_E_PARSE: not msgpack, no map, or beyond a limit that hides where the
//  next map begins: nothing after *offset can be used; the reason in reason.
int zpeer_parser_next (zpeer_parser_t *self, const char *frame, size_t size,
                       size_t *offset, zpeer_parsed_t *event,
                       char reason[ZPEER_REASON_MAX]);

//  The public event. event.c sets and gets, codec.c encodes and decodes.
struct zpeer_event {
    zpeer_action_t action;
    bool has_status;
    bool has_override;
    bool replicated;
    bool snapshot;
    zpeer_status_t status;    //  Not of a Register: that one has it in info
    zpeer_status_t override;  //  Likewise
    uint64_t timestamp;       //  0: not set
    uint64_t as_of;           //  0: not set
    char *origin;             //  Owned; NULL: not set
    struct json_t *info;      //  Owned; Register only: InstanceInfo
    char app[ZPEER_APP_MAX + 1];
    char id[ZPEER_ID_MAX + 1];  //  Or the ASG's name
};

//  Writes a sentence into a caller's text of size bytes, as far as it fits
void zpeer_event_say (char *text, size_t size, const char *what);

//  The key of a member, on the wire
zpeer_slice_t zpeer_event_key (zpeer_event_member_t member);

#endif
