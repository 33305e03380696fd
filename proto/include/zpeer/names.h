/*  names.h - the words of the protocol: actions, statuses, verdicts

    The texts are those of the wire, in its exact spelling: Eureka's for actions
    and statuses (a peer refuses a whole batch for a wrong letter), the
    reference's for verdicts.
*/
#ifndef ZPEER_NAMES_H_INCLUDED
#define ZPEER_NAMES_H_INCLUDED

#include <zpeer/base.h>

#ifdef __cplusplus
extern "C" {
#endif

//  What happened at the source. All but FORGET and ASG_STATUS_UPDATE are items
//  of a batch; FORGET never leaves the engine.
typedef enum {
    ZPEER_REGISTER,
    ZPEER_HEARTBEAT,
    ZPEER_CANCEL,
    ZPEER_STATUS_UPDATE,
    ZPEER_DELETE_STATUS_OVERRIDE,
    ZPEER_ASG_STATUS_UPDATE,
    ZPEER_FORGET,
    ZPEER_ACTIONS  //  How many there are
} zpeer_action_t;

//  InstanceInfo.InstanceStatus. As an override UNKNOWN means: none.
typedef enum {
    ZPEER_UNKNOWN,
    ZPEER_UP,
    ZPEER_DOWN,
    ZPEER_STARTING,
    ZPEER_OUT_OF_SERVICE,
    ZPEER_STATUSES  //  How many there are
} zpeer_status_t;

//  What a send attempt came to
typedef enum {
    ZPEER_SUCCESS,
    ZPEER_CONGESTION,
    ZPEER_TRANSIENT_ERROR,
    ZPEER_PERMANENT_ERROR,
    ZPEER_VERDICTS  //  How many there are
} zpeer_verdict_t;

//  Names; static, never NULL. An out-of-range value gives "?".
ZPEER_EXPORT const char *zpeer_action_name (zpeer_action_t action);

ZPEER_EXPORT const char *zpeer_status_name (zpeer_status_t status);

ZPEER_EXPORT const char *zpeer_verdict_name (zpeer_verdict_t verdict);

//  The value for a text of length bytes, exact spelling.
//  Returns ZPEER_OK, or ZPEER_E_UNKNOWN and leaves the output untouched.
ZPEER_EXPORT int
zpeer_action_parse (const char *text, size_t length, zpeer_action_t *action);

ZPEER_EXPORT int
zpeer_status_parse (const char *text, size_t length, zpeer_status_t *status);

#ifdef __cplusplus
}
#endif

#endif
