/*  option_value.h - an option's value, between text and field

    By the option's type; not for ZONES, which have a value per zone.
*/
#ifndef ZPEER_OPTION_VALUE_H_INCLUDED
#define ZPEER_OPTION_VALUE_H_INCLUDED

#include "buffer.h"
#include "options.h"

//  Without the blanks around it
zpeer_slice_t zpeer_option_trim (zpeer_slice_t text);

//  Takes the next comma-separated part off text, trimmed, empty ones left out;
//  false at the end
bool zpeer_option_part (zpeer_slice_t *text, zpeer_slice_t *part);

//  A copy, the caller's, that ends in NUL
char *zpeer_option_copy (zpeer_slice_t text);

//  Reads text into the field. Returns false when it is no value of the option;
//  the field is untouched then.
bool
zpeer_option_read (const zpeer_option_t *self, void *field, zpeer_slice_t text);

//  Appends the field's value; redact leaves credentials out
void zpeer_option_write (const zpeer_option_t *self, const void *field,
                         bool redact, zpeer_buffer_t *out);

//  Appends urls, with *** for what stands between "://" and "@"
void zpeer_option_redact (const char *urls, zpeer_buffer_t *out);

#endif
