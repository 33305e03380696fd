/*  lines.h - reads a file or pipe line by line, or whole

    A line is handed out where it lies in the reader's buffer, so that a large
    file passes through without ever being held. A document that is spread over
    many lines is looked at with lines_rest, and taken with lines_end.

    Threads: one at a time per reader. Blocking: lines_next and lines_rest wait
    for input; lines_wait says beforehand whether they would.
*/
#ifndef LINES_H_INCLUDED
#define LINES_H_INCLUDED

#include <zpeer/base.h>

//  Longest line, and largest document, bytes
#define LINES_MAX ((size_t) 1 << 30)

typedef struct lines lines_t;

//  A reader of the file of this name, "-" for standard input; NULL, and errno,
//  if it cannot be opened
lines_t *lines_open (const char *path);

void lines_close (lines_t **self_p);

//  The next line without its end; valid until the next call. Returns ZPEER_OK,
//  ZPEER_E_AGAIN at the end of the input, ZPEER_E_TOO_LARGE for a line beyond
//  the limit, or ZPEER_E_IO, and errno.
int lines_next (lines_t *self, const char **text, size_t *size);

//  The line that lines_next gave last with everything behind it, to the end of
//  the input; valid until the next call. lines_next goes on behind the line all
//  the same, unless lines_end is called. Results as lines_next.
int lines_rest (lines_t *self, const char **text, size_t *size);

//  Passes over everything that lines_rest gave
void lines_end (lines_t *self);

//  Waits until lines_next can go on without waiting, at most timeout_ms.
//  Returns whether it can.
bool lines_wait (lines_t *self, int timeout_ms);

//  The number of the line that lines_next gave last, from 1
uint64_t lines_number (const lines_t *self);

//  How long ago a file was changed, ms; 0 for a pipe
int64_t lines_age (const lines_t *self);

//  Bytes handed out so far, and in the whole file; the latter is 0 for a pipe
uint64_t lines_done (const lines_t *self);
uint64_t lines_total (const lines_t *self);

#endif
