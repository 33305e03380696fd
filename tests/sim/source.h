/*  source.h - events into the view, and what the lanes are told of them

    The place of the acceptor.
*/
#ifndef SIM_SOURCE_H_INCLUDED
#define SIM_SOURCE_H_INCLUDED

#include "event.h"
#include "world.h"

//  Bytes of an info text: enough that some peers find batches too large
#define INFO_SIZE 500

//  One event: for the view, and as others would send it
typedef struct {
    unsigned key;
    zpeer_parsed_t parsed;
    uint32_t version;  //  Of info
    char info[INFO_SIZE + 1];
} event_t;

//  Applies the event and tells every lane
void source_feed (world_t *world, const event_t *event);

#endif
