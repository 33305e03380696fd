/*  history.h - what happened, line by line, with ms since the start of the run

    Kept in memory and printed when a run fails; or printed as it comes.
*/
#ifndef CHAOS_HISTORY_H_INCLUDED
#define CHAOS_HISTORY_H_INCLUDED

#include <stdint.h>
#include <stdio.h>

typedef struct {
    FILE *out;        //  Owned, unless it is the live one
    int64_t started;  //  zclock_mono
    char *text;       //  Owned; what out has written
    size_t size;
    bool live;
} history_t;

//  live: NULL keeps the lines
void history_open (history_t *self, FILE *live);

void history_close (history_t *self);

//  ms since the start
int64_t history_now (const history_t *self);

void history_say (history_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

//  Prints what was kept
void history_print (history_t *self, FILE *out);

#endif
