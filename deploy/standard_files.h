/*  standard_files.h - standard input, output and error are there

    A program may be started with some of them closed. The next file it opens is
    then standard error: log lines would go into whatever that is.
*/
#ifndef STANDARD_FILES_H_INCLUDED
#define STANDARD_FILES_H_INCLUDED

#include <stdbool.h>

//  Opens /dev/null in the place of each that is closed, so that reading or writing
//  there is an error, as before. To be called before anything is opened. False:
//  errno says why it cannot be opened.
bool standard_files_open (void);

#endif
