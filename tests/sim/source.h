/*  source.h - events into the view, and what the lanes are told of them

    The place of the acceptor: a turn does the same in the same order.
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

void source_init (world_t *world);

void source_fini (world_t *world);

//  And what else it keeps over its lives
void source_free (world_t *world);

//  The source has forgotten the instance
void source_forgotten (world_t *world, unsigned key);

//  Whether events are read: not while a lane has no room
bool source_reads (const world_t *world);

//  Applies the event and tells every lane
void source_feed (world_t *world, const event_t *event);

//  The engine hears of it, and nobody else. To take it is the same without a turn.
void source_hear (world_t *world, const event_t *event);

void source_take (world_t *world, const event_t *event);

//  Commands come between turns: what a turn has gathered is handed over first
void source_flush (world_t *world);

void source_add_lane (world_t *world, unsigned lane);

void source_remove_lane (world_t *world, unsigned lane);

//  The lane's peer is to be told, or asked about, the whole view
void source_walk (world_t *world, unsigned lane, zpeer_walk_kind_t kind);

//  The lane has read something of its inbox
void source_has_room (world_t *world, unsigned lane);

//  A message of a lane
void source_receive (world_t *world, const message_t *message);

#endif
