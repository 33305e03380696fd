/*  base.h - version, symbol visibility, error codes

    Every function of zpeer that can fail returns ZPEER_OK (0) or one of the
    negative codes below. What a caller should do is part of the code's
    definition: retry the same call later, drop the input, or give up.

    Pointers given to the library, those for results included, are never NULL
    unless the function says that they may be. Misuse is a programmer's error
    and ends the process: what the library checks of it is asserted, in release
    builds too.

    Out of memory aborts the process, as in czmq.
*/
#ifndef ZPEER_BASE_H_INCLUDED
#define ZPEER_BASE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZPEER_VERSION_MAJOR 0
#define ZPEER_VERSION_MINOR 1
#define ZPEER_VERSION_PATCH 0
#define ZPEER_VERSION       "0.1.0"

#if defined(__GNUC__)
#    define ZPEER_EXPORT __attribute__ ((visibility ("default")))
#else
#    define ZPEER_EXPORT
#endif

//  code, value, text, what to do
#define ZPEER_ERRORS(X)                                                        \
    X (OK, 0, "success", NONE)                                                 \
    X (E_INVALID, -1, "invalid argument", DROP)                                \
    X (E_RANGE, -2, "value out of range", DROP)                                \
    X (E_UNKNOWN, -3, "no such name", DROP)                                    \
    X (E_EXISTS, -4, "exists already", DROP)                                   \
    X (E_STATE, -5, "not possible in this state", FATAL)                       \
    X (E_AGAIN, -6, "would have to wait", RETRY)                               \
    X (E_TIMEOUT, -7, "no answer in time", RETRY)                              \
    X (E_PARSE, -8, "not what was expected", DROP)                             \
    X (E_TOO_LARGE, -9, "larger than the limit", DROP)                         \
    X (E_RESOURCES, -10, "out of descriptors or sockets", RETRY)               \
    X (E_BIND, -11, "cannot bind or connect", FATAL)                           \
    X (E_IO, -12, "input or output failed", RETRY)                             \
    X (E_REJECTED, -13, "rejected by the other side", DROP)

typedef enum {
#define X(code, value, text, action) ZPEER_##code = (value),
    ZPEER_ERRORS (X)
#undef X
} zpeer_error_t;

//  What a caller should do about an error
typedef enum {
    ZPEER_ACTION_NONE,
    ZPEER_ACTION_RETRY,  //  The same call can succeed later
    ZPEER_ACTION_DROP,   //  This input never will
    ZPEER_ACTION_FATAL   //  Nothing will, until something else changes
} zpeer_action_hint_t;

//  Text for an error code; never NULL, static
ZPEER_EXPORT const char *zpeer_strerror (int code);

//  What to do about an error code; FATAL for codes that do not exist
ZPEER_EXPORT zpeer_action_hint_t zpeer_error_hint (int code);

//  The version the library was built as, "major.minor.patch", static
ZPEER_EXPORT const char *zpeer_version (void);

#ifdef __cplusplus
}
#endif

#endif
