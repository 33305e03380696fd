/*  standard_files.c - standard input, output and error are there
 */
#include <fcntl.h>
#include <unistd.h>
#include "standard_files.h"
#include "banned.h"

bool
standard_files_open (void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        //  The wrong way round: nobody takes it for one that works
        int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        //  The lowest that is free, which is this one
        if (fcntl (fd, F_GETFD) < 0 && open ("/dev/null", mode) != fd)
            return false;
    }
    return true;
}
