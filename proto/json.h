/*  json.h - single JSON values

    Appended to a buffer; the members around them are the caller's.
*/
#ifndef ZPEER_JSON_H_INCLUDED
#define ZPEER_JSON_H_INCLUDED

#include "reader.h"

//  A string
void zpeer_json_text (zpeer_buffer_t *out, const zpeer_piece_t *piece);

//  A number, and the same as a string
void zpeer_json_int (zpeer_buffer_t *out, int64_t number);

void zpeer_json_int_text (zpeer_buffer_t *out, int64_t number);

//  "true" or "false", as a string
void zpeer_json_flag_text (zpeer_buffer_t *out, bool flag);

//  A finite number as a string: the fewest digits that stand for this number
//  and no other, a point whatever the host's locale, and always a fraction or
//  an exponent. small: it was a float before it became a double.
void zpeer_json_real_text (zpeer_buffer_t *out, double real, bool small);

//  Any scalar as a string, as peers read one where a string is expected; nil
//  becomes "null". Maps, arrays, bytes and ext are refused: ZPEER_E_REJECTED.
int zpeer_json_scalar_text (zpeer_buffer_t *out, const zpeer_field_t *field,
                            const zpeer_token_t *token);

#endif
