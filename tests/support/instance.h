/*  instance.h - InstanceInfo, read and written as Eureka's codec does

    EUREKA.md 2.4 to 2.6: which members there are, what is taken for what, what
    breaks the whole request, and what a registration must have.
*/
#ifndef SPEER_INSTANCE_H_INCLUDED
#define SPEER_INSTANCE_H_INCLUDED

#include "scalar.h"

//  What was done to it last: actionType
typedef enum { SPEER_ADDED, SPEER_MODIFIED, SPEER_DELETED } speer_done_t;

typedef struct {
    unsigned holders;
    json_t *json;  //  Owned; every member with a value, in the codec's order
    char *app;     //  Owned; "" if blank
    char *id;      //  Owned; the effective id, "" if blank
    speer_status_t status;
    speer_status_t overridden;
    speer_done_t done;
    int64_t dirty;
    int duration_secs;
} speer_info_t;

//  Reads an InstanceInfo. now is what an absent timestamp becomes. Returns NULL
//  where the codec fails, which is 400 for the whole request.
speer_info_t *speer_info_new (json_t *from, int64_t now);

//  One more holder; returns self. The last one to destroy it frees it.
speer_info_t *speer_info_hold (speer_info_t *self);

void speer_info_destroy (speer_info_t **self_p);

//  What the first failed check of a registration says, or NULL. app is the one
//  it is registered under, upper case.
const char *speer_info_invalid (const speer_info_t *self, const char *app);

#endif
