/*  reader.h - typed values out of walked msgpack, and the words for refusals

    A reader goes through a map once, and finds two kinds of fault. Wrong bytes
    are a ZPEER_E_PARSE, and what is wrong is in walk.error: nothing behind them
    can be read. Wrong meanings are a ZPEER_E_REJECTED, with a sentence in reason
    that starts with the field as the sender wrote it:

        info.port.$ is not a number from 0 to 65535

    The reader then stands within the map; bytes that it has not reached may be
    wrong, too.
*/
#ifndef ZPEER_READER_H_INCLUDED
#define ZPEER_READER_H_INCLUDED

#include <zpeer/names.h>
#include "event.h"
#include "keys.h"
#include "walk.h"

typedef struct {
    zpeer_walk_t walk;
    unsigned depth;      //  In how many maps and arrays walk stands
    zpeer_keys_t *keys;  //  Borrowed; for keys no table knows
    char *reason;        //  Borrowed; ZPEER_REASON_MAX bytes
} zpeer_reader_t;

//  A field, for the words only
typedef struct {
    const char *scope;   //  "", "info.", "info.port."
    zpeer_slice_t name;  //  May be a sender's: it is quoted
    char *reason;        //  Borrowed; ZPEER_REASON_MAX bytes
} zpeer_field_t;

//  A text that is UTF-8 without NUL
typedef struct {
    zpeer_slice_t text;
    bool ascii;  //  Printable ASCII, and plain
    bool plain;  //  JSON takes it as it is
} zpeer_piece_t;

//  Room for a sender's text in a sentence of ours, NUL included
#define ZPEER_QUOTE_MAX 64

//  Writes text so that it fits and harms no log: ASCII, '?' for the rest, "..."
//  for what is cut off. Returns out.
const char *zpeer_quote (char out[ZPEER_QUOTE_MAX], zpeer_slice_t text);

//  Writes the sentence: the field, a blank, the format. Always returns
//  ZPEER_E_REJECTED.
int zpeer_field_reject (const zpeer_field_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

//  Each reads one kind of value: ZPEER_OK, or ZPEER_E_REJECTED with the output
//  untouched.

int zpeer_field_text (const zpeer_field_t *self, const zpeer_token_t *token,
                      zpeer_piece_t *piece);

//  The name of an instance or an application: 1 to max bytes, not blank, no
//  control characters
int zpeer_field_name (const zpeer_field_t *self, const zpeer_token_t *token,
                      size_t max, zpeer_slice_t *name);

//  A whole number, as an integer, as a float without a fraction, or as text
int zpeer_field_number (const zpeer_field_t *self, const zpeer_token_t *token,
                        int64_t min, int64_t max, int64_t *number);

//  The same, if it can be a lastDirtyTimestamp: ZPEER_TIMESTAMP_MAX
int zpeer_field_timestamp (const zpeer_field_t *self,
                           const zpeer_token_t *token, int64_t *number);

//  A bool, or the text "true" or "false"
int zpeer_field_flag (const zpeer_field_t *self, const zpeer_token_t *token,
                      bool *flag);

int zpeer_field_status (const zpeer_field_t *self, const zpeer_token_t *token,
                        zpeer_status_t *status);

int zpeer_field_map (const zpeer_field_t *self, const zpeer_token_t *token);

//  Reads a member the table knows, its value where the walk stands and token
//  its first token, which has been read. Whatever is behind that is the
//  member's to read, or to skip. Returns ZPEER_OK, ZPEER_E_REJECTED or
//  ZPEER_E_PARSE.
typedef int (zpeer_member_t) (void *self, zpeer_reader_t *reader, size_t index,
                              const zpeer_field_t *field,
                              const zpeer_token_t *token);

//  Reads the members of a map whose header has been read: known ones go to
//  member, nil counts as not given, others are stepped over. A key that is
//  given twice, known or not, is refused. Keys are found quickest in the order
//  of names, or in that of the map before, which the reader keeps in order:
//  names_count bytes, zeroed at first; NULL: not wanted.
int zpeer_reader_map (zpeer_reader_t *self, const zpeer_token_t *map,
                      const char *scope, const zpeer_slice_t *names,
                      size_t names_count, uint8_t *order,
                      zpeer_member_t *member, void *arg);

//  Steps over what is behind a token that has been read. Returns ZPEER_OK or
//  ZPEER_E_PARSE.
int zpeer_reader_skip (zpeer_reader_t *self, const zpeer_token_t *token);

//  Reads a token. Returns ZPEER_OK or ZPEER_E_PARSE.
static inline int
zpeer_reader_next (zpeer_reader_t *self, zpeer_token_t *token)
{
    return zpeer_walk_next (&self->walk, token);
}

//  A key of a map that peers will read. Returns ZPEER_OK, ZPEER_E_PARSE, or
//  ZPEER_E_REJECTED if it is no text, or too long.
int
zpeer_reader_key (zpeer_reader_t *self, const char *scope, zpeer_piece_t *key);

//  The same key again in the same map: writes the sentence. scope_id: any
//  address that is the map's own.
int zpeer_reader_once (zpeer_reader_t *self, const char *scope,
                       const void *scope_id, zpeer_slice_t key);

//  ASCII only
static inline char
zpeer_upper (char byte)
{
    return (char) (byte >= 'a' && byte <= 'z' ? byte - 'a' + 'A' : byte);
}

//  For constant tables of names
#define ZPEER_NAME(literal)                                                    \
    {                                                                          \
        (literal), sizeof (literal) - 1                                        \
    }

#endif
