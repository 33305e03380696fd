/*  item.h - one entry of a batch, and the request that replaces it

    An item is written from a state without encoding anything again: the
    instance's name and its InstanceInfo are texts made once. Facts: EUREKA.md
    2.1 (members, which action sends which), 1.3 (per-instance calls).
*/
#ifndef ZPEER_ITEM_H_INCLUDED
#define ZPEER_ITEM_H_INCLUDED

#include "buffer.h"
#include "state.h"

typedef struct {
    const zpeer_state_t *state;  //  Borrowed: name and info are used
    uint64_t timestamp;          //  lastDirtyTimestamp; 0: none is sent
    uint8_t action;              //  zpeer_action_t
    uint8_t status;              //  zpeer_status_t
    uint8_t override;            //  zpeer_status_t; Register only
} zpeer_item_t;

//  The action of an item that is none: the peer is asked for what it has of the
//  instance. There is no such item in a batch, only a request (EUREKA.md 1.3).
#define ZPEER_ITEM_FETCH ZPEER_ACTIONS

//  What stands around the items of a batch
#define ZPEER_BATCH_HEAD "{\"replicationList\":["
#define ZPEER_BATCH_TAIL "]}"

//  An upper bound for the bytes of the item in a batch, comma included
size_t zpeer_item_bound (const zpeer_item_t *self);

//  An upper bound for the bytes of the largest batch of one instance alone: the
//  pair that gives a peer its state, when there are info_size bytes of
//  InstanceInfo up to its status; one item when there are none (0)
size_t
zpeer_item_batch_bound (zpeer_slice_t app, zpeer_slice_t id, size_t info_size);

//  Appends the item's JSON object, as it stands in a replicationList
void zpeer_item_write (const zpeer_item_t *self, zpeer_buffer_t *out);

//  Appends the body of a batch: all items, and what stands around them
void zpeer_item_write_all (const zpeer_item_t *items, size_t count,
                           zpeer_buffer_t *out);

//  One HTTP request that does the same: method (static), path and query below
//  the base URL, body. The body stays empty for actions that need none. Both
//  buffers are appended to.
const char *zpeer_item_request (const zpeer_item_t *self, zpeer_buffer_t *path,
                                zpeer_buffer_t *body);

#endif
