/*  script.h - what happens at random: events of the source, other writers

    The functions are for the agenda.
*/
#ifndef SIM_SCRIPT_H_INCLUDED
#define SIM_SCRIPT_H_INCLUDED

#include "world.h"

//  An event of any instance
#define SCRIPT_ANY UINT64_MAX

//  An event at random, of the instance with this number
void script_event (world_t *world, void *whom, uint64_t number);

//  The source says what it has of an instance, to an engine that knows nothing
void script_picture (world_t *world, unsigned key, const record_t *record);

//  The host answers need-register of an instance, which is whom; number is the
//  timestamp it was asked with
void script_answer_need (world_t *world, void *whom, uint64_t number);

//  The instance with this number renews its lease, if the source has it: peers
//  that restarted need it
void script_renewal (world_t *world, void *whom, uint64_t number);

//  Another writer registers an instance at the peer, which is whom
void script_other (world_t *world, void *whom, uint64_t number);

#endif
