/*  origins.h - which lane an event's origin belongs to

    Feeders name the peer that an event came from by its URL, in any spelling by
    which the peer could be added.

    Threads: one at a time.
*/
#ifndef ZPEER_ORIGINS_H_INCLUDED
#define ZPEER_ORIGINS_H_INCLUDED

#include "handover.h"
#include "url.h"

//  Zeroed is empty
typedef struct {
    char *bases[ZPEER_LANES_MAX];  //  Owned; by lane: its peer's; NULL: none
    char *last;                    //  Owned; what was looked for last, or NULL
    uint8_t found;                 //  What that came to
} zpeer_origins_t;

void zpeer_origins_free (zpeer_origins_t *self);

//  Sets the URL of a lane's peer. Returns ZPEER_OK; or ZPEER_E_PARSE with a
//  sentence in error, and nothing has changed.
int zpeer_origins_set (zpeer_origins_t *self, unsigned lane, const char *url,
                       char error[ZPEER_URL_ERROR_MAX]);

void zpeer_origins_remove (zpeer_origins_t *self, unsigned lane);

//  The number of the lane whose peer has this URL, and 1; 0: no lane's has
uint8_t zpeer_origins_find (zpeer_origins_t *self, zpeer_slice_t url);

#endif
