/*  fields.h - the members of an InstanceInfo (EUREKA.md 2.4, 2.5) */
#ifndef SPEER_FIELDS_H_INCLUDED
#define SPEER_FIELDS_H_INCLUDED

#include "scalar.h"

//  Returns what is stored, a new reference, or NULL for nothing; *fits becomes
//  false where the codec fails, which is 400 for the whole request
typedef json_t *(speer_read_fn) (const json_t *value, bool *fits);

typedef struct {
    const char *name;
    speer_read_fn *read;
    const char *absent;  //  JSON of what an absent one becomes, or NULL
} speer_field_t;

#define SPEER_AMAZON_CLASS  "com.netflix.appinfo.AmazonInfo"
#define SPEER_DURATION_SECS 90  //  Of a lease without leaseInfo

//  In the order they are written
#define SPEER_FIELDS 26
extern const speer_field_t speer_fields[SPEER_FIELDS];

//  The field of a member; SPEER_FIELDS if unknown
size_t speer_field (const char *name);

#endif
