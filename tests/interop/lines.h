/*  lines.h - programs and servers that say things line by line

    Access logs of servers, and programs that run.sh names by a command line.
*/
#ifndef LINES_H_INCLUDED
#define LINES_H_INCLUDED

#include <stdio.h>
#include <sys/types.h>

//  Requests other than GET that this server (run.sh's name) has logged, all of
//  them, and those whose line has this text in it
unsigned lines_changes (const char *server);
unsigned lines_with (const char *server, const char *text);

//  A program that runs, and the end of the pipe to or from it
typedef struct {
    pid_t pid;
    FILE *file;
} lines_program_t;

//  Starts the program that this variable of run.sh names, with these arguments
//  behind, all with blanks between. mode: "r" to read what it says, "w" to write to
//  it; then what it says is lost. It ends with this process at the latest.
void lines_start (lines_program_t *self, const char *variable,
                  const char *arguments, const char *mode);

//  Closes the pipe and waits for the program's end. Returns its exit status, -1 if
//  it was killed. Works twice.
int lines_end (lines_program_t *self);

#endif
