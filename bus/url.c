#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <zpeer/base.h>
#include "buffer.h"
#include "url.h"
#include "banned.h"

#define PORT_HTTP  80
#define PORT_HTTPS 443
#define PORT_MAX   65535

//  Most of a wrong URL that an error sentence shows
#define SHOWN_MAX 120

//  The functions that read a part return NULL, or what is wrong with it

static char *
s_copy (zpeer_slice_t text)
{
    char *copy = strndup (text.data, text.size);
    assert (copy);
    return copy;
}

static void
s_wipe (char **secret_p)
{
    if (*secret_p)
        explicit_bzero (*secret_p, strlen (*secret_p));
    free (*secret_p);
    *secret_p = NULL;
}

//  Takes everything up to the first of these bytes off text
static zpeer_slice_t
s_until (zpeer_slice_t *text, const char *stops)
{
    size_t size = 0;
    while (size < text->size && !strchr (stops, text->data[size]))
        size++;
    zpeer_slice_t part = {text->data, size};
    text->data += size;
    text->size -= size;
    return part;
}

static zpeer_slice_t
s_trim (const char *text)
{
    static const char blanks[] = " \t\r\n";
    text += strspn (text, blanks);
    size_t size = strlen (text);
    while (size && strchr (blanks, text[size - 1]))
        size--;
    return (zpeer_slice_t){text, size};
}

static bool
s_is_printable (zpeer_slice_t text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] >= 0x7f)
            return false;
    return true;
}

static const char *
s_read_scheme (zpeer_url_t *self, zpeer_slice_t *text)
{
    size_t size = 0;
    if (text->size >= 7 && !strncasecmp (text->data, "http://", 7))
        size = 7;
    else if (text->size >= 8 && !strncasecmp (text->data, "https://", 8))
        size = 8;
    else
        return "it must begin with http:// or https://";
    self->https = size == 8;
    text->data += size;
    text->size -= size;
    return NULL;
}

static int
s_hex (char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr (digits, digit | 0x20) : NULL;
    return at ? (int) (at - digits) : -1;
}

//  Percent-decodes once. NULL when an escape is none, or stands for NUL.
static char *
s_decode (zpeer_slice_t text)
{
    char *out = s_copy (text);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        int byte = (unsigned char) text.data[i];
        if (byte == '%') {
            int high = i + 2 < text.size ? s_hex (text.data[i + 1]) : -1;
            int low = i + 2 < text.size ? s_hex (text.data[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high << 4 | low;
            i += 2;
        }
        if (!byte) {
            s_wipe (&out);
            return NULL;
        }
        out[size++] = (char) byte;
    }
    out[size] = 0;
    return out;
}

//  Takes the user-info off authority. A password may hold ":" and "@" as they
//  are: the first ":" and the last "@" count.
static const char *
s_read_credentials (zpeer_url_t *self, zpeer_slice_t *authority)
{
    const char *at =
        (const char *) memrchr (authority->data, '@', authority->size);
    if (!at)
        return NULL;
    zpeer_slice_t info = {authority->data, (size_t) (at - authority->data)};
    authority->data = at + 1;
    authority->size -= info.size + 1;
    if (!info.size)
        return NULL;
    zpeer_slice_t user = s_until (&info, ":");
    if (info.size) {
        info.data++;
        info.size--;
    }
    self->user = s_decode (user);
    self->password = s_decode (info);
    if (!self->user || !self->password)
        return "its credentials are not percent-encoded as they should be";
    return strchr (self->user, ':') ? "a user name must not contain \":\""
                                    : NULL;
}

static const char *
s_read_ipv6 (zpeer_url_t *self, zpeer_slice_t *authority)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof (struct in6_addr)];
    authority->data++;
    authority->size--;
    zpeer_slice_t host = s_until (authority, "]");
    if (!authority->size || host.size >= sizeof text)
        return "the IPv6 address in brackets is wrong";
    memcpy (text, host.data, host.size);
    text[host.size] = 0;
    //  Back and forth: there are many spellings of one address
    if (inet_pton (AF_INET6, text, address) != 1 ||
        !inet_ntop (AF_INET6, address, text, sizeof text))
        return "the IPv6 address in brackets is wrong";
    self->host = s_copy (zpeer_slice_str (text));
    authority->data++;
    authority->size--;
    return NULL;
}

//  Host names with underscores are not in any standard, but in use
static const char *
s_read_name (zpeer_url_t *self, zpeer_slice_t *authority)
{
    zpeer_slice_t host = s_until (authority, ":");
    if (!host.size)
        return "the host is missing";
    self->host = s_copy (host);
    for (char *at = self->host; *at; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at |= 0x20;
        bool letter = *at >= 'a' && *at <= 'z';
        bool digit = *at >= '0' && *at <= '9';
        if (!letter && !digit && !strchr ("-._", *at))
            return "the host name has a character that none may have";
    }
    return NULL;
}

//  Reads ":8761", ":" or nothing; the latter two are the scheme's default
static const char *
s_read_port (zpeer_slice_t text, unsigned *port)
{
    if (text.size && text.data[0] != ':')
        return "only a port may follow the host";
    if (text.size <= 1)
        return NULL;
    unsigned value = 0;
    for (size_t i = 1; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || value > PORT_MAX)
            return "the port is not a number from 1 to 65535";
        value = value * 10 + (unsigned) (text.data[i] - '0');
    }
    if (!value || value > PORT_MAX)
        return "the port is not a number from 1 to 65535";
    *port = value;
    return NULL;
}

static void
s_set_base (zpeer_url_t *self, unsigned port, zpeer_slice_t path)
{
    zpeer_buffer_t base = {0};
    bool ipv6 = strchr (self->host, ':') != NULL;
    zpeer_buffer_slice (&base, self->https ? ZPEER_SLICE ("https://")
                                           : ZPEER_SLICE ("http://"));
    zpeer_buffer_add (&base, "[", ipv6 ? 1 : 0);
    zpeer_buffer_slice (&base, zpeer_slice_str (self->host));
    zpeer_buffer_add (&base, "]", ipv6 ? 1 : 0);
    if (port != (self->https ? PORT_HTTPS : PORT_HTTP)) {
        zpeer_buffer_lit (&base, ":");
        zpeer_buffer_uint (&base, port);
    }
    while (path.size && path.data[path.size - 1] == '/')
        path.size--;
    zpeer_buffer_slice (&base, path);
    zpeer_buffer_add (&base, "/", sizeof "/");
    self->base = zpeer_buffer_take (&base);
}

static const char *
s_read (zpeer_url_t *self, zpeer_slice_t text)
{
    if (text.size > ZPEER_URL_MAX)
        return "it is too long";
    if (!s_is_printable (text))
        return "blanks and letters beyond ASCII must be percent-encoded";
    const char *wrong = s_read_scheme (self, &text);
    if (wrong)
        return wrong;
    unsigned port = self->https ? PORT_HTTPS : PORT_HTTP;
    zpeer_slice_t authority = s_until (&text, "/?#");
    zpeer_slice_t path = s_until (&text, "?#");
    wrong = s_read_credentials (self, &authority);
    if (!wrong)
        wrong = authority.size && authority.data[0] == '['
                    ? s_read_ipv6 (self, &authority)
                    : s_read_name (self, &authority);
    if (!wrong)
        wrong = s_read_port (authority, &port);
    if (!wrong && text.size)
        wrong = "a base URL has neither query nor fragment";
    if (!wrong)
        s_set_base (self, port, path);
    return wrong;
}

//  Writes text so that it can be read wherever it is shown: what is neither
//  printable nor a blank as \x0a
static void
s_show (char shown[4 * SHOWN_MAX + 1], zpeer_slice_t text)
{
    size_t size = text.size > SHOWN_MAX ? SHOWN_MAX : text.size;
    char *at = shown;
    *at = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char) text.data[i];
        bool plain = byte >= ' ' && byte < 0x7f;
        at += snprintf (at, 5, plain ? "%c" : "\\x%02x", byte);
    }
}

//  Says what is wrong. Whatever stands before the last "@" may be a secret,
//  also where it was written in a place it does not belong; so may a query.
static void
s_tell (char *error, zpeer_slice_t text, const char *wrong)
{
    const char *at = (const char *) memrchr (text.data, '@', text.size);
    zpeer_slice_t rest = text;
    if (at)
        rest = (zpeer_slice_t){at, (size_t) (text.data + text.size - at)};
    char shown[4 * SHOWN_MAX + 1];
    s_show (shown, s_until (&rest, "?#"));
    snprintf (error, ZPEER_URL_ERROR_MAX, "URL \"%s%.*s%s\": %s",
              at ? "***" : "", SHOWN_MAX, shown, rest.size ? "?***" : "",
              wrong);
}

int
zpeer_url_parse (zpeer_url_t *self, const char *text,
                 char error[ZPEER_URL_ERROR_MAX])
{
    *self = (zpeer_url_t){0};
    zpeer_slice_t trimmed = s_trim (text);
    const char *wrong = s_read (self, trimmed);
    if (!wrong)
        return ZPEER_OK;
    zpeer_url_free (self);
    s_tell (error, trimmed, wrong);
    return ZPEER_E_PARSE;
}

int
zpeer_url_auth (zpeer_url_t *self, const char *user, const char *password)
{
    if (strchr (user, ':'))
        return ZPEER_E_INVALID;
    s_wipe (&self->user);
    s_wipe (&self->password);
    self->user = s_copy (zpeer_slice_str (user));
    self->password = s_copy (zpeer_slice_str (password));
    return ZPEER_OK;
}

void
zpeer_url_free (zpeer_url_t *self)
{
    free (self->base);
    free (self->host);
    s_wipe (&self->user);
    s_wipe (&self->password);
    *self = (zpeer_url_t){0};
}
