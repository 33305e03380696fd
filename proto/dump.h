/*  dump.h - msgpack as JSON, for eyes and for jq

    Every value has one JSON form. Text that is not UTF-8, bin and ext come out
    as strings in which each byte is the character of its number (U+0000 to
    U+00FF): nothing is lost and the JSON is always valid. Numbers that are not
    finite become null; a map's key that is a number becomes a string.
*/
#ifndef ZPEER_DUMP_H_INCLUDED
#define ZPEER_DUMP_H_INCLUDED

#include <zpeer/base.h>
#include "buffer.h"

//  Appends the JSON of the one msgpack value that data holds. Returns ZPEER_OK,
//  or ZPEER_E_PARSE with out as it was: not msgpack, cut off, bytes behind it,
//  nested deeper than ZPEER_DEPTH_MAX (walk.h), or a map or an array as a key.
int zpeer_dump_json (zpeer_buffer_t *out, const void *data, size_t size);

#endif
