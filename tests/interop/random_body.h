/*  random_body.h - batch bodies made up by chance

    The same seed makes the same bodies: all actions, timestamps below, at and
    above each other, overrides, and now and then what Eureka's codec does not
    take. They are about RANDOM_IDS instances of one application.
*/
#ifndef RANDOM_BODY_H_INCLUDED
#define RANDOM_BODY_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#define RANDOM_IDS 3

//  A number below bound, which is not 0; state is changed
size_t random_below (uint64_t *state, size_t bound);

//  A body, the caller's to free. state is the generator's, changed. The ids are
//  those random_body_id gives.
char *random_body (uint64_t *state, const char *app);

//  "APP:number"; room for size bytes
void random_body_id (char *id, size_t size, const char *app, unsigned number);

#endif
