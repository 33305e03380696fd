/*  told.h - waits for what an engine tells its host

    Of the topics peer, resync and stats. Ends the program, with a line on
    stderr, when nothing of what it waits for comes within a minute.
*/
#ifndef TOLD_H_INCLUDED
#define TOLD_H_INCLUDED

#include <zpeer/watch.h>

typedef struct {
    zpeer_watch_t *watch;  //  Owned
    const char *peer;      //  Borrowed; what others are told of is passed over
    char *json;            //  Owned; the last outcome that was waited for
} told_t;

void told_open (told_t *self, const char *endpoint, const char *peer);

void told_close (told_t *self);

//  Forgets what has come until now
void told_skip (told_t *self);

//  Waits for an outcome of that topic with that state
void told_wait (told_t *self, const char *topic, const char *state);

//  Waits for the next figures of the peer
void told_figures (told_t *self);

//  A number of what was waited for last; 0: it has none of that key
uint64_t told_number (const told_t *self, const char *key);

#endif
