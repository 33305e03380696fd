/*  link.h - one direction of a connection, in virtual time

    What is sent arrives in the order in which it was sent, each after a delay.
    Over tcp a message may be lost, or come twice; and the connection may be cut
    for a while: then all is lost, or held back and comes when it is mended, as
    the system's buffers do it.
*/
#ifndef SIM_LINK_H_INCLUDED
#define SIM_LINK_H_INCLUDED

#include <stdbool.h>
#include "message.h"

struct world;

typedef enum { CUT_NOT, CUT_LOSES, CUT_HOLDS } cut_t;

//  A message has arrived: it is the receiver's now
typedef void (link_fn) (void *whom, message_t *message);

typedef struct {
    struct world *world;  //  Borrowed
    link_fn *deliver;
    void *whom;  //  Borrowed; the receiver
    char name[24];
    bool remote;       //  tcp, not inproc
    unsigned slow_ms;  //  Of a local one: up to so much more
    cut_t cut;
    uint64_t last_at;  //  When the newest message arrives
    queue_t queue;     //  Owned; what is under way
} link_t;

//  For a link that is clear, or zeroed. name says from whom to whom.
void link_init (link_t *self, struct world *world, const char *name,
                bool remote, link_fn *deliver, void *whom);

//  Sends a copy of the frames
void link_send (link_t *self, const zpeer_slice_t *frames, size_t count);

void link_cut (link_t *self, cut_t cut);

//  What was held back arrives
void link_mend (link_t *self);

//  Drops what is under way
void link_clear (link_t *self);

#endif
