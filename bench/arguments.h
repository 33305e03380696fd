/*  arguments.h - what a benchmark is called with

    They are taken in order. One that is missing, wrong or too much ends the
    program with status 1 and says so on stderr, with the usage: figures of
    something else than what was asked for are worse than none.
*/
#ifndef ARGUMENTS_H_INCLUDED
#define ARGUMENTS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

//  What nobody means who asks for more
#define ARGUMENTS_INSTANCES_MAX  10000000
#define ARGUMENTS_ROUNDS_MAX     1000000
#define ARGUMENTS_PER_SECOND_MAX 1000000
#define ARGUMENTS_SECONDS_MAX    3600

typedef struct {
    int argc;
    char **argv;        //  Borrowed
    const char *usage;  //  Borrowed; names of the arguments
    int next;
} arguments_t;

void
arguments_open (arguments_t *self, int argc, char **argv, const char *usage);

//  The next one: a word of "one|two|three"; or a number. What is returned lives
//  as long as argv.
const char *arguments_word (arguments_t *self, const char *words);
uint64_t arguments_number (arguments_t *self, uint64_t least, uint64_t most);
double arguments_real (arguments_t *self, double least, double most);

//  Whether there is another, for those that may be left out
bool arguments_left (const arguments_t *self);

//  Nothing may be left
void arguments_close (arguments_t *self);

//  For programs with options: the same checks of one text. *value is untouched
//  if it is none.
bool arguments_is_word (const char *text, const char *words);
bool arguments_is_number (const char *text, uint64_t least, uint64_t most,
                          uint64_t *value);

#endif
