/*  process.h - other programs: started, watched, killed

    Every process dies with this one. Nothing here waits without a limit.
*/
#ifndef CHAOS_PROCESS_H_INCLUDED
#define CHAOS_PROCESS_H_INCLUDED

#include <stdbool.h>
#include <sys/types.h>

//  Longest line that process_start reads
#define PROCESS_LINE_MAX 256

//  Exit statuses that no program has
#define PROCESS_KILLED  (-1)  //  It ended by a signal
#define PROCESS_RUNNING (-2)  //  The limit is over

//  Starts a program; argv ends with NULL, what it says on stderr goes behind what
//  is in the file log. With line, waits for the first line it prints and copies
//  that; a program that does not come to that is killed, and 0 returned.
pid_t process_start (const char *const *argv, const char *log,
                     char line[PROCESS_LINE_MAX], int limit_ms);

//  Waits for the end, which is reaped. Returns its exit status, or one of the
//  above.
int process_wait (pid_t pid, int limit_ms);

//  SIGKILL, and waits
void process_kill (pid_t pid);

//  Reaps whatever has ended; whether a child is left
bool process_any_left (void);

#endif
