/*  compare.h - whether two Eureka servers say the same

    Clocks differ, so what a server takes from its own clock is left out:
    registration, renewal and update times. A lastDirtyTimestamp is compared
    unless both are times of the present; tests use small numbers.
*/
#ifndef COMPARE_H_INCLUDED
#define COMPARE_H_INCLUDED

#include "remote.h"

//  Posts a batch body to both. NULL if HTTP status, item statuses and entities
//  are the same, else what differs, the caller's to free.
char *compare_batch (remote_t *one, remote_t *other, const char *body);

//  The same for one instance in both registries, and for GET apps as a list of
//  an application's instances
char *compare_instance (remote_t *one, remote_t *other, const char *app,
                        const char *id);

//  Two InstanceInfos, NULL for none; the texts are for the sentence
char *compare_infos (json_t *one, json_t *other);

#endif
