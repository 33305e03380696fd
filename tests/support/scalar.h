/*  scalar.h - single values, read as Jackson and Eureka's enums read them */
#ifndef SPEER_SCALAR_H_INCLUDED
#define SPEER_SCALAR_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

#define SPEER_NONE INT64_MIN  //  A number that was not given

typedef enum {
    SPEER_STATUS_UP,
    SPEER_STATUS_DOWN,
    SPEER_STATUS_STARTING,
    SPEER_STATUS_OUT_OF_SERVICE,
    SPEER_STATUS_UNKNOWN,
    SPEER_STATUS_NOT_ONE
} speer_status_t;

const char *speer_status_name (speer_status_t status);

//  SPEER_STATUS_NOT_ONE for anything but an exact name
speer_status_t speer_status_parse (const char *name);

//  The text of a string, number or boolean, the caller's to free; NULL for null
//  and NULL itself. *fits becomes false for objects and arrays.
char *speer_scalar_text (const json_t *value, bool *fits);

//  The value of a number (its fraction cut off) or of a numeric string, blanks
//  around it; SPEER_NONE for null, "", "null" and NULL itself. *fits becomes
//  false for the rest.
int64_t speer_scalar_number (const json_t *value, bool *fits);

//  As Eureka's codec reads the numbers of an InstanceInfo: what is none is 0,
//  booleans are 1 and 0. A number outside min to max does not fit, the text of
//  one is 0. NULL itself: SPEER_NONE.
int64_t speer_scalar_coerced (const json_t *value, int64_t min, int64_t max,
                              bool *fits);

//  Cuts off blanks, in place, at both ends. NULL stays NULL. Returns text.
char *speer_trim (char *text);

//  Makes ASCII letters capitals, in place. NULL stays NULL. Returns text.
char *speer_upper (char *text);

#endif
