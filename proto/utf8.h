/*  utf8.h - what kind of text a run of bytes is

    One look at the bytes says all that later steps ask: whether they are UTF-8
    and whether JSON can take them as they are.
*/
#ifndef ZPEER_UTF8_H_INCLUDED
#define ZPEER_UTF8_H_INCLUDED

#include "slice.h"

typedef enum {
    ZPEER_UTF8_ASCII,    //  Printable ASCII that JSON takes as it is
    ZPEER_UTF8_PLAIN,    //  JSON takes the bytes as they are
    ZPEER_UTF8_ESCAPED,  //  JSON has to escape some
    ZPEER_UTF8_NUL,      //  UTF-8, but with a NUL in it
    ZPEER_UTF8_INVALID   //  Not UTF-8: wrong or overlong sequences, surrogates,
                         //  beyond U+10FFFF
} zpeer_utf8_t;

zpeer_utf8_t zpeer_utf8_look (zpeer_slice_t text);

//  Whether valid UTF-8 has a control character: below U+0020, U+007F..U+009F
bool zpeer_utf8_control (zpeer_slice_t text);

//  Puts "?" in the place of each byte that is not UTF-8 or is part of a control
//  character: what is left can be shown, on one line
void zpeer_utf8_clean (char *text);

//  Whether there is nothing but blanks, or nothing at all
bool zpeer_utf8_blank (zpeer_slice_t text);

//  Whether it is "." or "..": as part of a URL's path, escaped or not, it leads
//  somewhere else
bool zpeer_utf8_dots (zpeer_slice_t text);

#endif
