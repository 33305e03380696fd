/*  event.h - an event as the acceptor sees it

    What zpeer_event_parse leaves for the view. The public half, builder and
    parser, is <zpeer/event.h>.
*/
#ifndef ZPEER_EVENT_IMPL_H_INCLUDED
#define ZPEER_EVENT_IMPL_H_INCLUDED

#include <zpeer/names.h>
#include "buffer.h"

//  Limits, bytes
#define ZPEER_APP_MAX   255
#define ZPEER_ID_MAX    512
#define ZPEER_ASG_MAX   255
#define ZPEER_DEPTH_MAX 8

//  Room for one rejection's text, NUL included
#define ZPEER_REASON_MAX 256

//  One parsed event. Slices stay valid until the next parse with the same
//  parser, or until the frame goes.
typedef struct {
    zpeer_action_t action;
    zpeer_slice_t app;  //  Upper-cased (ASCII); empty for an ASG
    zpeer_slice_t id;   //  Or the ASG's name
    bool replicated;
    bool has_timestamp;
    bool has_status;
    uint64_t timestamp;       //  lastDirtyTimestamp
    zpeer_status_t status;    //  For an ASG: UP is ENABLED, OUT_OF_SERVICE is
                              //  DISABLED
    zpeer_status_t override;  //  overriddenStatus; UNKNOWN: none
    zpeer_slice_t info;       //  Register only: InstanceInfo's JSON up to, not
                              //  including, the comma before "status"
    uint32_t renewal_ms;      //  leaseInfo.renewalIntervalInSecs; without
                              //  leaseInfo 90,000 (EUREKA.md 4.1)
    uint32_t duration_ms;     //  leaseInfo.durationInSecs; default 90,000
} zpeer_parsed_t;

typedef struct zpeer_parser zpeer_parser_t;

zpeer_parser_t *zpeer_parser_new (void);

void zpeer_parser_destroy (zpeer_parser_t **self_p);

//  Parses the msgpack map at *offset of the frame.
//  ZPEER_OK: an event, *offset behind it.
//  ZPEER_E_REJECTED: a whole map that is no good event; *offset behind it, the
//  reason in reason, naming the field.
//  ZPEER_E_PARSE: not msgpack, or beyond a limit that hides where the next map
//  begins: nothing after *offset can be used; the reason in reason.
int zpeer_parser_next (zpeer_parser_t *self, const char *frame, size_t size,
                       size_t *offset, zpeer_parsed_t *event,
                       char reason[ZPEER_REASON_MAX]);

#endif
