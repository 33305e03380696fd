/*  ages.h - how old the kept connections of a client are

    A connection that lived for ever would lead to an address which the name has
    left, and show a certificate that has been renewed. So it is replaced when it
    is too old, and in such a way that no request fails for it:

      1. One is too old. The next request is to go out on a new connection, with
         the name looked up and the files read anew. The old one stays.
      2. The new connection is there: the old one serves one more request, and is
         closed. Or it cannot be made: nothing was sent, and the request goes out
         on an old one. A quarter of the age later it is tried again.

    One is replaced at a time, so that never all requests wait for a handshake.

    A core: no socket. Connections are known by their local port; what has been
    idle for too long counts as closed.

    Threads: one at a time. Units: ms; now is monotonic and never goes back.
*/
#ifndef ZPEER_AGES_H_INCLUDED
#define ZPEER_AGES_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

//  A connection
typedef struct {
    int port;  //  Its local one
    uint64_t made_at;
    uint64_t used_at;  //  When a request last went out on it
    bool replaced;     //  There is a new one in its place
} zpeer_age_t;

typedef struct {
    uint32_t max_age_ms;   //  0: they may grow as old as they like
    uint32_t idle_ms;      //  0: and be idle for as long as they like
    zpeer_age_t *entries;  //  Owned
    unsigned count;
    unsigned capacity;
    bool renewing;      //  A new connection is being made
    int port;           //  In place of this one
    uint64_t again_at;  //  None is made before
} zpeer_ages_t;

//  capacity: connections there may be
void zpeer_ages_init (zpeer_ages_t *self, uint32_t max_age_ms, uint32_t idle_ms,
                      unsigned capacity);

void zpeer_ages_fini (zpeer_ages_t *self);

//  All connections have been closed
void zpeer_ages_clear (zpeer_ages_t *self);

//  Whether the next request is to go out on a new connection, in place of one that
//  is too old. If so, zpeer_ages_made or zpeer_ages_failed must follow.
bool zpeer_ages_due (zpeer_ages_t *self, uint64_t now);

//  A connection has been made; renewal: because it was due
void zpeer_ages_made (zpeer_ages_t *self, uint64_t now, int port, bool renewal);

//  It could not be made, though it was due
void zpeer_ages_failed (zpeer_ages_t *self, uint64_t now);

//  A request goes out on a kept connection. Returns whether it is the last one: the
//  connection must be closed when the request has been answered.
bool zpeer_ages_use (zpeer_ages_t *self, uint64_t now, int port);

#endif
