/*  options.h - everything that can be configured, by name

    Names match loosely, as in Spring: case, '-', '_' and '.' are ignored, so
    eureka.server.peer-node-read-timeout-ms is also
    EUREKA_SERVER_PEERNODEREADTIMEOUTMS. CONFIGURATION.md lists every option
    with its range and default; it is written from the same table.

    Threads: one at a time calls a table of options. Blocking: never. The
    environment is read only by zpeer_options_env.
*/
#ifndef ZPEER_OPTIONS_H_INCLUDED
#define ZPEER_OPTIONS_H_INCLUDED

#include <zpeer/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zpeer_options zpeer_options_t;

typedef enum {
    ZPEER_OPTION_NUMBER,    //  Decimal, from min to max
    ZPEER_OPTION_FLAG,      //  true or false; also on, off, yes, no, 1, 0
    ZPEER_OPTION_TEXT,      //  Anything
    ZPEER_OPTION_URLS,      //  Comma-separated; may hold credentials
    ZPEER_OPTION_STATUSES,  //  Comma-separated HTTP statuses, from min to max
    ZPEER_OPTION_ZONES      //  A family of URLS: a zone's name follows the name
} zpeer_option_type_t;

//  What the table says of one option
typedef struct {
    zpeer_option_type_t type;
    const char *name;
    const char *unit;  //  "ms", "bytes", "items", …; "" where there is none
    uint32_t min;
    uint32_t max;
    const char *fallback;  //  The default, as text
    const char *help;      //  One sentence
} zpeer_option_t;

//  All options at their defaults. Never NULL.
ZPEER_EXPORT zpeer_options_t *zpeer_options_new (void);

//  Frees it and sets the pointer to NULL; NULL is fine
ZPEER_EXPORT void zpeer_options_destroy (zpeer_options_t **self_p);

//  A copy, the caller's
ZPEER_EXPORT zpeer_options_t *zpeer_options_dup (const zpeer_options_t *self);

//  Sets one option from text; blanks around the value do not count. Returns
//  ZPEER_OK, ZPEER_E_UNKNOWN (no such name) or ZPEER_E_RANGE (no such value; a
//  list with something that is no URL), and then nothing has changed. A name of the reference that has no effect is
//  ZPEER_OK, see zpeer_options_unused.
ZPEER_EXPORT int
zpeer_options_set (zpeer_options_t *self, const char *key, const char *value);

//  Lists one more peer by its URL (engine.h), credentials included, behind those
//  there are: as a zone of its own. Returns ZPEER_OK; or ZPEER_E_INVALID when
//  that is no URL, and then nothing has changed.
ZPEER_EXPORT int
zpeer_options_add_peer (zpeer_options_t *self, const char *url);

//  Takes over what an environment says: NAME=value texts, NULL at the end; env
//  NULL means the environment of the process. Other names, and empty values,
//  are passed over; one that starts with ZPEER_, but not with ZPEER_TEST_, may
//  be misspelt and is among zpeer_options_unused. Returns ZPEER_OK; or
//  ZPEER_E_RANGE for the first wrong value, and then what came before it is set.
ZPEER_EXPORT int
zpeer_options_env (zpeer_options_t *self, const char *const *env);

//  A sentence about the last call that failed, with name, value and range; ""
//  before. Valid until the next call.
ZPEER_EXPORT const char *zpeer_options_error (const zpeer_options_t *self);

//  The value as text, credentials included; the caller's. NULL: no such name,
//  or a zone that is not set.
ZPEER_EXPORT char *
zpeer_options_get (const zpeer_options_t *self, const char *key);

//  Every peer URL of every zone and of apiml.discovery.allPeersUrls, comma-
//  separated, credentials included; the caller's. "" when there is none.
ZPEER_EXPORT char *zpeer_options_peers (const zpeer_options_t *self);

//  All options as lines name=value, without credentials; the caller's
ZPEER_EXPORT char *zpeer_options_print (const zpeer_options_t *self);

//  The index-th name that was set and has no effect, for a warning; valid until
//  the options are changed or destroyed. NULL behind the last.
ZPEER_EXPORT const char *
zpeer_options_unused (const zpeer_options_t *self, size_t index);

//  The index-th option of the table; static. NULL behind the last.
ZPEER_EXPORT const zpeer_option_t *zpeer_options_info (size_t index);

//  The index-th name that is accepted without effect; static. NULL behind the
//  last.
ZPEER_EXPORT const char *zpeer_options_ignored (size_t index);

#ifdef __cplusplus
}
#endif

#endif
