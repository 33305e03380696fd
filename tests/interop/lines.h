/*  lines.h - programs and servers that say things line by line

    Access logs of servers, and programs that run.sh names by a command line.
*/
#ifndef LINES_H_INCLUDED
#define LINES_H_INCLUDED

#include <stdio.h>

//  Requests other than GET that this server (run.sh's name) has logged, all of
//  them, and those whose line has this text in it
unsigned lines_changes (const char *server);
unsigned lines_with (const char *server, const char *text);

//  Starts the program that this variable of run.sh names, with these arguments
//  behind. mode: as popen. It ends with this process at the latest. Close it with
//  pclose.
FILE *
lines_program (const char *variable, const char *arguments, const char *mode);

#endif
