/*  url.h - the base URL of a peer, as an operator writes it

    http or https, with or without trailing slash, user-info allowed:
    http://user:secret@host:8761/eureka (EUREKA.md 1.1). Query and fragment are
    not: paths are put behind the base.

    The secret is taken out once, here: base has none and is what logs, stats
    and outcomes show. Error sentences hide it too.
*/
#ifndef ZPEER_URL_H_INCLUDED
#define ZPEER_URL_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

//  Longest URL, bytes
#define ZPEER_URL_MAX 2048

//  Room for any error sentence, NUL included
#define ZPEER_URL_ERROR_MAX 256

typedef struct {
    char *base;      //  Owned; ends with one slash, no user-info. Scheme and
                     //  host are lower case, a default port is left out: two
                     //  spellings of a peer have equal bases.
    char *host;      //  Owned; lower case, an IPv6 address without brackets
    char *user;      //  Owned; percent-decoded; NULL: no credentials
    char *password;  //  Owned; percent-decoded; NULL only if user is
    bool https;
} zpeer_url_t;

//  Parses text; blanks around it do not matter. Returns ZPEER_OK (free it with
//  zpeer_url_free), or ZPEER_E_PARSE with a sentence in error, and self is
//  empty.
int zpeer_url_parse (zpeer_url_t *self, const char *text,
                     char error[ZPEER_URL_ERROR_MAX]);

//  Replaces the credentials: fields of their own win over the URL's. Returns
//  ZPEER_OK, or ZPEER_E_INVALID for a user with ":", which Basic cannot carry.
int zpeer_url_auth (zpeer_url_t *self, const char *user, const char *password);

//  Frees the strings and wipes the password; empty afterwards
void zpeer_url_free (zpeer_url_t *self);

#endif
