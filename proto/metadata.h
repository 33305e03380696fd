/*  metadata.h - a flat map of strings, as JSON
*/
#ifndef ZPEER_METADATA_H_INCLUDED
#define ZPEER_METADATA_H_INCLUDED

#include "reader.h"

//  Where in a buffer
typedef struct {
    size_t from;
    size_t size;
} zpeer_range_t;

//  Reads a map whose header has been read, and appends its members as JSON
//  without the braces; range says where. Scalars become strings, @class is
//  dropped (peers take it for the map's class). Returns ZPEER_OK, ZPEER_E_PARSE,
//  or ZPEER_E_REJECTED: no map, a key twice, a value that is no scalar.
int zpeer_metadata_read (zpeer_reader_t *reader, const zpeer_field_t *field,
                         const zpeer_token_t *token, const char *scope,
                         zpeer_buffer_t *out, zpeer_range_t *range);

#endif
