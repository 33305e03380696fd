/*  progress.h - tells a person how far a long job is

    A bar that rewrites itself on a terminal, a plain line every few seconds
    elsewhere. Both go to standard error, so that a program's output stays
    clean.

    Units: ms, bytes.
*/
#ifndef PROGRESS_H_INCLUDED
#define PROGRESS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t done_bytes;   //  Of the input
    uint64_t total_bytes;  //  Of the input; 0: not known
    uint64_t sent;         //  Events
    uint64_t accepted;     //  Events
    uint64_t rejected;     //  Events
} progress_state_t;

typedef struct {
    bool quiet;          //  Shows nothing
    bool terminal;       //  A bar, not lines
    bool drawn;          //  A bar is on the screen
    int64_t started_at;  //  ms
    int64_t due_at;      //  When to show the next, ms
    int64_t shown_at;    //  When the last was shown, ms
    uint64_t shown;      //  Events sent by then
} progress_t;

//  Starts the clock
void progress_init (progress_t *self, bool quiet, int64_t now);

//  Shows how things stand, if it is time for that
void
progress_show (progress_t *self, const progress_state_t *state, int64_t now);

//  Takes the bar away, for a line of other text or at the end
void progress_clear (progress_t *self);

#endif
